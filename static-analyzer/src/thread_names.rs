//! Names of threads: which names the program gives to its threads, and what
//! runs in threads of each name.
//!
//! Many layouts print the thread's name. It is chosen by the program like a
//! message: a constant tells which thread it is, and so which top-level methods
//! can print there; a value in it (a block, a region, a client's address) names
//! the request that the thread was made for.
//!
//! Over-approximates: a name is any of those that callers give. Under-approximates:
//! threads that are named by code outside of the program, or through pools that
//! cannot be followed, have no name here.

use rayon::prelude::*;
use schema::TopLevelKind;

use crate::call_graph::CallGraph;
use crate::limits;
use crate::log_points::point;
use crate::path::{Template, Variable};
use crate::program::{MethodId, Program};
use crate::strings::facts::Facts;
use crate::strings::term::{Node, Term};
use crate::strings::{Evaluator, FrameId};
use crate::top_level::TopLevels;

mod apis;
mod bodies;
mod naming;
mod pools;

pub use bodies::ThreadBody;

/// A name with fewer letters of its own says nothing.
const LETTERS_MIN: usize = 3;

/// One way the names of some threads look.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadName {
    /// Method whose frame the variables' paths are rooted in.
    pub frame: MethodId,
    /// Regex without anchors; captures point into `variables`.
    pub template: Template,
    /// Printed values.
    pub variables: Vec<Variable>,
    /// Letters and digits of the constant part.
    pub n_letters: u32,
    /// Bodies of the threads, sorted.
    pub bodies: Vec<ThreadBody>,
    /// Positions in [`TopLevels::methods`] of what can run in these threads,
    /// sorted; empty: anything.
    pub runs: Vec<u32>,
    /// These threads also run tasks that they are given, whatever these are.
    pub is_given_tasks: bool,
}

/// A name that was found at one place of the program.
struct Found {
    frame: MethodId,
    templates: Vec<(Template, u32)>,
    variables: Vec<Variable>,
    bodies: Vec<ThreadBody>,
}

impl Found {
    /// None if the name says nothing, or nobody knows whose it is.
    fn new(e: &mut Evaluator<'_>, term: Term, bodies: Vec<ThreadBody>) -> Option<Self> {
        if bodies.is_empty() {
            return None;
        }
        let term = e.terms.decomposed_parts(term);
        let (templates, variables) = point::templates(e, term);
        let choices = match e.terms.node(term) {
            Node::Alt(xs) if xs.len() == templates.len() => xs.to_vec(),
            _ => vec![term; templates.len()],
        };
        let kept: Vec<(Template, u32)> = (templates.into_iter().zip(choices))
            .map(|(template, choice)| (template, letters(e, choice, 0)))
            .filter(|&(_, n)| n >= LETTERS_MIN)
            .map(|(template, n)| (template, u32::try_from(n).unwrap_or(u32::MAX)))
            .collect();
        let frame = e.method_of(FrameId::ROOT);
        (!kept.is_empty()).then_some(Self { frame, templates: kept, variables, bodies })
    }
}

/// Letters of the constants that every text of a term holds.
fn letters(e: &Evaluator<'_>, term: Term, depth: u32) -> usize {
    crate::log_points::wrapper::letters(e, term, depth)
}

/// The names of the program's threads, sorted by how they look.
pub fn find(program: &Program, graph: &CallGraph, top_levels: &TopLevels) -> Vec<ThreadName> {
    let facts = Facts::new(program);
    let methods: Vec<MethodId> = (0..program.methods.len()).map(MethodId::new).collect();
    let found: Vec<Vec<Found>> = methods
        .par_iter()
        .map(|&method| {
            let mut found = pools::names_of(&facts, graph, method);
            for naming in naming::namings(&facts, method) {
                found.extend(naming::names_of(&facts, method, &naming));
            }
            found
        })
        .collect();
    let mut names = merged(found.into_iter().flatten().collect());
    let task_runners = bodies::task_runners(program, graph);
    let is_task = |method| {
        let top = top_levels.position(method).map(|top| &top_levels.methods[top]);
        top.is_some_and(|top| top.kind == TopLevelKind::Task)
    };
    names.par_iter_mut().for_each(|name| {
        let reached = bodies::reached(&facts, graph, (&task_runners, &is_task), &name.bodies);
        let tops = (0u32..).zip(&top_levels.methods);
        let runs = tops.filter(|(_, top)| reached.methods[top.method.index()]);
        name.runs = runs.map(|(i, _)| i).collect();
        name.is_given_tasks = reached.runs_tasks;
    });
    names
}

/// Names that look the same and show the same values are one.
fn merged(found: Vec<Found>) -> Vec<ThreadName> {
    let mut names: Vec<ThreadName> = Vec::new();
    for Found { frame, templates, variables, bodies } in found {
        for (template, n_letters) in templates {
            names.push(ThreadName {
                frame,
                template,
                variables: variables.clone(),
                n_letters,
                bodies: bodies.clone(),
                runs: Vec::new(),
                is_given_tasks: false,
            });
        }
    }
    let shape = |n: &ThreadName| {
        let classes: Vec<_> =
            n.template.captures.iter().map(|&c| n.variables[c as usize].value_class).collect();
        (n.template.regex.clone(), classes)
    };
    names.sort_by_cached_key(|n| (shape(n), n.frame));
    names.dedup_by(|next, kept| {
        let same = shape(next) == shape(kept);
        if same {
            kept.bodies.append(&mut next.bodies);
        }
        same
    });
    for name in &mut names {
        name.bodies.sort_unstable();
        name.bodies.dedup();
    }
    names
}
