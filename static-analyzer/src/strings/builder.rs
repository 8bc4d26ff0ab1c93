//! What a builder holds before an instruction: an equation over the blocks.
//!
//! Walking backwards from the instruction, each call on the builder is an append
//! or a change; at the start of a block the content is one of those of the
//! predecessors. Methods of the program that get the builder are walked through
//! from their returns to their entry. Library methods that get it are taken to
//! append only.

use super::term::Term;
use super::{Arg, Evaluator, FrameId, Key, apis, types};
use crate::ir::{Arithmetic, BlockId, Const, InvokeKind, Op, ValueId};
use crate::limits;
use crate::program::{MethodId, MethodRef, Name};

/// What one instruction does to a builder's content.
pub(crate) enum Effect {
    /// Nothing.
    None,
    /// Adds at the end.
    Append(Term),
    /// The content afterwards.
    Set(Term),
}

impl<'p> Evaluator<'p> {
    /// Content of the builder `value` when instruction `at` runs.
    pub(crate) fn content_at(&mut self, frame: FrameId, value: ValueId, at: ValueId) -> Term {
        let info = self.facts.info(self.method_of(frame));
        let object = info.builder(self.body(frame), value);
        let inst = self.inst(frame, at);
        let position = if matches!(inst.op, Op::Phi(_)) { 0 } else { info.position[at.index()] as usize };
        self.content_before(frame, object, inst.block, position)
    }

    /// Content of `object` before the instruction at `position` of `block`.
    fn content_before(&mut self, frame: FrameId, object: ValueId, block: BlockId, position: usize) -> Term {
        let insts = &self.block(frame, block).insts;
        let mut pieces = Vec::new();
        let mut head = None;
        for &inst in insts[..position].iter().rev() {
            if inst == object && !matches!(self.op(frame, inst), Op::Phi(_) | Op::Param(_)) {
                head = Some(self.content_born(frame, object));
                break;
            }
            match self.effect(frame, object, inst) {
                Effect::None => {}
                Effect::Append(term) => pieces.push(term),
                Effect::Set(term) => {
                    head = Some(term);
                    break;
                }
            }
        }
        let head = match head {
            Some(head) => head,
            None => self.content_entering(frame, object, block),
        };
        pieces.push(head);
        self.terms.cat(pieces.into_iter().rev())
    }

    /// Content of a builder as it comes out of the instruction that makes it.
    fn content_born(&mut self, frame: FrameId, object: ValueId) -> Term {
        match self.op(frame, object) {
            Op::New(_) => self.terms.empty(),
            Op::Invoke { kind, method, args } => {
                let targets = self.targets(frame, *kind, *method, args);
                let mut choices = Vec::new();
                for target in targets {
                    let Some(inner) = self.enter(frame, object, target, args) else {
                        return self.held(frame, object);
                    };
                    let info = self.facts.info(target);
                    for &(at, value) in &info.returns {
                        choices.push(self.content_at(inner, value, at));
                    }
                }
                if choices.is_empty() { self.held(frame, object) } else { self.terms.alt(choices) }
            }
            _ => self.held(frame, object),
        }
    }

    fn held(&mut self, frame: FrameId, object: ValueId) -> Term {
        self.leaf(frame, object, Name::from("Ljava/lang/CharSequence;"))
    }

    fn content_entering(&mut self, frame: FrameId, object: ValueId, block: BlockId) -> Term {
        self.solved(Key::Content(frame, object, block), |e| e.join_predecessors(frame, object, block))
    }

    fn join_predecessors(&mut self, frame: FrameId, object: ValueId, block: BlockId) -> Term {
        let node = self.block(frame, block);
        let reach = self.reach(frame);
        if node.predecessors.is_empty() {
            return self.content_given(frame, object);
        }
        if let Op::Phi(operands) = self.op(frame, object)
            && self.inst(frame, object).block == block
        {
            let mut choices = Vec::new();
            for &(from, value) in operands {
                if !reach.edge(from, block) {
                    continue;
                }
                // What is appended to null throws: nothing is printed then.
                if matches!(self.op(frame, value), Op::Const(Const::Null)) {
                    continue;
                }
                let value = self.facts.info(self.method_of(frame)).builder(self.body(frame), value);
                if value != object {
                    choices.push(self.content_leaving(frame, value, from, block));
                } else {
                    choices.push(self.content_leaving(frame, object, from, block));
                }
            }
            return self.terms.alt(choices);
        }
        let mut choices = Vec::new();
        for &from in node.predecessors.iter().filter(|&&from| reach.edge(from, block)) {
            choices.push(self.content_leaving(frame, object, from, block));
        }
        self.terms.alt(choices)
    }

