//! Append: what the nodes sent becomes requests in a table. The phases of
//! reduce in order, from outputs of maps to a committed manifest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use schema::tables::{
    CommunicationPairRow, InputRow, LogSequenceRow, RequestRow, RunRow, Text, TopLevelMethodRow,
};
use schema::{Event, InputAccount, Model, NodeOutput, Result};

use crate::catalog::Catalog;
use crate::finish::{Context, Finished, Keep, Rows};
use crate::table::{Addition, Commit, Writer};
use crate::{Config, reduce};

/// What an append did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Appended {
    /// Number of the run, which is that of the manifest; none: nothing was new.
    pub run: Option<u64>,
    /// Inputs that the table held already.
    pub n_inputs_known: usize,
    /// Accounting of what is new, by node.
    pub inputs: Vec<(String, InputAccount)>,
    /// The requests that were added, in the order of their rows.
    pub requests: Vec<AddedRequest>,
    /// Events in the table's rows.
    pub n_events: u64,
    /// How often each reason left a record without a request.
    pub unattributed: BTreeMap<String, u64>,
}

/// What is told of a request that was added: some columns of its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedRequest {
    /// Its id.
    pub request_id: Text,
    /// `Class.method` of the earliest span's top-level method.
    pub request_type: Text,
    /// Microseconds between its first and last event.
    pub duration_us: i64,
    /// Nodes it was on.
    pub n_nodes: i64,
    /// Its spans.
    pub n_spans: i64,
    /// Its events.
    pub n_events: i64,
}

impl AddedRequest {
    fn new(row: &RequestRow) -> Self {
        let (request_id, request_type) = (row.request_id.clone(), row.request_type.clone());
        let &RequestRow { duration_us, n_nodes, n_spans, n_events, .. } = row;
        Self { request_id, request_type, duration_us, n_nodes, n_spans, n_events }
    }
}

/// Adds `outputs`, all made with `model`, to the table in `folder`. What the
/// table holds already is left out, so that doing it again changes nothing.
///
/// # Errors
/// Another writer, a damaged table, I/O errors; the table is then as before.
pub fn append(
    folder: &Path,
    model: &Model,
    outputs: Vec<NodeOutput>,
    config: &Config,
    keep: Keep,
) -> Result<Appended> {
    let mut writer = Writer::open(folder)?;
    let mut catalog = Catalog::load(writer.manifest())?;
    let mut appended = Appended::default();
    let mut outputs = by_node(outputs);
    refuse_other_readings(&writer, model, &outputs)?;
    for output in &mut outputs {
        let (new, n_known) = catalog.trim(output);
        appended.n_inputs_known += n_known;
        appended.inputs.extend(new.into_iter().map(|account| (output.node.clone(), account)));
    }
    if appended.inputs.is_empty() {
        return Ok(appended);
    }
    let inputs: BTreeMap<String, Vec<InputAccount>> =
        outputs.iter().map(|output| (output.node.clone(), output.inputs.clone())).collect();
    let unattributed: Vec<(String, Event)> = outputs
        .iter_mut()
        .flat_map(|output| {
            std::mem::take(&mut output.unattributed).into_iter().map(|e| (output.node.clone(), e))
        })
        .collect();
    for (_, event) in &unattributed {
        *appended.unattributed.entry(event.reason.to_string()).or_default() += 1;
    }

    let accumulators = reduce(model, outputs, config);
    let (numbers, log_points) = catalog.number_log_points(model);
    let context = Context { model, inputs: &inputs, log_point_numbers: &numbers, keep };
    let mut addition = Addition { log_points, ..Addition::default() };
    add_model(&mut addition, &catalog, &writer, model, &numbers)?;
    write_model(folder, model)?;
    let run = writer.next_number();
    let mut commit = writer.begin();
    let rows = Finished::new(context, &accumulators, &unattributed);
    let mut sequences = add_rows(&mut commit, rows, &mut appended)?;
    sequences.retain(|id, _| !catalog.knows_sequence(id));
    addition.rows.log_sequences = sequences.into_values().collect();
    add_accounting(&mut addition, &appended, model, run, keep);
    commit.finish(&addition)?;

    catalog.add(&addition.inputs, &addition.rows.log_sequences, &addition.log_points, &addition.runs);
    catalog.keep(writer.manifest());
    appended.run = Some(run);
    Ok(appended)
}

/// Adds the rows of requests as they are made, the next ones while those before are written.
/// Returns their log sequences, by id.
fn add_rows(
    commit: &mut Commit<'_>,
    mut parts: Finished<'_>,
    appended: &mut Appended,
) -> Result<BTreeMap<Text, LogSequenceRow>> {
    let mut sequences = BTreeMap::new();
    let mut part = parts.next();
    while let Some(mut rows) = part {
        appended.requests.extend(rows.requests.iter().map(AddedRequest::new));
        appended.n_events += rows.events.len() as u64;
        for row in std::mem::take(&mut rows.log_sequences) {
            sequences.entry(row.log_sequence_id.clone()).or_insert(row);
        }
        let (added, next): (Result<()>, Option<Rows>) = rayon::join(|| commit.add(rows), || parts.next());
        added?;
        part = next;
    }
    Ok(sequences)
}

