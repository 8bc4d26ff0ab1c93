//! The message of a logging call as a term.

use super::Site;
use super::apis::{self, Format};
use crate::ir::{BootstrapArg, Op, ValueId};
use crate::limits;
use crate::program::Name;
use crate::strings::format::{Argument, Arguments};
use crate::strings::term::Term;
use crate::strings::{Arg, Evaluator, FrameId, types};

const OBJECT: &str = "Ljava/lang/Object;";

/// What a logging call prints.
pub(crate) struct Message {
    pub(crate) term: Term,
    pub(crate) has_throwable: bool,
}

/// Like [`message`], evaluated again while recursions come to light.
pub(crate) fn stable(e: &mut Evaluator<'_>, frame: FrameId, site: &Site) -> Message {
    let mut found = message(e, frame, site);
    for _ in 0..limits::RECURSION_ROUNDS_MAX {
        if !e.forget() {
            break;
        }
        e.restart();
        found = message(e, frame, site);
    }
    found
}

/// Evaluates the message of `site`, which stands in `frame`.
pub(crate) fn message(e: &mut Evaluator<'_>, frame: FrameId, site: &Site) -> Message {
    let call = &site.call;
    let mut has_throwable = call.throwable.is_some();
    let Some(position) = call.message else { return chained(e, frame, site) };
    let Some(&value) = site.args.get(position) else { return Message { term: e.terms.top(), has_throwable } };
    if call.closure {
        let term = closure_text(e, frame, value).unwrap_or_else(|| e.terms.top());
        return Message { term, has_throwable };
    }
    let term = e.text(frame, value, descriptor(e, frame, value), site.value);
    if call.values.is_empty() && call.array.is_none() {
        // Printf without arguments still expands `%n`, but loggers pass it on.
        return Message { term, has_throwable };
    }
    let (arguments, throwable) = arguments(e, frame, site);
    has_throwable |= throwable;
    let term = formatted(e, call.format, term, &arguments);
    Message { term, has_throwable }
}

fn descriptor(e: &Evaluator<'_>, frame: FrameId, value: ValueId) -> Name {
    let own = e.descriptor_of(frame, value);
    if types::is_primitive(&own) { Name::from(OBJECT) } else { own }
}

fn formatted(e: &mut Evaluator<'_>, format: Format, term: Term, arguments: &Arguments) -> Term {
    match format {
        Format::Plain => term,
        Format::Braces => e.braces(term, arguments),
        Format::Printf => e.printf(term, arguments),
        Format::Numbered => e.message_format(term, arguments),
    }
}

/// Arguments of the format, and whether the last one is a surplus exception.
fn arguments(e: &mut Evaluator<'_>, frame: FrameId, site: &Site) -> (Arguments, bool) {
    let mut all = match site.call.array {
        Some(array) => match site.args.get(array) {
            Some(&array) => e.varargs(frame, array, site.value),
            None => Arguments { known: Vec::new(), complete: false },
        },
        None => Arguments { known: Vec::new(), complete: true },
    };
    let mut first = Vec::new();
    for &position in &site.call.values {
        let Some(&value) = site.args.get(position) else { continue };
        first.push(e.argument(frame, value, site.value));
    }
    first.append(&mut all.known);
    all.known = first;
    let throwable = all.known.last().is_some_and(|a: &Argument| a.throwable);
    (all, throwable)
}

/// The text that a closure makes.
pub(crate) fn closure_text(e: &mut Evaluator<'_>, frame: FrameId, value: ValueId) -> Option<Term> {
    match e.op(frame, value) {
        Op::Cast(_, inner) => closure_text(e, frame, *inner),
        Op::Param(i) => match e.frame(frame).args.get(usize::from(*i)).copied()? {
            Arg::At(f, v) => closure_text(e, f, v),
            _ => None,
        },
        Op::New(class) => {
            let target = apis::CLOSURE_METHODS.iter().find_map(|(name, descriptor)| {
                e.facts.resolve(*class, Name::from(name), Name::from(descriptor))
            })?;
            let inner = e.enter(frame, value, target, &[value])?;
            Some(e.returned(inner, Name::from(OBJECT)))
        }
        Op::InvokeDynamic { bootstrap_args, args, .. } => {
            let target = bootstrap_args.iter().find_map(|arg| match arg {
                BootstrapArg::Handle { target, .. } => Some(*target),
                _ => None,
            })?;
            let method = e.facts.resolve(target.class, target.name, target.descriptor)?;
            let inner = e.enter(frame, value, method, args)?;
            Some(e.returned(inner, Name::from(types::result(&target.descriptor))))
        }
        _ => None,
    }
}

/// `setMessage(..).addArgument(..).log()`, `atInfo().log(..)` without message.
fn chained(e: &mut Evaluator<'_>, frame: FrameId, site: &Site) -> Message {
    let mut has_throwable = false;
    let (mut text, mut known) = (None, Vec::new());
    let mut next = site.args.first().copied();
    while let Some(value) = next {
        let Op::Invoke { method, args, .. } = e.op(frame, value) else { break };
        match method.name.as_str() {
            "setMessage" if text.is_none() => {
                text = args.get(1).map(|&v| e.text(frame, v, Name::from("Ljava/lang/String;"), value));
            }
            "addArgument" => {
                if let Some(&v) = args.get(1) {
                    known.push(e.argument(frame, v, value));
                }
            }
            "setCause" | "withCause" | "withThrowable" => has_throwable = true,
            _ => {}
        }
        next = args.first().copied();
    }
    known.reverse();
    let term = match text {
        Some(text) => e.braces(text, &Arguments { known, complete: true }),
        None => e.terms.top(),
    };
    Message { term, has_throwable }
}
