//! Questions about the class hierarchy: who is a subtype of whom, which method
//! a call runs. Classes outside of the program are known by the table of
//! [`crate::program::jdk_apis`]; others are taken to extend only `Object`.
//!
//! All walks keep the set of names seen, so cycles end, and none recurses.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::ir::InvokeKind;
use crate::limits;
use crate::program::{Class, ClassId, MethodId, MethodRef, Name, Program, access, jdk_apis};

impl Program {
    /// Direct super-types of a class, superclass first; of outside classes as
    /// far as they are known.
    pub fn direct_supers(&self, name: Name) -> Vec<Name> {
        match self.class(name) {
            Some(id) => {
                let class = &self.classes[id.index()];
                class.super_name.iter().chain(&class.interfaces).copied().collect()
            }
            None => jdk_apis::supers(&name).iter().map(|s| Name::from(s)).collect(),
        }
    }

    /// Finds the super-types of all classes: nearly every question about the hierarchy needs them.
    pub(crate) fn find_supers(&mut self) {
        let of = |class: &Class| self.walked_supers(class.name).into();
        self.above = self.classes.par_iter().map(of).collect();
    }

    /// What [`Self::find_supers`] has found of a class.
    fn known_supers(&self, name: Name) -> Option<&[Name]> {
        self.above.get(self.class(name)?.index()).map(|above| &**above)
    }

    /// `name` and all its super-types as far as they are known, each once:
    /// superclasses first, then interfaces.
    pub fn supers(&self, name: Name) -> Vec<Name> {
        self.known_supers(name).map_or_else(|| self.walked_supers(name), <[Name]>::to_vec)
    }

    fn walked_supers(&self, name: Name) -> Vec<Name> {
        let mut seen = FxHashSet::default();
        let mut order = vec![name];
        seen.insert(name);
        let mut next = 0;
        // The chain of superclasses first: a class wins over an interface.
        let mut at = name;
        while let Some(class) = self.superclass(at).filter(|&s| seen.insert(s)) {
            order.push(class);
            at = class;
        }
        while next < order.len() && order.len() < limits::SUPERS_MAX {
            for sup in self.direct_supers(order[next]) {
                if seen.insert(sup) {
                    order.push(sup);
                }
            }
            next += 1;
        }
        order
    }

    fn superclass(&self, name: Name) -> Option<Name> {
        match self.class(name) {
            Some(id) => self.classes[id.index()].super_name,
            None => jdk_apis::supers(&name).first().map(|s| Name::from(s)),
        }
    }

    /// Whether a value of class `sub` can be assigned to `sup`. Unknown outside
    /// classes are subtypes of themselves and `Object` only.
    pub fn is_subtype(&self, sub: Name, sup: Name) -> bool {
        if sub == sup || sup == "java/lang/Object" {
            return true;
        }
        if sub.starts_with('[') {
            return matches!(sup.as_str(), "java/lang/Cloneable" | "java/io/Serializable")
                || element(sub).zip(element(sup)).is_some_and(|(sub, sup)| self.is_subtype(sub, sup));
        }
        if let Some(above) = self.known_supers(sub) {
            return above.contains(&sup);
        }
        let mut seen = FxHashSet::default();
        let mut stack = vec![sub];
        while let Some(name) = stack.pop() {
            if name == sup {
                return true;
            }
            if seen.insert(name) && seen.len() < limits::SUPERS_MAX {
                stack.extend(self.direct_supers(name));
            }
        }
        false
    }

    /// The classes of the program that extend or implement `name` directly, sorted.
    pub fn direct_subtypes(&self, name: Name) -> &[ClassId] {
        self.subtypes.get(&name).map_or(&[], Vec::as_slice)
    }

    /// All classes of the program below `name`, `name` itself included if it is
    /// in the program; sorted. Known outside classes between are walked.
    pub fn all_subtypes(&self, name: Name) -> Vec<ClassId> {
        let mut seen = FxHashSet::default();
        let mut names = FxHashSet::default();
        let mut stack = vec![name];
        while let Some(name) = stack.pop() {
            if !names.insert(name) {
                continue;
            }
            seen.extend(self.class(name));
            stack.extend(self.direct_subtypes(name).iter().map(|c| self.classes[c.index()].name));
            stack.extend(jdk_apis::subtypes(&name).map(Name::from));
        }
        let mut all: Vec<ClassId> = seen.into_iter().collect();
        all.sort_unstable();
        all
    }

    /// The class that declares the field that `class` has under this name.
    pub fn field_owner(&self, class: Name, name: Name, descriptor: Name) -> Option<Name> {
        let declares = |id: ClassId| {
            let fields = &self.classes[id.index()].fields;
            fields.iter().any(|f| f.name == name && f.descriptor == descriptor)
        };
        if declares(self.class(class)?) {
            return Some(class);
        }
        self.supers(class).into_iter().find(|&c| self.class(c).is_some_and(declares))
    }

