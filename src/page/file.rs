//! The page as one file, which holds the answers that it would ask for and loads nothing.

use std::collections::BTreeMap;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use super::{INDEX, SCRIPT, STYLE};
use crate::error::{Result, bail};

/// What the page loads where it is served.
const LOADED: [&str; 2] = [
    "<script type=\"module\" crossorigin src=\"/assets/page.js\"></script>",
    "<link rel=\"stylesheet\" crossorigin href=\"/assets/page.css\">",
];

/// Answers, by the path that is asked.
#[derive(Default)]
pub(crate) struct Answers {
    by_path: BTreeMap<String, String>,
    n_bytes: usize,
}

impl Answers {
    /// Adds the answer to `path`, unless there would be more than `n_bytes_max` of all.
    pub(crate) fn add(&mut self, path: &str, answer: &impl Serialize, n_bytes_max: usize) -> Result<()> {
        let text = serde_json::to_string(answer).map_err(std::io::Error::from)?;
        if self.n_bytes + text.len() <= n_bytes_max {
            self.n_bytes += text.len();
            self.by_path.insert(path.to_owned(), text);
        }
        Ok(())
    }

    /// As one object. Nothing in it can end an element: texts of logs are texts.
    fn json(&self) -> String {
        let entry = |(path, answer): (&String, &String)| {
            format!("{}:{answer}", serde_json::Value::from(path.as_str()))
        };
        let all: Vec<String> = self.by_path.iter().map(entry).collect();
        // Outside of texts there is no such character.
        format!("{{{}}}", all.join(",\n")).replace('<', "\\u003c")
    }

    /// The page with these answers.
    pub(crate) fn page(&self) -> Result<String> {
        let json = self.json();
        // What is not of this file has no such number, and does not run.
        let nonce = format!("{:032x}", xxh3_128(json.as_bytes()));
        let policy = format!(
            "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; \
             base-uri 'none'; form-action 'none'"
        );
        let inlined = format!(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\" />\n    \
             <style nonce=\"{nonce}\">{STYLE}</style>\n    \
             <script type=\"application/json\" id=\"answers\">{json}</script>\n    \
             <script type=\"module\" nonce=\"{nonce}\">{SCRIPT}</script>"
        );
        if !LOADED.iter().all(|line| INDEX.contains(line)) {
            bail!("the page loads what is not known");
        }
        Ok(INDEX.replace(LOADED[1], "").replacen(LOADED[0], &inlined, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SCRIPT, STYLE};
    use super::Answers;

    fn page(text: &str) -> String {
        let mut answers = Answers::default();
        answers.add("table", &text, usize::MAX).expect("JSON");
        answers.page().expect("a page")
    }

    #[test]
    fn nothing_is_loaded() {
        let page = page("t");
        for never in ["/assets/", "http:", "https:", "<img", "<iframe"] {
            assert!(!page.replace("http://www.w3.org/2000/svg", "").contains(never), "{never}");
        }
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn the_program_ends_where_it_ends() {
        for never in ["</script", "<!--", "</style"] {
            assert!(!SCRIPT.contains(never) && !STYLE.contains(never), "{never}");
        }
    }

    #[test]
    fn texts_cannot_become_markup() {
        let empty = page("");
        for text in ["</script><script>alert(1)</script>", "<!--<script>", "\"}</SCRIPT >", "\\u003c/script>"]
        {
            let page = page(text);
            let n_of = |page: &str, tag: &str| page.to_ascii_lowercase().matches(tag).count();
            for tag in ["<script", "</script", "<!--"] {
                assert_eq!(n_of(&page, tag), n_of(&empty, tag), "{text}: {tag}");
            }
            let begin = page.split_once("id=\"answers\">").expect("answers").1;
            let json = begin.split_once("</script>").expect("an end").0;
            let read: serde_json::Value = serde_json::from_str(json).expect("JSON");
            assert_eq!(read["table"], text, "it is read as it was");
        }
    }

    #[test]
    fn what_is_too_much_is_left_out() {
        let mut answers = Answers::default();
        answers.add("a", &"x".repeat(50), 100).expect("JSON");
        answers.add("b", &"x".repeat(50), 100).expect("JSON");
        answers.add("c", &"y", 100).expect("JSON");
        let json = answers.json();
        assert!(json.contains("\"a\":") && !json.contains("\"b\":") && json.contains("\"c\":"));
    }
}
