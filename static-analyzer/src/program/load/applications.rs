//! Applications: archives with a class loader of their own, several on one class path. Classes of
//! one name in two of them are two classes, unless they are the same byte by byte.
//!
//! Within an application such a class goes by a name in front of which its number stands; what
//! people see is the name without it ([`plain`]).

use rustc_hash::{FxHashMap, FxHashSet};

use super::Loaded;
use crate::class_path::{ClassFile, Entry};
use crate::ir::{Body, BootstrapArg, Const, Op};
use crate::program::{Annotation, AnnotationValue, MethodRef, Name};

/// Folders of archives that are loaded by themselves.
const FOLDERS: &[&str] = &["BOOT-INF/classes/", "WEB-INF/classes/"];

/// What stands before the number of an application; no name of a class begins so.
const MARK: char = '#';

/// The name of a class as its application knows it.
pub(crate) fn plain(name: &str) -> &str {
    match name.strip_prefix(MARK) {
        Some(rest) => rest.split_once('/').map_or(rest, |(_, name)| name),
        None => name,
    }
}

/// For each entry the application that it belongs to, if it does.
pub(super) fn of_entries(entries: &[Entry], files: &[ClassFile]) -> Vec<Option<usize>> {
    let mut is_application = vec![false; entries.len()];
    for file in files {
        is_application[file.entry] |= FOLDERS.iter().any(|folder| file.path.starts_with(folder));
    }
    let mut outer = 0;
    let of = |(at, entry): (usize, &Entry)| {
        if !entry.name.contains('!') {
            outer = at;
        }
        is_application[outer].then_some(outer)
    };
    entries.iter().enumerate().map(of).collect()
}

/// Which classes were met where.
#[derive(Default)]
pub(super) struct Met {
    /// By name: (entry, application, digest) of those that are kept.
    classes: FxHashMap<Name, Vec<(usize, Option<usize>, u128)>>,
    /// By application: names of classes that another one has, too, and otherwise.
    differing: FxHashMap<usize, FxHashSet<Name>>,
}

impl Met {
    /// The entry of which a class is a copy; none if it is kept.
    pub(super) fn copy_of(
        &mut self,
        name: Name,
        entry: usize,
        application: Option<usize>,
        digest: u128,
    ) -> Option<usize> {
        let known = self.classes.entry(name).or_default();
        let is_copy = |&&(_, other, of): &&(usize, Option<usize>, u128)| {
            of == digest || other == application || other.is_none() || application.is_none()
        };
        if let Some(&(first, ..)) = known.iter().find(is_copy) {
            return Some(first);
        }
        if let (false, Some(application)) = (known.is_empty(), application) {
            self.differing.entry(application).or_default().insert(name);
        }
        known.push((entry, application, digest));
        None
    }

    /// Gives the classes of applications names of their own where others have them, too.
    pub(super) fn rename(&self, classes: &mut [Loaded], applications: &[Option<usize>]) {
        for loaded in classes {
            let Some(application) = applications[loaded.class.entry] else { continue };
            if let Some(names) = self.differing.get(&application) {
                Renaming { application, names }.class(loaded);
            }
        }
    }
}

struct Renaming<'a> {
    application: usize,
    names: &'a FxHashSet<Name>,
}

impl Renaming<'_> {
    fn class(&self, loaded: &mut Loaded) {
        let class = &mut loaded.class;
        self.name(&mut class.name);
        class.super_name.iter_mut().chain(&mut class.interfaces).for_each(|name| self.name(name));
        if let Some((outer, method)) = &mut class.enclosing {
            self.name(outer);
            method.iter_mut().for_each(|(_, descriptor)| self.descriptor(descriptor));
        }
        for field in &mut class.fields {
            self.descriptor(&mut field.descriptor);
            field.signature.iter_mut().for_each(|signature| self.descriptor(signature));
        }
        class.signature.iter_mut().for_each(|signature| self.descriptor(signature));
        self.annotations(&mut class.annotations);
        for method in &mut loaded.methods {
            self.descriptor(&mut method.descriptor);
            method.signature.iter_mut().for_each(|signature| self.descriptor(signature));
            method.exceptions.iter_mut().for_each(|name| self.name(name));
            self.annotations(&mut method.annotations);
            method.parameter_annotations.iter_mut().for_each(|of| self.annotations(of));
            method.body.iter_mut().for_each(|body| self.body(body));
        }
    }

    /// A class, or an array of one as a descriptor.
    fn name(&self, name: &mut Name) {
        if name.starts_with('[') {
            self.descriptor(name);
        } else if self.names.contains(name) {
            *name = Name::from(&format!("{MARK}{}/{name}", self.application));
        }
    }

    /// The classes in a descriptor or signature.
    fn descriptor(&self, descriptor: &mut Name) {
        let text = descriptor.as_str();
        let mut renamed = String::new();
        let mut rest = text;
        while let Some(start) = rest.find('L') {
            let end = rest[start + 1..].find([';', '<']).map(|end| start + 1 + end);
            let Some(end) = end else { break };
            let mut name = Name::from(&rest[start + 1..end]);
            self.name(&mut name);
            renamed.push_str(&rest[..=start]);
            renamed.push_str(name.as_str());
            rest = &rest[end..];
        }
        renamed.push_str(rest);
        if renamed != text {
            *descriptor = Name::from(&renamed);
        }
    }

    fn annotations(&self, annotations: &mut [Annotation]) {
        for annotation in annotations {
            self.name(&mut annotation.class);
            annotation.values.iter_mut().for_each(|(_, value)| self.annotation_value(value));
        }
    }

    fn annotation_value(&self, value: &mut AnnotationValue) {
        match value {
            AnnotationValue::Nested(nested) => self.annotations(std::slice::from_mut(nested)),
            AnnotationValue::List(all) => all.iter_mut().for_each(|value| self.annotation_value(value)),
            _ => {}
        }
    }

    fn body(&self, body: &mut Body) {
        for handler in body.blocks.iter_mut().flat_map(|block| &mut block.handlers) {
            handler.class.iter_mut().for_each(|name| self.name(name));
        }
        for inst in &mut body.insts {
            match &mut inst.op {
                Op::New(name) | Op::Cast(name, _) | Op::InstanceOf(name, _) => self.name(name),
                Op::NewArray(element, _) => self.descriptor(element),
                Op::Const(Const::Class(name)) => self.name(name),
                Op::Caught(names) => names.iter_mut().for_each(|name| self.name(name)),
                Op::GetField(field, _) | Op::PutField(field, _, _) => {
                    self.name(&mut field.class);
                    self.descriptor(&mut field.descriptor);
                }
                Op::Invoke { method, .. } => self.method(method),
                Op::InvokeDynamic { bootstrap, descriptor, .. } => {
                    self.method(&mut bootstrap.method);
                    self.descriptor(descriptor);
                    bootstrap.args.iter_mut().for_each(|arg| self.argument(arg));
                }
                _ => {}
            }
        }
    }

    fn method(&self, method: &mut MethodRef) {
        self.name(&mut method.class);
        self.descriptor(&mut method.descriptor);
    }

    fn argument(&self, argument: &mut BootstrapArg) {
        match argument {
            BootstrapArg::Const(Const::Class(name)) => self.name(name),
            BootstrapArg::Const(_) => {}
            BootstrapArg::Handle { target, .. } => self.method(target),
            BootstrapArg::MethodType(descriptor) => self.descriptor(descriptor),
        }
    }
}