    /// Content on the edges from block `from` to block `to`.
    fn content_leaving(&mut self, frame: FrameId, object: ValueId, from: BlockId, to: BlockId) -> Term {
        let block = self.block(frame, from);
        let mut choices = Vec::new();
        if block.successors.contains(&to) {
            choices.push(self.content_before(frame, object, from, block.insts.len()));
        }
        if block.handlers.iter().any(|h| h.block == to) {
            // The content before each instruction that may throw.
            let mut fresh = true;
            for (i, &inst) in block.insts.iter().enumerate() {
                if let Some(mut inside) = self.thrown_inside(frame, object, inst, 0) {
                    choices.append(&mut inside);
                } else if fresh && self.may_throw(frame, inst) {
                    choices.push(self.content_before(frame, object, from, i));
                    fresh = false;
                }
                fresh |= self.touches(frame, object, inst);
            }
            if choices.is_empty() {
                choices.push(self.content_before(frame, object, from, 0));
            }
        }
        self.terms.alt(choices)
    }

    /// Content before each instruction that may throw inside of a call that is
    /// given the builder; none if the call is not looked into.
    fn thrown_inside(
        &mut self,
        frame: FrameId,
        object: ValueId,
        call: ValueId,
        depth: u32,
    ) -> Option<Vec<Term>> {
        let Op::Invoke { kind, method, args } = self.op(frame, call) else { return None };
        if apis::is_builder(method.class) || self.is_library(method) || depth >= limits::THROWERS_DEPTH_MAX {
            return None;
        }
        let (kind, method) = (*kind, *method);
        let info = self.facts.info(self.method_of(frame));
        let body = self.body(frame);
        let place =
            args.iter().position(|&a| self.may_be_builder(frame, a) && info.builder(body, a) == object)?;
        let targets = self.targets(frame, kind, method, args);
        let mut contents = Vec::new();
        for &target in &targets {
            let inner = self.enter(frame, call, target, args)?;
            let info = self.facts.info(target);
            let given = info.builder(self.body(inner), *info.params.get(&u16::try_from(place).ok()?)?);
            let reach = self.reach(inner);
            let blocks = &self.body(inner).blocks;
            for block in (0..blocks.len()).map(BlockId::new).filter(|&b| reach.block(b)) {
                for (i, &inst) in self.block(inner, block).insts.iter().enumerate() {
                    if let Some(mut below) = self.thrown_inside(inner, given, inst, depth + 1) {
                        contents.append(&mut below);
                    } else if self.may_throw(inner, inst) {
                        contents.push(self.content_before(inner, given, block, i));
                    }
                }
            }
        }
        (!targets.is_empty()).then_some(contents)
    }

    /// Content that a builder brings into the method.
    fn content_given(&mut self, frame: FrameId, object: ValueId) -> Term {
        let Op::Param(i) = self.op(frame, object) else { return self.held(frame, object) };
        let mut given: Vec<Arg> = self.frame(frame).args.get(usize::from(*i)).copied().into_iter().collect();
        for more in &self.frame(frame).extra {
            given.extend(more.get(usize::from(*i)).copied());
        }
        let mut choices = Vec::new();
        for arg in given {
            let Arg::At(f, v) = arg else { return self.held(frame, object) };
            let at = self.call_of(frame, f, v);
            choices.push(if self.is_builder(f, v) {
                self.content_at(f, v, at)
            } else {
                self.text(f, v, Name::from("Ljava/lang/Object;"), at)
            });
        }
        if choices.is_empty() { self.held(frame, object) } else { self.terms.alt(choices) }
    }

    /// The instruction of frame `from` that calls `frame` with `value`.
    fn call_of(&self, frame: FrameId, from: FrameId, value: ValueId) -> ValueId {
        if let Some((f, at)) = self.frame(frame).caller
            && f == from
            && matches!(self.op(f, at), Op::Invoke { args, .. } if args.contains(&value))
        {
            return at;
        }
        let name = self.program().methods[self.method_of(frame).index()].name;
        let call = self.body(from).iter().find(|(_, inst)| {
            matches!(&inst.op, Op::Invoke { method, args, .. } if method.name == name && args.contains(&value))
        });
        call.map_or(value, |(at, _)| at)
    }

