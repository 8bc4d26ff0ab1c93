//! The request table of the sample.

use crate::command::{done, samples};

/// The request table of the sample, with the code of `target`, in a folder of its own.
pub(crate) fn table(target: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("t").display().to_string();
    let jar = samples().join("classes").join(target).join("store.jar").display().to_string();
    done(&["run", "--table", &table, &jar, &samples().join("logs").display().to_string()]);
    (folder, table)
}
