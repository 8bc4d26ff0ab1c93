//! Wrappers: methods that print their own parameter. The log point belongs to
//! the callers, who give the text; the statement stays where it is.

use super::given::Given;
use super::{Site, apis, message, point};
use crate::ir::{Op, ValueId};
use crate::limits;
use crate::path::{LogPoint, Root};
use crate::program::{MethodId, access};
use crate::strings::facts::Facts;
use crate::strings::term::{Node, Pattern, Term};
use crate::strings::{self, Arg, Evaluator, FrameId, types};

/// A message with more constant letters than this says enough by itself.
pub(super) const CONSTANT_LETTERS_MAX: usize = 5;

/// The chain of calls from the outermost caller to the wrapper.
pub(crate) type Chain = Vec<(MethodId, ValueId)>;

/// Log points at the callers of a wrapper.
pub(crate) struct Lifted {
    pub(crate) points: Vec<LogPoint>,
    /// Every caller was seen and there can be no others.
    pub(crate) complete: bool,
    /// The wrapper's own log point is kept beside them.
    pub(crate) all: bool,
    /// Every caller that was seen has one of them.
    pub(crate) all_seen: bool,
}

/// Callers of the method of `site`, if the message is hardly more than its
/// parameter.
pub(crate) fn callers<'p>(
    e: &Evaluator<'p>,
    frame: FrameId,
    term: Term,
    site: &Site<'_>,
) -> Option<&'p [(MethodId, ValueId)]> {
    let printed = printed_parameters(e, term, is_text);
    if printed.is_empty() && !closure_parameter(e, frame, site) {
        return None;
    }
    let callers = callers_of(e.facts, e.method_of(FrameId::ROOT));
    let n_letters = letters(e, term, 0);
    // Who calls what the method overrides calls others, too, and so does who calls it on an object
    // that somebody else gave.
    let is_facade =
        || n_letters == 0 && callers.iter().all(|&call| names(e.facts, call, e.method_of(FrameId::ROOT)));
    let is_wide = callers.len() > limits::WRAPPER_CALLERS_MAX;
    let is_first = e.method_of(FrameId::ROOT) == site.method;
    if callers.is_empty()
        || callers.len() > limits::FACADE_CALLERS_MAX
        || (is_wide && !(is_first && is_facade()))
    {
        return None;
    }
    let lifts = n_letters <= CONSTANT_LETTERS_MAX || Given::new(e.facts).differ(callers, &printed);
    lifts.then_some(callers)
}

/// Calls that can run the method; none for static initializers.
pub(crate) fn callers_of<'f>(facts: &'f Facts<'_>, method: MethodId) -> &'f [(MethodId, ValueId)] {
    facts.callers(method, || find_callers(facts, method))
}

fn find_callers(facts: &Facts<'_>, method: MethodId) -> Vec<(MethodId, ValueId)> {
    let target = &facts.program.methods[method.index()];
    let class = facts.class_name(target.class);
    if target.name == "<clinit>" {
        return Vec::new();
    }
    let calls = facts.calls(target.name, target.descriptor).iter().copied();
    calls
        .filter(|&(caller, call)| {
            let Some(body) = &facts.program.methods[caller.index()].body else { return false };
            let Op::Invoke { method: named, .. } = body.op(call) else { return false };
            caller != method
                && (facts.resolve(named.class, named.name, named.descriptor) == Some(method)
                    || target.access & (access::STATIC | access::PRIVATE) == 0
                        && target.name != "<init>"
                        && facts.is_subtype(class, named.class))
        })
        .collect()
}

/// Whether a call names `method` itself.
fn names(facts: &Facts<'_>, (caller, call): (MethodId, ValueId), method: MethodId) -> bool {
    let body = facts.program.methods[caller.index()].body.as_ref();
    matches!(body.map(|body| body.op(call)), Some(Op::Invoke { method: named, .. })
        if facts.resolve(named.class, named.name, named.descriptor) == Some(method))
}

/// Letters of the constants of a term.
pub(crate) fn letters(e: &Evaluator<'_>, term: Term, depth: u32) -> usize {
    if depth > 12 {
        return 0;
    }
    match e.terms.node(term) {
        Node::Text(text) => text.chars().filter(|c| c.is_alphanumeric()).count(),
        Node::Cat(xs) => xs.iter().map(|&x| letters(e, x, depth + 1)).sum(),
        Node::Alt(xs) => xs.iter().map(|&x| letters(e, x, depth + 1)).min().unwrap_or(0),
        Node::Star(_) | Node::Leaf(_) | Node::Open(_) => 0,
    }
}

/// Whether a message has letters of its own, but hardly any.
pub(crate) fn has_few_letters(e: &Evaluator<'_>, term: Term) -> bool {
    (1..=CONSTANT_LETTERS_MAX).contains(&letters(e, term, 0))
}

/// A type that messages are passed around as.
fn is_text(descriptor: &str) -> bool {
    types::class_of(descriptor).is_some_and(|c| {
        matches!(
            c,
            "java/lang/String"
                | "java/lang/Object"
                | "java/lang/CharSequence"
                | "java/lang/StringBuilder"
                | "java/lang/StringBuffer"
        ) || strings::apis::is_message_type(c)
    })
}

/// A type of which callers can give constants.
pub(crate) fn is_given(descriptor: &str) -> bool {
    types::is_primitive(descriptor) || is_text(descriptor)
}