    /// Whether an instruction throws in programs that work.
    pub(crate) fn may_throw(&self, frame: FrameId, inst: ValueId) -> bool {
        match self.op(frame, inst) {
            Op::Invoke { method, .. } => {
                let appends = apis::is_builder(method.class) && !apis::checks_bounds(method.name);
                !appends && !is_safe(method)
            }
            Op::GetField(_, Some(object)) | Op::PutField(_, Some(object), _) => {
                !matches!(self.op(frame, *object), Op::Param(0) | Op::New(_))
            }
            Op::Binary(Arithmetic::Div | Arithmetic::Rem, a, by) => {
                let whole = matches!(self.descriptor_of(frame, *a).as_str(), "I" | "J");
                let zero = match self.op(frame, *by) {
                    Op::Const(Const::Int(n)) => *n == 0,
                    Op::Const(Const::Long(n)) => *n == 0,
                    _ => true,
                };
                whole && zero
            }
            Op::Throw(_)
            | Op::ArrayLoad(..)
            | Op::ArrayStore(..)
            | Op::ArrayLength(_)
            | Op::Cast(..)
            | Op::NewArray(..) => true,
            _ => false,
        }
    }

    /// Whether others than the method that made it can reach the object: it is in
    /// a field, an array, a collection, or in an object that it was given to.
    fn is_kept(&self, method: MethodId, object: ValueId, depth: u32) -> bool {
        let info = self.facts.info(method);
        let Some(body) = &self.program().methods[method.index()].body else { return false };
        let is_it = |v: ValueId| {
            !matches!(body.op(v), Op::Const(_) | Op::Binary(..) | Op::Convert(..))
                && info.builder(body, v) == object
        };
        if info.kept.iter().chain(&info.collected).any(|&v| is_it(v)) {
            return true;
        }
        depth < limits::KEEPERS_DEPTH_MAX
            && info.takers.iter().any(|&(call, position)| {
                let Op::Invoke { method: named, args, .. } = body.op(call) else { return false };
                let Some(target) = args
                    .get(position)
                    .filter(|&&v| is_it(v))
                    .and_then(|_| self.facts.resolve(named.class, named.name, named.descriptor))
                else {
                    return false;
                };
                let given = u16::try_from(position).ok().and_then(|i| self.facts.info(target).params.get(&i));
                given.is_some_and(|&given| self.is_kept(target, given, depth + 1))
            })
    }

    fn touches(&self, frame: FrameId, object: ValueId, inst: ValueId) -> bool {
        match self.op(frame, inst) {
            Op::Invoke { args, .. } => {
                let info = self.facts.info(self.method_of(frame));
                args.iter().any(|&a| info.builder(self.body(frame), a) == object)
            }
            _ => false,
        }
    }

    /// What `inst` does to `object`.
    fn effect(&mut self, frame: FrameId, object: ValueId, inst: ValueId) -> Effect {
        let (method, args, kind) = match self.op(frame, inst) {
            Op::Invoke { kind, method, args } => (*method, args, *kind),
            Op::InvokeDynamic { bootstrap, args, .. }
                if bootstrap.method.class != "java/lang/invoke/StringConcatFactory" =>
            {
                let info = self.facts.info(self.method_of(frame));
                let captured = args.iter().any(|&a| info.builder(self.body(frame), a) == object);
                return if captured { Effect::Append(self.terms.top()) } else { Effect::None };
            }
            _ => return Effect::None,
        };
        let info = self.facts.info(self.method_of(frame));
        let body = self.body(frame);
        let Some(place) =
            args.iter().position(|&a| self.may_be_builder(frame, a) && info.builder(body, a) == object)
        else {
            return self.weak_effect(frame, object, inst, method, args);
        };
        self.strong_effect(frame, object, inst, kind, method, args, place)
    }

    fn may_be_builder(&self, frame: FrameId, value: ValueId) -> bool {
        !matches!(self.op(frame, value), Op::Const(_) | Op::Binary(..) | Op::Convert(..))
    }

