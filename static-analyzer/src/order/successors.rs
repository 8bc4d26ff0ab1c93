//! Successors: which log point one thread can print directly after which other one.
//!
//! Every method is a rule of a grammar: what it prints is a terminal, what it calls another rule,
//! and its control flow says what can stand next to what. What a rule can begin with, and what
//! can come after it, is FIRST and FOLLOW of that grammar (Aho, Lam, Sethi, Ullman 2006, §4.4.2).
//! Unlike a DAG it needs no bound: loops, recursion and methods of thousands of log points keep
//! what can stand next to what. What logs usually do not show is taken out before, where its
//! method is still known, not skipped afterwards.
//!
//! Of each top-level method FIRST is of its own lines: what it calls that is one itself has spans
//! of its own. Of a dispatcher each round begins anew. What logs usually do not show can stand
//! there, and can be missing: a span begins with it where its level is on. Of each also what
//! can stand next to what in one run of it, whoever else calls what it calls: a DAG has lost that
//! in loops, and in what is too large for it.
//!
//! Over-approximates: whoever calls a method, what comes after any call of it can come after it;
//! and whatever a method prints, a handler around a call of it can come next.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use schema::TopLevelKind;

use super::components::{Components, components};
use super::fragment::{Flow, Fragment, Node};
use super::method::{self, Event};
use super::{Calls, Input};
use crate::call_graph::Times;
use crate::ir::ValueId;
use crate::limits::TOP_LEVELS_AT_ONCE;
use crate::program::MethodId;
use crate::top_level::{TopLevel, TopLevels};

/// Where a method begins, and where it returns, among what stands next to each other.
const END: u32 = u32::MAX;

/// What an instruction of a method prints or calls.
enum Item {
    /// One of these log points, by their numbers among those that are asked for.
    Print(Vec<usize>),
    /// One of these methods, all of which print.
    Call(Vec<usize>),
}

/// What a method prints and calls, and what of that can stand next to each other.
#[derive(Default)]
struct Rule {
    items: Vec<Item>,
    /// (from, to), sorted: twice the item, and one more if that has thrown; or [`END`].
    next: Vec<(u32, u32)>,
}

/// Log points that a log is taken to show.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Levels {
    /// Those that logs usually show, and no others.
    Usual,
    /// All.
    All,
    /// All, but what logs usually do not show can be missing.
    Any,
}

/// Per method: see the module.
struct Grammar<'a> {
    input: &'a Input<'a>,
    calls: &'a [Calls],
    levels: Levels,
    /// Whether a dispatcher begins anew with each of its rounds.
    in_rounds: bool,
    /// Per log point its number among those that are asked for.
    numbers: Vec<Option<usize>>,
    rules: Vec<Rule>,
    /// The method can return without printing anything.
    silent: Vec<bool>,
    /// It can print something.
    prints: Vec<bool>,
    first: Vec<FixedBitSet>,
}

/// What can come after what, by what calls it: of the whole program, or of one top-level method.
#[derive(Default)]
struct Follow {
    /// Per method what can come after it has returned.
    returned: FxHashMap<usize, FixedBitSet>,
    /// Per method what can come after it has thrown.
    thrown: FxHashMap<usize, FixedBitSet>,
    /// Per log point what can come next, by their numbers.
    next: FxHashMap<usize, FixedBitSet>,
    /// Of what it is asked; none: of all.
    asked: Option<Asked>,
}

/// Some log points, which are numbered anew: there are few of them in one method.
struct Asked {
    /// By their numbers in the grammar, sorted.
    points: Vec<usize>,
    /// Methods that lead to any of them.
    leads: FxHashSet<usize>,
    /// Per method those that it can begin with, once asked for.
    first: FxHashMap<usize, FixedBitSet>,
}

impl Asked {
    fn number(&self, point: usize) -> Option<usize> {
        self.points.binary_search(&point).ok()
    }
}

impl Follow {
    /// Adds what an item can begin with.
    fn add_first(&mut self, grammar: &Grammar<'_>, item: &Item, first: &mut FixedBitSet) {
        let Some(asked) = &mut self.asked else { return grammar.add_first(item, first) };
        match item {
            Item::Print(points) => {
                points.iter().filter_map(|&point| asked.number(point)).for_each(|n| first.grow_and_insert(n));
            }
            Item::Call(methods) => {
                for &method in methods {
                    let points = &asked.points;
                    let of_method = asked.first.entry(method).or_insert_with(|| {
                        let is_first = |&(_, point): &(usize, &usize)| grammar.first[method].contains(*point);
                        points.iter().enumerate().filter(is_first).map(|(number, _)| number).collect()
                    });
                    first.union_with(of_method);
                }
            }
        }
    }

