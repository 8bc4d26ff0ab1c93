//! What belongs to each top-level method: its log points and identifiers.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use schema::{IdentifierStrength, TopLevelKind};

use super::loops::ServiceLoops;
use super::{Member, TopLevel, unmet};
use crate::call_graph::{Call, CallGraph};
use crate::identifiers::{Bindings, Identifier, Lifetimes, Place, Scope, Summary, summarize};
use crate::limits::COMMON_MIN;
use crate::path::{AccessPath, LogPoint, Root, Step, Variable};
use crate::program::{MethodId, Name, Program};
use crate::rules::Rules;

/// The chosen methods with kind and reason.
pub(crate) type Chosen = BTreeMap<MethodId, (TopLevelKind, String)>;

/// Walks over local edges from one method after the other, with one memory of what
/// was met.
pub(crate) struct Walk {
    round: u32,
    /// By method: the round that met it.
    met: Vec<u32>,
    methods: Vec<MethodId>,
}

impl Walk {
    pub(crate) fn new(graph: &CallGraph) -> Self {
        Walk { round: 0, met: vec![0; graph.calls.len()], methods: Vec::new() }
    }

    /// Methods reached from `top`, itself included, without entering methods that
    /// `is_cut`.
    pub(crate) fn region(
        &mut self,
        graph: &CallGraph,
        top: MethodId,
        is_cut: impl Fn(MethodId) -> bool,
    ) -> &[MethodId] {
        self.region_over(graph, top, is_cut, |_, _, _| true)
    }

    /// The same over those edges only that `can_run`: of a caller, a call, a target.
    pub(crate) fn region_over(
        &mut self,
        graph: &CallGraph,
        top: MethodId,
        is_cut: impl Fn(MethodId) -> bool,
        can_run: impl Fn(MethodId, &Call, MethodId) -> bool,
    ) -> &[MethodId] {
        self.round += 1;
        self.met[top.index()] = self.round;
        self.methods.clear();
        self.methods.push(top);
        let mut at = 0;
        while at < self.methods.len() {
            let caller = self.methods[at];
            for (call, target) in graph.local_edges(caller) {
                let met = &mut self.met[target.index()];
                if *met != self.round && !is_cut(target) && can_run(caller, call, target) {
                    *met = self.round;
                    self.methods.push(target);
                }
            }
            at += 1;
        }
        &self.methods
    }
}

/// Adds a home for log points that no chosen method reaches: the outermost
/// caller, or the method itself.
pub(crate) fn cover(
    program: &Program,
    graph: &CallGraph,
    log_points: &[LogPoint],
    mut chosen: Chosen,
    none: &[bool],
) -> Chosen {
    let mut reached = vec![false; none.len()];
    for &top in chosen.keys() {
        mark(graph, top, &chosen, &mut reached);
    }
    for point in log_points {
        if reached[point.frame.index()] {
            continue;
        }
        let home = outermost(program, graph, point.frame, &reached);
        let why = "no known thread reaches it".to_owned();
        chosen.entry(home).or_insert((TopLevelKind::Unreached, why));
        mark(graph, home, &chosen, &mut reached);
        if !reached[point.frame.index()] {
            let why = "no known thread reaches it".to_owned();
            chosen.entry(point.frame).or_insert((TopLevelKind::Unreached, why));
            mark(graph, point.frame, &chosen, &mut reached);
        }
    }
    chosen
}

fn mark(graph: &CallGraph, top: MethodId, chosen: &Chosen, reached: &mut [bool]) {
    let mut todo = vec![top];
    reached[top.index()] = true;
    while let Some(m) = todo.pop() {
        for (_, target) in graph.local_edges(m) {
            if !reached[target.index()] && !chosen.contains_key(&target) {
                reached[target.index()] = true;
                todo.push(target);
            }
        }
    }
}

/// The farthest unreached caller of `method` (breadth first, smallest id among
/// equals); constructors and initializers only if there is no other.
fn outermost(program: &Program, graph: &CallGraph, method: MethodId, reached: &[bool]) -> MethodId {
    let mut seen = BTreeSet::from([method]);
    let mut layer = vec![method];
    let mut best = method;
    while !layer.is_empty() {
        let mut next = Vec::new();
        for m in layer {
            let callers = &graph.callers[m.index()];
            for &(caller, at) in callers {
                let local = graph.calls(caller)[at].kind.is_local();
                if local && !reached[caller.index()] && seen.insert(caller) {
                    next.push(caller);
                }
            }
        }
        next.sort_unstable();
        let named = |m: &&MethodId| !program.methods[m.index()].name.as_str().starts_with('<');
        if let Some(&first) = next.iter().find(named) {
            best = first;
        }
        layer = next;
    }
    best
}

