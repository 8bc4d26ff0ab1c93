//! Append: what the nodes sent becomes requests in a table. The phases of
//! reduce in order, from outputs of maps to a committed manifest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustc_hash::FxHashSet;
use schema::tables::{
    CommunicationPairRow, InputRow, LogSequenceRow, RequestRow, RunRow, Text, TopLevelMethodRow,
};
use schema::{Event, InputAccount, Model, Result};
use serde::{Deserialize, Serialize};

use crate::catalog::{Catalog, Known};
use crate::finish::{Context, Keep, Names};
use crate::id_lives::{self, IdLives};
use crate::merge::to_u32;
use crate::relations::Relations;
use crate::skeleton::Stored;
use crate::spill::{self, Spill, SpillWriter, Spilled, Store};
use crate::table::{Addition, Commit, DataFile, Manifest, Part, Writer};
use crate::{Config, IdField};

mod border;
pub(crate) mod open;
pub mod partition;
mod periods;
mod plan;
pub(crate) mod share;

use self::open::{Open, OpenSpan};
use self::plan::Plan;
use self::share::{Later, Made, Share, Shown};

/// What an append did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Appended {
    /// Number of the run, which is that of the manifest; none: nothing was new.
    pub run: Option<u64>,
    /// Inputs that the table held already.
    pub n_inputs_known: usize,
    /// Accounting of what is new, by node.
    pub inputs: Vec<(String, InputAccount)>,
    /// The requests that were added, with those that go on.
    pub requests: AddedRequests,
    /// Requests, spans and events of the table that were open, and are among the added ones now.
    pub n_gone_on: [u64; 3],
    /// Requests among the added ones that may go on.
    pub n_open: u64,
    /// Events in the table's rows.
    pub n_events: u64,
    /// How often each reason left a record without a request.
    pub unattributed: BTreeMap<String, u64>,
    /// Fields in which the logs carry ids of requests: what was found of each in the period with most
    /// of them.
    pub id_fields: Vec<IdField>,
}

/// What is told of the requests that were added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AddedRequests {
    /// Microseconds between the first and last event of each; by request type.
    pub durations_us: BTreeMap<String, Vec<i64>>,
    /// Their spans.
    pub n_spans: u64,
    /// The id of the one on most nodes; of these that with most spans, with most events, the first.
    pub widest: Option<String>,
    width: Width,
}

/// On how many nodes a request is, its spans, its events.
type Width = (i64, i64, i64);

impl AddedRequests {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.durations_us.values().map(Vec::len).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.durations_us.is_empty()
    }

    fn add(&mut self, row: &RequestRow) {
        match self.durations_us.get_mut(&*row.request_type) {
            Some(known) => known.push(row.duration_us),
            None => _ = self.durations_us.insert(row.request_type.to_string(), vec![row.duration_us]),
        }
        self.n_spans += row.n_spans.unsigned_abs();
        self.compare(&row.request_id, (row.n_nodes, row.n_spans, row.n_events));
    }

    /// Adds others.
    fn append(&mut self, others: Self) {
        for (request_type, durations_us) in others.durations_us {
            self.durations_us.entry(request_type).or_default().extend(durations_us);
        }
        self.n_spans += others.n_spans;
        if let Some(id) = &others.widest {
            self.compare(id, others.width);
        }
    }

    fn compare(&mut self, id: &str, width: Width) {
        if self.widest.as_deref().is_none_or(|widest| (width, widest) > (self.width, id)) {
            (self.widest, self.width) = (Some(id.to_owned()), width);
        }
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
    outputs: Vec<Spilled>,
    config: &Config,
    keep: Keep,
) -> Result<Appended> {
    let mut writer = Writer::open(folder)?;
    let Ready { catalog, goes_on, mut appended, mut new } =
        Ready::new(writer.manifest(), model, outputs, config.window_us)?;
    if appended.inputs.is_empty() {
        return Ok(appended);
    }
    let spans = std::mem::take(&mut new.spans);
    let (spans, plan) = Plan::of((spans, &new.stores), config, &appended.inputs)?;
    let periods = plan.periods(spans, &new.stores, config.window_us);
    let lives = IdLives::read(writer.manifest())?;
    let (stores, moved, lives) = (&new.stores, &plan.moved(), &lives);
    let share = Share { model, config, periods: &periods, stores, moved, lives };
    let all = 0..periods.len();
    let joined = share.join(all.clone(), &Later::default())?;
    let are_open = joined.are_at_work(&share, plan.revised_from_us);
    appended.n_open = joined.n_at_work(&share, plan.open_from_us);
    appended.count_unattributed(&new.unattributed);

    let mut adding = Adding::new((&mut writer, catalog), (model, config, keep), goes_on, appended)?;
    let (folder, number) = adding.commit.place();
    let part = |period| Part::new(&folder, (number, period));
    let numbers = adding.numbers.clone();
    let names = Names::new(Context { model, inputs: &new.inputs, log_point_numbers: &numbers, keep });
    let rows = (&names, &new.unattributed[..]);
    joined.add_rows(&share, rows, &are_open, part, |period, made| {
        adding.add(period, made, &joined.shown[period])
    })?;
    let spans = joined.open_spans((&share, &names), &are_open, plan.open_from_us);
    adding.keep_open(model, (&spans, stores), &new.inputs)?;
    adding.keep_lives(&joined.open_ids(&are_open), joined.shown.iter())?;
    adding.finish()
}

