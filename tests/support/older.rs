//! Tables as older versions made them.

use std::path::Path;

use serde_json::Value;

/// Takes the indexes out of a table.
pub(crate) fn without_indexes(table: &Path) {
    let number = reducer::table::newest_number(table).expect("a table");
    let path = table.join(format!("manifest-{number}.json"));
    let text = std::fs::read(&path).expect("a manifest");
    let mut manifest: Value = serde_json::from_slice(&text).expect("JSON");
    manifest["files"].as_array_mut().expect("files").retain(|file| file["table"] != "index");
    manifest.as_object_mut().expect("an object").remove("digest");
    let digest = xxhash_rust::xxh3::xxh3_128(manifest.to_string().as_bytes());
    manifest["digest"] = Value::from(format!("{digest:032x}"));
    std::fs::write(&path, manifest.to_string()).expect("written");
    for folder in ["index", "open"] {
        remove(&table.join(folder));
    }
}

fn remove(folder: &Path) {
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            remove(&path);
        } else if path.extension().is_some_and(|extension| extension == "index") {
            std::fs::remove_file(&path).expect("removed");
        }
    }
    let _ = std::fs::remove_dir(folder);
}
