//! How objects print: late binding of `toString` over the allocated classes,
//! enums, boxed numbers, library classes.

use std::rc::Rc;

use super::apis::{self, Kind};
use super::term::{Pattern, Term};
use super::{Arg, Evaluator, FrameId, Place, PlaceId, types};
use crate::ir::{InvokeKind, Op, ValueId};
use crate::limits;
use crate::program::{ClassId, MethodId, MethodRef, Name};

const TO_STRING: (&str, &str) = ("toString", "()Ljava/lang/String;");

impl Evaluator<'_> {
    /// What the object or number `value` prints, where its instruction does not
    /// say more than its type.
    pub(crate) fn object(&mut self, frame: FrameId, value: ValueId, descriptor: Name) -> Term {
        let place = self.place(frame, value);
        let own = self.descriptor_of(frame, value);
        if types::is_primitive(&own) || types::is_primitive(&descriptor) {
            let shown = if types::is_primitive(&descriptor) { descriptor } else { own };
            return self.leaf(frame, value, shown);
        }
        let mut narrow = self.narrower(descriptor, own);
        narrow = self.narrower(narrow, self.place_descriptor(place));
        let classes = self.exact_classes(frame, value, place);
        let term = self.object_at(frame, place, narrow, classes.as_deref());
        // A bare text without path is better told by its call.
        match self.terms.node(term) {
            super::term::Node::Leaf(leaf) if leaf.path.is_none() => {
                let pattern = leaf.pattern.clone();
                let text = self.describe(frame, value);
                self.place_leaf(place, narrow, pattern, text)
            }
            _ => term,
        }
    }

    fn exact_classes(&self, frame: FrameId, value: ValueId, place: PlaceId) -> Option<Rc<[ClassId]>> {
        if let Op::Param(0) = self.op(frame, value)
            && let Some(classes) = &self.frame(frame).this_classes
        {
            return Some(classes.clone());
        }
        if let Place::Value(f, v) = self.place_node(place)
            && let Op::New(class) = self.op(f, v)
        {
            return self.program().class(*class).map(|c| Rc::from([c]));
        }
        None
    }

    /// Like `text` of a value on which a method was called.
    pub(crate) fn non_null(&mut self, frame: FrameId, value: ValueId, descriptor: Name, at: ValueId) -> Term {
        let term = self.text(frame, value, descriptor, at);
        if matches!(self.op(frame, value), Op::Const(_)) {
            return term;
        }
        match self.terms.node(term).clone() {
            super::term::Node::Alt(xs) => {
                let kept: Vec<Term> =
                    xs.iter().copied().filter(|&x| self.terms.as_text(x) != Some("null")).collect();
                self.terms.alt(kept)
            }
            _ => term,
        }
    }

    /// What the object at a place prints; `classes` narrows what it can be.
    pub(crate) fn object_at(
        &mut self,
        frame: FrameId,
        place: PlaceId,
        descriptor: Name,
        classes: Option<&[ClassId]>,
    ) -> Term {
        let Some(class) = types::class_of(&descriptor).map(Name::from) else {
            return self.place_leaf(place, descriptor, Self::pattern_of(descriptor), String::new());
        };
        if class.starts_with('[') {
            return self.place_leaf(place, descriptor, Pattern::Text, String::new());
        }
        if let Some(pattern) = self.enum_pattern(frame, place, class, classes) {
            return pattern;
        }
        if self.facts.is_throwable(class) {
            return self.place_leaf(place, descriptor, Pattern::Throwable, String::new());
        }
        let inside: Vec<ClassId> = match classes {
            Some(classes) => classes.to_vec(),
            None => self.flowing(place, class),
        };
        let is_library = self.program().class(class).is_none() || apis::prints_elements(class);
        if is_library
            && (class == "java/lang/Object"
                || apis::kind(class).is_some()
                || inside.is_empty()
                || super::call::is_text_type(&descriptor))
        {
            return self.library_object(place, descriptor, class, &inside);
        }
        let term = self.late_bound(frame, place, descriptor, class, &inside, is_library);
        let exact = classes.is_some() || self.is_this(place);
        if exact
            || !matches!(
                self.terms.node(term),
                super::term::Node::Cat(_) | super::term::Node::Alt(_) | super::term::Node::Text(_)
            )
        {
            return term;
        }
        let null = self.terms.text("null");
        self.terms.alt([term, null])
    }

    fn is_this(&self, place: PlaceId) -> bool {
        match self.place_node(place) {
            Place::Value(f, v) => match self.op(f, v) {
                Op::Param(0) => !self.program().methods[self.method_of(f).index()].is_static(),
                Op::New(_) => true,
                _ => false,
            },
            _ => false,
        }
    }

    fn library_object(&mut self, place: PlaceId, descriptor: Name, class: Name, inside: &[ClassId]) -> Term {
        // Program classes below a library class may print as they like.
        let overridden = !self.is_made_by_library(place)
            && inside.iter().any(|&c| {
                let name = self.facts.class_name(c);
                self.facts.resolve(name, Name::from(TO_STRING.0), Name::from(TO_STRING.1)).is_some()
            });
        let text = String::new();
        match apis::kind(class) {
            Some(Kind::Looks(look)) if look.pattern() != Pattern::Text => {
                let leaf = self.place_leaf(place, descriptor, look.pattern(), text);
                let null = self.terms.text("null");
                self.terms.alt([leaf, null])
            }
            Some(Kind::Collection) if let Some(term) = self.listed(place) => term,
            Some(kind @ (Kind::Collection | Kind::Map)) => {
                let (open, close) = if kind == Kind::Map { ("{", "}") } else { ("[", "]") };
                let inner = self.place_leaf(place, descriptor, Pattern::Text, text);
                let (open, close, null) =
                    (self.terms.text(open), self.terms.text(close), self.terms.text("null"));
                let all = self.terms.cat([open, inner, close]);
                // Most collections are the JDK's, whatever else there is in the program.
                if overridden { self.terms.alt([all, null, inner]) } else { self.terms.alt([all, null]) }
            }
            _ => self.place_leaf(place, descriptor, Pattern::Text, text),
        }
    }

    /// `Arrays.asList(a, b)` and its kin.
    fn listed(&mut self, place: PlaceId) -> Option<Term> {
        let Place::Value(f, v) = self.place_node(place) else { return None };
        let Op::Invoke { kind: InvokeKind::Static, method, args } = self.op(f, v) else { return None };
        let array = match (method.class.as_str(), method.name.as_str()) {
            ("java/util/Arrays", "asList") | ("java/util/List", "of")
                if method.descriptor.starts_with("([") =>
            {
                *args.first()?
            }
            ("java/util/List", "of")
            | ("java/util/Collections", "singletonList" | "singleton" | "emptyList" | "emptySet") => {
                return self.listed_values(f, v, args);
            }
            _ => return None,
        };
        let (_, elements) = self.elements(f, array)?;
        (!elements.is_empty()).then(|| self.array_image(f, v, array))
    }

    fn listed_values(&mut self, frame: FrameId, call: ValueId, args: &[ValueId]) -> Option<Term> {
        let mut parts = vec![self.terms.text("[")];
        for (i, &value) in args.iter().enumerate() {
            if i > 0 {
                parts.push(self.terms.text(", "));
            }
            parts.push(self.text(frame, value, Name::from("Ljava/lang/Object;"), call));
        }
        parts.push(self.terms.text("]"));
        Some(self.terms.cat(parts))
    }

    /// Whether the object is allocated as a library class, or by a library method.
    fn is_made_by_library(&self, place: PlaceId) -> bool {
        let Place::Value(f, v) = self.place_node(place) else { return false };
        match self.op(f, v) {
            Op::New(class) => self.program().class(*class).is_none(),
            Op::Invoke { kind: InvokeKind::Static, method, .. } => {
                method.class.starts_with("java/util/") && self.program().class(method.class).is_none()
            }
            _ => false,
        }
    }

    /// One choice per `toString` that the object can run.
    fn late_bound(
        &mut self,
        frame: FrameId,
        place: PlaceId,
        descriptor: Name,
        class: Name,
        inside: &[ClassId],
        is_library: bool,
    ) -> Term {
        let own: Vec<ClassId> = self.program().class(class).into_iter().collect();
        let classes = if inside.is_empty() { &own } else { inside };
        let mut targets: Vec<(Option<MethodId>, Vec<ClassId>)> = Vec::new();
        for &id in classes {
            let name = self.facts.class_name(id);
            let target = self.facts.resolve(name, Name::from(TO_STRING.0), Name::from(TO_STRING.1));
            match targets.iter_mut().find(|(t, _)| *t == target) {
                Some((_, all)) => all.push(id),
                None => targets.push((target, vec![id])),
            }
        }
        let leaf = |e: &mut Self| e.place_leaf(place, descriptor, Pattern::Text, String::new());
        if targets.len() > limits::TARGETS_MAX || is_library {
            return leaf(self);
        }
        let mut choices = Vec::new();
        for (target, all) in targets {
            let term = match target {
                Some(target) => self.overridden_text(frame, place, target, all),
                None => self.inherited_to_string(&all),
            };
            let Some(term) = term else { return leaf(self) };
            // What is too large to tell is any text, after what can be told.
            let told = self.terms.size(term) <= limits::INLINED_TERM_NODES_MAX && !self.terms.is_never(term);
            choices.push(if told { term } else { leaf(self) });
        }
        while choices.iter().map(|&c| self.terms.size(c)).sum::<u32>() > limits::INLINED_TERM_NODES_MAX {
            let Some(i) = (0..choices.len()).max_by_key(|&i| self.terms.size(choices[i])) else { break };
            choices[i] = leaf(self);
        }
        let term = self.terms.alt(choices);
        let fits = self.terms.size(term) <= limits::INLINED_TERM_NODES_MAX;
        if !fits || self.terms.is_never(term) {
            return leaf(self);
        }
        let value = leaf(self);
        let term = self.terms.with_any_text_as(value, term);
        if self.terms.is_informative(term) { term } else { value }
    }

    fn overridden_text(
        &mut self,
        frame: FrameId,
        place: PlaceId,
        target: MethodId,
        classes: Vec<ClassId>,
    ) -> Option<Term> {
        let inner = self.make_frame(frame, None, target, vec![Arg::Place(place)], Some(classes.into()))?;
        Some(self.returned(inner, Name::from("Ljava/lang/String;")))
    }

    /// `Object.toString`, or unknown if a library superclass overrides it.
    fn inherited_to_string(&mut self, classes: &[ClassId]) -> Option<Term> {
        let mut names = Vec::new();
        for &class in classes {
            let name = self.facts.class_name(class);
            let library = self.facts.supertypes(name).iter().any(|n| {
                n != "java/lang/Object" && self.program().class(*n).is_none() && !is_interface_like(n)
            });
            if library {
                return None;
            }
            names.push(self.terms.text(&types::binary_name(&name)));
        }
        let name = self.terms.alt(names);
        let hash = self.terms.unknown(Pattern::Regex("@[0-9a-f]+"), "java/lang/Object");
        Some(self.terms.cat([name, hash]))
    }

    /// `super.toString()`: bound statically, for the same object.
    pub(crate) fn super_text(
        &mut self,
        frame: FrameId,
        call: ValueId,
        method: MethodRef,
        args: &[ValueId],
    ) -> Option<Term> {
        let Some(target) = self.facts.resolve(method.class, method.name, method.descriptor) else {
            let (classes, _) = self.classes_of(frame, *args.first()?);
            return if method.class == "java/lang/Object" && !classes.is_empty() {
                self.inherited_to_string(&classes)
            } else {
                None
            };
        };
        let inner = self.enter(frame, call, target, args)?;
        let term = self.returned(inner, Name::from("Ljava/lang/String;"));
        self.terms.is_informative(term).then_some(term)
    }

    /// An enum value: its constants, or what they print.
    fn enum_pattern(
        &mut self,
        frame: FrameId,
        place: PlaceId,
        class: Name,
        classes: Option<&[ClassId]>,
    ) -> Option<Term> {
        let class = self.enum_class(class)?;
        let constants = self.facts.enum_constants(class)?;
        let concrete = classes.map_or_else(|| self.facts.concrete(class).to_vec(), <[ClassId]>::to_vec);
        let overridden = concrete.iter().any(|&c| {
            let name = self.facts.class_name(c);
            self.facts.resolve(name, Name::from(TO_STRING.0), Name::from(TO_STRING.1)).is_some()
        });
        if overridden {
            let term = self.late_bound(frame, place, types::descriptor_of(&class), class, &concrete, false);
            return Some(term);
        }
        if let Place::Static(field) = self.place_node(place)
            && constants.contains(&field.name)
            && field.class == class
        {
            return Some(self.terms.text(&field.name));
        }
        let leaf = self.place_leaf(
            place,
            types::descriptor_of(&class),
            Pattern::Words(constants.into()),
            String::new(),
        );
        if self.is_this(place) {
            return Some(leaf);
        }
        let null = self.terms.text("null");
        Some(self.terms.alt([leaf, null]))
    }

    /// The enum that a class or its constant's body belongs to.
    fn enum_class(&self, class: Name) -> Option<Name> {
        let all = self.facts.supertypes(class);
        all.iter().copied().find(|&n| self.facts.enum_constants(n).is_some())
    }

    /// `Enum.name()`
    pub(crate) fn enum_name(&mut self, frame: FrameId, value: ValueId) -> Option<Term> {
        let place = self.place(frame, value);
        let descriptor = self.narrower(self.descriptor_of(frame, value), self.place_descriptor(place));
        let class = self.enum_class(Name::from(types::class_of(&descriptor)?))?;
        let constants = self.facts.enum_constants(class)?;
        if let Place::Static(field) = self.place_node(place)
            && constants.contains(&field.name)
        {
            return Some(self.terms.text(&field.name));
        }
        Some(self.place_leaf(place, descriptor, Pattern::Words(constants.into()), String::new()))
    }

    /// Names of the classes that `value`, of type `Class`, can be.
    pub(crate) fn class_names(
        &mut self,
        frame: FrameId,
        value: ValueId,
        simple: bool,
    ) -> Option<Vec<String>> {
        let name =
            |class: &str| if simple { types::source_simple_name(class) } else { types::binary_name(class) };
        match self.op(frame, value) {
            Op::Const(crate::ir::Const::Class(class)) => Some(vec![name(class)]),
            Op::Cast(_, inner) => self.class_names(frame, *inner, simple),
            Op::Param(i) if frame != FrameId::ROOT => {
                match self.frame(frame).args.get(usize::from(*i)).copied()? {
                    Arg::At(f, v) => self.class_names(f, v, simple),
                    _ => None,
                }
            }
            Op::Invoke { kind, method, args }
                if method.name == "getClass"
                    && method.descriptor == "()Ljava/lang/Class;"
                    && *kind != InvokeKind::Static =>
            {
                let receiver = *args.first()?;
                let (classes, _) = self.classes_of(frame, receiver);
                let texts: Vec<String> = classes.iter().map(|&c| name(&self.facts.class_name(c))).collect();
                let descriptor = self.descriptor_of(frame, receiver);
                let known = types::class_of(&descriptor)
                    .is_some_and(|c| self.program().class(Name::from(c)).is_some());
                if texts.is_empty() && known {
                    return Some(vec![name(types::class_of(&descriptor)?)]);
                }
                (known && !texts.is_empty() && texts.len() <= limits::ALTERNATIVES_MAX).then_some(texts)
            }
            Op::Invoke { method, args, .. }
                if method.class == "java/lang/Class" && method.name == "forName" && args.len() == 1 =>
            {
                let term = self.text(frame, args[0], Name::from("Ljava/lang/String;"), value);
                let names = self.terms.finite(term, limits::ALTERNATIVES_MAX)?;
                Some(names.iter().map(|n| name(&n.replace('.', "/"))).collect())
            }
            Op::GetField(field, None) => {
                let [(method, put)] = self.facts.writes(*field) else { return None };
                let (method, put) = (*method, *put);
                let inner = self.make_frame(frame, None, method, Vec::new(), None)?;
                let Op::PutField(_, None, stored) = self.op(inner, put) else { return None };
                self.class_names(inner, *stored, simple)
            }
            _ => None,
        }
    }
}

/// Interfaces do not override `toString`; outside of the program they are told
/// from classes by convention only, so only the best known are listed.
fn is_interface_like(name: &str) -> bool {
    const KNOWN: &[&str] = &[
        "java/lang/Runnable",
        "java/lang/Comparable",
        "java/lang/Cloneable",
        "java/lang/Iterable",
        "java/lang/AutoCloseable",
        "java/io/Serializable",
        "java/io/Closeable",
        "java/io/Flushable",
        "java/util/Comparator",
        "java/util/Iterator",
        "java/util/concurrent/Callable",
        "java/util/concurrent/Delayed",
        "java/util/EventListener",
        "java/lang/annotation/Annotation",
    ];
    KNOWN.contains(&name)
}
