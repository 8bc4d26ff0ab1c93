//! Loggers of the program's own: classes between a logging call and the library
//! that hand the text on, with something before or behind it (the name of a
//! partition, of a session). Their methods are no log points; what they add is a
//! part of the texts of everybody who prints through them.
//!
//! What is added is found by evaluation: the method that is called gets a mark
//! as its text, and the mark is looked for in what reaches the logger behind it.
//! Over-approximates: a logger of unknown making may be any of the program's own
//! that fit its type.

mod makers;

use rustc_hash::{FxHashMap, FxHashSet};

use super::apis::{self, LevelFrom};
use super::{Site, classify, message, sites_of};
use crate::ir::{InvokeKind, Op, ValueId};
use crate::limits;
use crate::program::{ClassId, MethodId, MethodRef, Name, access};
use crate::strings::facts::Facts;
use crate::strings::term::{Node, Pattern, Term};
use crate::strings::{Arg, Evaluator, FrameId, types};

/// Stands for the text that is handed on: of a block that no text uses.
const MARK: char = '\u{E000}';

/// Calls from a method of a logger to the logger behind it.
const HANDED_DEPTH_MAX: u32 = 4;

/// Ways in which a text can be handed on.
const FORMS_MAX: usize = 8;

/// The loggers of a program.
pub(crate) struct Loggers {
    /// The logging class that each class is or extends.
    pub(crate) listed: FxHashMap<Name, Name>,
    /// Methods that only hand texts on.
    passing: FxHashSet<MethodId>,
    /// Classes with such methods, sorted.
    own: Vec<ClassId>,
}

impl Loggers {
    /// Finds them.
    pub(crate) fn new(facts: &Facts<'_>, listed: FxHashMap<Name, Name>) -> Self {
        let mut loggers = Self { listed, passing: FxHashSet::default(), own: Vec::new() };
        for (i, class) in facts.program.classes.iter().enumerate() {
            let Some(&above) = loggers.listed.get(&class.name) else { continue };
            if apis::is_mixin(above) || class.access & access::INTERFACE != 0 {
                continue;
            }
            let before = loggers.passing.len();
            for id in class.methods.clone().map(MethodId::new) {
                let method = &facts.program.methods[id.index()];
                let named = MethodRef { class: class.name, name: method.name, descriptor: method.descriptor };
                let is_declared = method.access & (access::STATIC | access::PRIVATE) == 0;
                if is_declared && classify(&loggers.listed, &named, InvokeKind::Virtual).is_some() {
                    let mut handing = Vec::new();
                    if loggers.hands_on(facts, id, HANDED_DEPTH_MAX, &mut handing) {
                        loggers.passing.extend(handing);
                    }
                }
            }
            if loggers.passing.len() > before {
                loggers.own.push(ClassId::new(i));
            }
        }
        loggers
    }

    /// Whether a method makes a logging call, itself or by a helper of its class
    /// that only its class calls; `through` gets the methods on the way.
    fn hands_on(&self, facts: &Facts<'_>, method: MethodId, depth: u32, through: &mut Vec<MethodId>) -> bool {
        if depth == 0 || through.contains(&method) {
            return false;
        }
        if !sites_of(facts, self, method).is_empty() {
            through.push(method);
            return true;
        }
        let helpers = helpers(facts, method);
        let mut found = false;
        for (_, helper) in helpers {
            found |= self.hands_on(facts, helper, depth - 1, through);
        }
        if found {
            through.push(method);
        }
        found
    }

    /// Whether a method is one of a logger's own objects, with a text of its own: it prints for who
    /// calls it, `LOG.opened(account)`.
    pub(super) fn is_logger(&self, facts: &Facts<'_>, method: MethodId) -> bool {
        let method = &facts.program.methods[method.index()];
        let name = facts.class_name(method.class);
        let is_logger = || self.listed.get(&name).is_some_and(|&above| !apis::is_mixin(above));
        !method.is_static() && !method.name.starts_with('<') && (apis::is_generated(&name) || is_logger())
    }

    /// Whether the texts of a method are those of its callers.
    pub(crate) fn only_hands_on(&self, method: MethodId) -> bool {
        self.passing.contains(&method)
    }
}

