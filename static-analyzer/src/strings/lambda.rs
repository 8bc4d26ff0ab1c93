//! Lambdas and generated methods: calls of a closure's interface, values that a
//! closure captured, `toString` of records.

use super::term::Term;
use super::{Arg, Evaluator, FrameId, Place, types};
use crate::ir::{BootstrapArg, Const, Op, ValueId};
use crate::limits;
use crate::program::{FieldRef, MethodRef, Name};

impl Evaluator<'_> {
    /// The frame of the lambda body that a call of an interface method runs.
    pub(crate) fn lambda_frame(
        &mut self,
        frame: FrameId,
        call: ValueId,
        method: MethodRef,
        args: &[ValueId],
    ) -> Option<FrameId> {
        let place = self.place(frame, *args.first()?);
        let Place::Value(f, v) = self.place_node(place) else { return None };
        let Op::InvokeDynamic { bootstrap, name, args: captured, .. } = self.op(f, v) else {
            return None;
        };
        if *name != method.name {
            return None;
        }
        let target = bootstrap.args.iter().find_map(|arg| match arg {
            BootstrapArg::Handle { target, .. } => Some(*target),
            _ => None,
        })?;
        let target = self.facts.resolve(target.class, target.name, target.descriptor)?;
        let mut given: Vec<Arg> = captured.iter().map(|&c| Arg::At(f, c)).collect();
        given.extend(args[1..].iter().map(|&a| Arg::At(frame, a)));
        self.make_frame(frame, Some((frame, call)), target, given, None)
    }

    /// What a call without arguments of a closure gives that stands for a text.
    pub(crate) fn given_closure_text(&self, mut frame: FrameId, args: &[ValueId]) -> Option<Term> {
        let &[mut value] = args else { return None };
        loop {
            match self.op(frame, value) {
                Op::Cast(_, inner) => value = *inner,
                Op::Param(i) => match self.frame(frame).args.get(usize::from(*i))? {
                    Arg::Text(text) => return Some(*text),
                    Arg::At(f, v) => (frame, value) = (*f, *v),
                    Arg::Place(_) | Arg::Unknown => return None,
                },
                _ => return None,
            }
        }
    }

    /// What a lambda body's captured parameter prints, if that is a finite set.
    pub(crate) fn captured_text(&mut self, i: u16, descriptor: Name) -> Option<Term> {
        let method = self.method_of(FrameId::ROOT);
        let (creator, made) = self.facts.lambda_site(method)?;
        let creator_method = &self.program().methods[creator.index()];
        let Op::InvokeDynamic { args, .. } = creator_method.body.as_ref()?.op(made) else { return None };
        let value = *args.get(usize::from(i))?;
        let count =
            types::parameters(&creator_method.descriptor).len() + usize::from(!creator_method.is_static());
        let inner = self.make_frame(FrameId::ROOT, None, creator, vec![Arg::Unknown; count], None)?;
        let term = self.text(inner, value, descriptor, made);
        self.terms.finite(term, limits::ALTERNATIVES_MAX).map(|_| term)
    }

    /// `toString` generated for a record.
    pub(crate) fn record_text(
        &mut self,
        frame: FrameId,
        bootstrap_args: &[BootstrapArg],
        args: &[ValueId],
    ) -> Option<Term> {
        let (Some(BootstrapArg::Const(Const::Class(class))), Some(BootstrapArg::Const(Const::Text(names)))) =
            (bootstrap_args.first(), bootstrap_args.get(1))
        else {
            return None;
        };
        let this = self.place(frame, *args.first()?);
        let head = format!("{}[", types::source_simple_name(class));
        let mut parts = vec![self.terms.text(&head)];
        let names = names.split(';').filter(|n| !n.is_empty());
        for (i, (name, handle)) in names.zip(&bootstrap_args[2..]).enumerate() {
            let label = format!("{}{name}=", if i > 0 { ", " } else { "" });
            parts.push(self.terms.text(&label));
            let BootstrapArg::Handle { target, .. } = handle else { return None };
            // A getter's handle carries the field's type, plain or as `()T`.
            let descriptor = Name::from(types::result(&target.descriptor));
            let descriptor = if target.descriptor.contains(')') { descriptor } else { target.descriptor };
            let field = FieldRef { class: target.class, name: target.name, descriptor };
            let place = self.field_place(this, field);
            parts.push(self.place_text(frame, place, descriptor));
        }
        parts.push(self.terms.text("]"));
        Some(self.terms.cat(parts))
    }
}
