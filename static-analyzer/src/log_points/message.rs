//! The message of a logging call as a term.

use super::apis::{self, Format, LevelFrom};
use super::{Site, logger, own};
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
    let (term, is_surplus) = own_text(e, frame, site, &chain);
    let term = with_exception(e, frame, site, term);
    Message { term: chain.around(e, term), has_throwable: has_throwable || is_surplus }
}

/// The message alone, and whether its last argument is a surplus exception.
fn own_text(e: &mut Evaluator<'_>, frame: FrameId, site: &Site<'_>, chain: &Chain) -> (Term, bool) {
    let call = &site.call;
    if let Some(text) = call.text {
        return (printed_by_itself(e, frame, site, text), false);
    }
    let Some(position) = call.message else {
        let Some(text) = chain.message else { return (e.terms.top(), false) };
        let arguments = Arguments { known: chain.arguments.clone(), complete: true };
        let format = format_of(e, frame, site);
        return (formatted(e, format, text, &arguments), false);
    };
    let Some(&value) = site.args.get(position) else { return (e.terms.top(), false) };
    if call.closure {
        return (closure_text(e, frame, value).unwrap_or_else(|| e.terms.top()), false);
    }
    let term = e.text(frame, value, descriptor(e, frame, value), site.value);
    if call.values.is_empty() && call.array.is_none() && chain.arguments.is_empty() {
        // Printf without arguments still expands `%n`, but loggers pass it on.
        return (term, false);
    }
    let format = format_of(e, frame, site);
    let (arguments, throwable) = arguments(e, frame, site, chain.arguments.clone());
    (formatted(e, format, term, &arguments), throwable)
}

/// tinylog's message is the exception, too.
fn with_exception(e: &mut Evaluator<'_>, frame: FrameId, site: &Site<'_>, term: Term) -> Term {
    let call = &site.call;
    let thrown = call.throwable.filter(|_| call.format == Format::Tiny && call.throwable != call.message);
    let Some(&thrown) = thrown.and_then(|at| site.args.get(at)) else { return term };
    let between = e.terms.text(": ");
    let thrown = e.text(frame, thrown, descriptor(e, frame, thrown), site.value);
    let both = e.terms.cat([term, between, thrown]);
    e.terms.alt([term, both])
}

/// How the logger of a call fills in arguments: as its class does, or as it was made to.
fn format_of(e: &mut Evaluator<'_>, frame: FrameId, site: &Site<'_>) -> Format {
    let by_class = site.call.format;
    if by_class != Format::Braces || !site.call.has_receiver {
        return by_class;
    }
    let Some(receiver) = super::point::receiver_of(e, frame, site) else { return by_class };
    logger::format(e, frame, receiver).unwrap_or(by_class)
}

/// The text that a method prints by itself: what it is given stands behind it.
fn printed_by_itself(e: &mut Evaluator<'_>, frame: FrameId, site: &Site<'_>, text: &str) -> Term {
    let (arguments, _) = arguments(e, frame, site, Vec::new());
    let values: String = (0..arguments.known.len()).map(|i| format!(" {{{i}}}")).collect();
    let format = e.terms.text(&format!("{text}{values}"));
    let rest = (!arguments.complete).then(|| e.terms.top());
    let term = formatted(e, site.call.format, format, &arguments);
    e.terms.cat([term].into_iter().chain(rest))
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
        Format::NumberedIfAsked => e.message_format_if_asked(term, arguments),
        Format::Tiny => e.tiny_braces(term, arguments),
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
        // An array is values one by one (Akka); other libraries take one as such.
        if site.call.values.len() == 1 && e.descriptor_of(frame, value) == "[Ljava/lang/Object;" {
            all = e.varargs(frame, value, site.value);
            break;
        }
        first.push(argument(e, frame, value, site.value));
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
        Op::InvokeDynamic { bootstrap, args, .. } => {
            let target = bootstrap.args.iter().find_map(|arg| match arg {
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
    /// Keys with their values.
    pairs: Vec<(Term, Term)>,
    /// Something is told that libraries print behind the message.
    has_context: bool,
}

impl Chain {
    /// `term` with the pairs before it, as slf4j's loggers put them there (those that know pairs
    /// in quotes, if their layout says so), or with what Flogger prints behind it.
    fn around(&self, e: &mut Evaluator<'_>, term: Term) -> Term {
        let mut forms = vec![term];
        for quote in ["", "\""] {
            let mut parts = Vec::new();
            for &(key, value) in &self.pairs {
                let (equals, end) = (e.terms.text(&format!("={quote}")), e.terms.text(&format!("{quote} ")));
                parts.extend([key, equals, value, end]);
            }
            parts.push(term);
            forms.push(e.terms.cat(parts));
        }
        if self.has_context {
            let (before, inside, behind) = (e.terms.text(" [CONTEXT "), e.terms.top(), e.terms.text(" ]"));
            forms.push(e.terms.cat([term, before, inside, behind]));
        }
        e.terms.alt(forms)
    }
}

/// `setMessage(..).addArgument(..).setCause(..)`; nothing for plain calls.
fn chain(e: &mut Evaluator<'_>, frame: FrameId, site: &Site<'_>) -> Chain {
    let mut chain = Chain::default();
    let mut next = site.args.first().copied().filter(|_| site.call.level == LevelFrom::Chain);
    while let Some(value) = next {
        let (method, args) = match e.op(frame, value) {
            Op::Cast(_, inner) => {
                next = Some(*inner);
                continue;
            }
            Op::Invoke { method, args, .. } => (method, args),
            _ => break,
        };
        let given = args.get(1).copied();
        let parameters = types::parameters(&method.descriptor);
        let is_closure = parameters.last().is_some_and(|p| apis::is_closure(p));
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
            ("addKeyValue", Some(key)) => {
                let key = e.text(frame, key, Name::from(STRING), value);
                let Some(&given) = args.get(2) else { break };
                let given = if is_closure {
                    made_argument(e, frame, given, value)
                } else {
                    e.argument(frame, given, value)
                };
                chain.pairs.push((key, given.text));
            }
            ("setCause" | "withCause" | "withThrowable", _) => chain.has_throwable = true,
            (name, _) => chain.has_context |= apis::is_context(name),
        }
        next = args.first().copied();
    }
    chain.arguments.reverse();
    chain.pairs.reverse();
    chain
}

/// A value that is given for a format; libraries wrap closures that make one.
fn argument(e: &mut Evaluator<'_>, frame: FrameId, value: ValueId, at: ValueId) -> Argument {
    match e.op(frame, value) {
        Op::Invoke { method, args, .. } if apis::is_lazy(method) && args.len() == 1 => {
            made_argument(e, frame, args[0], at)
        }
        Op::InvokeDynamic { descriptor, .. } if apis::is_closure(types::result(descriptor)) => {
            made_argument(e, frame, value, at)
        }
        _ => e.argument(frame, value, at),
    }
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
