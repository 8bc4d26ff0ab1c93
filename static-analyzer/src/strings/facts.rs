//! Facts about the whole program that string evaluation asks for: who writes a
//! field, who calls a method, which classes are ever instantiated, what
//! dispatch resolves to. Collected in one parallel pass.
//!
//! Instantiation is over-approximated by "some method allocates it, or hands on
//! its class literal"; a type of which nothing is instantiated this way is made
//! by name, and all its subclasses count.

use std::borrow::Cow;
use std::sync::OnceLock;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::apis;
use super::flow::Flow;
use super::info::Info;
use crate::call_graph::programs::Programs;
use crate::ir::{Body, BootstrapArg, Const, InvokeKind, Op, ValueId};
use crate::program::{ClassId, Field, FieldRef, MethodId, MethodRef, Name, Program, access};

/// One place: a method and an instruction in it.
pub(crate) type Place = (MethodId, ValueId);

/// See the module.
pub(crate) struct Facts<'p> {
    /// The program the facts are about.
    pub(crate) program: &'p Program,
    /// Which programs run what; none: nothing is known of it.
    pub(crate) programs: Option<&'p Programs>,
    writes: FxHashMap<FieldRef, Vec<Place>>,
    calls: FxHashMap<(Name, Name), Vec<Place>>,
    instantiated: Vec<bool>,
    methods: FxHashMap<(Name, Name, Name), MethodId>,
    concrete: FxHashMap<Name, Vec<ClassId>>,
    possible: FxHashMap<Name, Vec<ClassId>>,
    supers: FxHashMap<Name, Vec<Name>>,
    infos: Vec<OnceLock<Info>>,
    /// Per method: the calls that can run it, once somebody has asked for them.
    callers: Vec<OnceLock<Box<[Place]>>>,
    flow: Flow,
    lambdas: FxHashMap<MethodId, Vec<Place>>,
    /// Fields of arrays in which somebody stores elements.
    refilled: FxHashSet<FieldRef>,
    /// Methods that are handed on as functions.
    handed_on: FxHashSet<(Name, Name)>,
    /// See [`Facts::kept_in`]; none: in several fields.
    kept: FxHashMap<MethodRef, Option<FieldRef>>,
}

enum Fact {
    Write(FieldRef, Place),
    Call((Name, Name), Place),
    Class(Name),
    Lambda(MethodRef, Place),
    Refill(FieldRef),
    Kept(MethodRef, FieldRef),
}

impl<'p> Facts<'p> {
    /// Reads every body once.
    pub(crate) fn new(program: &'p Program) -> Self {
        let ids: Vec<MethodId> = (0..program.methods.len()).map(MethodId::new).collect();
        let found: Vec<Vec<Fact>> = ids.par_iter().map(|&id| facts_of(program, id)).collect();
        let mut facts = Self {
            program,
            programs: None,
            writes: FxHashMap::default(),
            calls: FxHashMap::default(),
            instantiated: vec![false; program.classes.len()],
            methods: FxHashMap::default(),
            concrete: FxHashMap::default(),
            possible: FxHashMap::default(),
            supers: program.classes.par_iter().map(|c| (c.name, program.supers(c.name))).collect(),
            infos: program.methods.iter().map(|_| OnceLock::new()).collect(),
            callers: program.methods.iter().map(|_| OnceLock::new()).collect(),
            flow: Flow::default(),
            lambdas: FxHashMap::default(),
            refilled: FxHashSet::default(),
            handed_on: FxHashSet::default(),
            kept: FxHashMap::default(),
        };
        for (i, method) in program.methods.iter().enumerate() {
            let class = program.classes[method.class.index()].name;
            facts.methods.insert((class, method.name, method.descriptor), MethodId::new(i));
        }
        for fact in found.into_iter().flatten() {
            match fact {
                Fact::Lambda(target, place) => {
                    facts.handed_on.insert((target.name, target.descriptor));
                    if let Some(&body) = facts.methods.get(&(target.class, target.name, target.descriptor)) {
                        facts.lambdas.entry(body).or_default().push(place);
                    }
                }
                Fact::Refill(field) => {
                    facts.refilled.insert(field);
                }
                Fact::Kept(method, field) => {
                    let known = facts.kept.entry(method).or_insert(Some(field));
                    *known = known.filter(|known| *known == field);
                }
                Fact::Write(field, place) => facts.writes.entry(field).or_default().push(place),
                Fact::Call(key, place) => facts.calls.entry(key).or_default().push(place),
                Fact::Class(name) => facts.instantiate(name),
            }
        }
        facts.fill_concrete();
        // INVARIANT: not made when it is first asked for. It is made in parallel; a
        // worker that waits for its parts takes other work on, which would wait for
        // it in turn, for ever.
        facts.flow = Flow::new(&facts);
        facts
    }

    /// The calls that can run `method`, which `find` finds: each is asked for again and again, by
    /// whoever looks through wrappers.
    pub(crate) fn callers(&self, method: MethodId, find: impl FnOnce() -> Vec<Place>) -> &[Place] {
        self.callers[method.index()].get_or_init(|| find().into())
    }

