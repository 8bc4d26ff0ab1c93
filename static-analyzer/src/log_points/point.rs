//! Logging calls to log points: one root frame per method, templates and
//! variables per call, compiler copies of one line merged.

use rustc_hash::FxHashMap;

use super::apis::LevelFrom;
use super::{Site, closures, guard, level, logger, message, own, turns, wrapper};
use crate::ir::{Body, Op, ValueId};
use crate::limits;
use crate::path::{LogPoint, Template, Variable};
use crate::program::{MethodId, Program, access};
use crate::strings::facts::Facts;
use crate::strings::regex::Emitter;
use crate::strings::term::{Node, Term};
use crate::strings::{Evaluator, FrameId, types};

/// Log points of the calls in one method, and of its callers where it is a
/// wrapper.
pub(crate) fn points_of(facts: &Facts<'_>, method: MethodId, sites: &[Site<'_>]) -> Vec<LogPoint> {
    let mut points = Vec::new();
    let mut e = Evaluator::new(facts, method);
    for site in sites {
        e.restart();
        let message = message::stable(&mut e, FrameId::ROOT, site);
        let mut alone = true;
        let mut is_for_unseen = false;
        let by_logger =
            if site.loggers.is_logger(facts, method) { wrapper::callers_of(facts, method) } else { &[] };
        let is_by_logger = !by_logger.is_empty();
        let lifted = match wrapper::callers(&e, FrameId::ROOT, message.term, site) {
            _ if is_by_logger => Some(wrapper::lifted(facts, site, by_logger)),
            Some(_) if wrapper::has_few_letters(&e, message.term) && tells_itself(facts, sites, site) => None,
            Some(callers) => Some(wrapper::lifted(facts, site, callers)),
            None => closures::lifted(&e, message.term, site),
        };
        if let Some(lifted) = lifted {
            let complete = lifted.complete || is_by_logger && lifted.all_seen;
            alone = lifted.all || lifted.points.is_empty() || !complete;
            // A method that says something itself does so for each of its callers.
            let says_nothing = wrapper::letters(&e, message.term, 0) <= wrapper::CONSTANT_LETTERS_MAX;
            is_for_unseen = says_nothing && lifted.all_seen && !lifted.points.is_empty();
            points.extend(lifted.points);
        }
        let own = points.len();
        if alone && is_joined(&e, message.term) {
            let mut joined = Evaluator::new(facts, method);
            joined.joins_callers = true;
            let message = message::stable(&mut joined, FrameId::ROOT, site);
            points.push(finish(&mut joined, FrameId::ROOT, site, &message, site.value, None));
        } else if alone {
            points.push(finish(&mut e, FrameId::ROOT, site, &message, site.value, None));
        }
        points[own..].iter_mut().for_each(|point| point.is_for_unseen = is_for_unseen);
    }
    points
}

/// Whether a method prints more than what it is given at another line than that of `site`: it does
/// work of its own, and what it prints beside a short word is what it works on. That something
/// failed says nothing of that.
fn tells_itself(facts: &Facts<'_>, sites: &[Site<'_>], site: &Site<'_>) -> bool {
    let mut e = Evaluator::new(facts, site.method);
    let is_handled = |body: &Body, value: ValueId| body.block(body.inst(value).block).in_handler;
    let body = e.body(FrameId::ROOT);
    let others: Vec<&Site<'_>> =
        sites.iter().filter(|other| other.value != site.value && !is_handled(body, other.value)).collect();
    others.into_iter().any(|other| {
        e.restart();
        let message = message::stable(&mut e, FrameId::ROOT, other);
        wrapper::letters(&e, message.term, 0) > wrapper::CONSTANT_LETTERS_MAX
    })
}

/// Whether a parameter is printed of a method that is no wrapper, but whose
/// callers may all be seen.
pub(crate) fn is_joined(e: &Evaluator<'_>, term: Term) -> bool {
    let method = &e.program().methods[e.method_of(FrameId::ROOT).index()];
    method.access & (access::STATIC | access::PRIVATE) != 0
        && wrapper::gives_parameter(e, term, wrapper::is_given)
}

