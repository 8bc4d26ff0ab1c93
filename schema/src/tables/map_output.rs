//! The output of a map as files that any engine can read and shuffle:
//!
//! ```text
//! OUT_DIR/accumulators/NODE.parquet   one row per accumulator, sorted by start in each part of the logs
//! OUT_DIR/unattributed/NODE.parquet   records without a log point
//! OUT_DIR/inputs/NODE.parquet         accounting; written last, so its presence means whole
//! ```
//! `NODE` is the node's label with every byte outside `[A-Za-z0-9._-]` as `%XX`.
//! The three files of a node carry one digest; files of different maps do not
//! go together and are refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::cell::{Bytes, Text, Time, record};
use super::inputs::InputRow;
use super::parquet::{self, Growing, Metadata};
use crate::accumulator::{Accumulator, Event, InputAccount, Name, NodeOutput};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Level, Model};
use crate::pass::Pass;
use crate::values::Values;

/// Version of the postcard form in `state`.
const STATE_VERSION: &str = "8";

record! {
    /// A request accumulator.
    AccumulatorRow = "accumulators" {
        /// Node of the first span.
        node: Text,
        /// `Class.method` of the first span.
        top_level_method: Text,
        /// First event.
        start_ts: Time,
        /// Last event.
        end_ts: Time,
        /// Line of the first record of the first span.
        first_line: i64,
        /// Where that begins in the (decompressed) file.
        first_byte_offset: i64,
        /// Its events.
        n_events: i64,
        /// postcard of [`Accumulator`], whose times, lines and offsets are counted from those of
        /// the other columns.
        state: Bytes,
    }
}

record! {
    /// A record that no log point of the model can have printed.
    UnattributedRow = "unattributed" {
        /// Position in `inputs`.
        file: i64,
        /// First line, from 1.
        line: i64,
        /// Lines of the record.
        n_lines: i64,
        /// Offset in the (decompressed) file.
        byte_offset: i64,
        /// Time of the record, as printed.
        ts: Time,
        /// Level as printed.
        level: Option<Text>,
        /// Why nothing fits.
        reason: Text,
    }
}

/// Writes `output` below `folder`. The files are a function of `output` alone.
///
/// # Errors
/// I/O errors, naming the file.
pub fn write_node_output(folder: &Path, model: &Model, output: &NodeOutput) -> Result<()> {
    let mut writer = NodeOutputWriter::new(folder, &output.node, output.model_digest);
    writer.add(model, &output.accumulators, &output.unattributed)?;
    writer.finish(&output.inputs).map(drop)
}

/// The output of a map that is written while the logs are still read. Nothing is there before
/// there is something to write; if it is dropped instead of finished, no file of it is left.
pub struct NodeOutputWriter {
    folder: PathBuf,
    node: String,
    model_digest: u128,
    digest: Xxh3,
    /// Once begun.
    files: Option<(Growing<AccumulatorRow>, Growing<UnattributedRow>)>,
}

impl NodeOutputWriter {
    /// The output of `node`, made with the model of that digest.
    #[must_use]
    pub fn new(folder: &Path, node: &str, model_digest: u128) -> Self {
        let (folder, node) = (folder.to_owned(), node.to_owned());
        Self { folder, node, model_digest, digest: Xxh3::new(), files: None }
    }

    fn files(&mut self) -> Result<&mut (Growing<AccumulatorRow>, Growing<UnattributedRow>)> {
        if self.files.is_none() {
            for part in ["accumulators", "unattributed", "inputs"] {
                let part = self.folder.join(part);
                fs::create_dir_all(&part).map_err(Error::io(&part))?;
            }
            let path = |part| path_of(&self.folder, part, &self.node);
            let accumulators = Growing::create(&path("accumulators"))?;
            self.files = Some((accumulators, Growing::create(&path("unattributed"))?));
        }
        Ok(self.files.as_mut().expect("just made"))
    }

    /// Adds what a part of the logs has made.
    ///
    /// # Errors
    /// I/O errors, naming the file.
    pub fn add(&mut self, model: &Model, accumulators: &[Accumulator], unattributed: &[Event]) -> Result<()> {
        if accumulators.is_empty() && unattributed.is_empty() {
            return Ok(());
        }
        for accumulator in in_order(accumulators) {
            let row = AccumulatorRow::new(model, accumulator);
            self.digest.update(&row.state.0);
            self.files()?.0.add(row)?;
        }
        let files = self.files()?;
        unattributed.iter().try_for_each(|event| files.1.add(UnattributedRow::new(event)))
    }

