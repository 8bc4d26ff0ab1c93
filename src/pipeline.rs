//! Pipeline: from class files and logs to a request table, as the commands `analyze`, `map`, `reduce`,
//! `run` and `follow` do it.
//!
//! ```text
//! class files ──analyze──▶ Model ─┐
//!                                 ├─Mapper::map──▶ Mapped ──append──▶ table
//! Inputs ──Mapper::look──▶ Nodes ─┘      │             ▲
//!                                        └─Mapper::write, Mapped::read: by way of a folder
//! ```
//!
//! Each step says what there is to say in what it returns, and fails with an [`Error`](crate::Error);
//! nothing is printed. [`Options`] go to each step alike.
//!
//! ```
//! use std::path::{Path, PathBuf};
//! use lprof::pipeline::{self, Inputs, Mapper, Options};
//!
//! # let folder = tempfile::tempdir()?;
//! # let table = folder.path().join("table");
//! let options = Options::default();
//! let jar = PathBuf::from("samples/classes/java17/store.jar");
//! let model = pipeline::analyze(&[jar], &options)?;
//!
//! let mut inputs = Inputs::new();
//! inputs.add(None, Path::new("samples/logs"))?;
//! let mapper = Mapper::new(&model, &options);
//! let nodes = mapper.look(inputs)?;
//! assert_eq!(nodes.names().count(), 3);
//! let mapped = mapper.map(&nodes, &table)?;
//! let appended = pipeline::append(&table, &model, mapped, &options)?;
//! assert_eq!(appended.requests.len(), 149);
//!
//! // Doing it again adds nothing.
//! let again = mapper.map(&nodes, &table)?;
//! assert_eq!(pipeline::append(&table, &model, again, &options)?.run, None);
//! # Ok::<(), lprof::Error>(())
//! ```

mod files;
mod inputs;
mod logs;
mod mapped;
mod mapper;
mod names;
mod options;
mod outputs;
mod progress;
mod threads;

use std::path::{Path, PathBuf};

#[doc(inline)]
pub use reducer::IdField;
#[doc(inline)]
pub use reducer::append::{AddedRequests, Appended};
#[doc(inline)]
pub use reducer::finish::Keep;
#[doc(inline)]
pub use schema::InputAccount;

pub(crate) use files::is_class_path;
pub use inputs::Inputs;
pub(crate) use inputs::Labels;
pub use logs::Nodes;
pub use mapped::Mapped;
pub(crate) use mapped::{n_headed, unread};
pub use mapper::{Mapper, Written};
pub use options::{KnownIds, Layouts, Options, Zone};
pub(crate) use outputs::{MODEL_NAME, check_name, check_output};
pub use progress::{Progress, Step};
pub use threads::Threads;

use crate::error::{Context as _, Result, bail};
use crate::model::Model;

/// Class files to the model of a release: `class_path` are jars, wars and folders of classes, in its
/// order. Bad classes are no errors; the model names them.
///
/// # Errors
/// A file that is not there or cannot be read, no class at all, a line of the rules that is none.
pub fn analyze(class_path: &[PathBuf], options: &Options) -> Result<Model> {
    for path in class_path {
        std::fs::metadata(path).with_context(|| format!("`{}`", path.display()))?;
    }
    let _step = options.begin(Step::Analyze);
    let config = static_analyzer::Config {
        threads: Some(options.threads.n()),
        rules: options.rules.clone(),
        ..static_analyzer::Config::default()
    };
    let model = Model::new(static_analyzer::analyze(class_path, &config)?);
    if model.n_classes() == 0 {
        let names: Vec<String> = class_path.iter().map(|path| format!("`{}`", path.display())).collect();
        bail!(Empty: "{}: no class in it", some(&names));
    }
    Ok(model)
}

/// Makes requests of `mapped`, all made with `model`, and adds them to the table in the folder `table`,
/// which is made if it is not there. What it holds already is left out, so that doing it again changes
/// nothing; what was still open goes on.
///
/// # Errors
/// Another process writes the table; it is damaged, or was made of the same logs in another way; spans
/// of another model; I/O errors. The table is then as before.
pub fn append(table: &Path, model: &Model, mapped: Mapped, options: &Options) -> Result<Appended> {
    if mapped.model_digest != model.inner.digest() {
        bail!(Mismatch: "`{}`: spans that were made with another model cannot be added with this one", table.display());
    }
    let _step = options.begin(Step::Stitch);
    let (outputs, config) = (mapped.into_outputs(), options.reducing());
    let append = || reducer::append::append(table, &model.inner, outputs, &config, options.keep);
    Ok(options.threads.run(append)?)
}

/// Names that are listed; the rest are counted.
const NAMES_MAX: usize = 6;

/// The first of some names, and how many more there are.
pub(crate) fn some(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMES_MAX)].join(", ");
    match names.len() - names.len().min(NAMES_MAX) {
        0 => shown,
        n => format!("{shown} and {n} more"),
    }
}