    /// Adds what can come next after some log points.
    fn add_next(&mut self, points: &[usize], after: &FixedBitSet) {
        let is_asked =
            |point: &&usize| self.asked.as_ref().is_none_or(|asked| asked.number(**point).is_some());
        for &point in points.iter().filter(is_asked) {
            self.next.entry(point).or_default().union_with(after);
        }
    }

    /// Of the `methods`, those of which it is asked what can come after.
    fn leading(&self, methods: &[usize]) -> Vec<usize> {
        let is_asked = |method: &usize| self.asked.as_ref().is_none_or(|asked| asked.leads.contains(method));
        methods.iter().copied().filter(is_asked).collect()
    }
}

/// What can be printed next, of what logs usually show; positions of log points.
pub(crate) struct Successors {
    /// Per log point those that can follow, sorted; none of what logs do not show, and of what has
    /// no place.
    pub(crate) next: Vec<Option<Vec<u32>>>,
    /// Those that a top-level method that something runs can print first, sorted.
    pub(crate) begins: Vec<u32>,
    /// Those that it can print last, before it returns or throws, sorted.
    pub(crate) ends: Vec<u32>,
}

/// What can be printed next in one run of a top-level method, of log points that have no order in
/// its fragment; positions of log points.
#[derive(Default)]
pub(crate) struct RunSuccessors {
    /// Sets of log points, sorted, each once.
    pub(crate) sets: Vec<Vec<u32>>,
    /// Per top-level method, of log points, sorted, the position of the set of those beside them that
    /// can follow. None of a dispatcher, whose rounds begin anew.
    pub(crate) next: Vec<Vec<(u32, usize)>>,
}

/// Finds them; `calls` are those of each method within its thread, of other top-level methods also:
/// what one round of a service loop calls in a row is of one request.
pub(super) fn successors(input: &Input<'_>, calls: &[Calls], top_levels: &TopLevels) -> Successors {
    let callees = super::callees(calls);
    let shown = printed(input, |point| input.is_usual(point));
    let mut grammar = Grammar::new(input, calls, Levels::Usual, &shown);
    let components = components(&callees).members;
    // Callees come first, and callers the other way round.
    components.iter().for_each(|members| grammar.begin(members, &callees));
    let mut follow = Follow::default();
    let mut begins = FixedBitSet::new();
    // What nothing follows is followed by the end, as if it were a log point more.
    let end = shown.len();
    let run = |top: &&TopLevel| top.kind != TopLevelKind::Unreached;
    for top in top_levels.methods.iter().filter(run) {
        begins.union_with(&grammar.first[top.method.index()]);
        let method = top.method.index();
        for ends in [&mut follow.returned, &mut follow.thrown] {
            ends.entry(method).or_default().grow_and_insert(end);
        }
    }
    components.iter().rev().for_each(|members| grammar.go_on(members, &mut follow));
    let next = |number: usize| follow.next.get(&number).cloned().unwrap_or_default();
    let positions = |numbers: &mut dyn Iterator<Item = usize>| positions(&shown, numbers);
    Successors {
        begins: positions(&mut begins.ones()),
        ends: positions(&mut (0..shown.len()).filter(|&number| next(number).contains(end))),
        next: {
            let next = |number: usize| positions(&mut next(number).ones());
            grammar.numbers.iter().map(|number| number.map(next)).collect()
        },
    }
}