/// Variables of log points: (log point, variable).
type Variables = Vec<(u32, u32)>;

/// What prints the value of a place, by the value class that it has there.
type Uses = BTreeMap<(Place, Name), Variables>;

/// What earlier phases found.
pub(crate) struct Known<'a> {
    pub(crate) program: &'a Program,
    pub(crate) graph: &'a CallGraph,
    pub(crate) bindings: &'a Bindings<'a>,
    pub(crate) log_points: &'a [LogPoint],
    /// What the body of each method modifies.
    pub(crate) writes: &'a [Vec<AccessPath>],
    /// Per method.
    pub(crate) loops: &'a [ServiceLoops],
    pub(crate) lifetimes: &'a Lifetimes<'a>,
    pub(crate) rules: &'a Rules,
}

/// Identifiers and members of all chosen methods, sorted by method.
pub(crate) fn fill(known: &Known<'_>, chosen: &Chosen) -> Vec<TopLevel> {
    let mut cut = vec![false; known.program.methods.len()];
    chosen.keys().for_each(|m| cut[m.index()] = true);
    // One round of a dispatcher is one request: what a round makes is its own.
    let rounds = chosen
        .iter()
        .filter(|(_, (kind, _))| *kind == TopLevelKind::Dispatcher)
        .map(|(&m, _)| (m, &known.loops[m.index()]))
        .collect();
    let scope = Scope { cut: &cut, writes: known.writes, locals: true, rounds: &rounds };
    let summaries = summarize(known.graph, known.bindings, known.log_points, &scope);
    let unmet = unmet::find(known.graph, known.log_points, chosen, &cut);
    let chosen: Vec<_> = chosen.iter().zip(unmet).collect();
    let mut found: Vec<TopLevel> = chosen
        .into_par_iter()
        .map(|((&method, (kind, reason)), unmet)| {
            top_level(known, (method, *kind, reason), &summaries.methods[method.index()], unmet)
        })
        .collect();
    weaken_common(known, &mut found);
    found
}

/// Texts that every eighth kind of request prints (the user, the caller) are
/// about the circumstances of requests, not about one. Numbers are keys here, and
/// so is what numbers make up, and a central key may well be printed everywhere.
fn weaken_common(known: &Known<'_>, found: &mut [TopLevel]) {
    let mut uses: BTreeMap<Name, usize> = BTreeMap::new();
    let is_kind = |top: &&TopLevel| !matches!(top.kind, TopLevelKind::Dispatcher | TopLevelKind::Unreached);
    for top in found.iter().filter(is_kind) {
        let classes: BTreeSet<Name> = top.identifiers.iter().map(|i| i.value_class).collect();
        classes.into_iter().for_each(|c| *uses.entry(c).or_default() += 1);
    }
    let most = (found.iter().filter(is_kind).count() / 8).max(COMMON_MIN);
    let keys = known.log_points.iter().flat_map(|point| {
        let of_numbers = |v: &&Variable| {
            !v.parts.is_empty() && v.parts.iter().all(|&p| is_number(&point.variables[p as usize]))
        };
        point.variables.iter().filter(move |v| is_number(v) || of_numbers(v))
    });
    let keys: BTreeSet<Name> = keys.filter_map(|v| v.value_class).collect();
    for identifier in found.iter_mut().flat_map(|t| &mut t.identifiers) {
        let forced = known.rules.identifier.iter().any(|c| is_class(identifier.value_class, c));
        if identifier.strength == IdentifierStrength::Request
            && uses.get(&identifier.value_class).is_some_and(|&n| n > most)
            && !keys.contains(&identifier.value_class)
            && !forced
        {
            identifier.strength = IdentifierStrength::Weak;
        }
    }
}

pub(super) fn is_number(variable: &Variable) -> bool {
    matches!(variable.descriptor.as_str(), "J" | "I" | "S" | "B")
}

/// A number or text, which all who print it print alike.
pub(super) fn is_plain(variable: &Variable) -> bool {
    variable.parts.is_empty() && (is_number(variable) || variable.descriptor == "Ljava/lang/String;")
}

/// Whether a rule's `Class.field` names a value class.
fn is_class(value_class: Name, rule: &str) -> bool {
    value_class.as_str() == rule || value_class.as_str().ends_with(&format!("/{rule}"))
}

