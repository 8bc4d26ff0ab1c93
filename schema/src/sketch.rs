//! Sketches: small models written as text, for the tests of the crates that
//! read models. Not a file format; nothing but tests uses it.
//!
//! ```text
//! point A block=Block.id user=User.name    a log point and its variables
//! point D debug                            one at another level than info
//! top serve RpcHandler block=Block.id user=User.name?
//!   >A B C                                 node A: an entry; B or C come next
//!   B* C                                   node B repeats
//!   C|D<                                   node of two log points: an exit
//! pair serve relay Rpc block=block many    from, to, kind, identifier map; `waits` if the
//!                                          sender waits until it is done, `outside` if
//!                                          it hands over outside of its rounds only,
//!                                          `in_order` if what comes first is taken first
//! pair serve find Http waits call:GET/a/{id},A..B,orders call:GET/a/{id},B..C|$*
//!                                          remote calls in order: what is asked for, the log
//!                                          points before and after, the host; see `remote_calls`
//! ```
//! A variable prints the identifier of the same name, if the top-level method
//! has one. `?` after an identifier makes it weak, `!` a name of the node; one whose
//! path holds `[*]` is one of many. The kind `Asked` is that of a dispatch target that
//! programs ask for which are not known, `Timer` that of a task of which one runs after the
//! other. `b~a` is an identifier `b` that is the value of `a` under
//! another name.

mod remote_calls;

use crate::ids::{IdentifierId, LogPointId, TopLevelId, ValueClassId};
use crate::model::{
    CommunicationPair, Dag, DagNode, DagPoint, Identifier, IdentifierStrength, Level, LinkKind, LogPoint,
    Model, TopLevelKind, TopLevelMethod, ValueShape, Variable,
};

/// The model that `text` sketches.
///
/// # Panics
/// On any mistake in the sketch, naming the line: sketches are test code.
#[must_use]
pub fn model(text: &str) -> Model {
    let mut model = Model::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "point" => add_point(&mut model, rest),
            "top" => add_top(&mut model, rest),
            "pair" => add_pair(&mut model, rest),
            _ => add_node(&mut model, line),
        }
    }
    for top in &mut model.top_level_methods {
        link_nodes(&mut top.dag);
    }
    model
}

/// The log point of a sketch called `name`.
///
/// # Panics
/// If the sketch has none.
#[must_use]
pub fn point(model: &Model, name: &str) -> LogPointId {
    let index = model.log_points.iter().position(|point| point.method == name);
    LogPointId::new(index.unwrap_or_else(|| panic!("no log point `{name}`")))
}

/// The top-level method of a sketch called `name`.
///
/// # Panics
/// If the sketch has none.
#[must_use]
pub fn top(model: &Model, name: &str) -> TopLevelId {
    let index = model.top_level_methods.iter().position(|top| top.method == name);
    TopLevelId::new(index.unwrap_or_else(|| panic!("no top-level method `{name}`")))
}

/// The value class called `name`, made if it is new.
pub fn value_class(model: &mut Model, name: &str) -> ValueClassId {
    let index = model.value_classes.iter().position(|class| class == name).unwrap_or_else(|| {
        model.value_classes.push(name.to_owned());
        model.value_classes.len() - 1
    });
    ValueClassId::new(index)
}

fn add_point(model: &mut Model, rest: &str) {
    let mut words = rest.split_whitespace();
    let method = words.next().expect("a log point has a name").to_owned();
    let mut levels = vec![Level::Info];
    let mut variables = Vec::new();
    for word in words {
        if let Some((path, class)) = word.split_once('=') {
            let value_class = Some(value_class(model, class));
            variables.push(Variable {
                path: path.to_owned(),
                value_class,
                shape: ValueShape::Text,
                parts: Vec::new(),
                in_text: false,
            });
        } else {
            levels = vec![Level::parse(word).unwrap_or_else(|| panic!("no level `{word}`"))];
        }
    }
    model.log_points.push(LogPoint {
        class: "sketch.Points".to_owned(),
        method,
        source_line: 1,
        source_file: None,
        call_site: None,
        n_sites: 1,
        levels,
        loggers: Vec::new(),
        in_handler: false,
        has_throwable: false,
        variables,
        templates: Vec::new(),
    });
}

