//! Emit: the results of the phases as a [`schema::Model`], sorted, with names
//! for people. Nothing is decided here, except that every log point gets a home.

use schema::model::RunSuccessors;
use schema::{
    CommunicationPair, IdentifierId, LogPointId, Model, Successors, TopLevelId, TopLevelMethod, ValueClassId,
};

use crate::call_graph::{CallGraph, RootKind};
use crate::order::fragment::Fragment;
use crate::order::{Order, dag};
use crate::pairs::Pair;
use crate::path::LogPoint;
use crate::program::{MethodId, Name, Program};
use crate::slow_calls::SlowCall;
use crate::thread_names::ThreadName;
use crate::top_level::TopLevels;
use crate::top_level::entry_points::EntryPoints;

mod names;
mod points;

use names::dotted;

/// Everything the phases found.
pub(crate) struct Findings<'a> {
    /// The program.
    pub(crate) program: &'a Program,
    /// All log points.
    pub(crate) log_points: &'a [LogPoint],
    /// Who calls whom.
    pub(crate) graph: &'a CallGraph,
    /// Top-level methods.
    pub(crate) top_levels: &'a TopLevels,
    /// Programs, and which top-level methods each can run.
    pub(crate) entry_points: &'a EntryPoints,
    /// Order of the log points.
    pub(crate) order: &'a Order,
    /// Communication pairs.
    pub(crate) pairs: &'a [Pair],
    /// Names of threads, and what runs in them.
    pub(crate) thread_names: &'a [ThreadName],
    /// What can take time between log points.
    pub(crate) slow_calls: &'a [SlowCall],
    /// What was skipped or approximated.
    pub(crate) diagnostics: Vec<String>,
}

/// The model.
pub(crate) fn model(findings: Findings<'_>) -> Model {
    let classes = value_classes(&findings);
    let log_points = points::LogPoints::new(&findings, &classes);
    let top_levels = Sorted::new(&findings);
    let methods = top_levels.order.iter().map(|&old| top_level(&findings, &classes, &log_points, old));
    let top_level_methods: Vec<TopLevelMethod> = methods.collect();
    let communication_pairs = pairs(&findings, &top_levels, &log_points);
    let slow_calls = slow_calls(&findings, &log_points);
    let successors = successors(&findings, &log_points, &top_levels);
    let (silent_threads, n_threads) = threads(&findings);
    Model {
        inputs: findings.program.entries.clone(),
        entry_points: entry_points(&findings),
        thread_names: thread_names(&findings, &classes, &top_levels),
        value_classes: classes.iter().map(|c| dotted(c)).collect(),
        log_points: log_points.points,
        top_level_methods,
        communication_pairs,
        slow_calls,
        successors,
        silent_threads,
        n_threads,
        diagnostics: findings.diagnostics,
    }
}

/// All value classes, sorted.
fn entry_points(findings: &Findings<'_>) -> Vec<String> {
    let program = findings.program;
    let class = |main: &MethodId| program.methods[main.index()].class;
    let mains = findings.entry_points.mains.iter();
    mains.map(|main| dotted(&program.classes[class(main).index()].name)).collect()
}

fn thread_names(findings: &Findings<'_>, classes: &[Name], sorted: &Sorted) -> Vec<schema::ThreadName> {
    let name = |name: &ThreadName| {
        let mut runs: Vec<TopLevelId> = name.runs.iter().map(|&top| sorted.id[top as usize]).collect();
        runs.sort_unstable();
        schema::ThreadName {
            template: points::template(&name.template),
            variables: points::variables(findings.program, classes, name.frame, &name.variables),
            n_letters: name.n_letters,
            runs,
            is_given_tasks: name.is_given_tasks,
        }
    };
    findings.thread_names.iter().map(name).collect()
}

fn value_classes(findings: &Findings<'_>) -> Vec<Name> {
    let variables = findings.log_points.iter().flat_map(|p| &p.variables).filter_map(|v| v.value_class);
    let identifiers = findings.top_levels.methods.iter().flat_map(|t| &t.identifiers).map(|i| i.value_class);
    let mut classes: Vec<Name> = variables.chain(identifiers).collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}

fn class_id(classes: &[Name], class: Name) -> Option<ValueClassId> {
    classes.binary_search(&class).ok().map(ValueClassId::new)
}

/// Top-level methods in the order of the model.
struct Sorted {
    /// Positions in [`TopLevels::methods`].
    order: Vec<usize>,
    /// The inverse.
    id: Vec<TopLevelId>,
}

impl Sorted {
    fn new(findings: &Findings<'_>) -> Self {
        let program = findings.program;
        let key = |i: &usize| {
            let method = &program.methods[findings.top_levels.methods[*i].method.index()];
            (
                dotted(&program.classes[method.class.index()].name),
                method.name.as_str(),
                method.descriptor.as_str(),
                *i,
            )
        };
        let mut order: Vec<usize> = (0..findings.top_levels.methods.len()).collect();
        order.sort_by_cached_key(key);
        let mut id = vec![TopLevelId::new(0); order.len()];
        for (new, &old) in order.iter().enumerate() {
            id[old] = TopLevelId::new(new);
        }
        Sorted { order, id }
    }
}