/// Makes the log point of `site`, evaluated in `frame`, for the root frame.
pub(crate) fn finish(
    e: &mut Evaluator<'_>,
    frame: FrameId,
    site: &Site<'_>,
    message: &message::Message,
    root: ValueId,
    call_line: Option<u32>,
) -> LogPoint {
    let levels = level::levels(e, frame, site.call.level, &site.args);
    let loggers = loggers(e, frame, site);
    let (templates, mut variables) = templates(e, message.term);
    if turns::is_out_of_turn(e.body(frame), site.value) {
        // It is about the row of them all: it names none.
        variables.iter_mut().for_each(|variable| variable.value_class = None);
    }
    let root_body = e.body(FrameId::ROOT);
    let body = e.body(frame);
    let outer = guard::guard_of(root_body, root);
    LogPoint {
        frame: e.method_of(FrameId::ROOT),
        sites: vec![root],
        method: site.method,
        source_line: body.inst(site.value).line,
        call_line,
        levels,
        loggers,
        in_handler: root_body.block(root_body.inst(root).block).in_handler,
        guard: guard::guard_of(body, site.value).or(outer),
        has_throwable: message.has_throwable,
        is_for_unseen: false,
        variables,
        templates,
    }
}

fn loggers(e: &mut Evaluator<'_>, frame: FrameId, site: &Site<'_>) -> Vec<String> {
    let Some(&receiver) = site.args.first() else { return Vec::new() };
    if site.call.mixin {
        // Its methods say which logger it asks for, unless they are not there.
        let behind = own::behind_mixin(e, frame, site);
        let asked = behind.and_then(|(f, value)| logger::names(e, f, value)).filter(|n| !n.is_empty());
        let names = asked.unwrap_or_else(|| logger::mixin_names(e, frame, receiver));
        return names.into_iter().collect();
    }
    if site.call.facade {
        let class = e.program().methods[e.method_of(frame).index()].class;
        return vec![types::binary_name(&e.facts.class_name(class))];
    }
    let Some(value) = receiver_of(e, frame, site) else { return Vec::new() };
    logger::names(e, frame, value).map_or_else(Vec::new, |names| names.into_iter().collect())
}

/// The logger of a call, at the beginning of a chain of calls.
pub(super) fn receiver_of(e: &Evaluator<'_>, frame: FrameId, site: &Site<'_>) -> Option<ValueId> {
    let value = site.args.first().copied().filter(|_| site.call.has_receiver)?;
    if site.call.level != LevelFrom::Chain {
        return Some(value);
    }
    let before = |&value: &ValueId| match e.op(frame, value) {
        Op::Cast(_, inner) => Some(*inner),
        Op::Invoke { method, args, .. } if !super::apis::is_factory(&method.name) => args.first().copied(),
        _ => None,
    };
    std::iter::successors(Some(value), before).last()
}

/// Regexes of a message: one per choice of the whole, or of late binding.
pub(crate) fn templates(e: &mut Evaluator<'_>, term: Term) -> (Vec<Template>, Vec<Variable>) {
    let term = if e.terms.is_never(term) { e.terms.top() } else { e.terms.decomposed(term) };
    let choices = match e.terms.node(term) {
        Node::Alt(xs) if xs.len() <= limits::TEMPLATES_MAX => xs.to_vec(),
        _ => vec![term],
    };
    let mut emitter = Emitter::new(&e.terms);
    let mut templates: Vec<Template> = choices.into_iter().map(|choice| emitter.template(choice)).collect();
    // Variables that only ever stood inside of a repetition have no capture.
    let variables = emitter.variables;
    let mut used = vec![u32::MAX; variables.len()];
    let mut kept = Vec::new();
    for template in &mut templates {
        for capture in &mut template.captures {
            let slot = &mut used[*capture as usize];
            if *slot == u32::MAX {
                *slot = kept.len() as u32;
                kept.push(variables[*capture as usize].clone());
            }
            *capture = *slot;
        }
    }
    (templates, kept)
}

