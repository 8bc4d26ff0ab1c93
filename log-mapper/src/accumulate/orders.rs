//! Orders: the log-point DAGs of a model made ready for asking "can this log
//! point come now, and is it the very next one?" (lprof §4.3).
//!
//! Reachability is worked out per position when it is first asked for: a log
//! visits few of the positions a model has, and a full closure of every DAG is
//! quadratic in its size. Over-approximates: any reachable node can follow,
//! because guards and levels may have kept the nodes between from printing.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use schema::model::floats_from;
use schema::{
    Dag, DagPoint, Identifier, IdentifierId, Level, LogPointId, Model, TopLevelId, TopLevelKind,
    TopLevelMethod, ValueClassId,
};

use self::adjacency::Adjacency;
pub(super) use self::bindings::Binding;
use self::printed::{Printed, add_keys, add_places, add_wholes};
pub(super) use self::roles::Role;
use self::roles::Roles;
pub(super) use self::walk::{comes_next, next_of, positions_of, step, walk};

mod adjacency;
mod bindings;
mod ends;
mod printed;
mod roles;
mod walk;

/// A position in a DAG: the node, and the log point within the node.
pub(super) type Position = (u32, u32);

/// The places of one log point in the DAG of one top-level method.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The top-level method.
    pub(super) top: TopLevelId,
    /// Sorted.
    pub(super) at: Vec<Position>,
    /// Per place, the number of what its log point binds there.
    pub(super) bindings: Vec<Binding>,
}

/// All DAGs of a model, indexed by log point.
#[derive(Clone, Debug)]
pub(super) struct Orders<'m> {
    pub(super) model: &'m Model,
    /// Per log point, sorted by top-level method. Each part of the log has them.
    places: Arc<[Vec<Places>]>,
    /// Per log point: how many different things it binds at its places.
    n_bindings: Arc<[Binding]>,
    roles: Arc<Roles>,
    /// Per top-level method.
    sorts: Arc<[Sort]>,
    /// Per log point and variable: what the identifiers it prints are.
    printed: Arc<[Vec<Printed>]>,
    /// Per log point: a method other than a dispatcher can start with it; once
    /// asked for.
    starts: Vec<OnceCell<bool>>,
    /// Per log point: see [`Orders::floats`].
    floats: Vec<bool>,
    /// Per log point: see [`Orders::is_ever_once`].
    once: Vec<bool>,
    tops: Vec<TopOrder>,
    /// Per top-level method, once known: the program can run it.
    possible: Vec<bool>,
    /// Per logger: the lowest level that the log has shown of it.
    shown: FxHashMap<&'m str, Level>,
    /// See [`Orders::identities`].
    identities: BTreeSet<ValueClassId>,
}

/// Levels below this are off in usual configurations. What a logger prints is learnt from the
/// log, for each logger: configurations name some of them, to hear more of them, or less.
const USUAL_LEVEL: Level = Level::Info;

/// The regex of a message that is one variable.
const FREE_TEXT: &str = "(.*?)";

#[derive(Clone, Debug, Default)]
struct TopOrder {
    /// Per node, once asked for.
    rows: Vec<OnceCell<Box<Row>>>,
    /// Per node, once asked for.
    adjacency: Vec<OnceCell<Box<Adjacency>>>,
    /// Nodes whose log point can be the first one seen, once asked for.
    entries: OnceCell<Bits>,
    /// Per node: an execution can end after it; once asked for.
    exits: Vec<OnceCell<bool>>,
    /// The node whose log points can be printed at any time.
    free: Option<u32>,
}

/// What a top-level method is.
#[derive(Clone, Copy, Debug)]
struct Sort {
    kind: TopLevelKind,
    is_main: bool,
    has_aliases: bool,
    n_nodes: usize,
}

/// What can follow one node.
#[derive(Clone, Debug)]
struct Row {
    /// At some time.
    later: Bits,
    /// With no log point between that should have printed.
    next: Bits,
}

/// How a log point can follow a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Follows {
    /// Log points between them did not print.
    Later,
    /// Nothing between them had to print.
    Next,
}

impl TopOrder {
    fn new(dag: &Dag) -> Self {
        let n_nodes = dag.nodes.len();
        Self {
            rows: vec![OnceCell::new(); n_nodes],
            adjacency: vec![OnceCell::new(); n_nodes],
            entries: OnceCell::new(),
            exits: vec![OnceCell::new(); n_nodes],
            free: free_node(dag),
        }
    }
}