/// What is new of some outputs, and the table that it is added to.
struct Ready {
    catalog: Catalog,
    /// What was open goes on.
    goes_on: bool,
    /// What is to be told of the inputs.
    appended: Appended,
    new: New,
}

impl Ready {
    /// What of `outputs` is new for the table of `manifest`, whatever the order they come in.
    fn new(manifest: &Manifest, model: &Model, mut outputs: Vec<Spilled>, window_us: i64) -> Result<Self> {
        outputs.sort_by_cached_key(|output| (output.node.clone(), digests(&output.inputs)));
        let catalog = Catalog::load(manifest)?;
        let mut appended = Appended::default();
        let (nodes, stores) = by_node(outputs);
        refuse_other_readings(manifest, model, &nodes)?;
        let open = Open::read(manifest, model)?;
        let goes_on = matches!(open, Open::Spans(_));
        let at = (manifest.folder.as_path(), model, window_us);
        let new = take_new(at, (nodes, stores), open, &catalog, &mut appended)?;
        Ok(Self { catalog, goes_on, appended, new })
    }
}

/// What the inputs of an output are, whatever they are called.
fn digests(inputs: &[InputAccount]) -> Vec<u128> {
    inputs.iter().map(|account| account.digest).collect()
}

impl Appended {
    fn count_unattributed(&mut self, unattributed: &[(String, Event)]) {
        for (_, event) in unattributed {
            *self.unattributed.entry(event.reason.to_string()).or_default() += 1;
        }
    }
}

/// Log sequences of requests, by id; those of open requests apart.
type Sequences = [BTreeMap<Text, LogSequenceRow>; 2];

/// An append whose periods become rows, one after the other.
struct Adding<'w> {
    commit: Commit<'w>,
    catalog: Catalog,
    addition: Addition,
    /// Of each log point of the model, its number in the table.
    numbers: Vec<i64>,
    relations: Relations,
    lives: IdLives,
    sequences: Sequences,
    appended: Appended,
}

impl<'w> Adding<'w> {
    /// To the table of `writer`, of which `catalog` knows what it holds.
    fn new(
        (writer, catalog): (&'w mut Writer, Catalog),
        (model, config, keep): (&Model, &Config, Keep),
        goes_on: bool,
        mut appended: Appended,
    ) -> Result<Self> {
        let manifest = writer.manifest();
        let (numbers, log_points) = catalog.number_log_points(model);
        let mut addition = Addition { log_points, ..Addition::default() };
        add_model(&mut addition, &catalog, manifest, model, &numbers)?;
        write_model(&manifest.folder, model)?;
        let are_replaced = |file: &DataFile| goes_on && file.is_open;
        let relations = Relations::of_table(manifest, config.period_events, are_replaced)?;
        let lives = IdLives::read(manifest)?;
        let mut commit = writer.begin();
        if goes_on {
            appended.n_gone_on = commit.replace_open();
        } else {
            commit.close_open();
        }
        add_accounting(&mut addition, &appended, model, commit.place().1, keep);
        let sequences = Sequences::default();
        Ok(Self { commit, catalog, addition, numbers, relations, lives, sequences, appended })
    }

    /// Adds what was made of a period, the periods in order.
    fn add(&mut self, period: usize, made: Made, shown: &Shown) -> Result<()> {
        self.appended.requests.append(made.requests);
        self.appended.n_events += made.n_events;
        add_fields(&mut self.appended.id_fields, &shown.id_fields);
        for (known, new) in self.sequences.iter_mut().zip(made.log_sequences) {
            new.into_iter().for_each(|(id, row)| _ = known.entry(id).or_insert(row));
        }
        self.commit.add_files(made.files);
        let (folder, number) = self.commit.place();
        let mut part = Part::new(&folder, (number, period as u64));
        part.add_relations(self.relations.decide(made.facts))?;
        self.commit.add_files(part.finish()?);
        Ok(())
    }

    /// Keeps `spans` that are decided again.
    fn keep_open(
        &mut self,
        model: &Model,
        (spans, stores): (&[OpenSpan], &[Store]),
        inputs: &BTreeMap<String, Vec<InputAccount>>,
    ) -> Result<()> {
        let (folder, number) = self.commit.place();
        self.commit.add_open(open::keep((&folder, number), model, (spans, stores), inputs)?);
        Ok(())
    }

    /// Keeps what all periods have shown of ids, but for those that are open.
    fn keep_lives<'s>(
        &mut self,
        open: &FxHashSet<u64>,
        shown: impl Iterator<Item = &'s Shown>,
    ) -> Result<()> {
        shown.for_each(|shown| self.lives.end(id_lives::over(&shown.ids, open)));
        let (folder, number) = self.commit.place();
        self.commit.add_open(self.lives.keep(&folder, number)?.into_iter().collect());
        Ok(())
    }