    #[expect(clippy::too_many_arguments, reason = "one call, taken apart")]
    fn strong_effect(
        &mut self,
        frame: FrameId,
        object: ValueId,
        inst: ValueId,
        kind: InvokeKind,
        method: MethodRef,
        args: &'p [ValueId],
        place: usize,
    ) -> Effect {
        if place == 0
            && kind != InvokeKind::Static
            && (apis::is_builder(method.class) || is_sink(&method.class))
        {
            return self.builder_effect(frame, object, inst, method, args);
        }
        if apis::is_builder(method.class) || is_reader(&method) {
            return Effect::None;
        }
        let targets = self.targets(frame, kind, method, args);
        if targets.is_empty() {
            if self.is_library(&method) && !is_writer(&method) {
                return Effect::None;
            }
            return Effect::Append(self.terms.top());
        }
        let mut choices = Vec::new();
        for target in targets {
            let Some(inner) = self.enter(frame, inst, target, args) else {
                return Effect::Append(self.terms.top());
            };
            let info = self.facts.info(target);
            let Some(&given) = info.params.get(&(place as u16)) else {
                return Effect::None;
            };
            let body = self.body(inner);
            let given = info.builder(body, given);
            let reach = self.reach(inner);
            for block in (0..body.blocks.len()).filter(|&b| reach.block(BlockId::new(b))) {
                let insts = &body.blocks[block].insts;
                if let Some(&last) = insts.last()
                    && matches!(body.op(last), Op::Return(_))
                {
                    let term = self.content_before(inner, given, BlockId::new(block), insts.len());
                    choices.push(term);
                }
            }
        }
        Effect::Set(self.terms.alt(choices))
    }

    fn is_library(&self, method: &MethodRef) -> bool {
        self.program().class(method.class).is_none()
    }

    /// A call on another name that may be the same builder: done or not done.
    fn weak_effect(
        &mut self,
        frame: FrameId,
        object: ValueId,
        inst: ValueId,
        method: MethodRef,
        args: &'p [ValueId],
    ) -> Effect {
        let kept = self.is_kept(self.method_of(frame), object, 0);
        // Whoever keeps the builder may append to it, also when it is called back.
        let calls = !self.is_library(&method) || apis::calls_back(&method);
        if kept && calls && method.name != "<init>" {
            return Effect::Append(self.terms.top());
        }
        let Some(&receiver) = args.first() else { return Effect::None };
        if !apis::is_builder(method.class)
            || !matches!(
                method.name.as_str(),
                "append" | "insert" | "setLength" | "delete" | "deleteCharAt" | "replace"
            )
        {
            return Effect::None;
        }
        let info = self.facts.info(self.method_of(frame));
        let body = self.body(frame);
        let other = info.builder(body, receiver);
        let related = |a: ValueId, b: ValueId| {
            matches!(body.op(a), Op::Phi(_)) && info.builder_roots(body, a).contains(&b)
        };
        let foreign = kept
            && other != object
            && matches!(
                body.op(other),
                Op::GetField(..) | Op::ArrayLoad(..) | Op::Invoke { .. } | Op::Param(_) | Op::Phi(_)
            );
        if !foreign && !related(other, object) && !related(object, other) {
            return Effect::None;
        }
        if method.name != "append" {
            return Effect::Set(self.terms.top());
        }
        match self.builder_effect(frame, object, inst, method, args) {
            Effect::Append(term) => Effect::Append(self.terms.opt(term)),
            Effect::None => Effect::None,
            Effect::Set(_) => Effect::Set(self.terms.top()),
        }
    }
}

/// Classes that append to the builder they were made for.
fn is_sink(class: &str) -> bool {
    matches!(class, "java/lang/Appendable" | "java/io/Writer")
}

/// Library calls that only read a builder given to them.
fn is_reader(method: &MethodRef) -> bool {
    matches!(
        (method.class.as_str(), method.name.as_str()),
        (
            "java/lang/String"
                | "java/lang/CharSequence"
                | "java/lang/Object"
                | "java/io/PrintStream"
                | "java/util/Objects",
            _
        )
    )
}

/// Library calls that write to a builder given to them.
fn is_writer(method: &MethodRef) -> bool {
    matches!(
        method.name.as_str(),
        "<init>" | "appendReplacement" | "appendTail" | "appendTo" | "format" | "printStackTrace" | "read"
    ) || method.name.starts_with("append")
        || method.name.starts_with("write")
}

/// Library calls that do not throw with the arguments that programs give them.
fn is_safe(method: &MethodRef) -> bool {
    matches!(
        (method.class.as_str(), method.name.as_str()),
        ("java/lang/String", "valueOf")
            | (
                "java/lang/Integer"
                    | "java/lang/Long"
                    | "java/lang/Boolean"
                    | "java/lang/Character"
                    | "java/lang/Double"
                    | "java/lang/Float",
                "valueOf" | "toString"
            )
    )
}

/// The descriptor of the parameter that holds an appended value.
pub(crate) fn appended(method: &MethodRef) -> Vec<Name> {
    types::parameters(&method.descriptor).into_iter().map(Name::from).collect()
}
