//! The page. Its source is in `web/`; what `npm run build` makes of it is kept there too and is part
//! of the command, so that building lprof needs nothing but Rust.

use super::http::Answer;

const INDEX: &[u8] = include_bytes!("../../web/dist/index.html");
const ASSETS: [(&str, &str, &[u8]); 2] = [
    ("page.js", "text/javascript; charset=utf-8", include_bytes!("../../web/dist/assets/page.js")),
    ("page.css", "text/css; charset=utf-8", include_bytes!("../../web/dist/assets/page.css")),
];

/// The page itself.
pub(super) fn index() -> Answer {
    Answer::new("text/html; charset=utf-8", INDEX.to_vec())
}

/// What it loads, by name.
pub(super) fn asset(name: &str) -> Option<Answer> {
    let (_, kind, bytes) = ASSETS.iter().find(|asset| asset.0 == name)?;
    Some(Answer::new(kind, bytes.to_vec()))
}
