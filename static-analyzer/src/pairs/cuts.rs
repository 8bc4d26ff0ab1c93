//! Cuts: what is cut out of a text, read off the calls that do it: a part by its place, a token,
//! the value of a name.

use super::texts::{PIECES_MAX, TEXT};
use crate::call_graph::apis::{is_parameter, splits};
use crate::ir::{Arithmetic, Body, Const, InvokeKind, Op, ValueId};
use crate::program::MethodRef;

/// What is cut out of a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Cut {
    /// What stands between separators, the one of this number.
    Token(String, usize),
    /// What comes before the first separator.
    Before(String),
    /// What comes after the first one.
    After(String),
    /// What comes before the last one.
    BeforeLast(String),
    /// What comes after the last one.
    AfterLast(String),
    /// All but so many characters.
    Skip(usize),
    /// Names and values, by what stands between two of them and what between name and value.
    Named(String, String),
    /// The value of this name.
    ValueOf(String),
    /// The same in an address, where it is known what stands between.
    Parameter(String),
    /// Something.
    Some,
}

/// What is cut out of a text by the instruction that defines `value`: the text, and how.
pub(super) fn cut(body: &Body, value: ValueId) -> Option<(ValueId, Cut)> {
    match body.op(value) {
        Op::Cast(_, inner) => cut(body, *inner),
        Op::ArrayLoad(array, index) => token(body, *array, *index),
        Op::New(_) => named_values(body, value),
        Op::Invoke { method, args, .. } => match (method.class.as_str(), method.name.as_str()) {
            _ if is_parameter(method) => Some((*args.first()?, Cut::Parameter(text(body, *args.get(1)?)?))),
            (TEXT, "substring" | "subSequence") => Some((*args.first()?, part(body, args))),
            (TEXT, "replace" | "replaceAll" | "replaceFirst" | "toLowerCase" | "toUpperCase" | "strip") => {
                Some((*args.first()?, Cut::Some))
            }
            _ if is_of_address(method) => Some((*args.first()?, Cut::Some)),
            ("java/net/URLDecoder" | "java/net/URLEncoder", _) => Some((*args.first()?, Cut::Some)),
            ("java/util/regex/Matcher", "group") => match body.op(body.uncast(*args.first()?)) {
                Op::Invoke { method, args, .. } if method.name == "matcher" => {
                    Some((*args.get(1)?, Cut::Some))
                }
                _ => None,
            },
            (_, "get" | "apply") if args.len() == 2 => {
                token(body, args[0], args[1]).or_else(|| Some((args[0], Cut::ValueOf(text(body, args[1])?))))
            }
            (_, "getOrDefault") => Some((*args.first()?, Cut::ValueOf(text(body, *args.get(1)?)?))),
            _ => None,
        },
        _ => None,
    }
}

/// The text whose names and values are put into the map that is made at `map`, and by what they
/// stand apart: each is cut out of one of the parts that the text is split into.
pub(super) fn named_values(body: &Body, map: ValueId) -> Option<(ValueId, Cut)> {
    body.iter().find_map(|(_, inst)| {
        let Op::Invoke { method, args, .. } = &inst.op else { return None };
        let ("put", &[into, name, value]) = (method.name.as_str(), &args[..]) else { return None };
        let (part, is) = (body.uncast(into) == map).then(|| cut_first(body, name))??;
        let (of, value_is) = cut_first(body, value)?;
        let (text, between) = parted(body, part)?;
        let is_pair = of == part && is_front(&is) && is_rest(&value_is);
        let by = separator_of(&is).filter(|by| is_pair && separator_of(&value_is) == Some(*by))?;
        Some((text, Cut::Named(between, by.to_owned())))
    })
}

/// The first cut that leads to `value`, and what it is made in.
fn cut_first(body: &Body, mut value: ValueId) -> Option<(ValueId, Cut)> {
    let mut found = None;
    for _ in 0..PIECES_MAX {
        if parted(body, value).is_some() {
            break;
        }
        let Some((text, cut)) = cut(body, value) else { break };
        value = body.uncast(text);
        if cut != Cut::Some {
            found = Some((value, cut));
        }
    }
    found
}

/// The text of which `value` is any of the parts, and what stands between them.
fn parted(body: &Body, value: ValueId) -> Option<(ValueId, String)> {
    let (parts, index) = match body.op(body.uncast(value)) {
        Op::ArrayLoad(parts, index) => (*parts, *index),
        _ => return None,
    };
    let Op::Invoke { method, args, .. } = body.op(body.uncast(parts)) else { return None };
    if matches!(body.op(index), Op::Const(_)) || !splits(method) {
        return None;
    }
    let by = args.iter().skip(1).find_map(|&arg| separator(body, arg))?;
    Some((*args.first()?, by))
}

