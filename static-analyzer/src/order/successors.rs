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
//! there, and can be missing: a span begins with it where its level is on.
//!
//! Over-approximates: whoever calls a method, what comes after any call of it can come after it;
//! and whatever a method prints, a handler around a call of it can come next.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;
use schema::TopLevelKind;

use super::components::components;
use super::fragment::{Flow, Fragment, Node};
use super::method::{self, Event};
use super::{Calls, Input};
use crate::call_graph::Times;
use crate::ir::ValueId;
use crate::program::MethodId;
use crate::top_level::{TopLevel, TopLevels};

/// Where a method begins, and where it returns, among what stands next to each other.
const END: u32 = u32::MAX;

/// What an instruction of a method prints or calls.
enum Item {
    /// One of these log points, by their numbers among the usual ones.
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

/// Per method: see the module.
struct Grammar<'a> {
    input: &'a Input<'a>,
    calls: &'a [Calls],
    /// Whether a dispatcher begins anew with each of its rounds.
    in_rounds: bool,
    /// Per log point its number among those that are asked for.
    usual: Vec<Option<usize>>,
    rules: Vec<Rule>,
    /// The method can return without printing anything.
    silent: Vec<bool>,
    /// It can print something.
    prints: Vec<bool>,
    first: Vec<FixedBitSet>,
    /// What can come after it has returned.
    follow: Vec<FixedBitSet>,
    /// What can come after it has thrown.
    thrown: Vec<FixedBitSet>,
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

/// Finds them; `calls` are those of each method within its thread, of other top-level methods also:
/// what one round of a service loop calls in a row is of one request.
pub(super) fn successors(input: &Input<'_>, calls: &[Calls], top_levels: &TopLevels) -> Successors {
    let callees = super::callees(calls);
    let shown = printed(input, |point| input.is_usual(point));
    let mut grammar = Grammar::new(input, calls, &shown);
    let components = components(&callees).members;
    // Callees come first, and callers the other way round.
    components.iter().for_each(|members| grammar.begin(members, &callees));
    let mut begins = FixedBitSet::new();
    // What nothing follows is followed by the end, as if it were a log point more.
    let end = shown.len();
    let run = |top: &&TopLevel| top.kind != TopLevelKind::Unreached;
    for top in top_levels.methods.iter().filter(run) {
        begins.union_with(&grammar.first[top.method.index()]);
        grammar.follow[top.method.index()].grow_and_insert(end);
        grammar.thrown[top.method.index()].grow_and_insert(end);
    }
    let mut next = vec![FixedBitSet::new(); shown.len()];
    components.iter().rev().for_each(|members| grammar.go_on(members, &mut next));
    let positions = |numbers: &mut dyn Iterator<Item = usize>| positions(&shown, numbers);
    Successors {
        begins: positions(&mut begins.ones()),
        ends: positions(&mut (0..next.len()).filter(|&number| next[number].contains(end))),
        next: {
            let next = |number: usize| positions(&mut next[number].ones());
            grammar.usual.iter().map(|number| number.map(next)).collect()
        },
    }
}

/// Per top-level method the log points that a span of it can begin with, sorted: those that can
/// come first, and what the control flow leads to in no way that the analysis sees.
pub(super) fn firsts(input: &Input<'_>, top_levels: &TopLevels) -> Vec<Vec<u32>> {
    let callees = super::callees(&input.calls);
    let shown = printed(input, |_| true);
    let mut grammar = Grammar { in_rounds: true, ..Grammar::new(input, &input.calls, &shown) };
    let components = components(&callees).members;
    components.iter().for_each(|members| grammar.begin(members, &callees));
    let of_top = |top: &TopLevel| {
        let mut first = positions(&shown, &mut grammar.first[top.method.index()].ones());
        let led_to = grammar.led_to(top.method.index(), &callees);
        let is_led_to = |point: u32| grammar.usual[point as usize].is_some_and(|n| led_to.contains(n));
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
    fn new(input: &'a Input<'a>, calls: &'a [Calls], shown: &[u32]) -> Self {
        let mut usual = vec![None; input.log_points.len()];
        shown.iter().enumerate().for_each(|(number, &point)| usual[point as usize] = Some(number));
        let none = || vec![FixedBitSet::new(); calls.len()];
        Self {
            input,
            calls,
            in_rounds: false,
            usual,
            rules: calls.iter().map(|_| Rule::default()).collect(),
            silent: vec![true; calls.len()],
            prints: vec![false; calls.len()],
            first: none(),
            follow: none(),
            thrown: none(),
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
            sites.flat_map(|(_, points)| points).any(|&point| self.usual[point as usize].is_some())
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
            let shown = points.iter().copied().filter(|&point| self.usual[point as usize].is_some());
            let shown: Vec<u32> = shown.collect();
            if !shown.is_empty() {
                let event = super::print_event(self.input, points);
                let Event::Print { optional, repeats, .. } = event else { continue };
                let optional = optional || points.iter().any(|&point| !self.input.is_usual(point));
                events.push((*site, items.len(), optional, repeats));
                items.push(Item::Print(shown.iter().filter_map(|&p| self.usual[p as usize]).collect()));
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

    /// What can come after what methods that call each other print, once that is known of who
    /// calls them.
    fn go_on(&mut self, members: &[u32], next: &mut [FixedBitSet]) {
        let mut is_known = false;
        while !is_known {
            is_known = true;
            for &m in members {
                is_known &= !self.go_on_one(m as usize, members, next);
            }
        }
    }

    /// The same of one of them; whether one of the `members` can be followed by more than before.
    fn go_on_one(&mut self, m: usize, members: &[u32], next: &mut [FixedBitSet]) -> bool {
        let rule = std::mem::take(&mut self.rules[m]);
        let thrown = self.thrown[m].clone();
        let mut is_more = false;
        let mut add = |of: &mut FixedBitSet, more: &FixedBitSet, callee: usize| {
            let is_member = u32::try_from(callee).is_ok_and(|callee| members.binary_search(&callee).is_ok());
            is_more |= is_member && !more.is_subset(of);
            of.union_with(more);
        };
        for item in &rule.items {
            match item {
                Item::Print(points) => points.iter().for_each(|&point| next[point].union_with(&thrown)),
                Item::Call(methods) => {
                    methods.iter().for_each(|&callee| add(&mut self.thrown[callee], &thrown, callee));
                }
            }
        }
        for of_one in rule.next.chunk_by(|a, b| a.0 == b.0).filter(|of_one| of_one[0].0 != END) {
            let mut after = FixedBitSet::new();
            for &(_, to) in of_one {
                match to {
                    END => after.union_with(&self.follow[m]),
                    to => self.add_first(&rule.items[to as usize / 2], &mut after),
                }
            }
            let from = of_one[0].0;
            match &rule.items[from as usize / 2] {
                Item::Print(points) => points.iter().for_each(|&point| next[point].union_with(&after)),
                Item::Call(methods) => methods.iter().for_each(|&callee| match from % 2 {
                    0 => add(&mut self.follow[callee], &after, callee),
                    _ => add(&mut self.thrown[callee], &after, callee),
                }),
            }
        }
        self.rules[m] = rule;
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