/// Finds what can follow within one run of each top-level method.
pub(super) fn in_run(input: &Input<'_>, top_levels: &TopLevels, fragments: &[Fragment]) -> RunSuccessors {
    let callees = super::callees(&input.calls);
    let shown = printed(input, |_| true);
    let mut grammar = Grammar::new(input, &input.calls, Levels::All, &shown);
    let found = components(&callees);
    found.members.iter().for_each(|members| grammar.begin(members, &callees));
    let of_top = |top: &TopLevel| {
        let nodes = || fragments[top.method.index()].nodes.iter().filter(|node| node.points.len() > 1);
        let number = |point: u32| grammar.numbers[point as usize];
        let asked = nodes().flat_map(|node| &node.points).filter_map(|&point| number(point));
        let asked: BTreeSet<usize> = asked.collect();
        if asked.is_empty() || top.kind == TopLevelKind::Dispatcher {
            return BTreeMap::new();
        }
        let asked: Vec<usize> = asked.into_iter().collect();
        let follow = grammar.follow_within(top.method.index(), asked, (&callees, &found));
        let mut next: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for node in nodes() {
            for &point in &node.points {
                let after = number(point).and_then(|number| follow.next.get(&number));
                let (Some(after), Some(asked)) = (after, &follow.asked) else { continue };
                let is_next = |point: &u32| {
                    number(*point).and_then(|point| asked.number(point)).is_some_and(|n| after.contains(n))
                };
                next.entry(point).or_default().extend(node.points.iter().copied().filter(is_next));
            }
        }
        let sorted = next.into_iter().map(|(point, next)| (point, next.into_iter().collect()));
        sorted.collect::<BTreeMap<u32, Vec<u32>>>()
    };
    let mut in_run = RunSuccessors::default();
    let mut known = FxHashMap::default();
    // Sets of a few top-level methods at a time: very many of them are equal.
    for tops in top_levels.methods.chunks(TOP_LEVELS_AT_ONCE) {
        let of_tops: Vec<BTreeMap<u32, Vec<u32>>> = tops.par_iter().map(of_top).collect();
        for of_top in of_tops {
            let share = |(point, next): (u32, Vec<u32>)| {
                let set = *known.entry(next).or_insert_with_key(|next| {
                    in_run.sets.push(next.clone());
                    in_run.sets.len() - 1
                });
                (point, set)
            };
            in_run.next.push(of_top.into_iter().map(share).collect());
        }
    }
    in_run
}

/// Per top-level method the log points that a span of it can begin with, sorted: those that can
/// come first, and what the control flow leads to in no way that the analysis sees.
pub(super) fn firsts(input: &Input<'_>, top_levels: &TopLevels) -> Vec<Vec<u32>> {
    let callees = super::callees(&input.calls);
    let shown = printed(input, |_| true);
    let mut grammar = Grammar { in_rounds: true, ..Grammar::new(input, &input.calls, Levels::Any, &shown) };
    let components = components(&callees).members;
    components.iter().for_each(|members| grammar.begin(members, &callees));
    let of_top = |top: &TopLevel| {
        let mut first = positions(&shown, &mut grammar.first[top.method.index()].ones());
        let led_to = grammar.led_to(top.method.index(), &callees);
        let is_led_to = |point: u32| grammar.numbers[point as usize].is_some_and(|n| led_to.contains(n));
        first.extend(top.members.iter().map(|member| member.log_point).filter(|&point| !is_led_to(point)));
        first.extend(&top.remembered);
        first.sort_unstable();
        first.dedup();
        first
    };
    top_levels.methods.iter().map(of_top).collect()
}

/// The log points that have a place in the order, of those `of` which it is asked, each once.
fn printed(input: &Input<'_>, of: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut is_known = vec![false; input.log_points.len()];
    let points = input.sites.iter().flatten().flat_map(|(_, points)| points).copied();
    points.filter(|&point| of(point) && !std::mem::replace(&mut is_known[point as usize], true)).collect()
}

/// The log points with these numbers, sorted.
fn positions(shown: &[u32], numbers: &mut dyn Iterator<Item = usize>) -> Vec<u32> {
    let mut points: Vec<u32> = numbers.filter_map(|number| shown.get(number).copied()).collect();
    points.sort_unstable();
    points
}

impl<'a> Grammar<'a> {
    /// Of the log points `shown`, numbered as they stand there.
    fn new(input: &'a Input<'a>, calls: &'a [Calls], levels: Levels, shown: &[u32]) -> Self {
        let mut numbers = vec![None; input.log_points.len()];
        shown.iter().enumerate().for_each(|(number, &point)| numbers[point as usize] = Some(number));
        Self {
            input,
            calls,
            levels,
            in_rounds: false,
            numbers,
            rules: calls.iter().map(|_| Rule::default()).collect(),
            silent: vec![true; calls.len()],
            prints: vec![false; calls.len()],
            first: vec![FixedBitSet::new(); calls.len()],
        }
    }

    /// What `method` and all that it calls print.
    fn led_to(&self, method: usize, callees: &[Vec<u32>]) -> FixedBitSet {
        let (mut found, mut seen) = (FixedBitSet::new(), FxHashSet::default());
        let mut todo = vec![method];
        while let Some(method) = todo.pop() {
            if !self.prints[method] || !seen.insert(method) {
                continue;
            }
            for item in &self.rules[method].items {
                if let Item::Print(points) = item {
                    points.iter().for_each(|&point| found.grow_and_insert(point));
                }
            }
            todo.extend(callees[method].iter().map(|&callee| callee as usize));
        }
        found
    }

