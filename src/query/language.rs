//! The query language of Pivot Tracing as text (§3, Table 1), compiled to SQL over the
//! request table. Pure: what the table knows is given as a [`Catalog`].
//!
//! ```text
//! query   [Name:] From v In sources join* [Where e] [GroupBy e, ...] [Having e]
//!         Select [Distinct] e [As name], ... [OrderBy e [Desc], ...] [Limit n]
//! join    [Left] Join v In sources On edge [And edge]*
//! sources source, ...                     their union
//!         First(sources) | FirstN(n, sources) | MostRecent(sources) | MostRecentN(n, sources)
//! source  Class | Class.method | Class.method:line | "text of a template" | * | Name
//! edge    [not] a -> b [within 5s]        a happened before b
//!         a ~> b                          only clocks say so
//!         a || b                          nothing orders them
//!         a >> b                          b was reached by way of the span of a
//! ```
//! Several queries may stand in one text, each with a name; the last one is run, and each
//! can use those before it as sources. Keywords are in any case, `--` begins a comment.

mod catalog;
mod compile;
mod parse;
mod query;
mod source;
mod text;

pub(crate) use catalog::{Catalog, Export, Kind, Point};
pub(crate) use compile::compile;

#[cfg(test)]
mod tests;