fn top_level(
    findings: &Findings<'_>,
    classes: &[Name],
    log_points: &points::LogPoints,
    old: usize,
) -> TopLevelMethod {
    let top = &findings.top_levels.methods[old];
    let method = &findings.program.methods[top.method.index()];
    let same_as = top.same_values(findings.log_points).into_iter();
    let same_as = same_as.map(|first| first.map(|first| IdentifierId::new(first as usize)));
    let identifiers = top
        .identifiers
        .iter()
        .zip(same_as)
        .map(|(i, same_as)| schema::Identifier {
            path: i.place.path.name(findings.program, i.place.frame),
            value_class: class_id(classes, i.value_class).expect("every identifier's class is in the table"),
            strength: i.strength,
            one_of_many: i.is_one_of_many(),
            same_as,
        })
        .collect();
    let bindings = |point: u32| -> Vec<Option<IdentifierId>> {
        let n = findings.log_points[point as usize].variables.len();
        let Ok(at) = top.members.binary_search_by_key(&point, |m| m.log_point) else {
            return vec![None; n];
        };
        let mut bindings: Vec<Option<IdentifierId>> =
            top.members[at].bindings.iter().map(|b| b.map(|i| IdentifierId::new(i as usize))).collect();
        bindings.resize(n, None);
        bindings
    };
    let mut outside_rounds: Vec<LogPointId> =
        top.outside_rounds.iter().map(|&point| log_points.id(point)).collect();
    outside_rounds.sort_unstable();
    let fragment = complete(&findings.order.fragments[top.method.index()], top);
    TopLevelMethod {
        class: dotted(&findings.program.classes[method.class.index()].name),
        method: method.name.to_string(),
        descriptor: method.descriptor.to_string(),
        kind: top.kind,
        identifiers,
        dag: dag::dag(&fragment, |p| log_points.id(p), bindings),
        entry_points: findings.entry_points.of[old].clone(),
        is_round: top.is_round,
        is_asked_for: top.is_asked_for,
        is_one_at_a_time: top.is_one_at_a_time,
        only_in_tasks: crate::top_level::tasks::lead_alone_to(findings.graph, top.method),
        outside_rounds,
        serves: serves(findings.graph, top.method),
        reason: top.reason.clone(),
    }
}

/// The fragment with those members that control flow does not show (called in
/// ways that the order cannot follow), or that tell of its rounds and come between them: one
/// more node, free in order. Without what the method meets no objects for.
fn complete(fragment: &Fragment, top: &crate::top_level::TopLevel) -> Fragment {
    let known = fragment.points();
    let is_free =
        |point: &u32| known.binary_search(point).is_err() || top.remembered.binary_search(point).is_ok();
    let missing: Vec<u32> = top.members.iter().map(|m| m.log_point).filter(is_free).collect();
    let mut gone = [&top.unmet[..], &top.remembered].concat();
    gone.sort_unstable();
    let mut fragment = fragment.without(&gone);
    if !missing.is_empty() {
        fragment.add_free(missing);
    }
    fragment
}

fn pairs(findings: &Findings<'_>, sorted: &Sorted, log_points: &points::LogPoints) -> Vec<CommunicationPair> {
    let mut pairs: Vec<CommunicationPair> = findings
        .pairs
        .iter()
        .map(|pair| {
            let ids = |points: &[u32]| {
                let mut ids: Vec<LogPointId> = points.iter().map(|&p| log_points.id(p)).collect();
                ids.sort_unstable();
                ids.dedup();
                ids
            };
            let id = |i: u32| IdentifierId::new(i as usize);
            CommunicationPair {
                from: sorted.id[pair.from],
                to: sorted.id[pair.to],
                kind: pair.kind,
                identifiers: pair.identifiers.iter().map(|&(a, b)| (id(a), id(b))).collect(),
                many: pair.many,
                before: ids(&pair.before),
                after: ids(&pair.after),
                beside: ids(&pair.beside),
                elsewhere: ids(&pair.elsewhere),
                waits: pair.waits,
                outside_rounds: pair.outside_rounds,
                in_order: pair.in_order,
                remote_calls: pair.remote_calls.iter().map(|call| remote_call(call, log_points)).collect(),
                reason: pair.reason.clone(),
            }
        })
        .collect();
    pairs.sort_by_key(|p| (p.from, p.to, p.kind));
    pairs
}