    /// Makes all of it visible.
    fn finish(self) -> Result<Appended> {
        let Self { commit, mut catalog, mut addition, sequences, mut appended, .. } = self;
        let [mut sequences, mut open] = sequences;
        sequences.retain(|id, _| !catalog.knows_sequence(id));
        open.retain(|id, _| !catalog.knows_sequence(id) && !sequences.contains_key(id));
        addition.rows.log_sequences = sequences.into_values().collect();
        addition.open_sequences = open.into_values().collect();
        let [n_requests, n_spans, n_events] = appended.n_gone_on.map(u64::cast_signed);
        for run in &mut addition.runs {
            // What goes on was counted by the run that began it.
            run.n_requests = appended.requests.len() as i64 - n_requests;
            run.n_spans = appended.requests.n_spans.cast_signed() - n_spans;
            run.n_events = appended.n_events.cast_signed() - n_events;
            appended.run = Some(run.run.unsigned_abs());
        }
        let manifest = commit.finish(&addition)?;
        catalog.add(&addition.inputs, &addition.rows.log_sequences, &addition.log_points, &addition.runs);
        catalog.keep(manifest);
        Ok(appended)
    }
}

/// Adds what a period has shown of fields that hold ids.
fn add_fields(known: &mut Vec<IdField>, fields: &[IdField]) {
    for field in fields {
        match known.iter_mut().find(|known| known.field == field.field) {
            Some(known) if known.n_values < field.n_values => *known = field.clone(),
            Some(_) => {}
            None => known.push(field.clone()),
        }
    }
}

/// Fails if an input is in the table already, read in another way: with another model, layout,
/// zone. Nothing would be added for it, and the rows of the other reading would stay.
fn refuse_other_readings(manifest: &Manifest, model: &Model, nodes: &[Node]) -> Result<()> {
    let rows = manifest.rows::<InputRow>()?;
    let runs: BTreeMap<i64, Text> =
        manifest.rows::<RunRow>()?.into_iter().map(|row| (row.run, row.model_digest)).collect();
    let digest = format!("{:032x}", model.digest());
    for node in nodes {
        for account in &node.inputs {
            let same = format!("{:032x}", account.digest);
            let known = rows.iter().rev().find(|row| *row.node == *node.name && *row.digest == *same);
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
                manifest.folder.display()
            );
            return Err(schema::Error::mismatch(Path::new(&account.file), message));
        }
    }
    Ok(())
}

/// What an append makes requests of.
struct New {
    inputs: BTreeMap<String, Vec<InputAccount>>,
    unattributed: Vec<(String, Event)>,
    spans: Vec<Spill>,
    stores: Vec<Store>,
}

/// What is new of `nodes`, with what was `open`. Nothing was read again of a node of which
/// nothing is new.
fn take_new(
    (folder, model, window_us): (&Path, &Model, i64),
    (nodes, stores): (Vec<Node>, Vec<Store>),
    mut open: Open,
    catalog: &Catalog,
    appended: &mut Appended,
) -> Result<New> {
    let mut outputs = Outputs { nodes: BTreeMap::new(), stores };
    for mut node in nodes {
        let mut known = catalog.known(&node.name, &node.inputs);
        if !known.new.is_empty() {
            known.again = open.read_again(&node, &outputs.stores)?;
        }
        appended.n_inputs_known += known.n_inputs;
        node.keep_new(&known, folder, &mut outputs.stores)?;
        if known.new.is_empty() {
            // Files are told apart by their order too: what was open brings its own.
            node.inputs.clear();
        }
        appended.inputs.extend(known.new.into_iter().map(|account| (node.name.clone(), account)));
        outputs.nodes.insert(node.name.clone(), node);
    }
    let rest = if appended.inputs.is_empty() { Vec::new() } else { open.rest(folder)? };
    for output in rest {
        let (name, kept) = (output.node.clone(), to_u32(outputs.stores.len()));
        outputs.add(output);
        if let Some(node) = outputs.nodes.get_mut(&name) {
            border::join(node, model, (folder, kept, &mut outputs.stores), window_us)?;
        }
    }
    let (mut inputs, mut unattributed, mut spans) = (BTreeMap::new(), Vec::new(), Vec::new());
    for (_, node) in outputs.nodes {
        unattributed.extend(node.unattributed.into_iter().map(|event| (node.name.clone(), event)));
        spans.extend(node.spans);
        inputs.insert(node.name, node.inputs);
    }
    Ok(New { inputs, unattributed, spans, stores: outputs.stores })
}

