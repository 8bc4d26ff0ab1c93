//! lprof tells what every request of a JVM distributed system did, from the logs it already
//! writes. This is what its command is made of, for programs that make tables themselves, or want the
//! requests themselves.
//!
//! | of | is |
//! |---|---|
//! | [`pipeline`] | class files and logs to a table: [`analyze`](pipeline::analyze), [`Mapper`](pipeline::Mapper), [`append`](pipeline::append) |
//! | [`Model`] | what a release can log, and what its requests are |
//! | [`Table`], [`Filter`], [`Requests`] | a table, and which of its requests are read |
//! | [`Request`], [`Span`], [`Wait`], [`PathPart`], [`Logs`] | one as a tree of spans, with events, hand-overs, critical path; what the logs say of it |
//! | [`rows`] | rows of the tables |
//! | `Session`, `Batches`, `Limits` | SQL, answered in batches of Arrow; with the feature `sql` |
//! | [`export`](export()), [`TraceFormat`] | requests as traces of other tools |
//! | [`Error`], [`ErrorKind`], [`Result`] | what went wrong |
//! | [`run`] | the command |
//!
//! ```
//! use std::path::Path;
//! use lprof::pipeline::{self, Inputs, Mapper, Options};
//! use lprof::{Filter, Table};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("table");
//! let options = Options::default();
//! let model = pipeline::analyze(&["samples/classes/java17/store.jar".into()], &options)?;
//! let mapper = Mapper::new(&model, &options);
//! let mut inputs = Inputs::new();
//! inputs.add(None, Path::new("samples/logs"))?;
//! let mapped = mapper.map(&mapper.look(inputs)?, &path)?;
//! pipeline::append(&path, &model, mapped, &options)?;
//!
//! let table = Table::open(&path)?;
//! assert_eq!(table.n_requests(), 149);
//! let mut longest = None;
//! for request in table.requests(&Filter::All)? {
//!     let request = request?;
//!     let length = request.critical_path().len();
//!     if longest.as_ref().is_none_or(|(most, _)| length > *most) {
//!         longest = Some((length, request.row().request_id.clone()));
//!     }
//! }
//! let (length, id) = longest.expect("the sample has requests");
//! assert!(length > 1);
//!
//! // Its spans, each with its depth in the tree and what it printed.
//! let request = table.request(&id)?;
//! let mut rest: Vec<(usize, usize)> = request.roots().map(|root| (root, 0)).collect();
//! let mut n_events = 0;
//! while let Some((at, depth)) = rest.pop() {
//!     let span = &request.spans()[at];
//!     println!("{}{} on {}", "  ".repeat(depth), span.row.top_level_method, span.row.node);
//!     n_events += span.events.len();
//!     rest.extend(request.children(at).map(|child| (child, depth + 1)));
//! }
//! assert_eq!(n_events as i64, request.row().n_events);
//! # Ok::<(), lprof::Error>(())
//! ```

mod args;
mod commands;
mod compare;
mod error;
mod evaluation;
mod export;
mod model;
mod output;
mod page;
pub mod pipeline;
mod profile;
#[cfg(feature = "sql")]
mod query;
mod releases;
mod render;
mod request;
pub mod rows;
#[cfg(feature = "serve")]
mod serve;
mod table;
mod templates;

pub use commands::run;
pub use error::{Error, ErrorKind, Result};
pub use export::{TraceFormat, export};
pub use model::Model;
pub use profile::PathPart;
#[cfg(feature = "sql")]
pub use query::{Batches, Limits, Session};
pub use request::{Logs, Request, Span, Wait};
pub use table::{Filter, Requests, Table};

/// The programs of the manual.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct Manual;