/// What each top-level method is.
fn sorts(model: &Model, roles: &Roles) -> Arc<[Sort]> {
    let sort = |(t, top): (usize, &TopLevelMethod)| Sort {
        kind: top.kind,
        is_main: top.is_main(),
        n_nodes: top.dag.nodes.len(),
        has_aliases: !roles.aliases(TopLevelId::new(t)).is_empty(),
    };
    model.top_level_methods.iter().enumerate().map(sort).collect()
}

/// What the handler of an entity's events prints is of the entity's life, whoever
/// calls it (who restores it at start-up, say): a method that nobody is known to run
/// is at home only where nobody else is.
fn leave_to_entities(model: &Model, places: &mut [Vec<Places>]) {
    let kind = |places: &Places| model.top_level_methods[places.top.index()].kind;
    for places in places {
        if places.iter().any(|places| kind(places) == TopLevelKind::Entity) {
            places.retain(|places| kind(places) != TopLevelKind::Unreached);
        }
    }
}

impl<'m> Orders<'m> {
    /// Indexes the DAGs of `model`.
    pub(super) fn new(model: &'m Model) -> Self {
        let mut places: Vec<Vec<Places>> = model.log_points.iter().map(|_| Vec::new()).collect();
        let mut printed: Vec<Vec<Printed>> =
            model.log_points.iter().map(|point| vec![Printed::default(); point.variables.len()]).collect();
        let mut tops = Vec::with_capacity(model.top_level_methods.len());
        let mut once = vec![false; model.log_points.len()];
        for (t, top) in model.top_level_methods.iter().enumerate() {
            add_places(model, TopLevelId::new(t), (&mut places, &mut printed));
            let once_of = top.dag.nodes.iter().flat_map(|node| &node.once);
            once_of.for_each(|point| once[point.index()] = true);
            tops.push(TopOrder::new(&top.dag));
        }
        add_keys(model, &mut printed);
        add_wholes(model, &mut printed);
        let starts = vec![OnceCell::new(); places.len()];
        let most = floats_from(model.top_level_methods.len());
        let floats = places
            .iter()
            .zip(&model.log_points)
            .map(|(places, point)| places.len() > most || point.initializes());
        let floats = floats.collect();
        leave_to_entities(model, &mut places);
        let roles = Roles::new(model);
        let n_bindings = bindings::number(model, &roles, &mut places);
        Self {
            model,
            floats,
            once,
            places: places.into(),
            n_bindings: n_bindings.into(),
            sorts: sorts(model, &roles),
            roles: Arc::new(roles),
            printed: printed.into(),
            starts,
            tops,
            possible: Vec::new(),
            identities: model.identities().into_iter().map(|(_, class)| class).collect(),
            shown: FxHashMap::default(),
        }
    }

    /// Forgets the places in top-level methods that are not `possible`, of log
    /// points that stand in others too.
    pub(super) fn restrict(&mut self, possible: &[bool]) {
        let was = |top: usize| self.possible.get(top).is_none_or(|&possible| possible);
        self.possible = possible.iter().enumerate().map(|(top, &possible)| possible && was(top)).collect();
        let possible = &self.possible;
        for places in Arc::make_mut(&mut self.places) {
            let is_possible = |places: &Places| possible[places.top.index()];
            if places.iter().any(is_possible) {
                places.retain(is_possible);
            }
        }
        self.starts.fill(OnceCell::new());
    }

    /// Whether something that can be there prints `point`.
    pub(super) fn is_printed(&self, point: LogPointId) -> bool {
        self.places(point).iter().any(|places| self.is_possible(places.top))
    }

    /// How many log points there are.
    pub(super) fn n_points(&self) -> usize {
        self.places.len()
    }

    /// Whether `point` is printed in usual configurations.
    pub(super) fn is_usual(&self, point: LogPointId) -> bool {
        let levels = &self.model.log_points[point.index()].levels;
        levels.is_empty() || levels.iter().any(|&level| level >= USUAL_LEVEL)
    }

    /// Whether the program can run `top`, as far as is known.
    pub(super) fn is_possible(&self, top: TopLevelId) -> bool {
        self.possible.get(top.index()).is_none_or(|&possible| possible)
    }

