//! Per-body indexes of string evaluation: where constructors run, what is stored
//! into arrays, what is returned, and which values name the same builder.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{apis, types};
use crate::ir::{Body, InvokeKind, Op, ValueId};
use crate::program::{MethodRef, Name};

/// See the module.
pub(crate) struct Info {
    /// Position of each instruction in its block.
    pub(crate) position: Vec<u32>,
    /// Constructor call of each allocation.
    pub(crate) init: FxHashMap<ValueId, ValueId>,
    /// Stores into each array value.
    pub(crate) stores: FxHashMap<ValueId, Vec<ValueId>>,
    /// Return instructions with their values.
    pub(crate) returns: Vec<(ValueId, ValueId)>,
    /// Field writes.
    pub(crate) puts: Vec<ValueId>,
    /// The parameter instructions by number.
    pub(crate) params: FxHashMap<u16, ValueId>,
    /// Phis that join an array, or a phi of arrays, with others.
    pub(crate) joined: FxHashMap<ValueId, Vec<ValueId>>,
    /// Calls that are given an array, or a phi.
    pub(crate) given: FxHashMap<ValueId, Vec<ValueId>>,
    /// Objects that are stored in a field or an element.
    pub(crate) kept: FxHashSet<ValueId>,
    /// Objects that are given to a collection.
    pub(crate) collected: Vec<ValueId>,
    /// Calls with positions of arguments that are builders.
    pub(crate) takers: Vec<(ValueId, usize)>,
    /// First read of each (field, object).
    fields: FxHashMap<(crate::program::FieldRef, Option<ValueId>), ValueId>,
}

impl Info {
    /// Reads a body once.
    pub(crate) fn new(body: &Body) -> Self {
        let mut info = Self {
            position: vec![0; body.insts.len()],
            init: FxHashMap::default(),
            stores: FxHashMap::default(),
            returns: Vec::new(),
            puts: Vec::new(),
            params: FxHashMap::default(),
            joined: FxHashMap::default(),
            given: FxHashMap::default(),
            kept: FxHashSet::default(),
            collected: Vec::new(),
            takers: Vec::new(),
            fields: FxHashMap::default(),
        };
        for block in &body.blocks {
            for (i, &value) in block.insts.iter().enumerate() {
                info.position[value.index()] = i as u32;
                info.add(body, value);
            }
        }
        info
    }

    fn add(&mut self, body: &Body, value: ValueId) {
        if let Op::Invoke { args, .. } | Op::InvokeDynamic { args, .. } = body.op(value) {
            for &arg in args {
                let arg = body.uncast(arg);
                if holds_elements(body, arg) {
                    self.given.entry(arg).or_default().push(value);
                }
            }
        }
        if let Op::Invoke { method, args, .. } = body.op(value)
            && apis::collects(method)
        {
            self.collected.extend(args.iter().skip(1));
        }
        if let Op::Invoke { method, kind, .. } = body.op(value)
            && !apis::is_builder(method.class)
        {
            let shift = usize::from(*kind != InvokeKind::Static);
            let parameters = types::parameters(&method.descriptor);
            let takes = |p: &str| types::class_of(p).is_some_and(|c| apis::takes_builder(Name::from(c)));
            let taken = parameters.iter().enumerate().filter(|(_, p)| takes(p));
            self.takers.extend(taken.map(|(i, _)| (value, i + shift)));
        }
        match body.op(value) {
            Op::Invoke { kind: InvokeKind::Special, method, args } if method.name == "<init>" => {
                if let Some(&object) = args.first()
                    && matches!(body.op(object), Op::New(_))
                {
                    self.init.entry(object).or_insert(value);
                }
            }
            Op::ArrayStore(array, _, stored) => {
                self.stores.entry(body.uncast(*array)).or_default().push(value);
                self.kept.insert(body.uncast(*stored));
            }
            Op::Return(Some(result)) => self.returns.push((value, *result)),
            Op::PutField(_, _, stored) => {
                self.puts.push(value);
                self.kept.insert(body.uncast(*stored));
            }
            Op::Phi(operands) => {
                for &(_, operand) in operands {
                    let operand = body.uncast(operand);
                    if holds_elements(body, operand) {
                        self.joined.entry(operand).or_default().push(value);
                    }
                }
            }
            Op::Param(i) => {
                self.params.insert(*i, value);
            }
            Op::GetField(field, object) => {
                self.fields.entry((*field, *object)).or_insert(value);
            }
            _ => {}
        }
    }

    /// The value that stands for the builder that `value` names: its
    /// allocation, parameter or other origin; a phi if there are several.
    pub(crate) fn builder(&self, body: &Body, value: ValueId) -> ValueId {
        let value = self.strip(body, value);
        if !matches!(body.op(value), Op::Phi(_)) {
            return value;
        }
        let mut roots = self.builder_roots(body, value);
        if roots.len() == 1 { roots.remove(0) } else { value }
    }

    /// All origins of a builder, in order of discovery.
    pub(crate) fn builder_roots(&self, body: &Body, value: ValueId) -> Vec<ValueId> {
        let (mut roots, mut seen, mut todo) = (Vec::new(), Vec::new(), vec![value]);
        while let Some(value) = todo.pop() {
            let value = self.strip(body, value);
            if seen.contains(&value) {
                continue;
            }
            seen.push(value);
            match body.op(value) {
                Op::Phi(operands) => todo.extend(operands.iter().rev().map(|&(_, v)| v)),
                _ => roots.push(value),
            }
        }
        roots
    }

    /// Follows casts, and calls that return the builder they were made on.
    fn strip(&self, body: &Body, mut value: ValueId) -> ValueId {
        loop {
            value = match body.op(value) {
                Op::Cast(_, inner) => *inner,
                Op::Invoke { kind: InvokeKind::Virtual | InvokeKind::Interface, method, args }
                    if returns_receiver(method) =>
                {
                    args[0]
                }
                Op::New(class) if wraps(*class) => match self.wrapped(body, value) {
                    Some(inner) => inner,
                    None => return value,
                },
                Op::GetField(field, object) => {
                    let first = self.fields.get(&(*field, *object)).copied().unwrap_or(value);
                    if first == value {
                        return value;
                    }
                    first
                }
                _ => return value,
            }
        }
    }

    /// The builder inside a writer that only passes text on.
    fn wrapped(&self, body: &Body, object: ValueId) -> Option<ValueId> {
        let Op::Invoke { method, args, .. } = body.op(*self.init.get(&object)?) else { return None };
        let parameters = types::parameters(&method.descriptor);
        let first = parameters.first()?;
        let class = types::class_of(first)?;
        let text =
            matches!(class, "java/io/Writer" | "java/lang/Appendable") || apis::is_builder(Name::from(class));
        text.then(|| args[1])
    }
}

fn holds_elements(body: &Body, value: ValueId) -> bool {
    matches!(body.op(value), Op::NewArray(..) | Op::Phi(_) | Op::Param(_))
}

/// Writers that only pass text on to what they are made for.
pub(crate) fn wraps(class: Name) -> bool {
    matches!(class.as_str(), "java/io/PrintWriter" | "java/util/Formatter" | "java/io/BufferedWriter")
}

/// Whether the method of a builder returns the builder itself.
pub(crate) fn returns_receiver(method: &MethodRef) -> bool {
    if !apis::is_builder(method.class) && method.class != "java/lang/Appendable" {
        return false;
    }
    let result = types::result(&method.descriptor);
    types::class_of(result).is_some_and(|class| {
        matches!(class, "java/lang/Appendable" | "java/io/Writer") || apis::is_builder(Name::from(class))
    })
}