/// Fails if an input is in the table already, read in another way: with another model, layout,
/// zone. Nothing would be added for it, and the rows of the other reading would stay.
fn refuse_other_readings(writer: &Writer, model: &Model, outputs: &[NodeOutput]) -> Result<()> {
    let rows = writer.manifest().rows::<InputRow>()?;
    let runs: BTreeMap<i64, Text> =
        writer.manifest().rows::<RunRow>()?.into_iter().map(|row| (row.run, row.model_digest)).collect();
    let digest = format!("{:032x}", model.digest());
    for output in outputs {
        for account in &output.inputs {
            let same = format!("{:032x}", account.digest);
            let known = rows.iter().rev().find(|row| *row.node == *output.node && *row.digest == *same);
            let Some(row) = known.filter(|_| account.n_records > 0) else { continue };
            let what = if runs.get(&row.run).is_some_and(|model| **model != *digest) {
                "another model"
            } else if *row.layout != *account.layout {
                "another layout"
            } else if *row.settings != *account.settings {
                "other settings"
            } else {
                continue;
            };
            let message = format!(
                "it is in the table already, read with {what}: nothing was added. Give a new table, or remove `{}` and read all of its logs again",
                writer.manifest().folder.display()
            );
            return Err(schema::Error::io(Path::new(&account.file))(std::io::Error::other(message)));
        }
    }
    Ok(())
}

/// One output per node, sorted by node: several maps of one node become one,
/// the positions of their inputs moved.
fn by_node(outputs: Vec<NodeOutput>) -> Vec<NodeOutput> {
    let mut nodes: BTreeMap<String, NodeOutput> = BTreeMap::new();
    for mut output in outputs {
        let Some(first) = nodes.get_mut(&output.node) else {
            nodes.insert(output.node.clone(), output);
            continue;
        };
        let moved = u32::try_from(first.inputs.len()).expect("a node has fewer than 2^32 inputs");
        for span in output.accumulators.iter_mut().flat_map(|a| &mut a.spans) {
            span.events.iter_mut().for_each(|event| event.file += moved);
            span.hosts.iter_mut().for_each(|place| place.file += moved);
        }
        output.unattributed.iter_mut().for_each(|event| event.file += moved);
        first.inputs.append(&mut output.inputs);
        first.accumulators.append(&mut output.accumulators);
        first.unattributed.append(&mut output.unattributed);
    }
    nodes.into_values().collect()
}

fn add_model(
    addition: &mut Addition,
    catalog: &Catalog,
    writer: &Writer,
    model: &Model,
    numbers: &[i64],
) -> Result<()> {
    if catalog.knows_model(model.digest()) {
        return Ok(());
    }
    // Small tables: two releases of a program share most of their methods.
    let known: BTreeSet<String> =
        writer.manifest().rows::<TopLevelMethodRow>()?.iter().map(|row| format!("{row:?}")).collect();
    addition.top_level_methods = TopLevelMethodRow::all(model, &|id| numbers[id.index()]);
    addition.top_level_methods.retain(|row| !known.contains(&format!("{row:?}")));
    let known: BTreeSet<String> =
        writer.manifest().rows::<CommunicationPairRow>()?.iter().map(|row| format!("{row:?}")).collect();
    addition.communication_pairs = CommunicationPairRow::all(model);
    addition.communication_pairs.retain(|row| !known.contains(&format!("{row:?}")));
    Ok(())
}

fn add_accounting(addition: &mut Addition, appended: &Appended, model: &Model, run: u64, keep: Keep) {
    let run = run.cast_signed();
    let row =
        |(node, account): &(String, InputAccount)| InputRow::new(run, &Text::from(node.as_str()), account);
    addition.inputs = appended.inputs.iter().map(row).collect();
    addition.runs = vec![RunRow {
        run,
        producer: Text::from(env!("CARGO_PKG_VERSION")),
        model_digest: Text::from(format!("{:032x}", model.digest())),
        keep: Text::from(keep.name()),
        n_inputs: addition.inputs.len() as i64,
        n_records: addition.inputs.iter().map(|input| input.n_records).sum(),
        n_requests: appended.requests.len() as i64,
        n_spans: appended.requests.iter().map(|request| request.n_spans).sum(),
        n_events: appended.n_events.cast_signed(),
    }];
}

/// Keeps the model beside the rows, under its digest, for `lprof show`.
fn write_model(folder: &Path, model: &Model) -> Result<()> {
    let models = folder.join("models");
    std::fs::create_dir_all(&models).map_err(schema::Error::io(&models))?;
    let path = models.join(format!("{:032x}.model", model.digest()));
    if path.exists() { Ok(()) } else { model.write(&path) }
}