    /// Makes it whole, with the accounts of all files. Returns where it is.
    ///
    /// # Errors
    /// I/O errors, naming the file.
    pub fn finish(mut self, inputs: &[InputAccount]) -> Result<[PathBuf; 3]> {
        let node = Text::from(self.node.as_str());
        let inputs: Vec<InputRow> = inputs.iter().map(|account| InputRow::new(0, &node, account)).collect();
        inputs.iter().for_each(|row| self.digest.update(row.digest.as_bytes()));
        let metadata = Metadata::from([
            ("lprof.state".to_owned(), STATE_VERSION.to_owned()),
            ("lprof.node".to_owned(), self.node.clone()),
            ("lprof.model".to_owned(), format!("{:032x}", self.model_digest)),
            ("lprof.map".to_owned(), format!("{:032x}", self.digest.digest128())),
        ]);
        self.files()?;
        if let Some((accumulators, unattributed)) = self.files.take() {
            accumulators.finish(metadata.clone())?;
            unattributed.finish(metadata.clone())?;
        }
        let paths = ["accumulators", "unattributed", "inputs"];
        let paths = paths.map(|part| path_of(&self.folder, part, &self.node));
        parquet::write(&paths[2], &inputs, &metadata)?;
        Ok(paths)
    }
}

/// The accumulators in the order of their rows: by start and encoded form.
fn in_order(accumulators: &[Accumulator]) -> Vec<&Accumulator> {
    let mut keyed: Vec<(i64, &Accumulator)> = accumulators.iter().map(|a| (extent_us(a).0, a)).collect();
    keyed.sort_by_key(|&(start_us, _)| start_us);
    for equal in keyed.chunk_by_mut(|a, b| a.0 == b.0) {
        equal.sort_by_cached_key(|(_, accumulator)| encoded(accumulator, Vec::new()));
    }
    keyed.into_iter().map(|(_, accumulator)| accumulator).collect()
}

/// Times of the first and the last event, µs.
fn extent_us(accumulator: &Accumulator) -> (i64, i64) {
    let times = || accumulator.spans.iter().flat_map(|span| &span.events).map(|event| event.ts_us);
    (times().min().unwrap_or_default(), times().max().unwrap_or_default())
}

/// Writes accumulators of many nodes as one output, with the accounts of their files:
///
/// ```text
/// FOLDER/accumulators.parquet   as that of one node; events say which of the node's accounts
/// FOLDER/inputs.parquet         accounts by node, in their order
/// ```
pub struct OutputsWriter {
    folder: PathBuf,
    model_digest: u128,
    accumulators: Growing<AccumulatorRow>,
    inputs: Vec<InputRow>,
}

impl OutputsWriter {
    /// Outputs made with the model of that digest.
    ///
    /// # Errors
    /// I/O errors, naming the file.
    pub fn create(folder: &Path, model_digest: u128) -> Result<Self> {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
        let accumulators = Growing::create(&folder.join("accumulators.parquet"))?;
        Ok(Self { folder: folder.to_owned(), model_digest, accumulators, inputs: Vec::new() })
    }

    /// Adds accumulators of one node.
    ///
    /// # Errors
    /// I/O errors, naming the file.
    pub fn add(&mut self, model: &Model, accumulators: &[Accumulator]) -> Result<()> {
        let mut rows = in_order(accumulators).into_iter().map(|one| AccumulatorRow::new(model, one));
        rows.try_for_each(|row| self.accumulators.add(row))
    }

    /// Adds the accounts of all files of a node.
    pub fn add_inputs(&mut self, node: &str, inputs: &[InputAccount]) {
        let node = Text::from(node);
        self.inputs.extend(inputs.iter().map(|account| InputRow::new(0, &node, account)));
    }

    /// Makes it whole. Returns where it is: the path for [`read_outputs`] last.
    ///
    /// # Errors
    /// I/O errors, naming the file.
    pub fn finish(self) -> Result<[PathBuf; 2]> {
        let metadata = Metadata::from([
            ("lprof.state".to_owned(), STATE_VERSION.to_owned()),
            ("lprof.model".to_owned(), format!("{:032x}", self.model_digest)),
        ]);
        self.accumulators.finish(metadata.clone())?;
        let paths = ["accumulators", "inputs"].map(|part| self.folder.join(format!("{part}.parquet")));
        parquet::write(&paths[1], &self.inputs, &metadata)?;
        Ok(paths)
    }
}