    /// Where `point` stands, sorted by top-level method.
    pub(super) fn places(&self, point: LogPointId) -> &[Places] {
        &self.places[point.index()]
    }

    /// Where `point` stands in the order of `top`.
    pub(super) fn places_in(&self, top: TopLevelId, point: LogPointId) -> Option<&Places> {
        let places = self.places(point);
        places.binary_search_by_key(&top, |places| places.top).ok().map(|index| &places[index])
    }

    /// How many different things `point` binds at its places.
    pub(super) fn n_bindings(&self, point: LogPointId) -> Binding {
        self.n_bindings[point.index()]
    }

    /// Whether variable `variable` of `point` prints an identifier anywhere, or
    /// a value that is one elsewhere.
    pub(super) fn tells(&self, point: LogPointId, variable: u32) -> bool {
        let printed = self.printed[point.index()].get(variable as usize);
        printed.is_some_and(|printed| printed.is_identifier || printed.key.is_some())
    }

    /// The value class of variable `variable` of `point`, if values of that class
    /// are request identifiers of some method.
    pub(super) fn key(&self, point: LogPointId, variable: u32) -> Option<ValueClassId> {
        self.printed[point.index()].get(variable as usize)?.key
    }

    /// The value class of variable `variable` of `point`, if a method that prints it
    /// meets many of them, none of which is what it is about.
    pub(super) fn met(&self, point: LogPointId, variable: u32) -> Option<ValueClassId> {
        self.printed[point.index()].get(variable as usize)?.met
    }

    /// The value classes under which what variable `variable` of `point` prints
    /// can be a request identifier.
    pub(super) fn request_classes(&self, point: LogPointId, variable: u32) -> &[ValueClassId] {
        self.printed[point.index()].get(variable as usize).map_or(&[], |printed| &printed.request_classes)
    }

    /// Whether two variables of log points of one class print different fields of its object.
    pub(super) fn are_two_fields(&self, a: (LogPointId, u32), b: (LogPointId, u32)) -> bool {
        let points = [a, b].map(|(point, _)| &self.model.log_points[point.index()]);
        let fields = self.field(a).zip(self.field(b));
        points[0].class == points[1].class && fields.is_some_and(|(one, other)| one != other)
    }

    /// Whether a variable of a log point prints a field of its object.
    pub(super) fn is_field(&self, variable: (LogPointId, u32)) -> bool {
        self.field(variable).is_some()
    }