/// Private methods of its own class that a method calls.
fn helpers(facts: &Facts<'_>, method: MethodId) -> Vec<(ValueId, MethodId)> {
    let this = &facts.program.methods[method.index()];
    let Some(body) = &this.body else { return Vec::new() };
    let mut found = Vec::new();
    for (value, inst) in body.iter() {
        let Op::Invoke { method: named, .. } = &inst.op else { continue };
        if let Some(target) = facts.resolve(named.class, named.name, named.descriptor)
            && facts.program.methods[target.index()].class == this.class
            && facts.program.methods[target.index()].access & access::PRIVATE != 0
        {
            found.push((value, target));
        }
    }
    found
}

/// A text on its way to the library: the logging call behind, in its frame, and
/// the marked text that it is given.
struct Handed<'l> {
    frame: FrameId,
    site: Site<'l>,
    text: Term,
}

/// `term` as the loggers between `site` and the library print it.
pub(super) fn adorned(e: &mut Evaluator<'_>, frame: FrameId, site: &Site<'_>, term: Term) -> Term {
    let forms = forms(e, frame, site);
    if forms.is_empty() {
        return term;
    }
    let choices = match e.terms.node(term) {
        Node::Alt(xs) if xs.len() * forms.len() <= limits::ALTERNATIVES_MAX => xs.to_vec(),
        _ => vec![term],
    };
    let mut all = Vec::with_capacity(choices.len() * forms.len());
    for choice in choices {
        for &(before, behind) in &forms {
            all.push(e.terms.cat([before, choice, behind]));
        }
    }
    e.terms.alt(all)
}

/// The logger behind a mixin, where its methods are part of the program: its
/// frame and value.
pub(super) fn behind_mixin(
    e: &mut Evaluator<'_>,
    frame: FrameId,
    site: &Site<'_>,
) -> Option<(FrameId, ValueId)> {
    let handed = by_mixin(e, frame, site);
    handed.first().and_then(|h| Some((h.frame, *h.site.args.first()?)))
}

/// What stands before and behind a text of `site` when it is printed; nothing:
/// the text alone.
fn forms(e: &mut Evaluator<'_>, frame: FrameId, site: &Site<'_>) -> Vec<(Term, Term)> {
    let (mut alone, mut handed) = (false, Vec::new());
    if site.call.mixin {
        handed = by_mixin(e, frame, site);
    } else if let Some(&receiver) = site.args.first()
        && site.call.has_receiver
        && site.call.level != LevelFrom::Chain
    {
        let Some(made) = makers::own_classes(e, frame, site, receiver) else { return Vec::new() };
        alone = made.by_library;
        for class in made.own {
            handed.extend(by_class(e, frame, site, class));
        }
    }
    let mut forms = Vec::new();
    for text in handed.into_iter().map(|h| h.text) {
        let Some(choices) = e.terms.expand(text, FORMS_MAX, MARK) else { continue };
        for choice in choices {
            forms.extend(around_mark(e, choice));
        }
    }
    if forms.is_empty() {
        return forms;
    }
    let empty = e.terms.empty();
    if alone {
        forms.push((empty, empty));
    }
    forms.sort_unstable();
    forms.dedup();
    // Any text is also none.
    let any = |t: Term| matches!(e.terms.node(t), Node::Leaf(l) if l.pattern == Pattern::Text);
    if forms.iter().any(|&(before, behind)| any(before) && behind == empty) {
        forms.retain(|&form| form != (empty, empty));
    }
    if forms.len() > FORMS_MAX || forms == [(empty, empty)] { Vec::new() } else { forms }
}

/// What stands before and behind the mark.
fn around_mark(e: &mut Evaluator<'_>, term: Term) -> Option<(Term, Term)> {
    let parts = e.terms.parts(term);
    let at = parts.iter().position(|&part| e.terms.has_character(part, MARK))?;
    let text = e.terms.as_text(parts[at])?.to_owned();
    let (before, behind) = text.split_once(MARK)?;
    if behind.contains(MARK) || parts[at + 1..].iter().any(|&part| e.terms.has_character(part, MARK)) {
        return None;
    }
    let (before, behind) = (e.terms.text(before), e.terms.text(behind));
    let before = e.terms.cat(parts[..at].iter().copied().chain([before]));
    let behind = e.terms.cat([behind].into_iter().chain(parts[at + 1..].iter().copied()));
    Some((before, behind))
}

