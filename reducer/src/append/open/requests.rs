//! Of which requests the spans are that a table keeps: thinning takes those out that are over, as
//! their rows would come back with the next append.
//!
//! ```text
//! TABLE/open/<n>/kept/requests.tsv    of each span: the id of its request, 1 if that may go on, where
//!                                     it begins: file, line, node
//! ```

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use schema::tables::{self, OutputsWriter, Text};
use schema::{Accumulator, Error, Model, Name, NodeOutput, Place, Result, Span};

use super::relative;
use crate::table::{DataFile, KEPT, Manifest, OPEN};

/// The file that says it.
const FILE: &str = "requests.tsv";

/// A request of which spans are kept: the number of its id, and whether it may go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenRequest {
    pub(crate) id: u128,
    pub(crate) may_go_on: bool,
}

impl OpenRequest {
    fn id_text(self) -> Text {
        Text::from(format!("{:032x}", self.id))
    }
}

/// Of which request each span is, as a file says it.
#[derive(Debug, Default)]
pub(super) struct Requests(String);

impl Requests {
    /// Adds a span.
    pub(super) fn add(&mut self, span: &Span, OpenRequest { id, may_go_on }: OpenRequest) {
        let Some((node, Place { file, line })) = place(span) else { return };
        writeln!(self.0, "{id:032x}\t{}\t{file}\t{line}\t{node}", u8::from(may_go_on)).expect("a text");
    }

    /// Writes all of them to a file in `kept`.
    pub(super) fn write(self, kept: &Path) -> Result<PathBuf> {
        let path = kept.join(FILE);
        fs::write(&path, self.0).map_err(Error::io(&path))?;
        Ok(path)
    }
}

/// Where a span begins.
fn place(span: &Span) -> Option<(Name, Place)> {
    Some((span.node, span.events.first()?.place()))
}

/// Of which request a span is, and where that span begins, as a line says it.
fn of_line(line: &str) -> Option<((Name, Place), OpenRequest)> {
    let mut parts = line.splitn(5, '\t');
    let id = u128::from_str_radix(parts.next()?, 16).ok()?;
    let may_go_on = parts.next()? == "1";
    let place = Place { file: parts.next()?.parse().ok()?, line: parts.next()?.parse().ok()? };
    Some(((Name::from(parts.next()?), place), OpenRequest { id, may_go_on }))
}

/// The spans that a table keeps, with their requests.
pub(crate) struct KeptRequests {
    folder: PathBuf,
    outputs: Vec<NodeOutput>,
    /// By where each span begins.
    requests: FxHashMap<(Name, Place), OpenRequest>,
}

impl KeptRequests {
    /// Those of the table of `manifest`; none: it keeps no spans.
    ///
    /// # Errors
    /// Files that are not there or damaged.
    pub(crate) fn read(manifest: &Manifest) -> Result<Option<Self>> {
        let (mut outputs, mut requests) = (None, None);
        for file in manifest.files.iter().filter(|file| file.table == KEPT) {
            let path = manifest.folder.join(&file.path);
            file.check(&path)?;
            if path.ends_with("inputs.parquet") {
                outputs = Some(tables::read_outputs(&path)?);
            } else if path.ends_with(FILE) {
                let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
                let request = |(number, line): (u64, &str)| {
                    of_line(line).ok_or_else(|| Error::damaged(&path, number, "no request in this line"))
                };
                requests = Some((1..).zip(text.lines()).map(request).collect::<Result<_>>()?);
            }
        }
        let Some((outputs, requests)) = outputs.zip(requests) else { return Ok(None) };
        let outputs: Vec<NodeOutput> = outputs.into_values().collect();
        Ok(Some(Self { folder: manifest.folder.clone(), outputs, requests }))
    }

    /// The ids of requests that are over.
    pub(crate) fn over(&self) -> FxHashSet<Text> {
        self.requests.values().filter(|one| !one.may_go_on).map(|one| one.id_text()).collect()
    }

    /// Keeps the spans of all requests but the `closed` ones, for the manifest of this `number`;
    /// returns the files.
    ///
    /// # Errors
    /// No model in the table; I/O errors.
    pub(crate) fn without(self, closed: &FxHashSet<Text>, number: u64) -> Result<Vec<DataFile>> {
        let Self { folder, outputs, requests } = self;
        let digest = outputs.first().map_or(0, |output| output.model_digest);
        let model = Model::read(&folder.join("models").join(format!("{digest:032x}.model")))?;
        let kept = folder.join(OPEN).join(number.to_string()).join(KEPT);
        let mut writer = OutputsWriter::create(&kept, digest)?;
        let mut left = Requests::default();
        for NodeOutput { node, inputs, accumulators, .. } in outputs {
            for span in accumulators.into_iter().flat_map(|one| one.spans) {
                let request = place(&span).and_then(|place| requests.get(&place));
                let request = request.ok_or_else(|| Error::damaged(&folder, 0, "a span of no request"))?;
                if !closed.contains(&request.id_text()) {
                    left.add(&span, *request);
                    writer.add(&model, &[Accumulator { spans: vec![span], links: Vec::new() }])?;
                }
            }
            writer.add_inputs(&node, &inputs);
        }
        let [accumulators, accounts] = writer.finish()?;
        let files = [accumulators, accounts, left.write(&kept)?];
        files.iter().map(|path| DataFile::of_kept(&folder, relative(&folder, path))).collect()
    }
}
