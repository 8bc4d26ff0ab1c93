//! Texts that a value can have: demand-driven evaluation over the SSA bodies.
//!
//! An [`Evaluator`] answers for one method (the *root frame*) what a value
//! prints. Calls are looked into by *frames*: a method together with what its
//! parameters are bound to; an access path is always that of the root frame.
//! Contents of builders are values too: "content of object `o` before
//! instruction `i`" is an equation over the contents of the predecessors, and
//! loops (of phis, of contents, of recursion through fields) are solved by
//! [`term::Terms::solve`].
//!
//! Over-approximates: correlated branches are taken to be independent, a virtual
//! call may reach every allocated subclass. Under-approximates: reflection and
//! native code that write a private field; errors thrown by the virtual machine.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{Block, BlockId, Body, Inst, Op, ValueId};
use crate::limits;
use crate::path::Step;
use crate::program::{ClassId, FieldRef, MethodId, MethodRef, Name, Program};

pub(crate) mod apis;
pub(crate) mod array;
pub(crate) mod builder;
pub(crate) mod builder_ops;
pub(crate) mod call;
pub(crate) mod composed;
mod constant;
pub(crate) mod eval;
pub(crate) mod exception;
pub(crate) mod facts;
pub(crate) mod field;
pub(crate) mod flow;
pub(crate) mod format;
pub(crate) mod forward;
pub(crate) mod info;
pub(crate) mod lambda;
pub(crate) mod library;
pub(crate) mod object;
pub(crate) mod origin;
pub(crate) mod place;
pub(crate) mod position;
pub(crate) mod reach;
pub(crate) mod regex;
pub(crate) mod term;
pub(crate) mod text_ops;
pub(crate) mod thread;
pub(crate) mod types;

use facts::Facts;
use term::{Pattern, Term, Terms};

/// Position in [`Evaluator::frames`]; 0 is the root frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FrameId(u32);

impl FrameId {
    /// The frame in which the log point stands.
    pub(crate) const ROOT: FrameId = FrameId(0);
}

/// Position in [`Evaluator::places`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PlaceId(u32);

/// Where a value lives: its canonical name, equal for two values only if they
/// are the same object or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// Defined by an instruction of a frame, and known by no better name.
    Value(FrameId, ValueId),
    /// Field of an object.
    Field(PlaceId, FieldRef),
    /// Static field.
    Static(FieldRef),
    /// Element of an array or collection.
    Element(PlaceId),
    /// Result of a call without arguments.
    Call(PlaceId, MethodRef),
}

impl Place {
    /// The last step of a path to it, and the place that the step is taken from.
    fn last_step(self) -> Option<(Step, PlaceId)> {
        match self {
            Place::Field(object, field) => Some((Step::Field(field), object)),
            Place::Element(object) => Some((Step::Element, object)),
            Place::Call(object, method) => Some((Step::Call(method), object)),
            Place::Value(..) | Place::Static(_) => None,
        }
    }
}

/// What a parameter is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Arg {
    /// A value of another frame.
    At(FrameId, ValueId),
    /// An object known by its place.
    Place(PlaceId),
    /// A text, or a closure that makes it.
    Text(Term),
    /// Nothing is known.
    Unknown,
}

/// A method that is looked into, with its arguments.
pub(crate) struct Frame {
    pub(crate) method: MethodId,
    /// The call that it is the target of, if it was reached by a call.
    pub(crate) caller: Option<(FrameId, ValueId)>,
    /// The frame that asked, for depth and recursion.
    parent: Option<FrameId>,
    pub(crate) args: Vec<Arg>,
    /// Arguments of recursive calls that run in this frame too.
    pub(crate) extra: Vec<Vec<Arg>>,
    depth: u32,
    /// Classes that `this` can have, where that is known better than by type.
    pub(crate) this_classes: Option<Rc<[ClassId]>>,
    reach: Option<Rc<reach::Reach>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Text(FrameId, ValueId, Name, Option<ValueId>),
    Content(FrameId, ValueId, BlockId),
    Returned(FrameId),
    Field(Option<PlaceId>, FieldRef),
    Given(MethodId, u16, Name),
}

#[derive(PartialEq, Eq, Hash)]
struct FrameKey {
    at: Option<(FrameId, ValueId)>,
    method: MethodId,
    args: Vec<Arg>,
    this_classes: Option<Rc<[ClassId]>>,
}