/// Whether a parameter of the root frame, of a type `is_wanted`, is printed as it
/// is.
pub(crate) fn gives_parameter(e: &Evaluator<'_>, term: Term, is_wanted: fn(&str) -> bool) -> bool {
    !printed_parameters(e, term, is_wanted).is_empty()
}

/// Whether a text that is parameter `first` of the root frame, or one behind it,
/// is printed as it is.
pub(super) fn prints_parameter_from(e: &Evaluator<'_>, term: Term, first: usize) -> bool {
    printed_parameters(e, term, is_text).last().is_some_and(|&i| usize::from(i) >= first)
}

fn printed_parameters(e: &Evaluator<'_>, term: Term, is_wanted: fn(&str) -> bool) -> Vec<u16> {
    let (mut found, mut todo) = (Vec::new(), vec![term]);
    while let Some(term) = todo.pop() {
        match e.terms.node(term) {
            Node::Leaf(leaf) => {
                if let Some(path) = &leaf.path
                    && let Root::Param(i) = path.root
                    && path.steps.is_empty()
                    && (leaf.pattern == Pattern::Text || types::is_primitive(&leaf.descriptor))
                    && !is_this(e, i)
                    && is_wanted(&leaf.descriptor)
                {
                    found.push(i);
                }
            }
            Node::Cat(xs) | Node::Alt(xs) => todo.extend(xs.iter()),
            _ => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn is_this(e: &Evaluator<'_>, i: u16) -> bool {
    i == 0 && !e.program().methods[e.method_of(FrameId::ROOT).index()].is_static()
}

/// Whether the message is a closure that the root frame was given.
fn closure_parameter(e: &Evaluator<'_>, mut frame: FrameId, site: &Site<'_>) -> bool {
    let message = site.call.message.and_then(|i| site.args.get(i).copied());
    let Some(mut value) = message else { return false };
    let mut is_closure = site.call.closure;
    loop {
        match e.op(frame, value) {
            Op::Cast(_, inner) => value = *inner,
            // The text that a closure makes, called here.
            Op::Invoke { method, args, .. } if !is_closure && apis::makes_text(method) => {
                let [closure] = args[..] else { return false };
                (value, is_closure) = (closure, true);
            }
            _ if !is_closure => return false,
            Op::Param(_) if frame == FrameId::ROOT => return true,
            Op::Param(i) => match e.frame(frame).args.get(usize::from(*i)) {
                Some(&Arg::At(f, v)) => (frame, value) = (f, v),
                _ => return false,
            },
            _ => return false,
        }
    }
}

/// Repeats the log point of `site` for each caller.
pub(crate) fn lifted(facts: &Facts<'_>, site: &Site<'_>, callers: &[(MethodId, ValueId)]) -> Lifted {
    let target = &facts.program.methods[site.method.index()];
    let mut lifted = Lifted {
        points: Vec::new(),
        complete: target.access & access::PRIVATE != 0,
        all: false,
        all_seen: true,
    };
    let most = callers.len().max(limits::WRAPPER_CALLERS_MAX * 4);
    let mut chains: Vec<Chain> = callers.iter().map(|&c| vec![c]).collect();
    for depth in 1..=limits::WRAPPER_DEPTH_MAX {
        let mut longer = Vec::new();
        // The points of methods that only pass on what their own callers give.
        let mut passing = Vec::new();
        for chain in chains {
            let (outermost, call) = chain[0];
            let mut e = Evaluator::new(facts, outermost);
            let Some(frame) = enter_chain(&mut e, &chain, site.method) else {
                (lifted.complete, lifted.all_seen) = (false, false);
                continue;
            };
            let mut frame = frame;
            let mut message = message::stable(&mut e, frame, site);
            if depth < limits::WRAPPER_DEPTH_MAX
                && let Some(callers) = self::callers(&e, frame, message.term, site)
            {
                longer.extend(callers.iter().map(|&c| [vec![c], chain.clone()].concat()));
                if letters(&e, message.term, 0) <= CONSTANT_LETTERS_MAX {
                    passing.push(lifted.points.len());
                }
            } else if point::is_joined(&e, message.term) {
                let mut joined = Evaluator::new(facts, outermost);
                joined.joins_callers = true;
                if let Some(entered) = enter_chain(&mut joined, &chain, site.method) {
                    (e, frame) = (joined, entered);
                    message = message::stable(&mut e, frame, site);
                }
            }
            let line = e.body(FrameId::ROOT).inst(call).line;
            lifted.points.push(point::finish(&mut e, frame, site, &message, call, Some(line)));
        }
        if longer.is_empty() || longer.len() > most {
            lifted.all_seen &= longer.is_empty();
            break;
        }
        passing.into_iter().for_each(|at| lifted.points[at].is_for_unseen = true);
        chains = longer;
    }
    lifted
}

pub(crate) fn enter_chain(e: &mut Evaluator<'_>, chain: &Chain, wrapper: MethodId) -> Option<FrameId> {
    let mut frame = FrameId::ROOT;
    for (i, &(_, call)) in chain.iter().enumerate() {
        let target = chain.get(i + 1).map_or(wrapper, |next| next.0);
        let Op::Invoke { args, .. } = e.op(frame, call) else { return None };
        frame = e.enter(frame, call, target, args)?;
    }
    Some(frame)
}