/// Reads what an [`OutputsWriter`] has written, by node; `inputs` is its last path.
///
/// # Errors
/// Another version, damage; I/O errors.
pub fn read_outputs(inputs: &Path) -> Result<BTreeMap<String, NodeOutput>> {
    let (rows, metadata) = parquet::read::<InputRow>(inputs)?;
    let model_digest = state_of(inputs, &metadata)?;
    let mut outputs: BTreeMap<String, NodeOutput> = BTreeMap::new();
    for row in rows {
        let name = row.node.to_string();
        let output = outputs.entry(name.clone()).or_insert_with(|| NodeOutput {
            node: name,
            model_digest,
            inputs: Vec::new(),
            accumulators: Vec::new(),
            unattributed: Vec::new(),
        });
        output.inputs.push(row.account(inputs)?);
    }
    let path = inputs.with_file_name("accumulators.parquet");
    parquet::read_batches(&path, &mut |rows: Vec<AccumulatorRow>| {
        for row in rows {
            let output = outputs.get_mut(&*row.node);
            let output = output.ok_or_else(|| Error::damaged(&path, 0, "a node without inputs"))?;
            output.accumulators.push(row.accumulator(&path)?);
        }
        Ok(())
    })?;
    outputs.values_mut().for_each(|output| sort(&mut output.accumulators));
    Ok(outputs)
}

/// Appends the postcard form of an accumulator.
fn encoded(accumulator: &Accumulator, out: Vec<u8>) -> Vec<u8> {
    postcard::to_extend(accumulator, out).expect("an accumulator holds nothing that cannot be encoded")
}

