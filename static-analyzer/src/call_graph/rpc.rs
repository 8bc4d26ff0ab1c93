//! Interfaces served to remote callers, and who serves them.
//!
//! Principle: an interface is remote if objects of it are made by a proxy
//! factory, if an RPC compiler generated it, or if it extends a marker; then
//! every program interface that is implemented by *forwarding* to such an
//! interface (a client-side translator) is remote too. A call on a remote
//! interface leaves the process; only a server-side translator (which serves
//! one remote interface by calling another) is called and calls in place.

use rustc_hash::{FxHashMap, FxHashSet};

use super::apis;
use super::resolve::{Resolver, class_of};
use crate::ir::{Const, Op};
use crate::program::{ClassId, MethodId, MethodRef, Name};

/// What is remote.
#[derive(Debug, Default)]
pub(crate) struct Rpc {
    /// Remote interfaces, with the reason.
    pub(crate) interfaces: FxHashMap<ClassId, String>,
    /// Interfaces that are remote by themselves, not by translation.
    base: FxHashSet<ClassId>,
    stubs: FxHashSet<ClassId>,
}

impl Rpc {
    pub(crate) fn find(resolver: &Resolver<'_>) -> Self {
        let mut rpc = Self::default();
        rpc.find_marked(resolver);
        rpc.find_proxied(resolver);
        rpc.base = rpc.interfaces.keys().copied().collect();
        rpc.find_stubs(resolver);
        rpc.find_translated(resolver);
        rpc
    }

    fn add(&mut self, class: ClassId, why: String) {
        self.interfaces.entry(class).or_insert(why);
    }

    fn find_marked(&mut self, resolver: &Resolver<'_>) {
        let program = resolver.program;
        for (i, class) in program.classes.iter().enumerate() {
            let id = ClassId::new(i);
            if !resolver.is_interface(id) {
                continue;
            }
            let supers = resolver.super_names(id);
            for marker in apis::RPC_MARKERS {
                if class.name.as_str() != *marker && supers.iter().any(|s| s.as_str() == *marker) {
                    self.add(id, format!("extends {marker}"));
                }
            }
            for (suffix, sibling) in apis::RPC_GENERATED {
                if let Some(outer) = class.name.as_str().strip_suffix(suffix)
                    && program.class(Name::from(&format!("{outer}{sibling}"))).is_some()
                {
                    self.add(id, format!("generated service interface beside {sibling}"));
                }
            }
        }
    }

    fn find_proxied(&mut self, resolver: &Resolver<'_>) {
        for m in &resolver.program.methods {
            let Some(body) = &m.body else { continue };
            for (_, inst) in body.iter() {
                let Op::Invoke { method, args, .. } = &inst.op else { continue };
                if !apis::PROXY_FACTORY_NAMES.contains(&method.name.as_str()) {
                    continue;
                }
                for a in args {
                    if let Op::Const(Const::Class(name)) = body.op(*a)
                        && let Some(class) = resolver.own_class(*name)
                        && resolver.is_interface(class)
                    {
                        self.add(class, format!("given to {}", method.name));
                    }
                }
            }
        }
    }

    fn find_stubs(&mut self, resolver: &Resolver<'_>) {
        for (i, class) in resolver.program.classes.iter().enumerate() {
            let id = ClassId::new(i);
            let has_channel = class
                .fields
                .iter()
                .any(|f| class_of(f.descriptor.as_str()).is_some_and(apis::is_rpc_channel));
            let supers = resolver.super_names(id);
            let is_stub = supers.iter().any(|s| apis::RPC_STUB_SUPERS.contains(&s.as_str()));
            if has_channel || is_stub {
                self.stubs.insert(id);
            }
        }
    }

    /// Client-side translators: a class that holds a remote interface in a
    /// field, serves none, and implements another interface by calling methods
    /// of the same name on the field.
    fn find_translated(&mut self, resolver: &Resolver<'_>) {
        let program = resolver.program;
        let mut found: Vec<(ClassId, ClassId)> = Vec::new();
        for (i, class) in program.classes.iter().enumerate() {
            let id = ClassId::new(i);
            if resolver.is_interface(id) || self.serves_base(resolver, id) {
                continue;
            }
            let holds = class.fields.iter().any(|f| {
                class_of(f.descriptor.as_str())
                    .and_then(|c| resolver.own_class(Name::from(c)))
                    .is_some_and(|c| self.is_base_type(resolver, c))
            });
            if !holds {
                continue;
            }
            let mut interfaces = resolver.supertypes(id);
            interfaces.retain(|&c| resolver.is_interface(c));
            for j in interfaces {
                if self.forwards(resolver, id, j) {
                    found.push((id, j));
                }
            }
        }
        for (stub, interface) in found {
            self.stubs.insert(stub);
            let name = program.classes[stub.index()].name;
            if resolver
                .subtypes(program.classes[interface.index()].name)
                .iter()
                .any(|&c| !resolver.is_interface(c) && !self.stubs.contains(&c))
            {
                self.add(interface, format!("{name} forwards it to a remote interface"));
            }
        }
    }

    fn is_base_type(&self, resolver: &Resolver<'_>, class: ClassId) -> bool {
        resolver.is_interface(class) && resolver.supertypes(class).iter().any(|c| self.base.contains(c))
    }

    fn serves_base(&self, resolver: &Resolver<'_>, class: ClassId) -> bool {
        resolver.supertypes(class).iter().any(|c| self.base.contains(c))
    }

    fn forwards(&self, resolver: &Resolver<'_>, class: ClassId, interface: ClassId) -> bool {
        let program = resolver.program;
        program.classes[interface.index()].methods.clone().any(|i| {
            let declared = &program.methods[i];
            let Some(m) = resolver.declared(class, declared.name, declared.descriptor) else {
                return false;
            };
            let Some(body) = &program.methods[m.index()].body else { return false };
            body.iter().any(|(_, inst)| match &inst.op {
                Op::Invoke { method, .. } => {
                    method.name == declared.name
                        && resolver.own_class(method.class).is_some_and(|c| self.is_base_type(resolver, c))
                }
                _ => false,
            })
        })
    }

    /// The remote interface that declares what a call names, if any.
    pub(crate) fn interface_of(&self, resolver: &Resolver<'_>, method: MethodRef) -> Option<ClassId> {
        let class = resolver.own_class(method.class)?;
        if !resolver.is_interface(class) {
            return None;
        }
        resolver.supertypes(class).into_iter().find(|c| {
            self.interfaces.contains_key(c) && resolver.declared(*c, method.name, method.descriptor).is_some()
        })
    }

    /// Whether calls of `caller` on `interface` stay in the process: a
    /// server-side translator serves a remote interface by calling a method of
    /// another one.
    pub(crate) fn is_local_call(&self, resolver: &Resolver<'_>, caller: ClassId, interface: ClassId) -> bool {
        !self.stubs.contains(&caller) && !self.base.contains(&interface) && self.serves_base(resolver, caller)
    }

    /// Methods with a body that serve `method` of `interface`.
    pub(crate) fn servers(
        &self,
        resolver: &Resolver<'_>,
        interface: ClassId,
        name: Name,
        descriptor: Name,
    ) -> Vec<MethodId> {
        let program = resolver.program;
        let mut targets: Vec<MethodId> = resolver
            .subtypes(program.classes[interface.index()].name)
            .into_iter()
            .filter(|c| !resolver.is_interface(*c) && !self.stubs.contains(c))
            .filter_map(|c| resolver.lookup(c, name, descriptor))
            .filter(|&m| resolver.has_body(m) && !self.stubs.contains(&program.methods[m.index()].class))
            .collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }
}