fn top_level(
    known: &Known<'_>,
    (method, kind, reason): (MethodId, TopLevelKind, &str),
    summary: &Summary,
    unmet: Vec<u32>,
) -> TopLevel {
    let is_met = |point: &u32| unmet.binary_search(point).is_err();
    let uses = one_class_each(known, uses_of(known, summary, is_met));
    let mut identifiers: Vec<Identifier> = Vec::new();
    let mut bound: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    let own_strength = |(place, class): &(Place, Name), variables: &Variables| {
        let numeric = variables.iter().all(|v| is_number(variable_of(known, v)));
        let points: BTreeSet<u32> = variables.iter().map(|v| v.0).collect();
        strength(known, method, place, *class, (numeric, points.len()))
    };
    let mut strengths: BTreeMap<(Place, Name), IdentifierStrength> =
        uses.iter().filter_map(|(key, v)| Some((key.clone(), own_strength(key, v)?))).collect();
    name_by_the_rest(known, &uses, &mut strengths);
    let shared = shared_parts(known, &uses, &strengths);
    let (sure, mut doubtful): (Vec<_>, Vec<_>) =
        uses.into_iter().partition(|(key, _)| strengths.contains_key(key));
    doubtful.retain(|(key, variables)| is_doubtful(known, method, key, variables));
    let n_doubtful = doubtful.len();
    for (key, variables) in sure.into_iter().chain(doubtful) {
        let strength = strengths.get(&key).copied().unwrap_or(IdentifierStrength::Weak);
        let strength = if shared.contains(&key) { strength.max(IdentifierStrength::Weak) } else { strength };
        let (place, value_class) = key;
        let at = identifiers.len() as u32;
        let identifier = Identifier { place, value_class, strength };
        if !identifier.is_one_of_many() {
            variables.iter().for_each(|v| bound.entry(*v).or_default().push(at));
        }
        identifiers.push(identifier);
    }
    let members = summary
        .log_points
        .iter()
        .filter(|&point| is_met(point))
        .map(|&point| Member {
            log_point: point,
            bindings: (0..known.log_points[point as usize].variables.len() as u32)
                .map(|v| match bound.get(&(point, v)).map(Vec::as_slice) {
                    // Two identifiers through two call chains: which one, only
                    // the run knows.
                    Some([one]) => Some(*one),
                    _ => None,
                })
                .collect(),
        })
        .collect();
    let top = TopLevel::new(method, kind, reason.to_owned());
    TopLevel { identifiers, n_doubtful, members, unmet, ..top }
}

fn variable_of<'a>(known: &Known<'a>, &(point, at): &(u32, u32)) -> &'a Variable {
    &known.log_points[point as usize].variables[at as usize]
}

/// What the log points of a summary that the method meets print, by place.
fn uses_of(known: &Known<'_>, summary: &Summary, is_met: impl Fn(&u32) -> bool) -> Uses {
    let mut uses = Uses::new();
    let is_known = |place: &Place| !matches!(place.path.root, Root::Static(_));
    for (place, variables) in summary.places.iter().filter(|(place, _)| is_known(place)) {
        for used in variables.iter().filter(|(point, _)| is_met(point)) {
            if let Some(class) = variable_of(known, used).value_class {
                uses.entry((place.clone(), class)).or_default().push(*used);
            }
        }
    }
    uses
}

/// Whether what is printed of a place can be an identifier for what hand-offs carry alone.
fn is_doubtful(
    known: &Known<'_>,
    method: MethodId,
    (place, class): &(Place, Name),
    variables: &[(u32, u32)],
) -> bool {
    let numeric = variables.iter().all(|v| is_number(variable_of(known, v)));
    let strength = IdentifierStrength::Weak;
    !Identifier { place: place.clone(), value_class: *class, strength }.is_one_of_many()
        && known.lifetimes.can_be_carried(method, place, numeric)
}