    fn instantiate(&mut self, name: Name) {
        if let Some(class) = self.program.class(name) {
            self.instantiated[class.index()] = true;
        }
    }

    fn fill_concrete(&mut self) {
        for i in 0..self.program.classes.len() {
            let class = &self.program.classes[i];
            if class.access & (access::ABSTRACT | access::INTERFACE) != 0 {
                continue;
            }
            // Public, and nobody allocates it: it is made by its name.
            let methods = &self.program.methods[class.methods.clone()];
            let named = class.access & access::PUBLIC != 0
                && methods.iter().any(|m| m.name == "<init>" && m.access & access::PUBLIC != 0);
            for name in self.supers.get(&class.name).into_iter().flatten().copied() {
                if self.instantiated[i] || named {
                    self.concrete.entry(name).or_default().push(ClassId::new(i));
                }
                self.possible.entry(name).or_default().push(ClassId::new(i));
            }
        }
    }

    /// The class itself and everything it extends or implements, superclasses
    /// first.
    pub(crate) fn supertypes(&self, name: Name) -> Cow<'_, [Name]> {
        match self.supers.get(&name) {
            Some(all) => Cow::Borrowed(all),
            None => Cow::Owned(self.program.supers(name)),
        }
    }

    /// Whether `name` is `above` or below it, as far as the program knows.
    pub(crate) fn is_subtype(&self, name: Name, above: Name) -> bool {
        name == above || above == "java/lang/Object" || self.supertypes(name).contains(&above)
    }

    /// Whether objects of this class are exceptions. Classes outside of the
    /// program are judged by the naming convention of the platform.
    pub(crate) fn is_throwable(&self, name: Name) -> bool {
        self.supertypes(name).iter().any(|n| {
            n == "java/lang/Throwable"
                || (self.program.class(*n).is_none() && (n.ends_with("Exception") || n.ends_with("Error")))
        })
    }

    /// Allocated classes at or below `name`, sorted; all that can be, if none is
    /// seen allocated.
    pub(crate) fn concrete(&self, name: Name) -> &[ClassId] {
        match self.concrete.get(&name) {
            Some(all) => all,
            None => self.possible.get(&name).map_or(&[], Vec::as_slice),
        }
    }

    /// Those of `classes` of which a program that runs `method` makes objects; all,
    /// if there would be none.
    pub(crate) fn met_in(&self, method: MethodId, classes: Vec<ClassId>) -> Vec<ClassId> {
        let Some(programs) = self.programs.filter(|_| classes.len() > 1) else { return classes };
        let met = classes.iter().copied().filter(|&c| programs.can_meet(self.program, method, c));
        let met: Vec<ClassId> = met.collect();
        if met.is_empty() { classes } else { met }
    }

    /// Which classes values can have.
    pub(crate) fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Whether a method of this name and descriptor is handed on as a function,
    /// so that its callers are not all seen.
    pub(crate) fn is_handed_on(&self, name: Name, descriptor: Name) -> bool {
        self.handed_on.contains(&(name, descriptor))
    }

    /// The one instruction that makes a closure of a lambda body.
    pub(crate) fn lambda_site(&self, body: MethodId) -> Option<Place> {
        if !self.program.methods[body.index()].name.starts_with("lambda$") {
            return None;
        }
        match self.lambdas.get(&body)?[..] {
            [site] => Some(site),
            _ => None,
        }
    }

    /// Indexes of a method's body; the method must have one.
    pub(crate) fn info(&self, method: MethodId) -> &Info {
        self.infos[method.index()].get_or_init(|| {
            let body = self.program.methods[method.index()].body.as_ref();
            body.map_or_else(|| Info::new(&Body::default()), Info::new)
        })
    }

    /// Name of a class of the program.
    pub(crate) fn class_name(&self, class: ClassId) -> Name {
        self.program.classes[class.index()].name
    }

    /// The method that a call on exactly `class` runs or names: declared there
    /// or inherited. Prefers one with a body.
    pub(crate) fn resolve(&self, class: Name, name: Name, descriptor: Name) -> Option<MethodId> {
        if let Some(&id) = self.methods.get(&(class, name, descriptor)) {
            return Some(id);
        }
        let mut bodiless = None;
        for &above in self.supertypes(class).iter().skip(1) {
            if let Some(&id) = self.methods.get(&(above, name, descriptor)) {
                if self.program.methods[id.index()].body.is_some() {
                    return Some(id);
                }
                bodiless = bodiless.or(Some(id));
            }
        }
        bodiless
    }

    /// Topmost declaration of a method in the program: the name it is known by.
    pub(crate) fn topmost(&self, class: Name, name: Name, descriptor: Name) -> Option<MethodId> {
        let above = self.supertypes(class);
        above.iter().rev().find_map(|&n| self.methods.get(&(n, name, descriptor)).copied())
    }

    /// Instructions that write `field`, in program order.
    pub(crate) fn writes(&self, field: FieldRef) -> &[Place] {
        self.writes.get(&field).map_or(&[], Vec::as_slice)
    }

    /// The field in which a class keeps what this static method of its own makes: who
    /// calls the method gets what the objects of the class are called by.
    pub(crate) fn kept_in(&self, method: MethodRef) -> Option<FieldRef> {
        self.kept.get(&method).copied().flatten()
    }

    /// Whether elements are stored in the array that the field holds, or in an
    /// array in it, after it was made.
    pub(crate) fn is_refilled(&self, field: FieldRef) -> bool {
        self.refilled.contains(&field)
    }

    /// Instructions that call some method of this name and descriptor.
    pub(crate) fn calls(&self, name: Name, descriptor: Name) -> &[Place] {
        self.calls.get(&(name, descriptor)).map_or(&[], Vec::as_slice)
    }

    /// Declaration of a field.
    pub(crate) fn field(&self, field: FieldRef) -> Option<&'p Field> {
        let class = &self.program.classes[self.program.class(field.class)?.index()];
        class.fields.iter().find(|f| f.name == field.name && f.descriptor == field.descriptor)
    }

    /// Constants of an enum of the program, in order of declaration.
    pub(crate) fn enum_constants(&self, name: Name) -> Option<Vec<Name>> {
        let class = &self.program.classes[self.program.class(name)?.index()];
        if class.super_name? != "java/lang/Enum" {
            return None;
        }
        let constants = class.fields.iter().filter(|f| f.access & access::ENUM != 0);
        Some(constants.map(|f| f.name).collect())
    }

    /// Whether the field is written only by constructors (static: by static
    /// initializers) of its own class.
    pub(crate) fn is_effectively_final(&self, field: FieldRef) -> bool {
        self.writes(field).iter().all(|(m, _)| {
            let method = &self.program.methods[m.index()];
            self.class_name(method.class) == field.class && method.name.starts_with('<')
        })
    }
}