fn separator_of(cut: &Cut) -> Option<&str> {
    match cut {
        Cut::Token(by, _) | Cut::Before(by) | Cut::After(by) | Cut::BeforeLast(by) | Cut::AfterLast(by) => {
            Some(by)
        }
        Cut::Skip(_) | Cut::Named(..) | Cut::ValueOf(_) | Cut::Parameter(_) | Cut::Some => None,
    }
}

/// Whether what comes before the first separator is left.
fn is_front(cut: &Cut) -> bool {
    matches!(cut, Cut::Before(_) | Cut::Token(_, 0))
}

/// Whether what comes behind it is left.
fn is_rest(cut: &Cut) -> bool {
    matches!(cut, Cut::After(_) | Cut::AfterLast(_) | Cut::Token(_, 1))
}

/// Whether a call gives a part of an address, or all of it.
pub(super) fn is_of_address(method: &MethodRef) -> bool {
    let names = ["getPath", "getRawPath", "getQuery", "getRawQuery", "toString"];
    matches!(method.class.as_str(), "java/net/URI" | "java/net/URL") && names.contains(&method.name.as_str())
}

/// An element of what a text was split into.
fn token(body: &Body, parts: ValueId, index: ValueId) -> Option<(ValueId, Cut)> {
    let Op::Invoke { kind, method, args } = body.op(body.uncast(parts)) else { return None };
    if !splits(method) {
        return None;
    }
    let text = *args.first()?;
    let by = if *kind == InvokeKind::Static {
        args.iter().skip(1).find_map(|&arg| separator(body, arg))
    } else {
        separator(body, *args.get(1)?)
    };
    let cut = match (by, body.op(index)) {
        (Some(by), Op::Const(Const::Int(at))) => Cut::Token(by, usize::try_from(*at).unwrap_or(usize::MAX)),
        _ => Cut::Some,
    };
    Some((text, cut))
}

/// A separator that is one plain text, be it quoted as a pattern, or in an array of one.
fn separator(body: &Body, value: ValueId) -> Option<String> {
    let pattern = match body.op(body.uncast(value)) {
        Op::NewArray(..) => {
            let first = body.iter().find_map(|(_, inst)| match inst.op {
                Op::ArrayStore(array, _, first) if body.uncast(array) == body.uncast(value) => Some(first),
                _ => None,
            });
            text(body, first?)?
        }
        _ => text(body, value)?,
    };
    if matches!(pattern.as_str(), "\\s" | "\\s+" | " +") {
        return Some(" ".to_owned());
    }
    if let Some(plain) = pattern.strip_prefix('\\').filter(|rest| rest.chars().count() == 1) {
        return Some(plain.to_owned());
    }
    (!pattern.contains(['\\', '[', '(', '*', '+', '?', '{'])).then_some(pattern)
}

/// A constant text or character.
pub(super) fn text(body: &Body, value: ValueId) -> Option<String> {
    match body.op(body.uncast(value)) {
        Op::Const(Const::Text(text)) => Some(text.as_str().to_owned()),
        Op::Const(Const::Int(code)) => char::from_u32(u32::try_from(*code).ok()?).map(String::from),
        _ => None,
    }
}

/// What `substring` leaves, by where it begins and ends.
fn part(body: &Body, args: &[ValueId]) -> Cut {
    let position = |value: ValueId| {
        let Op::Invoke { method, args, .. } = body.op(value) else { return None };
        let by = text(body, *args.get(1)?)?;
        match method.name.as_str() {
            "indexOf" => Some((by, false)),
            "lastIndexOf" => Some((by, true)),
            _ => None,
        }
    };
    let begin = args.get(1).map(|&begin| body.op(begin));
    match (begin, args.get(2)) {
        (Some(Op::Const(Const::Int(0))), Some(&end)) => match position(end) {
            Some((by, false)) => Cut::Before(by),
            Some((by, true)) => Cut::BeforeLast(by),
            None => Cut::Some,
        },
        (Some(Op::Const(Const::Int(n))), None) => usize::try_from(*n).map_or(Cut::Some, Cut::Skip),
        (Some(Op::Invoke { method, args, .. }), None) if method.name == "length" => {
            args.first().and_then(|&of| text(body, of)).map_or(Cut::Some, |of| Cut::Skip(of.len()))
        }
        (Some(Op::Binary(Arithmetic::Add, at, _)), None) => match position(*at) {
            Some((by, false)) => Cut::After(by),
            Some((by, true)) => Cut::AfterLast(by),
            None => Cut::Some,
        },
        _ => Cut::Some,
    }
}
