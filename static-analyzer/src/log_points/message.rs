//! The message of a logging call as a term.

use super::apis::{self, Format, LevelFrom};
use super::{Site, own};
use crate::ir::{BootstrapArg, Op, ValueId};
use crate::limits;
use crate::program::Name;
use crate::strings::format::{Argument, Arguments};
use crate::strings::term::Term;
use crate::strings::{Arg, Evaluator, FrameId, types};

const OBJECT: &str = "Ljava/lang/Object;";
const STRING: &str = "Ljava/lang/String;";

/// What a logging call prints.
pub(crate) struct Message {
    pub(crate) term: Term,
    pub(crate) has_throwable: bool,
}

/// Like [`message`], evaluated again while recursions come to light.
pub(crate) fn stable(e: &mut Evaluator<'_>, frame: FrameId, site: &Site<'_>) -> Message {
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

/// Evaluates the message of `site`, which stands in `frame`, as it is printed.
fn message(e: &mut Evaluator<'_>, frame: FrameId, site: &Site<'_>) -> Message {
    let Message { term, has_throwable } = plain(e, frame, site);
    Message { term: own::adorned(e, frame, site, term), has_throwable }
}

/// The message that `site` gives to its logger.
pub(super) fn plain(e: &mut Evaluator<'_>, frame: FrameId, site: &Site<'_>) -> Message {
    let call = &site.call;
    let mut has_throwable = call.throwable.is_some();
    let chain = chain(e, frame, site);
    has_throwable |= chain.has_throwable;
    let Some(position) = call.message else {
        let arguments = Arguments { known: chain.arguments, complete: true };
        let term = match chain.message {
            Some(text) => formatted(e, call.format, text, &arguments),
            None => e.terms.top(),
        };
        return Message { term, has_throwable };
    };
    let Some(&value) = site.args.get(position) else { return Message { term: e.terms.top(), has_throwable } };
    if call.closure {
        let term = closure_text(e, frame, value).unwrap_or_else(|| e.terms.top());
        return Message { term, has_throwable };
    }
    let term = e.text(frame, value, descriptor(e, frame, value), site.value);
    if call.values.is_empty() && call.array.is_none() && chain.arguments.is_empty() {
        // Printf without arguments still expands `%n`, but loggers pass it on.
        return Message { term, has_throwable };
    }
    let (arguments, throwable) = arguments(e, frame, site, chain.arguments);
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
fn arguments(
    e: &mut Evaluator<'_>,
    frame: FrameId,
    site: &Site<'_>,
    mut first: Vec<Argument>,
) -> (Arguments, bool) {
    let mut all = match site.call.array {
        Some(array) => match site.args.get(array) {
            Some(&array) if site.call.closures => closures(e, frame, array, site.value),
            Some(&array) => e.varargs(frame, array, site.value),
            None => Arguments { known: Vec::new(), complete: false },
        },
        None => Arguments { known: Vec::new(), complete: true },
    };
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
            Arg::Text(text) => Some(text),
            _ => None,
        },
        Op::New(class) => made_by(e, frame, value, *class),
        // A closure that captures nothing is the one object of its class.
        Op::GetField(field, None) => {
            let class = types::class_of(&field.descriptor).map(Name::from)?;
            e.program().class(class).filter(|_| field.class == class)?;
            made_by(e, frame, value, class)
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

/// The text that the closure `value` of a class of its own makes.
fn made_by(e: &mut Evaluator<'_>, frame: FrameId, value: ValueId, class: Name) -> Option<Term> {
    let mut methods = apis::CLOSURE_METHODS.iter();
    let target = methods
        .find_map(|(name, descriptor)| e.facts.resolve(class, Name::from(name), Name::from(descriptor)))?;
    let inner = e.enter(frame, value, target, &[value])?;
    Some(e.returned(inner, Name::from(OBJECT)))
}

/// What the calls of a chain before the logging call give.
#[derive(Default)]
struct Chain {
    message: Option<Term>,
    arguments: Vec<Argument>,
    has_throwable: bool,
}

/// `setMessage(..).addArgument(..).setCause(..)`; nothing for plain calls.
fn chain(e: &mut Evaluator<'_>, frame: FrameId, site: &Site<'_>) -> Chain {
    let mut chain = Chain::default();
    let mut next = site.args.first().copied().filter(|_| site.call.level == LevelFrom::Chain);
    while let Some(value) = next {
        let Op::Invoke { method, args, .. } = e.op(frame, value) else { break };
        let given = args.get(1).copied();
        let is_closure = types::parameters(&method.descriptor).first().is_some_and(|p| apis::is_closure(p));
        match (method.name.as_str(), given) {
            ("setMessage", Some(text)) if chain.message.is_none() => {
                let made = if is_closure { closure_text(e, frame, text) } else { None };
                let text = made.unwrap_or_else(|| e.text(frame, text, Name::from(STRING), value));
                chain.message = Some(text);
            }
            ("addArgument", Some(given)) if is_closure => {
                chain.arguments.push(made_argument(e, frame, given, value));
            }
            ("addArgument", Some(given)) => chain.arguments.push(e.argument(frame, given, value)),
            ("setCause" | "withCause" | "withThrowable", _) => chain.has_throwable = true,
            _ => {}
        }
        next = args.first().copied();
    }
    chain.arguments.reverse();
    chain
}

/// What a closure makes as an argument.
fn made_argument(e: &mut Evaluator<'_>, frame: FrameId, value: ValueId, at: ValueId) -> Argument {
    match closure_text(e, frame, value) {
        Some(text) => Argument { text, throwable: false },
        None => e.argument(frame, value, at),
    }
}

/// Elements of an array of closures.
fn closures(e: &mut Evaluator<'_>, frame: FrameId, array: ValueId, at: ValueId) -> Arguments {
    let Some((f, elements)) = e.elements(frame, array) else {
        return Arguments { known: Vec::new(), complete: false };
    };
    let known =
        elements.into_iter().flatten().map(|v| made_argument(e, f, v, if f == frame { at } else { v }));
    Arguments { known: known.collect(), complete: true }
}