    /// The method that a call on an object of exactly `class` runs: declared by
    /// it or the nearest superclass, else the default method of an interface.
    /// None if it is outside of the program, or only abstract declarations are
    /// there.
    pub fn resolve_virtual(&self, class: Name, name: Name, descriptor: Name) -> Option<MethodId> {
        let declared = |c: Name| self.declared_method(self.class(c)?, name, descriptor);
        if let Some(m) = declared(class)
            && self.is_concrete(m)
        {
            return Some(m);
        }
        let supers = self.supers(class);
        let mut found: Option<MethodId> = None;
        for m in supers.into_iter().filter_map(declared).filter(|&m| self.is_concrete(m)) {
            let owner = |m: MethodId| &self.classes[self.methods[m.index()].class.index()];
            if owner(m).access & access::INTERFACE == 0 {
                return Some(m);
            }
            // Of several default methods the most special one is run.
            if found.is_none_or(|f| self.is_subtype(owner(m).name, owner(f).name)) {
                found = Some(m);
            }
        }
        found
    }

    /// The declaration that a call names: like [`Self::resolve_virtual`], but an
    /// abstract method is an answer too.
    pub fn resolve_declaration(&self, method: MethodRef) -> Option<MethodId> {
        let supers = self.supers(method.class);
        supers.into_iter().find_map(|c| self.declared_method(self.class(c)?, method.name, method.descriptor))
    }

    fn is_concrete(&self, method: MethodId) -> bool {
        self.methods[method.index()].access & access::ABSTRACT == 0
    }

    /// The methods of the program that a call may run, by class hierarchy
    /// analysis: what `class` itself runs, and all overriders below. Sorted.
    /// Over-approximates: classes that are never made count too. Private and
    /// static methods of subclasses do not override.
    pub fn virtual_targets(&self, class: Name, name: Name, descriptor: Name) -> Vec<MethodId> {
        let mut targets: Vec<MethodId> = Vec::new();
        for id in self.all_subtypes(class) {
            let c = &self.classes[id.index()];
            let own = self.declared_method(id, name, descriptor);
            let own =
                own.filter(|m| self.methods[m.index()].access & (access::STATIC | access::PRIVATE) == 0);
            match own {
                Some(m) => targets.extend(Some(m).filter(|&m| self.is_concrete(m))),
                // An inherited method is the target too: of the class itself,
                // or one that first meets the interface in this class.
                None if c.name == class || !c.interfaces.is_empty() => {
                    targets.extend(self.resolve_virtual(c.name, name, descriptor));
                }
                None => {}
            }
        }
        if self.class(class).is_none() {
            targets.extend(self.resolve_virtual(class, name, descriptor));
        }
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// The methods of the program that a call instruction may run, by class
    /// hierarchy analysis.
    pub fn call_targets(&self, kind: InvokeKind, method: MethodRef) -> Vec<MethodId> {
        let MethodRef { class, name, descriptor } = method;
        match kind {
            InvokeKind::Static | InvokeKind::Special => {
                self.resolve_virtual(class, name, descriptor).into_iter().collect()
            }
            InvokeKind::Virtual | InvokeKind::Interface => self.virtual_targets(class, name, descriptor),
        }
    }
}

/// Element class of an array of references, both named as in instructions.
fn element(array: Name) -> Option<Name> {
    let element = array.strip_prefix('[')?;
    if element.starts_with('[') {
        return Some(element.into());
    }
    element.strip_prefix('L')?.strip_suffix(';').map(Name::from)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::program::{self, Name};

    #[test]
    fn what_is_known_of_all_classes_is_what_is_walked() {
        let classes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/requests/classes");
        let mut program = program::load(&[classes], &Default::default()).expect("readable classes");
        let outside = ["java/lang/Runnable", "java/lang/Thread", "java/lang/Object"].map(Name::from);
        let names: Vec<Name> = program.classes.iter().map(|class| class.name).chain(outside).collect();
        let questions: Vec<(Name, Name)> =
            names.iter().flat_map(|&sub| names.iter().map(move |&sup| (sub, sup))).collect();
        let known: Vec<bool> = questions.iter().map(|&(sub, sup)| program.is_subtype(sub, sup)).collect();
        let supers: Vec<Vec<Name>> = names.iter().map(|&name| program.supers(name)).collect();
        assert_eq!(program.above.len(), program.classes.len());
        program.above.clear();
        assert!(supers.iter().zip(&names).all(|(supers, &name)| *supers == program.supers(name)));
        let differs = |&at: &usize| known[at] != program.is_subtype(questions[at].0, questions[at].1);
        assert_eq!((0..questions.len()).find(differs).map(|at| questions[at]), None);
        assert!(known.iter().filter(|&&is| is).count() > 2 * names.len());
    }
}