/// A place holds one value, whatever the parameters are called that it is printed from: it goes by
/// the name that most of them have.
fn one_class_each(known: &Known<'_>, uses: Uses) -> Uses {
    let mut found: Uses = BTreeMap::new();
    let mut classes: BTreeMap<Place, Vec<(Name, Variables)>> = BTreeMap::new();
    // Objects are printed in more than one way, and what fields hold is known by these elsewhere.
    let is_plain = |used: &(u32, u32)| is_plain(variable_of(known, used));
    for ((place, class), variables) in uses {
        let is_many = place.looping || place.path.steps.contains(&Step::Element);
        if is_many || !variables.iter().all(is_plain) {
            found.insert((place, class), variables);
        } else {
            classes.entry(place).or_default().push((class, variables));
        }
    }
    for (place, classes) in classes {
        let fields = classes.iter().filter(|(class, _)| !class.contains(':')).count();
        // What a parameter is called is known by that elsewhere; what a call gives is not.
        let is_parameter = |class: &Name| class.contains(':') && !class.contains("():");
        let is_given = classes.iter().any(|(class, _)| is_parameter(class));
        if fields > 1 || fields == 1 && is_given {
            classes.into_iter().for_each(|(class, variables)| {
                found.insert((place.clone(), class), variables);
            });
            continue;
        }
        let rank = |(class, variables): &&(Name, Vec<(u32, u32)>)| {
            (!class.contains(':'), variables.len(), std::cmp::Reverse(*class))
        };
        let Some(class) = classes.iter().max_by_key(rank).map(|(class, _)| *class) else { continue };
        let mut all: Vec<(u32, u32)> = classes.into_iter().flat_map(|(_, variables)| variables).collect();
        all.sort_unstable();
        found.insert((place, class), all);
    }
    found
}

/// Where nothing else names the requests of a method, its numbers do, and what lives as long as
/// the process but is one of several (a partition, the object of a thread): developers print
/// what tells requests apart (lprof §4.2).
fn name_by_the_rest(
    known: &Known<'_>,
    uses: &Uses,
    strengths: &mut BTreeMap<(Place, Name), IdentifierStrength>,
) {
    let is_one = |(place, class): &(Place, Name)| {
        let strength = IdentifierStrength::Weak;
        !Identifier { place: place.clone(), value_class: *class, strength }.is_one_of_many()
    };
    if strengths.iter().any(|(key, strength)| *strength == IdentifierStrength::Request && is_one(key)) {
        return;
    }
    let is_variable_number =
        |&(point, at): &(u32, u32)| is_number(&known.log_points[point as usize].variables[at as usize]);
    for (key, strength) in strengths {
        let variables = &uses[key];
        let n_points = variables.iter().map(|v| v.0).collect::<BTreeSet<u32>>().len();
        let is_number = variables.iter().all(is_variable_number);
        let numbers = || is_number && known.lifetimes.numbers_something(&key.0, key.1, n_points);
        let is_told = match strength {
            IdentifierStrength::Weak => numbers() || known.lifetimes.is_of_several(&key.0),
            IdentifierStrength::Node => known.lifetimes.is_of_several(&key.0),
            IdentifierStrength::Request => false,
        };
        if is_told && is_one(key) {
            *strength = IdentifierStrength::Request;
        }
    }
}

/// Parts of an object that it shares with others: the number of a part, the
/// thing that it is a part of. A part is as good as the whole if all others are
/// circumstances.
fn shared_parts(
    known: &Known<'_>,
    uses: &Uses,
    strengths: &BTreeMap<(Place, Name), IdentifierStrength>,
) -> BTreeSet<(Place, Name)> {
    let mut tells: BTreeSet<(u32, u32)> = BTreeSet::new();
    for (key, variables) in uses {
        if strengths.get(key) == Some(&IdentifierStrength::Request) {
            tells.extend(variables);
        }
    }
    let mut shared = BTreeSet::new();
    for ((object, _), printed) in uses {
        for &(point, variable) in printed {
            let variables = &known.log_points[point as usize].variables;
            let all = &variables[variable as usize].parts;
            if all.is_empty() {
                continue;
            }
            for (key, of_part) in uses {
                let (inner, outer) = (&key.0.path, &object.path);
                let is_inside = key.0.frame == object.frame
                    && inner.root == outer.root
                    && inner.steps.len() > outer.steps.len()
                    && inner.steps.starts_with(&outer.steps);
                let Some(&(_, part)) = of_part.iter().find(|(p, _)| is_inside && *p == point) else {
                    continue;
                };
                let parts = &variables[part as usize].parts;
                let is_own = |p: &u32| *p == part || parts.contains(p);
                if all.iter().any(|p| !is_own(p) && tells.contains(&(point, *p))) {
                    shared.insert(key.clone());
                }
            }
        }
    }
    shared
}

fn strength(
    known: &Known<'_>,
    method: MethodId,
    place: &Place,
    value_class: Name,
    (is_number, n_points): (bool, usize),
) -> Option<IdentifierStrength> {
    let named = |list: &[String]| list.iter().any(|c| is_class(value_class, c));
    if named(&known.rules.not_identifier) {
        return None;
    }
    if named(&known.rules.identifier) {
        return Some(IdentifierStrength::Request);
    }
    known.lifetimes.strength(method, place, value_class, is_number, n_points)
}
