//! Texts that are put together and kept: `"session-" + n`, stored in a field, captured by a
//! closure, or printed within other texts and given to somebody, names something as a whole, wherever it is printed from then on, and its
//! parts are values besides.

use super::term::{Leaf, Node, Pattern, Term};
use super::{Evaluator, FrameId, apis, types};
use crate::ir::{InvokeKind, Op, ValueId};
use crate::path::{AccessPath, Root};
use crate::program::{FieldRef, MethodId, Name};

impl Evaluator<'_> {
    /// The text `term` of `value` as one variable around its parts, if the root frame puts it
    /// together of constants and values, and keeps it.
    pub(crate) fn composed(&mut self, frame: FrameId, value: ValueId, term: Term) -> Term {
        if frame != FrameId::ROOT || !self.is_composition(value) || !self.is_mixed(term) {
            return term;
        }
        let Some(kept) = self.kept_in(value) else { return term };
        let path = AccessPath { root: Root::Local(value), steps: Vec::new() };
        let class = match kept {
            Keeper::Field(field) => format!("{}.{}", types::simple_name(&field.class), field.name),
            Keeper::Closure | Keeper::Callee => "text():Ljava/lang/String;".to_owned(),
        };
        self.terms.leaf(Leaf {
            path: Some(path),
            text: String::new(),
            class: Some(Name::from(&class)),
            descriptor: Name::from("Ljava/lang/String;"),
            pattern: Pattern::Composed(term),
        })
    }

    /// Whether an instruction of the root frame puts a text together.
    fn is_composition(&self, value: ValueId) -> bool {
        match self.op(FrameId::ROOT, value) {
            Op::InvokeDynamic { bootstrap, .. } => {
                bootstrap.method.class == "java/lang/invoke/StringConcatFactory"
            }
            Op::Invoke { method, args, .. } if method.name == "toString" => {
                apis::is_builder(method.class) && args.len() == 1
            }
            Op::Invoke { method, .. } => method.class == "java/lang/String" && method.name == "format",
            _ => false,
        }
    }

    /// Whether a text has constants and values, in one arrangement.
    fn is_mixed(&self, term: Term) -> bool {
        let Node::Cat(parts) = self.terms.node(term) else { return false };
        let is_value =
            |&part: &Term| matches!(self.terms.node(part), Node::Leaf(leaf) if leaf.path.is_some());
        let is_constant = |&part: &Term| self.terms.as_text(part).is_some();
        parts.iter().any(is_value) && parts.iter().all(|part| is_value(part) || is_constant(part))
    }

    /// What keeps a value of the root frame.
    fn kept_in(&self, value: ValueId) -> Option<Keeper> {
        let body = self.body(FrameId::ROOT);
        let (mut kept, mut is_part) = (None, false);
        for (_, inst) in body.iter() {
            match &inst.op {
                Op::PutField(field, _, stored) if body.uncast(*stored) == value => {
                    return Some(Keeper::Field(*field));
                }
                Op::Invoke { kind: InvokeKind::Special, method, args } if method.name == "<init>" => {
                    let at = args.iter().position(|&arg| body.uncast(arg) == value);
                    let target = || self.facts.resolve(method.class, method.name, method.descriptor);
                    if let Some(field) = at.and_then(|at| self.stored_from(target()?, at)) {
                        return Some(Keeper::Field(field));
                    }
                }
                Op::InvokeDynamic { bootstrap, args, .. }
                    if bootstrap.method.class == "java/lang/invoke/LambdaMetafactory"
                        && args.iter().any(|&arg| body.uncast(arg) == value) =>
                {
                    kept = Some(Keeper::Closure);
                }
                Op::InvokeDynamic { args, .. } => {
                    is_part |= args.iter().any(|&arg| body.uncast(arg) == value)
                }
                Op::ArrayStore(_, _, stored) => is_part |= body.uncast(*stored) == value,
                Op::Invoke { method, args, .. } if args.iter().any(|&arg| body.uncast(arg) == value) => {
                    is_part |= apis::is_builder(method.class) && method.name == "append";
                    let target = self.facts.resolve(method.class, method.name, method.descriptor);
                    if target.is_some_and(|target| self.program().methods[target.index()].body.is_some()) {
                        kept.get_or_insert(Keeper::Callee);
                    }
                }
                _ => {}
            }
        }
        // A whole message is given to whoever prints it.
        kept.filter(|kept| is_part || !matches!(kept, Keeper::Callee))
    }

    /// The field in which a constructor keeps its parameter.
    fn stored_from(&self, constructor: MethodId, parameter: usize) -> Option<FieldRef> {
        let body = self.program().methods[constructor.index()].body.as_ref()?;
        body.iter().find_map(|(_, inst)| match &inst.op {
            Op::PutField(field, Some(_), stored) => {
                matches!(body.op(body.uncast(*stored)), Op::Param(i) if usize::from(*i) == parameter)
                    .then_some(*field)
            }
            _ => None,
        })
    }
}

/// What a composed text is kept in.
enum Keeper {
    Field(FieldRef),
    Closure,
    /// A method of the program that is given it.
    Callee,
}