/// A remote call with the log points of the model.
fn remote_call(call: &schema::RemoteCall, log_points: &points::LogPoints) -> schema::RemoteCall {
    let ids = |points: &[LogPointId]| {
        let mut ids: Vec<LogPointId> = points.iter().map(|p| log_points.id(p.index() as u32)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    };
    schema::RemoteCall { after: ids(&call.after), before: ids(&call.before), ..call.clone() }
}

/// What remote callers ask for a method by.
fn serves(graph: &CallGraph, method: MethodId) -> Vec<String> {
    let routes = graph.handler(method).into_iter().flat_map(|handler| &handler.routes);
    let mut texts: Vec<String> = routes.map(crate::services::Route::text).collect();
    texts.sort();
    texts.dedup();
    texts
}

fn successors(findings: &Findings<'_>, log_points: &points::LogPoints, sorted: &Sorted) -> Successors {
    let found = &findings.order.successors.next;
    let mut all = vec![None; log_points.points.len()];
    let is_known = |point: u32| found[point as usize].is_some();
    let mut unknown: Vec<LogPointId> = (0u32..)
        .zip(found)
        .filter(|(_, next)| next.is_none())
        .map(|(point, _)| log_points.id(point))
        .collect();
    unknown.sort_unstable();
    for (point, next) in (0u32..).zip(found).filter(|&(point, _)| is_known(point)) {
        let point = log_points.id(point);
        if unknown.binary_search(&point).is_err() {
            let next = next.iter().flatten().map(|&next| log_points.id(next));
            all[point.index()].get_or_insert_with(Vec::new).extend(next);
        }
    }
    let ids =
        |points: &[u32]| -> Vec<LogPointId> { points.iter().map(|&point| log_points.id(point)).collect() };
    let all_of = &findings.order.successors;
    let firsts = sorted.order.iter().map(|&old| ids(&findings.order.firsts[old])).collect();
    let in_run = in_run(findings, log_points, sorted);
    Successors::new(all, firsts, [ids(&all_of.begins), ids(&all_of.ends)], in_run)
}

/// What can follow within one run of each top-level method, of log points of the model.
fn in_run(findings: &Findings<'_>, log_points: &points::LogPoints, sorted: &Sorted) -> RunSuccessors {
    let found = &findings.order.in_run;
    let ids = |set: &Vec<u32>| set.iter().map(|&point| log_points.id(point)).collect();
    let mut sets: Vec<Vec<LogPointId>> = found.sets.iter().map(ids).collect();
    let of_top = |&old: &usize| {
        let mut next: Vec<(LogPointId, usize)> =
            found.next[old].iter().map(|&(point, set)| (log_points.id(point), set)).collect();
        next.sort_unstable();
        next.dedup();
        // Several statements can be one log point.
        let of_one = next.chunk_by(|a, b| a.0 == b.0).map(|same| match same {
            [one] => *one,
            several => {
                sets.push(several.iter().flat_map(|&(_, set)| sets[set].clone()).collect());
                (several[0].0, sets.len() - 1)
            }
        });
        of_one.collect()
    };
    let next = sorted.order.iter().map(of_top).collect();
    RunSuccessors { sets, next }
}

fn slow_calls(findings: &Findings<'_>, log_points: &points::LogPoints) -> Vec<schema::SlowCall> {
    let ids = |points: &[u32]| {
        let mut ids: Vec<LogPointId> = points.iter().map(|&point| log_points.id(point)).collect();
        ids.sort_unstable();
        ids
    };
    let one = |call: &SlowCall| schema::SlowCall {
        kind: call.kind,
        source_line: call.source_line,
        call: call.call.clone(),
        comes_to: call.comes_to.clone(),
        after: ids(&call.after),
        before: ids(&call.before),
    };
    let mut all: Vec<schema::SlowCall> = findings.slow_calls.iter().map(one).collect();
    all.sort();
    all
}

/// Threads and tasks that log nothing, and the number of all of them. Served
/// methods and handlers of events run in somebody's thread.
fn threads(findings: &Findings<'_>) -> (Vec<String>, u32) {
    let kinds = [RootKind::Main, RootKind::Thread, RootKind::Task];
    let roots = findings.graph.roots.iter().filter(|r| kinds.contains(&r.kind));
    let mut all: Vec<String> = Vec::new();
    let mut silent: Vec<String> = Vec::new();
    for root in roots {
        let method = &findings.program.methods[root.method.index()];
        let class = dotted(&findings.program.classes[method.class.index()].name);
        let name = format!("{class}.{}", method.name);
        if !logs(findings, root.method) {
            silent.push(name.clone());
        }
        all.push(name);
    }
    all.sort_unstable();
    all.dedup();
    silent.sort_unstable();
    silent.dedup();
    (silent, u32::try_from(all.len()).unwrap_or(u32::MAX))
}

/// Whether a thread that begins with `root` can print, top-level methods that it
/// calls included.
fn logs(findings: &Findings<'_>, root: MethodId) -> bool {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut stack = vec![root];
    while let Some(method) = stack.pop() {
        if !findings.order.fragments[method.index()].nodes.is_empty() {
            return true;
        }
        for (_, target) in findings.graph.local_edges(method) {
            if seen.insert(target) {
                stack.push(target);
            }
        }
    }
    false
}
