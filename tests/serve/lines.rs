//! What events say: as their logs do, also packed; made from templates where the logs are gone.

use std::io::Write as _;

use serde_json::Value;

use super::Server;
use super::command::{done, samples};

/// Lines of the sample's logs, by node.
fn lines(node: &str) -> Vec<String> {
    let text = std::fs::read_to_string(samples().join(format!("logs/{node}.log"))).expect("a log");
    text.lines().map(str::to_owned).collect()
}

/// Each event of all requests, with the line that it is of.
fn events(server: &Server) -> Vec<(Value, String)> {
    let nodes = ["a", "b", "c"].map(|node| (node, lines(node)));
    let listed = server.json("/api/requests?limit=1000");
    let mut found = Vec::new();
    for request in listed["requests"].as_array().expect("requests") {
        let request = server.json(&format!("/api/requests/{}", request["id"].as_str().expect("an id")));
        for span in request["spans"].as_array().expect("spans") {
            let (_, lines) = nodes.iter().find(|(node, _)| span["node"] == *node).expect("a node");
            for event in span["events"].as_array().expect("events") {
                let at = event["line"].as_u64().expect("a line") as usize - 1;
                found.push((event.clone(), lines[at].clone()));
            }
        }
    }
    found
}

/// Whether `line` holds the parts of what was made, in their order.
fn is_made_of(made: &str, line: &str) -> bool {
    let mut rest = line;
    made.split('…').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

#[test]
fn lines_are_those_of_the_logs_or_made_of_what_is_known() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("logs")).expect("a folder");
    let text = |node: &str| std::fs::read(samples().join(format!("logs/{node}.log"))).expect("a log");
    std::fs::write(path("logs/a.log"), text("a")).expect("written");
    std::fs::write(path("logs/b.log.zst"), zstd::encode_all(&text("b")[..], 3).expect("packed"))
        .expect("written");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(&text("c")).expect("packed");
    std::fs::write(path("logs/c.log.gz"), gz.finish().expect("packed")).expect("written");
    let table = path("t").display().to_string();
    let jar = samples().join("classes/java17/store.jar").display().to_string();
    done(&["run", "-q", "--table", &table, &jar, &path("logs").display().to_string()]);
    let server = Server::start(&table);
    let read = events(&server);
    assert_eq!(read.len(), 646);
    for (event, line) in &read {
        // A stack trace goes on.
        let first = event["text"].as_str().and_then(|text| text.lines().next());
        assert_eq!((first, &event["is_read"]), (Some(line.as_str()), &true.into()));
    }
    std::fs::remove_dir_all(path("logs")).expect("removed");
    let made = events(&server);
    let mut n_whole = 0;
    for (event, line) in &made {
        let text = event["text"].as_str().unwrap_or_else(|| panic!("nothing of {line}"));
        assert!(event["is_read"] == false && is_made_of(text, line), "{text}\n{line}");
        n_whole += usize::from(!text.contains('…'));
    }
    // Nearly all of them are told whole.
    assert!(n_whole * 100 > made.len() * 95, "{n_whole} of {}", made.len());
}