/// Whether a class literal may be used to make objects: it goes somewhere other
/// than to a logger factory or a question about the class.
fn is_handed_on(body: &Body, literal: ValueId) -> bool {
    body.iter().any(|(_, inst)| match &inst.op {
        Op::Invoke { method, args, .. } if args.contains(&literal) => {
            let asks = method.class == "java/lang/Class"
                && !matches!(
                    method.name.as_str(),
                    "newInstance" | "getConstructor" | "getDeclaredConstructor"
                );
            let names = matches!(method.name.as_str(), "getLog" | "getLogger" | "getInstance");
            !asks && !names
        }
        Op::PutField(_, _, value) | Op::ArrayStore(_, _, value) => *value == literal,
        Op::Return(Some(value)) => *value == literal,
        Op::Phi(operands) => operands.iter().any(|&(_, v)| v == literal),
        Op::InvokeDynamic { args, .. } => args.contains(&literal),
        _ => false,
    })
}

/// The field that holds the array, or the array it is in.
fn array_field(body: &Body, mut array: ValueId) -> Option<FieldRef> {
    loop {
        array = match body.op(array) {
            Op::GetField(field, _) => return Some(*field),
            Op::Cast(_, inner) | Op::ArrayLoad(inner, _) => *inner,
            _ => return None,
        };
    }
}

fn facts_of(program: &Program, id: MethodId) -> Vec<Fact> {
    let mut facts = Vec::new();
    let Some(body) = &program.methods[id.index()].body else { return facts };
    for (value, inst) in body.iter() {
        match &inst.op {
            Op::PutField(field, object, stored) => {
                facts.push(Fact::Write(*field, (id, value)));
                if object.is_some()
                    && let Op::Invoke { kind: InvokeKind::Static, method, .. } = body.op(*stored)
                    && method.class == field.class
                {
                    facts.push(Fact::Kept(*method, *field));
                }
            }
            Op::ArrayStore(array, _, _) => facts.extend(array_field(body, *array).map(Fact::Refill)),
            Op::Invoke { method, args, .. } if program.class(method.class).is_none() => {
                let written = args.iter().enumerate().filter(|&(i, _)| apis::fills_array(method, i));
                facts.extend(written.filter_map(|(_, &v)| array_field(body, v)).map(Fact::Refill));
            }
            Op::Invoke { method, .. } if program.class(method.class).is_some() => {
                facts.push(Fact::Call((method.name, method.descriptor), (id, value)));
            }
            Op::InvokeDynamic { bootstrap, .. } => {
                let target = bootstrap.args.iter().find_map(|arg| match arg {
                    BootstrapArg::Handle { target, .. } => Some(*target),
                    _ => None,
                });
                facts.extend(target.map(|t| Fact::Lambda(t, (id, value))));
            }
            Op::New(name) => facts.push(Fact::Class(*name)),
            Op::Const(Const::Class(name)) if is_handed_on(body, value) => facts.push(Fact::Class(*name)),
            _ => {}
        }
    }
    facts
}