/// See the module.
pub(crate) struct Evaluator<'p> {
    pub(crate) facts: &'p Facts<'p>,
    pub(crate) terms: Terms,
    frames: Vec<Frame>,
    frame_index: FxHashMap<FrameKey, FrameId>,
    places: Vec<Place>,
    place_index: FxHashMap<Place, PlaceId>,
    place_memo: FxHashMap<(FrameId, ValueId), PlaceId>,
    /// Objects that calls of the root frame allocate and return.
    returned_objects: FxHashMap<PlaceId, ValueId>,
    memo: FxHashMap<Key, (Term, Vec<u32>)>,
    active: FxHashMap<Key, u32>,
    active_ids: FxHashSet<u32>,
    next_open: u32,
    steps: u32,
    depth: u32,
    /// A frame got more arguments since the memos were filled.
    rebound: bool,
    /// Parameters of methods whose callers are all seen print what these give.
    pub(crate) joins_callers: bool,
    /// What callers give counts also where it is no constant.
    callers_in_full: bool,
}

impl<'p> Evaluator<'p> {
    /// An evaluator for the frame of `method`.
    pub(crate) fn new(facts: &'p Facts<'p>, method: MethodId) -> Self {
        let root = Frame {
            method,
            caller: None,
            parent: None,
            args: Vec::new(),
            extra: Vec::new(),
            depth: 0,
            this_classes: None,
            reach: None,
        };
        Self {
            facts,
            terms: Terms::new(),
            frames: vec![root],
            frame_index: FxHashMap::default(),
            places: Vec::new(),
            place_index: FxHashMap::default(),
            place_memo: FxHashMap::default(),
            returned_objects: FxHashMap::default(),
            memo: FxHashMap::default(),
            active: FxHashMap::default(),
            active_ids: FxHashSet::default(),
            next_open: 0,
            steps: 0,
            depth: 0,
            rebound: false,
            joins_callers: false,
            callers_in_full: false,
        }
    }

    /// Starts the budget of the next log point.
    pub(crate) fn restart(&mut self) {
        self.steps = 0;
    }