fn add_top(model: &mut Model, rest: &str) {
    let mut words = rest.split_whitespace();
    let method = words.next().expect("a top-level method has a name").to_owned();
    let word = words.next();
    let kind = match word {
        Some("IdentifierLoss") => TopLevelKind::IdentifierLoss,
        Some("DispatchTarget" | "Asked") => TopLevelKind::DispatchTarget,
        Some("RpcHandler") => TopLevelKind::RpcHandler,
        Some("EventHandler") => TopLevelKind::EventHandler,
        Some("Entity") => TopLevelKind::Entity,
        Some("Task" | "Timer") => TopLevelKind::Task,
        Some("Dispatcher") => TopLevelKind::Dispatcher,
        Some("Unreached") => TopLevelKind::Unreached,
        other => panic!("no kind of top-level method: {other:?}"),
    };
    let mut identifiers = Vec::new();
    for word in words {
        let (path, class) = word.split_once('=').unwrap_or_else(|| panic!("no identifier: `{word}`"));
        let strength = match class.chars().last() {
            Some('?') => IdentifierStrength::Weak,
            Some('!') => IdentifierStrength::Node,
            _ => IdentifierStrength::Request,
        };
        let value_class = value_class(model, class.trim_end_matches(['?', '!']));
        let one_of_many = path.contains("[*]");
        let (path, first) = path.split_once('~').unwrap_or((path, path));
        let same_as = identifiers.iter().position(|known: &Identifier| known.path == first);
        let same_as = same_as.map(IdentifierId::new);
        identifiers.push(Identifier { path: path.to_owned(), value_class, strength, one_of_many, same_as });
    }
    model.top_level_methods.push(TopLevelMethod {
        class: "sketch.Tops".to_owned(),
        method,
        descriptor: "()V".to_owned(),
        kind,
        identifiers,
        dag: Dag::default(),
        entry_points: Vec::new(),
        is_round: false,
        is_asked_for: word == Some("Asked"),
        is_one_at_a_time: word == Some("Timer"),
        only_in_tasks: false,
        outside_rounds: Vec::new(),
        serves: Vec::new(),
        reason: String::new(),
    });
}

/// A line of a DAG. The names of the nodes that follow are kept as bindings
/// to log points until all nodes are known.
fn add_node(model: &mut Model, line: &str) {
    let mut words = line.split_whitespace();
    let spec = words.next().expect("the line is not empty");
    let names: Vec<&str> = spec.trim_matches(['>', '<', '*']).split('|').collect();
    let once = names.iter().filter_map(|name| name.strip_suffix('!')).map(|name| point(model, name));
    let mut once: Vec<LogPointId> = once.collect();
    once.sort_unstable();
    let next: Vec<LogPointId> = words.map(|name| point(model, name)).collect();
    let top = model.top_level_methods.last().expect("`top` comes before its nodes");
    let points: Vec<DagPoint> = names
        .iter()
        .map(|name| {
            let log_point = point(model, name.trim_end_matches('!'));
            let bindings = model.log_points[log_point.index()].variables.iter().map(|variable| {
                top.identifiers.iter().position(|id| id.path == variable.path).map(IdentifierId::new)
            });
            DagPoint { log_point, bindings: bindings.collect() }
        })
        .collect();
    let top = model.top_level_methods.last_mut().expect("checked above");
    let index = u32::try_from(top.dag.nodes.len()).expect("sketches are small");
    if spec.starts_with('>') {
        top.dag.entries.push(index);
    }
    if spec.ends_with('<') {
        top.dag.exits.push(index);
    }
    let next = next.iter().map(|id| u32::try_from(id.index()).expect("sketches are small")).collect();
    top.dag.nodes.push(DagNode { points, repeats: spec.contains('*'), once, next });
}

/// Turns the log points in `next` into positions of nodes.
fn link_nodes(dag: &mut Dag) {
    let nodes = dag.nodes.clone();
    for node in &mut dag.nodes {
        for next in &mut node.next {
            let wanted = LogPointId::new(*next as usize);
            let position = nodes.iter().position(|node| node.points.iter().any(|p| p.log_point == wanted));
            let position = position.unwrap_or_else(|| panic!("no node holds log point {wanted}"));
            *next = u32::try_from(position).expect("sketches are small");
        }
        node.next.sort_unstable();
    }
}

fn add_pair(model: &mut Model, rest: &str) {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [from, to, kind, rest @ ..] = words.as_slice() else { panic!("no pair: `{rest}`") };
    let (from, to) = (top(model, from), top(model, to));
    let kind = match *kind {
        "Call" => LinkKind::Call,
        "Thread" => LinkKind::Thread,
        "Queue" => LinkKind::Queue,
        "Rpc" => LinkKind::Rpc,
        "Socket" => LinkKind::Socket,
        "Store" => LinkKind::Store,
        "Entity" => LinkKind::Entity,
        "Ask" => LinkKind::Ask,
        "Http" => LinkKind::Http,
        "Grpc" => LinkKind::Grpc,
        "Message" => LinkKind::Message,
        other => panic!("no kind of link: `{other}`"),
    };
    let identifier = |top: TopLevelId, path: &str| {
        let identifiers = &model.top_level_methods[top.index()].identifiers;
        let index = identifiers.iter().position(|id| id.path == path);
        IdentifierId::new(index.unwrap_or_else(|| panic!("no identifier `{path}`")))
    };
    let (calls, rest) = remote_calls::split(rest);
    let remote_calls = remote_calls::parse(model, &calls, rest.contains(&"waits"));
    let identifiers = rest.iter().filter_map(|word| word.split_once('='));
    let identifiers = identifiers.map(|(a, b)| (identifier(from, a), identifier(to, b))).collect();
    let many = rest.contains(&"many");
    let reason = String::new();
    model.communication_pairs.push(CommunicationPair {
        from,
        to,
        kind,
        identifiers,
        many,
        before: Vec::new(),
        after: Vec::new(),
        beside: Vec::new(),
        elsewhere: Vec::new(),
        waits: rest.contains(&"waits"),
        outside_rounds: rest.contains(&"outside"),
        in_order: rest.contains(&"in_order"),
        remote_calls,
        reason,
    });
}