/// Merges copies of one source line that print the same, and sorts.
pub(crate) fn merged(program: &Program, points: Vec<LogPoint>) -> Vec<LogPoint> {
    let mut index: FxHashMap<(MethodId, MethodId, u32, Option<u32>), Vec<usize>> = FxHashMap::default();
    let mut merged: Vec<LogPoint> = Vec::new();
    for point in points {
        let key = (point.frame, point.method, point.source_line, point.call_line);
        let known = index.entry(key).or_default();
        let same = known.iter().copied().find(|&i| {
            let other = &merged[i];
            point.source_line != 0 && shape(other) == shape(&point)
        });
        let same = same.or_else(|| known.iter().copied().find(|&i| is_copy(&merged[i], &point)));
        let other_way = || known.iter().copied().find(|&i| is_other_way(&merged[i], &point));
        if same.is_none()
            && let Some(i) = other_way()
        {
            absorb(&mut merged[i], point);
            continue;
        }
        match same {
            Some(i) => {
                let other = &mut merged[i];
                other.sites.extend(point.sites);
                other.sites.sort_unstable();
                other.sites.dedup();
                other.in_handler &= point.in_handler;
                for template in point.templates {
                    if !other.templates.contains(&template) {
                        other.templates.push(template);
                    }
                }
            }
            None => {
                known.push(merged.len());
                merged.push(point);
            }
        }
    }
    merged.sort_by(|a, b| {
        let key = |p: &LogPoint| {
            let method = &program.methods[p.method.index()];
            let class = program.classes[method.class.index()].name;
            (class, method.name, p.source_line, method.descriptor)
        };
        let rest = |p: &LogPoint| (p.frame, p.call_line, p.sites.clone());
        key(a).cmp(&key(b)).then_with(|| rest(a).cmp(&rest(b)))
    });
    merged
}

/// Templates, levels, loggers, and each value's class and text.
type Shape<'p> =
    (&'p [Template], &'p [schema::Level], &'p [String], Vec<(Option<crate::program::Name>, String)>);

/// What must be equal for two copies of a line to be one log point; the roots of
/// local values differ between copies.
fn shape(point: &LogPoint) -> Shape<'_> {
    let variables = point.variables.iter().map(|v| (v.value_class, v.text.clone())).collect();
    (&point.templates, &point.levels, &point.loggers, variables)
}

/// Whether two points are one call of a wrapper that reaches the statement in two
/// ways: its own overloads, or implementations of what it calls.
fn is_other_way(a: &LogPoint, b: &LogPoint) -> bool {
    a.call_line.is_some()
        && a.sites == b.sites
        && a.levels == b.levels
        && a.loggers == b.loggers
        && a.templates.len() + b.templates.len() <= limits::TEMPLATES_MAX
        && b.variables.iter().all(|v| v.parts.is_empty())
}

/// Adds templates and variables of `b` to `a`.
fn absorb(a: &mut LogPoint, b: LogPoint) {
    let mut numbers = Vec::with_capacity(b.variables.len());
    for variable in b.variables {
        let known = a.variables.iter().position(|v| *v == variable);
        let number = known.unwrap_or_else(|| {
            a.variables.push(variable);
            a.variables.len() - 1
        });
        numbers.push(number as u32);
    }
    for mut template in b.templates {
        for capture in &mut template.captures {
            *capture = numbers[*capture as usize];
        }
        if !a.templates.contains(&template) {
            a.templates.push(template);
        }
    }
    a.in_handler &= b.in_handler;
    a.has_throwable |= b.has_throwable;
}

/// Whether two points of one line are copies of one statement between which the
/// compiler or a constant decided a choice: same values in the same order.
fn is_copy(a: &LogPoint, b: &LogPoint) -> bool {
    let values = |p: &LogPoint| -> Vec<_> {
        p.variables.iter().map(|v| (v.value_class, v.descriptor, v.shape)).collect()
    };
    let same = a.levels == b.levels && a.loggers == b.loggers && a.has_throwable == b.has_throwable;
    a.source_line != 0
        && !a.variables.is_empty()
        && same
        && values(a) == values(b)
        && a.templates.len() + b.templates.len() <= limits::TEMPLATES_MAX
}