/// The nodes whose output lies in `folder`, as paths for [`read_node_output`],
/// sorted by name.
///
/// # Errors
/// Not the folder of a map; I/O errors.
pub fn node_outputs(folder: &Path) -> Result<Vec<PathBuf>> {
    let inputs = folder.join("inputs");
    if folder.is_dir() && !inputs.is_dir() {
        return Err(Error::new(folder, ErrorKind::NotOurs { expected: "map output" }));
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(&inputs).map_err(Error::io(folder))? {
        let path = entry.map_err(Error::io(folder))?.path();
        if path.extension().is_some_and(|e| e == "parquet") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads the output of one node; `inputs` is one of [`node_outputs`].
///
/// # Errors
/// Half of an output, another version, damage; I/O errors.
pub fn read_node_output(inputs: &Path) -> Result<NodeOutput> {
    let mut accumulators = Vec::new();
    let output = read_node_output_in_parts(inputs, |mut part| {
        accumulators.append(&mut part);
        Ok(())
    })?;
    sort(&mut accumulators);
    Ok(NodeOutput { accumulators, ..output })
}

fn sort(accumulators: &mut [Accumulator]) {
    let first = |accumulator: &Accumulator| {
        let event = &accumulator.spans[0].events[0];
        (event.ts_us, event.file, event.line)
    };
    accumulators.sort_by_key(first);
}

/// The digest of the model in the footer of `path`, if it is of an output of this version.
fn state_of(path: &Path, metadata: &Metadata) -> Result<u128> {
    let value = |key: &str| {
        metadata.get(key).ok_or_else(|| Error::new(path, ErrorKind::NotOurs { expected: "map output" }))
    };
    let state = value("lprof.state")?;
    if state != STATE_VERSION {
        let got = state.parse().unwrap_or(0);
        return Err(Error::new(path, ErrorKind::Version { expected: 1, got }));
    }
    u128::from_str_radix(value("lprof.model")?, 16)
        .map_err(|e| Error::damaged(path, 0, format!("model digest: {e}")))
}

/// The same, but for the accumulators, of which `take` is given some at a time.
///
/// # Errors
/// The same; those of `take`.
pub fn read_node_output_in_parts(
    inputs: &Path,
    take: impl FnMut(Vec<Accumulator>) -> Result<()>,
) -> Result<NodeOutput> {
    read_node_output_where(inputs, |_, _, _| true, take)
}

/// The same; of the accumulators those that `is_wanted`, by the times of the first and the last event,
/// µs, and the line of the first record.
///
/// # Errors
/// The same.
pub fn read_node_output_where(
    inputs: &Path,
    is_wanted: impl Fn(i64, i64, u64) -> bool,
    mut take: impl FnMut(Vec<Accumulator>) -> Result<()>,
) -> Result<NodeOutput> {
    let beside = |part: &str| {
        let name = inputs.file_name().unwrap_or_default();
        inputs.parent().and_then(Path::parent).unwrap_or(Path::new(".")).join(part).join(name)
    };
    let (input_rows, metadata) = parquet::read::<InputRow>(inputs)?;
    let model_digest = state_of(inputs, &metadata)?;
    let node = metadata.get("lprof.node");
    let node = node.ok_or_else(|| Error::new(inputs, ErrorKind::NotOurs { expected: "map output" }))?;
    let path = beside("accumulators");
    let other = parquet::read_batches(&path, &mut |rows: Vec<AccumulatorRow>| {
        let is_wanted =
            |row: &&AccumulatorRow| is_wanted(row.start_ts.0, row.end_ts.0, row.first_line.cast_unsigned());
        take(rows.iter().filter(is_wanted).map(|row| row.accumulator(&path)).collect::<Result<_>>()?)
    })?;
    let unattributed_path = beside("unattributed");
    let (unattributed, third) = parquet::read::<UnattributedRow>(&unattributed_path)?;
    // The writer of the format adds pairs of its own.
    let ours = |of: &Metadata| -> Vec<(String, String)> {
        of.iter().filter(|(key, _)| key.starts_with("lprof.")).map(|(k, v)| (k.clone(), v.clone())).collect()
    };
    if ours(&other) != ours(&metadata) || ours(&third) != ours(&metadata) {
        return Err(Error::damaged(&path, 0, "belongs to another map than the other files of its node"));
    }
    Ok(NodeOutput {
        node: node.clone(),
        model_digest,
        inputs: input_rows.iter().map(|row| row.account(inputs)).collect::<Result<_>>()?,
        accumulators: Vec::new(),
        unattributed: unattributed.iter().map(UnattributedRow::event).collect(),
    })
}

/// From where the times and places of an accumulator are counted: numbers that are large take
/// most of the bytes of one.
#[derive(Clone, Copy)]
struct Origin {
    us: i64,
    line: u64,
    byte_offset: u64,
}

impl Origin {
    /// An accumulator counted from here. Numbers that are smaller wrap around.
    fn counted(self, accumulator: &Accumulator) -> Accumulator {
        let mut counted = accumulator.clone();
        let Self { us, line, byte_offset } = self;
        Self::add(&mut counted, (us.wrapping_neg(), line.wrapping_neg(), byte_offset.wrapping_neg()));
        counted
    }

    /// Undoes that.
    fn restore(self, accumulator: &mut Accumulator) {
        Self::add(accumulator, (self.us, self.line, self.byte_offset));
    }

    fn add(accumulator: &mut Accumulator, (us, line, byte_offset): (i64, u64, u64)) {
        for span in &mut accumulator.spans {
            for event in &mut span.events {
                event.ts_us = event.ts_us.wrapping_add(us);
                event.line = event.line.wrapping_add(line);
                event.byte_offset = event.byte_offset.wrapping_add(byte_offset);
            }
            span.hosts.iter_mut().for_each(|host| host.line = host.line.wrapping_add(line));
        }
    }
}

impl AccumulatorRow {
    fn new(model: &Model, accumulator: &Accumulator) -> Self {
        let first = &accumulator.spans[0];
        let (start_us, end_us) = extent_us(accumulator);
        let Event { line, byte_offset, .. } = first.events[0];
        let from = Origin { us: start_us, line, byte_offset };
        let top_level = first.top_levels.first().and_then(|id| model.top_level_methods.get(id.index()));
        Self {
            node: Text::from(first.node.as_str()),
            top_level_method: Text::from(top_level.map_or(String::new(), |m| m.short_name())),
            start_ts: Time(start_us),
            end_ts: Time(end_us),
            first_line: line.cast_signed(),
            first_byte_offset: byte_offset.cast_signed(),
            n_events: accumulator.spans.iter().map(|span| span.events.len() as i64).sum(),
            state: Bytes(encoded(&from.counted(accumulator), Vec::new())),
        }
    }

    /// What the row of the file `path` holds.
    fn accumulator(&self, path: &Path) -> Result<Accumulator> {
        let mut accumulator: Accumulator =
            postcard::from_bytes(&self.state.0).map_err(|e| Error::damaged(path, 0, e))?;
        let (line, byte_offset) = (self.first_line.cast_unsigned(), self.first_byte_offset.cast_unsigned());
        Origin { us: self.start_ts.0, line, byte_offset }.restore(&mut accumulator);
        if accumulator.spans.is_empty() || accumulator.spans.iter().any(|span| span.events.is_empty()) {
            return Err(Error::damaged(path, 0, "an accumulator without events"));
        }
        Ok(accumulator)
    }
}

impl UnattributedRow {
    fn new(event: &Event) -> Self {
        Self {
            file: i64::from(event.file),
            line: event.line.cast_signed(),
            n_lines: i64::from(event.n_lines),
            byte_offset: event.byte_offset.cast_signed(),
            ts: Time(event.printed_us()),
            level: event.level.map(|level| Text::from(level.name())),
            reason: Text::from(event.reason.as_str()),
        }
    }

    fn event(&self) -> Event {
        Event {
            file: u32::try_from(self.file).unwrap_or_default(),
            line: self.line.cast_unsigned(),
            n_lines: u32::try_from(self.n_lines).unwrap_or(1),
            byte_offset: self.byte_offset.cast_unsigned(),
            ts_us: self.ts.0,
            late_us: 0,
            level: self.level.as_deref().and_then(Level::parse),
            log_point: None,
            values: Values::default(),
            pass: Pass::Unattributed,
            reason: Name::from(&self.reason),
        }
    }
}

pub(super) fn path_of(folder: &Path, part: &str, node: &str) -> PathBuf {
    let mut name = String::new();
    for byte in node.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => name.push(byte as char),
            b'.' if !name.is_empty() => name.push('.'),
            _ => name.push_str(&format!("%{byte:02X}")),
        }
    }
    folder.join(part).join(format!("{name}.parquet"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::accumulator::{InputAccount, Span, TraceId};

    fn event(line: u64, ts_us: i64) -> Event {
        let (reason, pass) = (Name::from("thread"), Pass::Unattributed);
        let (file, n_lines, byte_offset, late_us) = (0, 1, line * 100, 0);
        let (level, log_point, values) = (None, None, [(0, "v")].into_iter().collect());
        Event { file, line, n_lines, byte_offset, ts_us, late_us, level, log_point, values, pass, reason }
    }

    fn accumulator(lines: &[u64]) -> Accumulator {
        let events = lines.iter().map(|&line| event(line, 7_000_000 + line.cast_signed())).collect();
        let (node, thread) = (Name::from("n1"), None);
        let (top_levels, identifiers, hosts) = (Vec::new(), Vec::new(), Vec::new());
        let trace = Some(TraceId { field: Name::from("traceId"), text: "4bf92f3577b34da6".into() });
        let (n_alike, truncated) = (0, false);
        let span = Span { node, thread, top_levels, n_alike, identifiers, trace, events, truncated, hosts };
        Accumulator { spans: vec![span], links: Vec::new() }
    }

    fn output() -> NodeOutput {
        let accumulators = [&[1, 9][..], &[2], &[3, 4], &[10]].map(accumulator).to_vec();
        let unattributed = vec![Event { values: Values::default(), ..event(5, 7_000_005) }];
        let inputs = vec![InputAccount { file: "a.log".into(), digest: 3, ..InputAccount::default() }];
        let unattributed = unattributed.into_iter().map(|e| Event { reason: Name::from("none"), ..e });
        NodeOutput {
            node: "n1".into(),
            model_digest: 77,
            inputs,
            accumulators,
            unattributed: unattributed.collect(),
        }
    }

    /// Names and bytes of all files below `folder`, sorted.
    fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                found.extend(files(&path));
            } else {
                found.push((path.clone(), fs::read(path).expect("a file")));
            }
        }
        found.sort();
        found
    }

    #[test]
    fn an_output_that_is_written_in_parts_is_the_same_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
        let (model, output) = (Model::default(), output());
        write_node_output(&whole, &model, &output).expect("written");
        let mut writer = NodeOutputWriter::new(&parts, &output.node, output.model_digest);
        let (first, second) = output.accumulators.split_at(2);
        writer.add(&model, first, &[]).and_then(|()| writer.add(&model, &[], &[])).expect("written");
        writer.add(&model, second, &output.unattributed).expect("written");
        writer.finish(&output.inputs).expect("written");

        let relative = |folder: &Path| -> Vec<(PathBuf, Vec<u8>)> {
            let names = files(folder).into_iter();
            names.map(|(path, bytes)| (path.strip_prefix(folder).expect("below").to_owned(), bytes)).collect()
        };
        assert_eq!(relative(&parts), relative(&whole));
        assert_eq!(relative(&whole).len(), 3);
        let [path] = &node_outputs(&parts).expect("an output")[..] else { panic!("one node") };
        assert_eq!(read_node_output(path).expect("whole"), output);
    }

    #[test]
    fn nothing_is_left_of_an_output_that_is_not_finished() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (model, output) = (Model::default(), output());
        let mut writer = NodeOutputWriter::new(folder.path(), &output.node, output.model_digest);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
        writer.add(&model, &output.accumulators, &[]).expect("written");
        drop(writer);
        assert_eq!(files(folder.path()), []);
    }
}
