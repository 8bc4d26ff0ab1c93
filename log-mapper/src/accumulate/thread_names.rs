//! Names of threads: what the name that a record's thread has tells, as the
//! program gives it: which top-level methods run there, and which request the
//! thread was made for.
//!
//! Over-approximates: a thread whose name the model does not know can run
//! anything, and so can one in which something else was printed.

use std::sync::Arc;

use regex::Regex;
use schema::kinds::TELLING_MIN;
use schema::{
    IdentifierStrength, Model, Span, ThreadName, TopLevelId, TopLevelKind, TopLevelMethod, Value,
    ValueClassId,
};

use super::canonical::canonical;
use super::open_span::TopState;

/// What the name of one thread tells.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// What can run in it, sorted; empty: anything.
    runs: Vec<TopLevelId>,
    /// It also runs tasks that it is given.
    is_given_tasks: bool,
    /// Values of its request.
    values: Vec<(ValueClassId, Arc<str>)>,
}

impl Told {
    /// Whether a top-level method can run in the thread.
    pub(super) fn allows(&self, top: TopLevelId) -> bool {
        self.runs.is_empty() || self.is_given_tasks || self.is_seen_to_run(top)
    }

    fn is_seen_to_run(&self, top: TopLevelId) -> bool {
        self.runs.binary_search(&top).is_ok()
    }

    /// Whether the name speaks against `top`, which `is_placed` in threads of other names: it
    /// tells what runs here, and that is not known to.
    pub(super) fn speaks_against(&self, top: TopLevelId, is_placed: bool) -> bool {
        is_placed && !self.runs.is_empty() && !self.is_seen_to_run(top)
    }

    /// Keeps of the top-level methods that can have opened a span those that run
    /// in the thread, if there are any; else takes out the tasks that other threads
    /// are known to run, if others are left (what a server calls by reflection) and
    /// the thread is given no tasks. `is_placed`: it is such a task.
    pub(super) fn restrict(&self, tops: &mut Vec<TopState>, is_placed: impl Fn(TopLevelId) -> bool) {
        if self.runs.is_empty() {
            return;
        }
        if tops.iter().any(|state| self.is_seen_to_run(state.top)) {
            tops.retain(|state| self.is_seen_to_run(state.top));
        } else if !self.is_given_tasks && tops.iter().any(|state| !is_placed(state.top)) {
            tops.retain(|state| !is_placed(state.top));
        }
    }

    /// Adds the values of the name to those of a span of the thread.
    pub(super) fn add_values(&self, span: &mut Span) {
        for (value_class, text) in &self.values {
            let value = Value { value_class: *value_class, text: Arc::clone(text) };
            if let Err(at) = span.identifiers.binary_search(&value) {
                span.identifiers.insert(at, value);
            }
        }
    }
}

/// The names of the threads of a model.
#[derive(Debug)]
pub(super) struct ThreadNames<'m> {
    model: &'m Model,
    names: Vec<(Regex, &'m ThreadName)>,
    /// Per value class: its values mostly tell requests apart, not processes.
    tells: Vec<bool>,
    /// Per top-level method: it is a task, or only tasks lead to it, and threads of some name
    /// are known to run it.
    placed: Vec<bool>,
}

impl<'m> ThreadNames<'m> {
    /// Reads the model; a name that is no regex is left out.
    pub(super) fn new(model: &'m Model) -> Self {
        let compiled = |name: &'m ThreadName| {
            let regex = Regex::new(&format!(r"(?s)\A(?:{})\z", name.template.regex)).ok()?;
            Some((regex, name))
        };
        let names = model.thread_names.iter().filter_map(compiled).collect();
        // Request identifiers less those that name the process, per value class.
        let mut counts = vec![0_i64; model.value_classes.len()];
        for identifier in model.top_level_methods.iter().flat_map(|top| &top.identifiers) {
            if let Some(count) = counts.get_mut(identifier.value_class.index()) {
                *count += match identifier.strength {
                    IdentifierStrength::Request => 1,
                    IdentifierStrength::Weak => 0,
                    IdentifierStrength::Node => -1,
                };
            }
        }
        let mut placed = vec![false; model.top_level_methods.len()];
        for &top in model.thread_names.iter().flat_map(|name| &name.runs) {
            let of_task = |top: &TopLevelMethod| top.kind == TopLevelKind::Task || top.only_in_tasks;
            if model.top_level_methods.get(top.index()).is_some_and(of_task) {
                placed[top.index()] = true;
            }
        }
        Self { model, names, placed, tells: counts.into_iter().map(|count| count > 0).collect() }
    }

    /// Whether threads of some name are known to run `top`, which is a task, or what only tasks
    /// lead to: anything else can be called by what the thread is not known to run.
    pub(super) fn is_placed(&self, top: TopLevelId) -> bool {
        self.placed.get(top.index()) == Some(&true)
    }

    /// What the name of a thread tells: of the names that it can be, those with
    /// most letters of their own are meant.
    pub(super) fn told(&self, thread: &str) -> Told {
        let matching: Vec<&(Regex, &ThreadName)> =
            self.names.iter().filter(|(regex, _)| regex.is_match(thread)).collect();
        let most = matching.iter().map(|(_, name)| name.n_letters).max();
        let mut told = Told::default();
        let mut anything = false;
        for (regex, name) in matching.into_iter().filter(|(_, name)| Some(name.n_letters) == most) {
            anything |= name.runs.is_empty();
            told.is_given_tasks |= name.is_given_tasks;
            told.runs.extend(&name.runs);
            // Who dispatches serves many requests, and is named after none of them.
            let kind = |top: &TopLevelId| self.model.top_level_methods.get(top.index()).map(|top| top.kind);
            if name.runs.iter().any(|top| kind(top) == Some(TopLevelKind::Dispatcher)) {
                continue;
            }
            let Some(captures) = regex.captures(thread) else { continue };
            for (i, &variable) in name.template.captures.iter().enumerate() {
                let Some(variable) = name.variables.get(variable as usize) else { continue };
                let class = variable.value_class.filter(|class| self.tells.get(class.index()) == Some(&true));
                let text = captures.get(i + 1).and_then(|text| canonical(text.as_str(), variable.shape));
                if let (Some(class), Some(text)) = (class, text.filter(|text| text.len() >= TELLING_MIN)) {
                    told.values.push((class, Arc::from(text)));
                }
            }
        }
        told.runs.sort_unstable();
        told.runs.dedup();
        if anything {
            told.runs.clear();
        }
        told.values.sort_unstable();
        told.values.dedup();
        told
    }
}
