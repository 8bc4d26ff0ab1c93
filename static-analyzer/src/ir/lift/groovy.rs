//! Calls that Groovy decides at run time: `invokedynamic` with the name of the method as an argument
//! of the bootstrap, and the types that the compiler knows. Those of loggers and of texts are written
//! out as the calls that they come to; others stay as they are.
//!
//! Not read: call sites in arrays, as Groovy writes them for machines older than Java 7.

use crate::ir::{BootstrapArg, Const, InvokeKind, Op, ValueId};
use crate::log_points::apis;
use crate::program::{MethodRef, Name};
use crate::strings::types;

/// Where the calls are decided, of Java 8 and of Java 7.
const BOOTSTRAPS: [&str; 2] =
    ["org/codehaus/groovy/vmplugin/v8/IndyInterface", "org/codehaus/groovy/vmplugin/v7/IndyInterface"];
/// A text with values, which methods that take a text are given as one.
const TEXT_WITH_VALUES: &str = "Lgroovy/lang/GString;";
const CLASS: &str = "Ljava/lang/Class;";
const STRING: &str = "Ljava/lang/String;";

/// What a call comes to; none: it is not of Groovy, or only known at run time. `args`: the receiver
/// and what it is given; `class_of`: the class that a value names.
pub(super) fn written_out(
    bootstrap: &MethodRef,
    bootstrap_args: &[BootstrapArg],
    (name, descriptor): (Name, Name),
    args: &[ValueId],
    class_of: impl Fn(ValueId) -> Option<Name>,
) -> Option<Op> {
    if !BOOTSTRAPS.contains(&bootstrap.class.as_str()) {
        return None;
    }
    let parameters = types::parameters(&descriptor);
    let (&receiver, given) = parameters.split_first()?;
    if name == "cast" {
        let to = types::class_of(types::result(&descriptor)).filter(|_| !types::is_primitive(receiver));
        return to.map(|class| Op::Cast(Name::from(class), args[0]));
    }
    let Some(BootstrapArg::Const(Const::Text(called))) = bootstrap_args.first() else { return None };
    let class = Name::from(types::class_of(receiver)?);
    if name != "invoke" {
        return None;
    }
    if receiver == CLASS && apis::is_factory(called) {
        let descriptor = Name::from(&format!("({}){}", given.concat(), types::result(&descriptor)));
        let method = MethodRef { class: class_of(args[0])?, name: *called, descriptor };
        return Some(Op::Invoke { kind: InvokeKind::Static, method, args: args[1..].into() });
    }
    if *called == "plus" && receiver == STRING && given.len() == 1 && !types::is_primitive(given[0]) {
        let method = MethodRef {
            class,
            name: Name::from("concat"),
            descriptor: Name::from("(Ljava/lang/String;)Ljava/lang/String;"),
        };
        return Some(Op::Invoke { kind: InvokeKind::Virtual, method, args: args.into() });
    }
    if !apis::is_listed(class) || !apis::is_log_method(called) {
        return None;
    }
    let given: String = given.iter().map(|p| if *p == TEXT_WITH_VALUES { STRING } else { p }).collect();
    let method = MethodRef { class, name: *called, descriptor: Name::from(&format!("({given})V")) };
    Some(Op::Invoke { kind: InvokeKind::Interface, method, args: args.into() })
}
