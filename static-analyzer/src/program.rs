//! The program: every class of the class path, with the bodies of its methods
//! lifted to [`crate::ir`].
//!
//! All names are interned ([`Name`]): comparing is comparing pointers, ordering
//! is ordering text. Class names are in internal form (`a/b/C$D`) everywhere in
//! this crate; only [`crate::emit`] turns them into binary names with dots.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::ir::{Body, Const};

pub mod annotations;
mod bundles;
pub(crate) mod hierarchy;
pub(crate) mod jdk_apis;
pub(crate) mod libraries;
mod library_apis;
pub(crate) mod load;
pub(crate) mod settings;

pub use annotations::{Annotation, AnnotationValue};
pub use library_apis::LIBRARY_PREFIXES;
pub use load::{load, load_classes};

/// An interned name or text.
pub type Name = ustr::Ustr;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);
        impl $name {
            /// The id of element `index`.
            #[inline]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 elements"))
            }
            /// The position in its vector.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
pub(crate) use index;

index! {
    /// Position in [`Program::classes`].
    ClassId
}
index! {
    /// Position in [`Program::methods`].
    MethodId
}

/// Access flags of the class file format (JVMS §4.1, §4.5, §4.6) that the
/// analyses ask for.
pub mod access {
    /// `public`
    pub const PUBLIC: u16 = 0x0001;
    /// `protected`
    pub const PROTECTED: u16 = 0x0004;
    /// `static`
    pub const STATIC: u16 = 0x0008;
    /// `private`
    pub const PRIVATE: u16 = 0x0002;
    /// `final`
    pub const FINAL: u16 = 0x0010;
    /// `synchronized`
    pub const SYNCHRONIZED: u16 = 0x0020;
    /// compiler-made bridge method
    pub const BRIDGE: u16 = 0x0040;
    /// interface class
    pub const INTERFACE: u16 = 0x0200;
    /// `native`
    pub const NATIVE: u16 = 0x0100;
    /// `abstract`
    pub const ABSTRACT: u16 = 0x0400;
    /// made by the compiler
    pub const SYNTHETIC: u16 = 0x1000;
    /// enum class or constant
    pub const ENUM: u16 = 0x4000;
}

/// A method as an instruction names it: (class, name, descriptor).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodRef {
    /// Class in internal form; arrays as descriptors (`[I`).
    pub class: Name,
    /// Method name.
    pub name: Name,
    /// JVM descriptor.
    pub descriptor: Name,
}

/// A field as an instruction names it, resolved to the declaring class when
/// that class is in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldRef {
    /// Declaring class.
    pub class: Name,
    /// Field name.
    pub name: Name,
    /// JVM descriptor.
    pub descriptor: Name,
}

/// One class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Internal name.
    pub name: Name,
    /// None for `java/lang/Object` and modules.
    pub super_name: Option<Name>,
    /// Direct super-interfaces.
    pub interfaces: Vec<Name>,
    /// Access flags ([`access`]).
    pub access: u16,
    /// Generic signature, if any.
    pub signature: Option<Name>,
    /// `SourceFile` attribute.
    pub source_file: Option<Name>,
    /// For local and anonymous classes: (enclosing class, enclosing method and
    /// descriptor, if known).
    pub enclosing: Option<(Name, Option<(Name, Name)>)>,
    /// Its annotations that are there at run time.
    pub annotations: Vec<Annotation>,
    /// Declared fields.
    pub fields: Vec<Field>,
    /// Declared methods, as a range of [`Program::methods`].
    pub methods: Range<usize>,
    /// Position in [`Program::entries`].
    pub entry: usize,
}

/// One declared field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Field name.
    pub name: Name,
    /// JVM descriptor.
    pub descriptor: Name,
    /// Generic signature, if any.
    pub signature: Option<Name>,
    /// Access flags ([`access`]).
    pub access: u16,
    /// `ConstantValue` attribute.
    pub constant: Option<Const>,
    /// Its annotations that are there at run time.
    pub annotations: Vec<Annotation>,
}

/// One declared method.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its class.
    pub class: ClassId,
    /// Method name.
    pub name: Name,
    /// JVM descriptor.
    pub descriptor: Name,
    /// Generic signature, if any.
    pub signature: Option<Name>,
    /// Access flags ([`access`]).
    pub access: u16,
    /// Declared checked exceptions.
    pub exceptions: Vec<Name>,
    /// Its annotations that are there at run time.
    pub annotations: Vec<Annotation>,
    /// The same of each parameter, as far as the class file lists them: from the last one on.
    pub parameter_annotations: Vec<Vec<Annotation>>,
    /// Names of the parameters from the LocalVariableTable or MethodParameters
    /// (without `this`), where the class file has them.
    pub parameter_names: Vec<Option<Name>>,
    /// None: abstract, native, or could not be lifted (see diagnostics).
    pub body: Option<Body>,
}

impl Method {
    /// Whether it has no `this`.
    #[inline]
    pub fn is_static(&self) -> bool {
        self.access & access::STATIC != 0
    }
}

/// Every class of the class path.
#[derive(Debug, Default)]
pub struct Program {
    /// Sorted by name.
    pub classes: Vec<Class>,
    /// Grouped by class, in class-file order.
    pub methods: Vec<Method>,
    /// Jars and folders.
    pub entries: Vec<schema::model::ClassPathEntry>,
    /// Classes skipped, methods not lifted, with reasons; sorted.
    pub diagnostics: Vec<String>,
    /// Logging classes that the user names, each with the known one that it is like.
    pub(crate) loggers: FxHashMap<Name, Name>,
    /// What the configuration files in the jars set.
    pub(crate) settings: settings::Settings,
    pub(crate) class_index: FxHashMap<Name, ClassId>,
    /// Per class: itself and its super-types, see [`Self::supers`]; empty before all are known.
    pub(crate) above: Vec<Box<[Name]>>,
    /// Direct subclasses and implementers of each name (also of names outside
    /// of the program), sorted.
    pub(crate) subtypes: FxHashMap<Name, Vec<ClassId>>,
}

impl Program {
    /// The class of that internal name, if it is in the program.
    #[inline]
    pub fn class(&self, name: Name) -> Option<ClassId> {
        self.class_index.get(&name).copied()
    }

    /// The method declared by exactly this class with this name and descriptor.
    pub fn declared_method(&self, class: ClassId, name: Name, descriptor: Name) -> Option<MethodId> {
        let range = self.classes[class.index()].methods.clone();
        range.map(MethodId::new).find(|&m| {
            let method = &self.methods[m.index()];
            method.name == name && method.descriptor == descriptor
        })
    }

    /// `class.name` of a method with its descriptor, for messages and tests.
    pub fn method_name(&self, method: MethodId) -> String {
        let m = &self.methods[method.index()];
        format!("{}.{}{}", self.classes[m.class.index()].name, m.name, m.descriptor)
    }
}
