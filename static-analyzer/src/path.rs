//! Access paths: what a value *is*, seen from one method's frame (lprof §4.2
//! speaks of variables; a path is a variable that survives being handed around).
//!
//! A path is a root and up to [`crate::limits::PATH_FIELDS_MAX`] steps. Getters,
//! accessors and bridge methods are looked through, so that `b.getBlockId()` and
//! `b.blockId` are one path.

use crate::ir::{Op, ValueId};
use crate::program::{FieldRef, MethodId, MethodRef, Name, Program};

/// Where a path starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// Parameter of the frame's method; 0 is `this` of instance methods.
    Param(u16),
    /// A static field.
    Static(FieldRef),
    /// A value made inside the frame's method: allocated there, taken from a
    /// queue or iterator, result of an opaque call, caught exception.
    Local(ValueId),
}

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Field of an object.
    Field(FieldRef),
    /// Element of an array or collection.
    Element,
    /// Result of a call without further effect that could not be looked
    /// through (abstract or library getter), with no arguments.
    Call(MethodRef),
}

impl Step {
    /// The name of what the step leads to from what is called `name`.
    pub fn after(&self, name: String) -> String {
        match self {
            Step::Field(field) => format!("{name}.{}", field.name),
            Step::Element => format!("{name}[*]"),
            Step::Call(method) => format!("{name}.{}()", method.name),
        }
    }
}

/// Root and steps, in the frame of one method.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccessPath {
    /// Where it starts.
    pub root: Root,
    /// Steps from there.
    pub steps: Vec<Step>,
}

impl AccessPath {
    /// The path as it would be written in the frame of `method`, e.g.
    /// `this.block.poolId`.
    pub fn name(&self, program: &Program, method: MethodId) -> String {
        let root = match self.root {
            Root::Param(i) => parameter(program, method, i),
            Root::Static(field) => format!("{}.{}", simple(&field.class), field.name),
            Root::Local(value) => local(program, method, value),
        };
        self.steps.iter().fold(root, |name, step| step.after(name))
    }
}

/// The class name without its package.
fn simple(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn parameter(program: &Program, method: MethodId, i: u16) -> String {
    let method = &program.methods[method.index()];
    let i = usize::from(i);
    let own = usize::from(!method.is_static());
    if i < own {
        return "this".to_owned();
    }
    let name = method.parameter_names.get(i - own).copied().flatten();
    name.map_or_else(|| format!("arg{}", i - own), |n| n.to_string())
}

fn local(program: &Program, method: MethodId, value: ValueId) -> String {
    let body = program.methods[method.index()].body.as_ref();
    let Some(inst) = body.and_then(|b| b.insts.get(value.index())) else {
        return "local".to_owned();
    };
    match &inst.op {
        Op::Invoke { method, .. } => format!("{}.{}()", simple(&method.class), method.name),
        Op::InvokeDynamic { name, .. } => format!("{name}()"),
        Op::New(class) => format!("new {}()", simple(class)),
        Op::Caught(_) => "exception".to_owned(),
        Op::GetField(field, _) => format!("{}.{}", simple(&field.class), field.name),
        Op::Param(i) => parameter(program, method, *i),
        _ => format!("local@{}", inst.line),
    }
}

/// A printed value of a log point.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The value, from the frame of [`LogPoint::frame`]; none: computed (sum,
    /// duration, text of several parts that no path names).
    pub path: Option<AccessPath>,
    /// Text for people when there is no path, e.g. `now() - start`.
    pub text: String,
    /// Which values it may be compared with: the declaring field, e.g.
    /// `Block.blockId` (simple class name after the last `/`, then the field),
    /// or for a parameter/local of text or number type the weak class
    /// `name:descriptor`; none for computed values.
    pub value_class: Option<Name>,
    /// Declared type (descriptor) of the printed value before conversion to text.
    pub descriptor: Name,
    /// How it is printed.
    pub shape: schema::ValueShape,
    /// Of an object that is printed as several values: the variables that name
    /// it together; empty for a value that is printed as one.
    pub parts: Vec<u32>,
    /// The parts are not all that tells the objects apart: the value is the
    /// printed text from the first to the last of them.
    pub in_text: bool,
}

/// One way the message can look, see [`schema::Template`].
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// Regex without anchors, `s` mode, one group per capture.
    pub regex: String,
    /// For each group: position in [`LogPoint::variables`].
    pub captures: Vec<u32>,
}

/// A log point as the string analysis hands it to the request analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct LogPoint {
    /// Method whose frame the variables' paths are rooted in, and where the log
    /// point stands in control flow: the method of the statement itself, or of
    /// the caller for a wrapper that prints its parameter.
    pub frame: MethodId,
    /// Instructions of `frame` that print it (compiler copies merged): logger
    /// calls, or calls of the wrapper.
    pub sites: Vec<ValueId>,
    /// Method that holds the printing statement (equals `frame` except for
    /// wrappers).
    pub method: MethodId,
    /// Source line of the printing statement.
    pub source_line: u32,
    /// Source line of the call in `frame`, for wrappers.
    pub call_line: Option<u32>,
    /// Possible levels, sorted; empty: chosen at run time.
    pub levels: Vec<schema::Level>,
    /// Possible logger names (with dots), sorted; empty: unknown.
    pub loggers: Vec<String>,
    /// All sites stand in exception handlers.
    pub in_handler: bool,
    /// Guarded by `isXEnabled()` of this level or lower.
    pub guard: Option<schema::Level>,
    /// A `Throwable` is given.
    pub has_throwable: bool,
    /// Of a wrapper all of whose callers that are seen have log points of their own: it is
    /// for callers that are not.
    pub is_for_unseen: bool,
    /// Printed values.
    pub variables: Vec<Variable>,
    /// Ways the message can look.
    pub templates: Vec<Template>,
}
