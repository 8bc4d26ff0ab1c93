//! The page: its source is in `web/`, and what `npm run build` makes of that is kept there too and is
//! part of the command, so that building lprof needs nothing but Rust. It is served, and it is written as
//! one file with the answers that it would ask for. What both show of a request is here.

pub(crate) mod file;
pub(crate) mod profile;
pub(crate) mod request;
pub(crate) mod table;

/// The page itself.
pub(crate) const INDEX: &str = include_str!("../web/dist/index.html");
/// Its program.
pub(crate) const SCRIPT: &str = include_str!("../web/dist/assets/page.js");
/// How it looks.
pub(crate) const STYLE: &str = include_str!("../web/dist/assets/page.css");