    /// The rules of methods that call each other, once those of all others that they call are known,
    /// and what they can begin with.
    fn begin(&mut self, members: &[u32], callees: &[Vec<u32>]) {
        let prints = |&m: &u32| {
            let sites = self.input.sites[m as usize].iter();
            sites.flat_map(|(_, points)| points).any(|&point| self.numbers[point as usize].is_some())
                || callees[m as usize].iter().any(|&callee| self.prints[callee as usize])
        };
        if !members.iter().any(prints) {
            return;
        }
        for &m in members {
            (self.prints[m as usize], self.silent[m as usize]) = (true, false);
        }
        // Nothing is known to come back in silence until it is found.
        let mut is_known = false;
        while !is_known {
            is_known = true;
            for &m in members {
                let rule = self.rule(MethodId::new(m as usize));
                let silent = rule.next.binary_search(&(END, END)).is_ok();
                is_known &= silent == self.silent[m as usize];
                self.silent[m as usize] = silent;
                self.rules[m as usize] = rule;
            }
        }
        let mut is_known = false;
        while !is_known {
            is_known = true;
            for &m in members {
                let rule = &self.rules[m as usize];
                let begins = rule.next.iter().filter(|&&(from, to)| from == END && to != END);
                let mut first = self.first[m as usize].clone();
                begins.for_each(|&(_, to)| self.add_first(&rule.items[to as usize / 2], &mut first));
                is_known &= first == self.first[m as usize];
                self.first[m as usize] = first;
            }
        }
    }

    /// Adds what an item can begin with.
    fn add_first(&self, item: &Item, first: &mut FixedBitSet) {
        match item {
            Item::Print(points) => points.iter().for_each(|&point| first.grow_and_insert(point)),
            Item::Call(methods) => methods.iter().for_each(|&method| first.union_with(&self.first[method])),
        }
    }