    pub(crate) fn program(&self) -> &'p Program {
        self.facts.program
    }

    pub(crate) fn frame(&self, frame: FrameId) -> &Frame {
        &self.frames[frame.0 as usize]
    }

    pub(crate) fn method_of(&self, frame: FrameId) -> MethodId {
        self.frame(frame).method
    }

    pub(crate) fn body(&self, frame: FrameId) -> &'p Body {
        let method = &self.program().methods[self.method_of(frame).index()];
        method.body.as_ref().expect("frames are made for methods with bodies")
    }

    pub(crate) fn inst(&self, frame: FrameId, value: ValueId) -> &'p Inst {
        self.body(frame).inst(value)
    }

    pub(crate) fn op(&self, frame: FrameId, value: ValueId) -> &'p Op {
        self.body(frame).op(value)
    }

    pub(crate) fn block(&self, frame: FrameId, block: BlockId) -> &'p Block {
        self.body(frame).block(block)
    }

    pub(crate) fn place_node(&self, place: PlaceId) -> Place {
        self.places[place.0 as usize]
    }

    pub(crate) fn intern_place(&mut self, place: Place) -> PlaceId {
        if let Some(&id) = self.place_index.get(&place) {
            return id;
        }
        let id = PlaceId(u32::try_from(self.places.len()).expect("bounded by the step budget"));
        self.places.push(place);
        self.place_index.insert(place, id);
        id
    }

    /// The frame of `target` called by instruction `call` of `frame`; none if it
    /// is too deep, too large, recursive or has no body.
    pub(crate) fn enter(
        &mut self,
        frame: FrameId,
        call: ValueId,
        target: MethodId,
        args: &[ValueId],
    ) -> Option<FrameId> {
        let args: Vec<Arg> = args.iter().map(|&v| Arg::At(frame, v)).collect();
        let is_static = self.program().methods[target.index()].is_static();
        let this_classes = match args.first() {
            Some(Arg::At(f, v)) if !is_static => self.this_classes(*f, *v),
            _ => None,
        };
        self.make_frame(frame, Some((frame, call)), target, args, this_classes)
    }

    fn this_classes(&self, frame: FrameId, value: ValueId) -> Option<Rc<[ClassId]>> {
        match self.op(frame, value) {
            Op::Param(0) => self.frame(frame).this_classes.clone(),
            _ => None,
        }
    }

    /// A frame for `method` asked for by `parent`, see [`Self::enter`].
    pub(crate) fn make_frame(
        &mut self,
        parent: FrameId,
        at: Option<(FrameId, ValueId)>,
        method: MethodId,
        args: Vec<Arg>,
        this_classes: Option<Rc<[ClassId]>>,
    ) -> Option<FrameId> {
        let body = self.program().methods[method.index()].body.as_ref()?;
        if body.insts.len() > limits::INLINED_BODY_MAX || body.blocks.is_empty() {
            return None;
        }
        if let Some(outer) = self.recursive(parent, method, &args) {
            return Some(outer);
        }
        let depth = self.frame(parent).depth + 1;
        if depth > limits::INLINE_DEPTH_MAX || self.nesting(parent, method) >= 2 {
            return None;
        }
        let key = FrameKey { at, method, args, this_classes };
        if let Some(&id) = self.frame_index.get(&key) {
            return Some(id);
        }
        let id = FrameId(u32::try_from(self.frames.len()).expect("bounded by the step budget"));
        let (args, this_classes) = (key.args.clone(), key.this_classes.clone());
        self.frames.push(Frame {
            method,
            caller: at,
            parent: Some(parent),
            args,
            extra: Vec::new(),
            depth,
            this_classes,
            reach: None,
        });
        self.frame_index.insert(key, id);
        Some(id)
    }

    fn set_reach(&mut self, frame: FrameId, reach: Rc<reach::Reach>) {
        self.frames[frame.0 as usize].reach = Some(reach);
    }

    /// The frame of `method` that asks for itself with other texts or numbers: it
    /// runs with these too, and the recursion becomes an equation.
    fn recursive(&mut self, parent: FrameId, method: MethodId, args: &[Arg]) -> Option<FrameId> {
        let mut next = Some(parent);
        let outer = loop {
            let id = next?;
            let frame = self.frame(id);
            if frame.method == method {
                break id;
            }
            next = frame.parent;
        };
        let known = self.frame(outer).args.clone();
        if outer == FrameId::ROOT || known.len() != args.len() {
            return None;
        }
        let method = &self.program().methods[method.index()];
        let parameters = types::parameters(&method.descriptor);
        let shift = usize::from(!method.is_static());
        for (i, (&a, &b)) in known.iter().zip(args).enumerate() {
            let text = i >= shift
                && parameters.get(i - shift).is_some_and(|p| {
                    types::is_primitive(p) || *p == "Ljava/lang/String;" || *p == "Ljava/lang/CharSequence;"
                });
            if !text && a != b && self.arg_place(a)? != self.arg_place(b)? {
                return None;
            }
        }
        let frame = &mut self.frames[outer.0 as usize];
        if frame.args != args && !frame.extra.iter().any(|e| e == args) {
            if frame.extra.len() >= limits::RECURSIVE_CALLS_MAX {
                return None;
            }
            frame.extra.push(args.to_vec());
            self.rebound = true;
        }
        Some(outer)
    }

    fn arg_place(&mut self, arg: Arg) -> Option<PlaceId> {
        match arg {
            Arg::At(f, v) => Some(self.place(f, v)),
            Arg::Place(place) => Some(place),
            Arg::Text(_) | Arg::Unknown => None,
        }
    }

    /// Forgets what was evaluated before a frame got more arguments; false if
    /// nothing has to be evaluated again.
    pub(crate) fn forget(&mut self) -> bool {
        if !std::mem::take(&mut self.rebound) {
            return false;
        }
        self.memo.clear();
        self.place_memo.clear();
        self.returned_objects.clear();
        for frame in &mut self.frames {
            frame.reach = None;
        }
        true
    }

    fn nesting(&self, frame: FrameId, method: MethodId) -> usize {
        let mut count = 0;
        let mut next = Some(frame);
        while let Some(frame) = next {
            let frame = self.frame(frame);
            count += usize::from(frame.method == method);
            next = frame.parent;
        }
        count
    }

    /// Evaluates `key` by `f`, once; a question that is asked again while it is
    /// being answered is the unknown of an equation.
    fn solved(&mut self, key: Key, f: impl FnOnce(&mut Self) -> Term) -> Term {
        if let Some((term, unknowns)) = self.memo.get(&key)
            && unknowns.iter().all(|id| self.active_ids.contains(id))
        {
            return *term;
        }
        if let Some(&id) = self.active.get(&key) {
            return self.terms.open(id);
        }
        self.steps += 1;
        if self.steps >= limits::EVALUATION_STEPS_MAX || self.depth >= limits::EVALUATION_DEPTH_MAX {
            return self.terms.top();
        }
        let id = self.next_open;
        self.next_open += 1;
        self.active.insert(key, id);
        self.active_ids.insert(id);
        self.depth += 1;
        let term = f(self);
        self.depth -= 1;
        self.active.remove(&key);
        self.active_ids.remove(&id);
        let term = self.terms.solve(id, term);
        let unknowns = if self.terms.is_open(term) { self.terms.unknowns(term) } else { Vec::new() };
        self.memo.insert(key, (term, unknowns));
        term
    }

    /// How a value of this descriptor looks, if only the descriptor is known.
    pub(crate) fn pattern_of(descriptor: Name) -> Pattern {
        match descriptor.as_str() {
            "I" | "J" | "S" | "B" => Pattern::Integer,
            "Z" => Pattern::Boolean,
            "C" => Pattern::Char,
            "F" | "D" => Pattern::Float,
            _ => Pattern::Text,
        }
    }
}