/// What the outputs of one node hold.
pub(crate) struct Node {
    name: String,
    inputs: Vec<InputAccount>,
    pub(crate) spans: Vec<Spill>,
    unattributed: Vec<Event>,
}

/// Nodes, and where their whole spans are.
#[derive(Default)]
struct Outputs {
    nodes: BTreeMap<String, Node>,
    stores: Vec<Store>,
}

/// The nodes, sorted, and where their whole spans are: several maps of one node become one,
/// the positions of their inputs moved.
pub(crate) fn by_node(outputs: Vec<Spilled>) -> (Vec<Node>, Vec<Store>) {
    let mut all = Outputs::default();
    outputs.into_iter().for_each(|output| all.add(output));
    (all.nodes.into_values().collect(), all.stores)
}

impl Outputs {
    fn add(&mut self, mut output: Spilled) {
        let Self { nodes, stores } = self;
        let store = to_u32(stores.len());
        output.spans.iter_mut().for_each(|span| span.stored.store = store);
        let Some(first) = nodes.get_mut(&output.node) else {
            let Spilled { node: name, inputs, unattributed, spans, store } = output;
            stores.push(store);
            nodes.insert(name.clone(), Node { name, inputs, spans, unattributed });
            return;
        };
        let moved = u32::try_from(first.inputs.len()).expect("a node has fewer than 2^32 inputs");
        output.unattributed.iter_mut().for_each(|event| event.file += moved);
        output.spans.iter_mut().for_each(|span| span.first.file += moved);
        output.store.file_moved = moved;
        stores.push(output.store);
        first.inputs.append(&mut output.inputs);
        first.spans.append(&mut output.spans);
        first.unattributed.append(&mut output.unattributed);
    }
}

impl Node {
    /// Leaves out the records that the table in `folder` holds already. What is left of the spans
    /// is in one more store.
    pub(crate) fn keep_new(&mut self, known: &Known, folder: &Path, stores: &mut Vec<Store>) -> Result<()> {
        if known.is_nothing() {
            return Ok(());
        }
        self.unattributed.retain(|event| known.is_new(event));
        let mut kept = SpillWriter::create(folder)?;
        // Of inputs of which nothing is new nothing has to be read.
        let old = if known.new.is_empty() { Vec::new() } else { std::mem::take(&mut self.spans) };
        let places: Vec<Stored> = old.iter().map(|span| span.stored).collect();
        spill::read_in_parts(stores, &places, |_, mut span| {
            span.events.retain(|event| known.is_new(event));
            kept.add_span(&span)
        })?;
        let kept = kept.finish(&self.name, Vec::new())?;
        self.spans = kept.spans;
        let store = to_u32(stores.len());
        self.spans.iter_mut().for_each(|span| span.stored.store = store);
        stores.push(kept.store);
        Ok(())
    }
}

fn add_model(
    addition: &mut Addition,
    catalog: &Catalog,
    manifest: &Manifest,
    model: &Model,
    numbers: &[i64],
) -> Result<()> {
    if catalog.knows_model(model.digest()) {
        return Ok(());
    }
    // Small tables: two releases of a program share most of their methods.
    let known: BTreeSet<String> =
        manifest.rows::<TopLevelMethodRow>()?.iter().map(|row| format!("{row:?}")).collect();
    addition.top_level_methods = TopLevelMethodRow::all(model, &|id| numbers[id.index()]);
    addition.top_level_methods.retain(|row| !known.contains(&format!("{row:?}")));
    let known: BTreeSet<String> =
        manifest.rows::<CommunicationPairRow>()?.iter().map(|row| format!("{row:?}")).collect();
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
        ..RunRow::default()
    }];
}

/// Keeps the model beside the rows, under its digest, for `lprof show`.
fn write_model(folder: &Path, model: &Model) -> Result<()> {
    let models = folder.join("models");
    std::fs::create_dir_all(&models).map_err(schema::Error::io(&models))?;
    let path = models.join(format!("{:032x}.model", model.digest()));
    if path.exists() { Ok(()) } else { model.write(&path) }
}