    fn rule(&self, method: MethodId) -> Rule {
        let Some(body) = &self.input.program.methods[method.index()].body else { return Rule::default() };
        let (mut items, mut stubs, mut events) = (Vec::new(), Vec::new(), Vec::new());
        for (site, points) in &self.input.sites[method.index()] {
            let shown = points.iter().copied().filter(|&point| self.numbers[point as usize].is_some());
            let shown: Vec<u32> = shown.collect();
            if !shown.is_empty() {
                let event = super::print_event(self.input, points);
                let Event::Print { optional, repeats, .. } = event else { continue };
                let can_be_off = |&point: &u32| self.levels != Levels::All && !self.input.is_usual(point);
                let optional = optional || points.iter().any(can_be_off);
                events.push((*site, items.len(), optional, repeats));
                items.push(Item::Print(shown.iter().filter_map(|&p| self.numbers[p as usize]).collect()));
                stubs.push(Fragment::empty());
            }
        }
        for (site, targets, times) in &self.calls[method.index()] {
            let methods = targets.iter().map(|target| target.index()).filter(|&target| self.prints[target]);
            let methods: Vec<usize> = methods.collect();
            if !methods.is_empty() {
                let optional = methods.len() < targets.len() || *times == Times::AtMostOnce;
                events.push((*site, items.len(), optional, *times == Times::Any));
                stubs.push(stub(number(items.len()), methods.iter().any(|&method| self.silent[method])));
                items.push(Item::Call(methods));
            }
        }
        let event = |&(site, item, optional, repeats): &(ValueId, usize, bool, bool)| {
            let event = match items[item] {
                Item::Print(_) => Event::Print { points: vec![2 * number(item)], optional, repeats },
                Item::Call(_) => Event::Call { callees: vec![&stubs[item]], optional, repeats },
            };
            (site, event)
        };
        events.sort_unstable();
        let events: Vec<(ValueId, Event<'_>)> = events.iter().map(event).collect();
        let rounds = self.input.rounds.get(&method).filter(|_| self.in_rounds);
        let flow = method::told_apart(body, &events, rounds);
        Rule { items, next: adjacent(&flow) }
    }

    /// What can come after the log points that are `asked` for, by their numbers, in one run of
    /// `method`.
    fn follow_within(
        &self,
        method: usize,
        asked: Vec<usize>,
        (callees, found): (&[Vec<u32>], &Components),
    ) -> Follow {
        let (mut seen, mut todo) = (FxHashSet::default(), vec![method]);
        while let Some(method) = todo.pop() {
            if self.prints[method] && seen.insert(method) {
                todo.extend(callees[method].iter().map(|&callee| callee as usize));
            }
        }
        let mut components: Vec<u32> = seen.iter().map(|&method| found.of[method]).collect();
        components.sort_unstable();
        components.dedup();
        // What leads to none of them is of no matter; callees come first.
        let mut asked = Asked { points: asked, leads: FxHashSet::default(), first: FxHashMap::default() };
        components.retain(|&component| {
            let members = &found.members[component as usize];
            let is_asked = |item: &Item| match item {
                Item::Print(points) => points.iter().any(|&point| asked.number(point).is_some()),
                Item::Call(methods) => methods.iter().any(|method| asked.leads.contains(method)),
            };
            let leads_there = members.iter().any(|&m| self.rules[m as usize].items.iter().any(is_asked));
            if leads_there {
                asked.leads.extend(members.iter().map(|&m| m as usize));
            }
            leads_there
        });
        let mut follow = Follow { asked: Some(asked), ..Follow::default() };
        for &component in components.iter().rev() {
            self.go_on(&found.members[component as usize], &mut follow);
        }
        follow
    }

    /// What can come after what methods that call each other print, once that is known of what
    /// calls them.
    fn go_on(&self, members: &[u32], follow: &mut Follow) {
        let mut is_known = false;
        while !is_known {
            is_known = true;
            for &m in members {
                is_known &= !self.go_on_one(m as usize, members, follow);
            }
        }
    }

    /// The same of one of them; whether one of the `members` can be followed by more than before.
    fn go_on_one(&self, m: usize, members: &[u32], follow: &mut Follow) -> bool {
        let rule = &self.rules[m];
        let [returned, thrown] =
            [&follow.returned, &follow.thrown].map(|after| after.get(&m).cloned().unwrap_or_default());
        let mut is_more = false;
        let mut add = |of: &mut FixedBitSet, more: &FixedBitSet, callee: usize| {
            let is_member = u32::try_from(callee).is_ok_and(|callee| members.binary_search(&callee).is_ok());
            is_more |= is_member && !more.is_subset(of);
            of.union_with(more);
        };
        for item in &rule.items {
            match item {
                Item::Print(points) => follow.add_next(points, &thrown),
                Item::Call(methods) => {
                    for callee in follow.leading(methods) {
                        add(follow.thrown.entry(callee).or_default(), &thrown, callee);
                    }
                }
            }
        }
        for of_one in rule.next.chunk_by(|a, b| a.0 == b.0).filter(|of_one| of_one[0].0 != END) {
            let mut after = FixedBitSet::new();
            for &(_, to) in of_one {
                match to {
                    END => after.union_with(&returned),
                    to => follow.add_first(self, &rule.items[to as usize / 2], &mut after),
                }
            }
            let from = of_one[0].0;
            match &rule.items[from as usize / 2] {
                Item::Print(points) => follow.add_next(points, &after),
                Item::Call(methods) => {
                    for callee in follow.leading(methods) {
                        let ends = if from % 2 == 0 { &mut follow.returned } else { &mut follow.thrown };
                        add(ends.entry(callee).or_default(), &after, callee);
                    }
                }
            }
        }
        is_more
    }
}

/// What can be printed directly after each other, sorted; where the flow begins, and where it
/// returns, is [`END`].
fn adjacent(flow: &Flow) -> Vec<(u32, u32)> {
    let mut found = BTreeSet::new();
    let mut seen = vec![u32::MAX; flow.points.len()];
    let mut reached = vec![false; flow.points.len()];
    let mut begun = vec![Flow::ENTRY];
    while let Some(from) = begun.pop() {
        if std::mem::replace(&mut reached[from as usize], true) {
            continue;
        }
        let printed = if from == Flow::ENTRY { &[END] } else { &flow.points[from as usize][..] };
        let mut add = |to: &[u32]| {
            found.extend(printed.iter().flat_map(|&a| to.iter().map(move |&b| (a, b))));
        };
        if flow.repeats[from as usize] {
            add(printed);
        }
        let mut todo = flow.edges[from as usize].clone();
        while let Some(to) = todo.pop() {
            if std::mem::replace(&mut seen[to as usize], from) == from {
                continue;
            }
            match &flow.points[to as usize][..] {
                [] if to == Flow::RETURN => add(&[END]),
                [] => todo.extend(&flow.edges[to as usize]),
                next => {
                    add(next);
                    begun.push(to);
                }
            }
        }
    }
    found.into_iter().collect()
}

/// What stands for a call: that it has returned, or has thrown.
fn stub(item: u32, silent: bool) -> Fragment {
    let node = |point: u32| Node { points: vec![point], ..Node::default() };
    Fragment {
        nodes: vec![node(2 * item), node(2 * item + 1)],
        entries: vec![0, 1],
        returns: vec![0],
        throws: vec![1],
        silent,
        answers: None,
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("a method has fewer than 2^31 instructions")
}