/// What the methods of a mixin do with a text.
fn by_mixin<'l>(e: &mut Evaluator<'_>, frame: FrameId, site: &Site<'l>) -> Vec<Handed<'l>> {
    let Op::Invoke { kind, method, args } = e.op(frame, site.value) else { return Vec::new() };
    let (kind, method, args) = (*kind, *method, args.clone());
    let Some(message) = site.call.message else { return Vec::new() };
    let targets = e.targets(frame, kind, method, &args);
    let first = targets.first().copied();
    let Some(target) = first.or_else(|| e.facts.resolve(method.class, method.name, method.descriptor)) else {
        return Vec::new();
    };
    let mark = e.terms.text(&MARK.to_string());
    let given = args.iter().enumerate();
    let given = given.map(|(i, &v)| if i == message { Arg::Text(mark) } else { Arg::At(frame, v) }).collect();
    let Some(inner) = e.make_frame(frame, Some((frame, site.value)), target, given, None) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    handed_in(e, inner, site, HANDED_DEPTH_MAX, &mut found);
    found
}

/// What a logger of `class` does with a text.
fn by_class<'l>(e: &mut Evaluator<'_>, frame: FrameId, site: &Site<'l>, class: ClassId) -> Vec<Handed<'l>> {
    let Op::Invoke { method: named, args, .. } = e.op(frame, site.value) else { return Vec::new() };
    let (named, args) = (*named, args.clone());
    let name = e.facts.class_name(class);
    // The form without arguments says what is added, in every form.
    let simple = ["(Ljava/lang/String;)V", "(Ljava/lang/Object;)V"];
    let simple =
        simple.iter().find_map(|d| Some((e.facts.resolve(name, named.name, Name::from(d))?, 1_usize)));
    let same = || {
        Some((e.facts.resolve(name, named.name, named.descriptor)?, site.call.message?)).filter(|s| s.1 > 0)
    };
    let Some((target, message)) = simple.or_else(same) else { return Vec::new() };
    let count = types::parameters(&e.program().methods[target.index()].descriptor).len() + 1;
    let mut given = vec![Arg::Unknown; count];
    given[0] = Arg::At(frame, args[0]);
    let Some(slot) = given.get_mut(message) else { return Vec::new() };
    *slot = Arg::Text(e.terms.text(&MARK.to_string()));
    let at = Some((frame, site.value));
    let Some(inner) = e.make_frame(frame, at, target, given, Some([class].into())) else { return Vec::new() };
    let mut found = Vec::new();
    handed_in(e, inner, site, HANDED_DEPTH_MAX, &mut found);
    found
}

/// Logging calls at and below `frame` that are given the marked text.
fn handed_in<'l>(
    e: &mut Evaluator<'_>,
    frame: FrameId,
    outer: &Site<'l>,
    depth: u32,
    found: &mut Vec<Handed<'l>>,
) {
    let method = e.method_of(frame);
    // What is a call of a mixin again is looked into below.
    for site in sites_of(e.facts, outer.loggers, method).into_iter().filter(|site| !site.call.mixin) {
        let text = message::plain(e, frame, &site).term;
        if e.terms.has_character(text, MARK) {
            found.push(Handed { frame, site, text });
        }
    }
    if !found.is_empty() || depth == 0 {
        return;
    }
    for (value, inst) in e.body(frame).iter() {
        let Op::Invoke { kind, method: named, args } = &inst.op else { continue };
        let (kind, named, args) = (*kind, *named, args.clone());
        let handed = |e: &Evaluator<'_>, v: ValueId| {
            // The text itself, or a text made of it.
            let parameter = matches!(e.op(frame, v), Op::Param(_));
            parameter || types::class_of(&e.descriptor_of(frame, v)) == Some("java/lang/String")
        };
        if types::result(&named.descriptor) != "V" || !args.iter().any(|&v| handed(e, v)) {
            continue;
        }
        let Some(&target) = e.targets(frame, kind, named, &args).first() else { continue };
        let class = e.facts.class_name(e.program().methods[target.index()].class);
        if !apis::is_listed(class) && !outer.loggers.listed.contains_key(&class) {
            continue;
        }
        if let Some(inner) = e.enter(frame, value, target, &args) {
            handed_in(e, inner, outer, depth - 1, found);
        }
        if !found.is_empty() {
            return;
        }
    }
}
