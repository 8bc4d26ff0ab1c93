//! Finding methods: declaration, inheritance, dispatch over instantiated types.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{ClassId, MethodId, MethodRef, Name, Program, access};

/// Answers questions on the class hierarchy.
#[derive(Debug)]
pub(crate) struct Resolver<'a> {
    pub(crate) program: &'a Program,
    declared: FxHashMap<(ClassId, Name, Name), MethodId>,
    /// Per class: its program supertypes, itself first.
    supers: Vec<Vec<ClassId>>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
        let mut declared = FxHashMap::default();
        for (i, m) in program.methods.iter().enumerate() {
            declared.entry((m.class, m.name, m.descriptor)).or_insert(MethodId::new(i));
        }
        let supers = (0..program.classes.len())
            .into_par_iter()
            .map(|c| supertypes(program, ClassId::new(c)))
            .collect();
        Self { program, declared, supers }
    }

    /// The class, if it is the program's.
    pub(crate) fn own_class(&self, name: Name) -> Option<ClassId> {
        self.program.class(name)
    }

    pub(crate) fn declared(&self, class: ClassId, name: Name, descriptor: Name) -> Option<MethodId> {
        self.declared.get(&(class, name, descriptor)).copied()
    }

    /// The method that `name descriptor` means on objects of exactly `class`:
    /// its own, inherited, or a default method with a body.
    pub(crate) fn lookup(&self, class: ClassId, name: Name, descriptor: Name) -> Option<MethodId> {
        let mut at = Some(class);
        let mut depth = 0;
        while let Some(c) = at {
            if let Some(m) = self.declared(c, name, descriptor) {
                return Some(m);
            }
            at = self.program.classes[c.index()].super_name.and_then(|s| self.program.class(s));
            depth += 1;
            if depth > 64 {
                return None;
            }
        }
        self.supers[class.index()]
            .iter()
            .filter_map(|c| self.declared(*c, name, descriptor))
            .find(|m| self.program.methods[m.index()].body.is_some())
    }

    /// All program supertypes of `class`, itself first, nearest first.
    pub(crate) fn supertypes(&self, class: ClassId) -> Vec<ClassId> {
        self.supers[class.index()].clone()
    }

    /// Names of all supertypes of `class`, library types included.
    pub(crate) fn super_names(&self, class: ClassId) -> Vec<Name> {
        let mut names = Vec::new();
        for c in self.supertypes(class) {
            let c = &self.program.classes[c.index()];
            names.push(c.name);
            names.extend(c.super_name.iter().chain(&c.interfaces).copied());
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether `class` is `of` or below it.
    pub(crate) fn is_subtype(&self, class: ClassId, of: Name) -> bool {
        self.supers[class.index()].iter().any(|c| {
            let c = &self.program.classes[c.index()];
            c.name == of || c.super_name == Some(of) || c.interfaces.contains(&of)
        })
    }

    /// All program classes at or below the type `name` (which may be a library
    /// type), sorted.
    pub(crate) fn subtypes(&self, name: Name) -> Vec<ClassId> {
        let mut seen: FxHashSet<ClassId> = FxHashSet::default();
        let mut todo: Vec<Name> = vec![name];
        seen.extend(self.program.class(name));
        while let Some(n) = todo.pop() {
            for &c in self.program.subtypes.get(&n).map_or(&[][..], Vec::as_slice) {
                if seen.insert(c) {
                    todo.push(self.program.classes[c.index()].name);
                }
            }
        }
        let mut all: Vec<ClassId> = seen.into_iter().collect();
        all.sort_unstable();
        all
    }

    /// Methods with a body that `method` can mean on instantiated objects.
    pub(crate) fn dispatch(&self, method: MethodRef, instantiated: &[bool]) -> Vec<MethodId> {
        let mut targets: Vec<MethodId> = self
            .subtypes(method.class)
            .into_iter()
            .filter(|c| instantiated[c.index()])
            .filter_map(|c| self.lookup(c, method.name, method.descriptor))
            .filter(|&m| self.has_body(m))
            .collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    pub(crate) fn has_body(&self, method: MethodId) -> bool {
        self.program.methods[method.index()].body.is_some()
    }

    pub(crate) fn is_interface(&self, class: ClassId) -> bool {
        self.program.classes[class.index()].access & access::INTERFACE != 0
    }
}

fn supertypes(program: &Program, class: ClassId) -> Vec<ClassId> {
    let mut order = vec![class];
    let mut at = 0;
    while at < order.len() {
        let c = &program.classes[order[at].index()];
        for name in c.super_name.iter().chain(&c.interfaces) {
            if let Some(s) = program.class(*name)
                && !order.contains(&s)
            {
                order.push(s);
            }
        }
        at += 1;
    }
    order
}

/// The types of the parameters (without the receiver) and of the result, as
/// descriptors.
pub(crate) fn signature(descriptor: &str) -> (Vec<&str>, &str) {
    let mut params = Vec::new();
    let Some(close) = descriptor.find(')') else { return (params, "V") };
    let bytes = descriptor.as_bytes();
    let mut at = 1;
    while at < close {
        let start = at;
        while at < close && bytes[at] == b'[' {
            at += 1;
        }
        if bytes[at] == b'L' {
            at += descriptor[at..close].find(';').unwrap_or(0);
        }
        at += 1;
        params.push(&descriptor[start..at.min(close)]);
    }
    (params, &descriptor[close + 1..])
}

/// The internal class name of an object descriptor.
pub(crate) fn class_of(descriptor: &str) -> Option<&str> {
    descriptor.strip_prefix('L')?.strip_suffix(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_descriptors() {
        let (params, result) = signature("(I[JLa/B;[[La/C;Z)La/D;");
        assert_eq!(params, ["I", "[J", "La/B;", "[[La/C;", "Z"]);
        assert_eq!(result, "La/D;");
        assert_eq!(class_of(result), Some("a/D"));
        assert_eq!(class_of("[J"), None);
        assert_eq!(signature("()V").0.len(), 0);
    }
}