    fn field(&self, (point, variable): (LogPointId, u32)) -> Option<&'m str> {
        let variable = self.model.log_points[point.index()].variables.get(variable as usize);
        variable.map(|variable| &*variable.path).filter(|path| path.starts_with("this."))
    }

    /// The objects of `point` of which variable `variable` is a part.
    pub(super) fn wholes(&self, point: LogPointId, variable: u32) -> impl Iterator<Item = u32> {
        let of_point = &self.printed[point.index()];
        of_point.get(variable as usize).into_iter().flat_map(|printed| printed.wholes.iter().copied())
    }

    /// Whether `point` has no place in an order: utilities that everybody calls
    /// print it, or a class that is initialized by whoever comes first. It says
    /// nothing on where a request stands.
    pub(super) fn floats(&self, point: LogPointId) -> bool {
        self.floats[point.index()]
    }

    /// Whether `point` prints nothing but what it is given, whatever that is: texts are
    /// printed so line by line.
    pub(super) fn is_free_text(&self, point: LogPointId) -> bool {
        let templates = &self.model.log_points[point.index()].templates;
        !templates.is_empty() && templates.iter().all(|template| template.regex == FREE_TEXT)
    }

    /// Whether a top-level method handles events.
    pub(super) fn is_event(&self, top: TopLevelId) -> bool {
        matches!(self.kind(top), TopLevelKind::EventHandler | TopLevelKind::Entity)
    }

    /// The log point at a place, with its bindings.
    pub(super) fn dag_point(&self, top: TopLevelId, (node, point): Position) -> &'m DagPoint {
        &self.dag(top).nodes[node as usize].points[point as usize]
    }

    /// The model that they are of.
    pub(super) fn model(&self) -> &'m Model {
        self.model
    }

    /// The identifiers of a top-level method.
    pub(super) fn identifiers(&self, top: TopLevelId) -> &'m [Identifier] {
        &self.model.top_level_methods[top.index()].identifiers
    }

    /// The role of an identifier of a top-level method, if the method has it.
    pub(super) fn role(&self, top: TopLevelId, id: IdentifierId) -> Option<Role> {
        self.roles.of(top, id)
    }

    /// Whether one request can have several values of a role, or makes them.
    pub(super) fn may_differ(&self, role: Role) -> bool {
        self.roles.may_differ(role)
    }

    /// The roles by which requests of a top-level method are told apart and of which each has one value
    /// only, with their value classes.
    pub(super) fn own_roles(&self, top: TopLevelId) -> &[(ValueClassId, Role)] {
        self.roles.own(top)
    }

    /// Whether two roles of a top-level method are one: an entity is called the
    /// same by itself and by the events that are sent to it.
    pub(super) fn is_one(&self, top: TopLevelId, a: Role, b: Role) -> bool {
        a == b || self.roles.aliases(top).contains(&(a.min(b), a.max(b)))
    }

    /// Whether what a top-level method has bound contradicts what it would of any other one: no two of
    /// its roles are one, and it is no program's `main`.
    pub(super) fn is_plain(&self, top: TopLevelId) -> bool {
        let Sort { is_main, has_aliases, .. } = self.sorts[top.index()];
        !is_main && !has_aliases
    }

    /// Value classes by which entities are told from their like.
    pub(super) fn identities(&self) -> &BTreeSet<ValueClassId> {
        &self.identities
    }

    /// The kind of a top-level method.
    pub(super) fn kind(&self, top: TopLevelId) -> TopLevelKind {
        self.sorts[top.index()].kind
    }

    /// Whether a top-level method is a program's `main`.
    pub(super) fn is_main(&self, top: TopLevelId) -> bool {
        self.sorts[top.index()].is_main
    }

    /// Whether the dispatcher `top` prints `point` before and after its rounds only.
    pub(super) fn is_outside_rounds(&self, top: TopLevelId, point: LogPointId) -> bool {
        self.model.top_level_methods[top.index()].outside_rounds.binary_search(&point).is_ok()
    }

    /// How many nodes the DAG of `top` has.
    pub(super) fn n_nodes(&self, top: TopLevelId) -> usize {
        self.sorts[top.index()].n_nodes
    }

    /// A record of `level`, if the layout prints it, was seen that `point` has printed: its
    /// logger prints that level, and what is above it. Whether that is new.
    pub(super) fn see(&mut self, level: Option<Level>, point: LogPointId) -> bool {
        let Some(logger) = self.logger(point) else { return false };
        let level = level.unwrap_or(USUAL_LEVEL);
        let is_new = self.shown.get(logger).is_none_or(|&shown| level < shown);
        if is_new {
            self.shown.insert(logger, level);
            self.starts.fill(OnceCell::new());
            for top in &mut self.tops {
                top.rows.fill(OnceCell::new());
                top.adjacency.iter_mut().filter_map(OnceCell::get_mut).for_each(|adjacency| adjacency.show());
                top.entries = OnceCell::new();
                top.exits.fill(OnceCell::new());
            }
        }
        is_new
    }

    /// Whether and how anything of node `to` can be printed after something of node `from` was.
    pub(super) fn follows_node(&self, top: TopLevelId, from: u32, to: u32) -> Option<Follows> {
        let row = self.row(top, from);
        if row.next.get(to) { Some(Follows::Next) } else { row.later.get(to).then_some(Follows::Later) }
    }

    /// Whether and how what stands at `to` can be printed after what stands at `from` was.
    pub(super) fn follows(&self, top: TopLevelId, from: Position, to: Position) -> Option<Follows> {
        let follows = self.follows_node(top, from.0, to.0);
        if from.0 != to.0 {
            return follows;
        }
        follows.zip(self.follows_within(top, from, to.1)).map(|(follows, within)| follows.min(within))
    }

    /// Whether some method prints `point` at most once, although not all of what stands
    /// beside it.
    pub(super) fn is_ever_once(&self, point: LogPointId) -> bool {
        self.once[point.index()]
    }

    /// Whether whoever has printed `point` in node `from` can print it in node `to`.
    pub(super) fn can_repeat(&self, top: TopLevelId, point: LogPointId, from: u32, to: u32) -> bool {
        from != to || self.dag(top).nodes[to as usize].once.binary_search(&point).is_err()
    }

    /// Whether `node` says nothing of where a request stands: what it prints can come
    /// at any time.
    pub(super) fn is_free(&self, top: TopLevelId, node: u32) -> bool {
        self.tops[top.index()].free == Some(node)
    }

    /// The logger of `point`, if it has one.
    fn logger(&self, point: LogPointId) -> Option<&'m str> {
        match self.model.log_points.get(point.index())?.loggers.as_slice() {
            [logger] => Some(logger),
            _ => None,
        }
    }

    fn row(&self, top: TopLevelId, from: u32) -> &Row {
        let row = || Box::new(self.make_row(top, from));
        self.tops[top.index()].rows[from as usize].get_or_init(row)
    }

    fn make_row(&self, top: TopLevelId, from: u32) -> Row {
        let dag = self.dag(top);
        let node = &dag.nodes[from as usize];
        // After what comes at any time, anything does that can come first.
        let after = if self.is_free(top, from) { &dag.entries } else { &node.next };
        let mut next = self.audible(dag, after);
        let mut later = Bits::new(dag.nodes.len());
        let mut stack = after.clone();
        while let Some(to) = stack.pop() {
            if !later.get(to) {
                later.set(to);
                stack.extend(&dag.nodes[to as usize].next);
            }
        }
        // Log points of one node have no order among themselves, so that each
        // can follow the others even where the node does not repeat.
        if node.repeats || node.points.len() > 1 {
            next.set(from);
            later.set(from);
        }
        Row { later, next }
    }

    /// `starts` and what comes after those of them that are silent.
    fn audible(&self, dag: &Dag, starts: &[u32]) -> Bits {
        let mut seen = Bits::new(dag.nodes.len());
        let mut stack = starts.to_vec();
        while let Some(node) = stack.pop() {
            if !seen.get(node) {
                seen.set(node);
                if self.is_silent(dag, node) {
                    stack.extend(&dag.nodes[node as usize].next);
                }
            }
        }
        seen
    }

    /// Whether nothing of a node is printed, as far as the log has shown: its loggers have
    /// shown nothing yet, or nothing of its levels.
    fn is_silent(&self, dag: &Dag, node: u32) -> bool {
        dag.nodes[node as usize].points.iter().all(|point| self.is_off(point.log_point))
    }

    /// Whether the log has shown nothing of the logger of `point`, or nothing of its levels.
    fn is_off(&self, point: LogPointId) -> bool {
        let levels = &self.model.log_points[point.index()].levels;
        let shown = match self.logger(point) {
            Some(logger) => self.shown.get(logger).copied(),
            None => Some(USUAL_LEVEL),
        };
        !levels.is_empty() && shown.is_none_or(|shown| levels.iter().all(|&level| level < shown))
    }

    /// The log points of which the log has shown nothing so far, nor could have.
    pub(super) fn silent_points(&self) -> FixedBitSet {
        (0..self.n_points()).filter(|&point| self.is_off(LogPointId::new(point))).collect()
    }

    /// Whether nothing of a node is of a usual level.
    fn is_unusual(&self, dag: &Dag, node: u32) -> bool {
        dag.nodes[node as usize].points.iter().all(|point| !self.is_usual(point.log_point))
    }

    fn dag(&self, top: TopLevelId) -> &'m Dag {
        &self.model.top_level_methods[top.index()].dag
    }
}

/// The node that can come at any time, in any number: first, and after all others.
fn free_node(dag: &Dag) -> Option<u32> {
    let last = to_u32(dag.nodes.len().checked_sub(1)?);
    let (node, others) = dag.nodes.split_last()?;
    let is_free = node.repeats
        && !others.is_empty()
        && dag.entries.contains(&last)
        && others.iter().all(|other| other.next.contains(&last));
    is_free.then_some(last)
}

/// A set of nodes.
#[derive(Clone, Debug)]
struct Bits(Box<[u64]>);

impl Bits {
    fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)].into_boxed_slice())
    }

    fn get(&self, bit: u32) -> bool {
        self.0[bit as usize / 64] >> (bit % 64) & 1 == 1
    }

    fn set(&mut self, bit: u32) {
        self.0[bit as usize / 64] |= 1 << (bit % 64);
    }

    fn any(&self) -> bool {
        self.0.iter().any(|&word| word != 0)
    }
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).expect("a model has fewer than 2^32 elements")
}
