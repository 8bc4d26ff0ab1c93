//! Texts: a value that is put into a text by one and cut out of it again by another is the
//! same value on both ends.
//!
//! What a text is made of is read off the calls of the text's own class, as what is cut out of
//! one is ([`super::cuts`]). Under-approximates: constants between the values must stand in the code (or
//! in a field that is written once); what a value may contain itself is not looked at.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Context;
use super::cuts::{Cut, text};
use crate::ir::{Body, BootstrapArg, Const, InvokeKind, Op, ValueId};
use crate::program::{FieldRef, MethodId, MethodRef};

/// Parts of a text, or steps of a chain of calls that makes one.
pub(super) const PIECES_MAX: usize = 64;

/// The class of texts.
pub(super) const TEXT: &str = "java/lang/String";
const BUILDERS: &[&str] = &["java/lang/StringBuilder", "java/lang/StringBuffer"];

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Known text.
    Const(String),
    /// The text of this value.
    Value(ValueId),
    /// Text that was put into a field by somebody.
    Kept,
}

/// What the text that `value` is was made of; itself, if it was not made here.
pub(crate) fn pieces(body: &Body, value: ValueId) -> Vec<Piece> {
    let mut pieces = Vec::new();
    add(body, value, &mut pieces);
    pieces
}

fn add(body: &Body, value: ValueId, pieces: &mut Vec<Piece>) {
    let value = body.uncast(value);
    let before = pieces.len();
    let is_made = before < PIECES_MAX
        && match body.op(value) {
            Op::Const(Const::Text(text)) => {
                pieces.push(Piece::Const(text.as_str().to_owned()));
                true
            }
            Op::InvokeDynamic { name, bootstrap, args, .. } if name == "makeConcatWithConstants" => {
                concat(body, &bootstrap.args, args, pieces)
            }
            Op::Invoke { method, args, .. } => made_by(body, method, args, pieces),
            _ => false,
        };
    if !is_made {
        pieces.truncate(before);
        pieces.push(Piece::Value(value));
    }
}

fn made_by(body: &Body, method: &MethodRef, args: &[ValueId], pieces: &mut Vec<Piece>) -> bool {
    match (method.class.as_str(), method.name.as_str(), args) {
        (class, "toString", [builder]) if BUILDERS.contains(&class) => appended(body, *builder, pieces),
        (TEXT, "concat", [first, second]) => {
            add(body, *first, pieces);
            add(body, *second, pieces);
            true
        }
        (TEXT, "format", [format, rest]) => formatted(body, *format, *rest, pieces),
        (TEXT, "valueOf" | "toString", [of]) | ("java/net/URLEncoder", "encode", [of, ..]) => {
            add(body, *of, pieces);
            true
        }
        _ => false,
    }
}

fn concat(body: &Body, bootstrap_args: &[BootstrapArg], args: &[ValueId], pieces: &mut Vec<Piece>) -> bool {
    let Some(BootstrapArg::Const(Const::Text(recipe))) = bootstrap_args.first() else { return false };
    let mut args = args.iter();
    let mut known = String::new();
    for c in recipe.as_str().chars() {
        match c {
            '\u{1}' => {
                let Some(&arg) = args.next() else { return false };
                pieces.extend((!known.is_empty()).then(|| Piece::Const(std::mem::take(&mut known))));
                add(body, arg, pieces);
            }
            '\u{2}' => return false,
            c => known.push(c),
        }
    }
    pieces.extend((!known.is_empty()).then_some(Piece::Const(known)));
    true
}

/// What was appended to a builder that was made in one chain of calls.
fn appended(body: &Body, builder: ValueId, pieces: &mut Vec<Piece>) -> bool {
    let mut parts = Vec::new();
    let mut at = body.uncast(builder);
    while let Op::Invoke { method, args, .. } = body.op(at) {
        let ("append", [before, part]) = (method.name.as_str(), &args[..]) else { return false };
        parts.push(*part);
        if parts.len() > PIECES_MAX {
            return false;
        }
        at = body.uncast(*before);
    }
    if !matches!(body.op(at), Op::New(_)) {
        return false;
    }
    let first = body.iter().find_map(|(_, inst)| match &inst.op {
        Op::Invoke { kind: InvokeKind::Special, method, args }
            if args.first() == Some(&at) && method.descriptor == "(Ljava/lang/String;)V" =>
        {
            args.get(1).copied()
        }
        _ => None,
    });
    first.into_iter().chain(parts.into_iter().rev()).for_each(|part| add(body, part, pieces));
    true
}

/// What a format of plain placeholders is filled with.
fn formatted(body: &Body, format: ValueId, filled: ValueId, pieces: &mut Vec<Piece>) -> bool {
    let (Some(format), Op::NewArray(..)) = (text(body, format), body.op(body.uncast(filled))) else {
        return false;
    };
    let mut values: Vec<(i32, ValueId)> = body
        .iter()
        .filter_map(|(_, inst)| match inst.op {
            Op::ArrayStore(array, at, value) if body.uncast(array) == body.uncast(filled) => {
                match body.op(at) {
                    Op::Const(Const::Int(at)) => Some((*at, value)),
                    _ => None,
                }
            }
            _ => None,
        })
        .collect();
    values.sort_unstable();
    let mut values = values.into_iter();
    let mut parts = format.split('%');
    pieces.extend(parts.next().filter(|front| !front.is_empty()).map(|front| Piece::Const(front.to_owned())));
    for part in parts {
        let Some(rest) = part.strip_prefix(['d', 's']) else { return false };
        let Some((_, value)) = values.next() else { return false };
        pieces.push(Piece::Value(unboxed(body, value)));
        pieces.extend((!rest.is_empty()).then(|| Piece::Const(rest.to_owned())));
    }
    true
}

/// The value in a box.
fn unboxed(body: &Body, value: ValueId) -> ValueId {
    match body.op(body.uncast(value)) {
        Op::Invoke { method, args, .. } if method.name == "valueOf" && args.len() == 1 => args[0],
        _ => value,
    }
}

/// The value that the cuts of a text of such pieces leave, and how many of them it takes to
/// be left alone: the first cut comes first, and the others are cut out of the value.
pub(super) fn left(mut pieces: Vec<Piece>, cuts: &[Cut]) -> Option<(ValueId, usize)> {
    let (mut is_some, mut named) = (false, None);
    for (n_before, cut) in cuts.iter().enumerate() {
        if let [Piece::Value(value)] = *pieces {
            return Some((value, n_before));
        }
        is_some |= *cut == Cut::Some;
        if let Cut::Named(between, is) = cut {
            named = Some((between, is));
        }
        pieces = match (cut, named) {
            (Cut::ValueOf(name), Some((between, is))) => value_of(&pieces, name, between, is)?,
            _ => apply(pieces, cut)?,
        };
    }
    let mut values = pieces.iter().filter_map(|piece| match piece {
        Piece::Value(value) => Some(Some(*value)),
        Piece::Kept => Some(None),
        Piece::Const(_) => None,
    });
    let (Some(Some(value)), None) = (values.next(), values.next()) else { return None };
    (is_some || pieces.len() == 1).then_some((value, cuts.len()))
}

fn apply(pieces: Vec<Piece>, cut: &Cut) -> Option<Vec<Piece>> {
    let tokens = |by: &str| split(&pieces, by);
    match cut {
        Cut::Token(by, at) => tokens(by).into_iter().nth(*at),
        Cut::Before(by) => tokens(by).into_iter().next(),
        Cut::AfterLast(by) => tokens(by).pop(),
        Cut::After(by) => {
            let tokens = tokens(by);
            (tokens.len() > 1).then(|| joined(&tokens[1..], by))
        }
        Cut::BeforeLast(by) => {
            let tokens = tokens(by);
            (tokens.len() > 1).then(|| joined(&tokens[..tokens.len() - 1], by))
        }
        Cut::Skip(n) => skipped(pieces, *n),
        Cut::Some | Cut::Named(..) => Some(pieces),
        Cut::Parameter(name) => value_of(&pieces, name, "&", "="),
        Cut::ValueOf(_) => None,
    }
}

/// The pieces of the value of a name, which stands behind the folder of an address, or alone.
fn value_of(pieces: &[Piece], name: &str, between: &str, is: &str) -> Option<Vec<Piece>> {
    let (front, in_address) = (format!("{name}{is}"), format!("?{name}{is}"));
    let after = |known: &str| {
        let at = known.find(&in_address).map(|at| at + in_address.len());
        at.or_else(|| known.starts_with(&front).then_some(front.len()))
    };
    split(pieces, between).into_iter().find_map(|part| {
        let is_it = |piece: &Piece| match piece {
            Piece::Const(known) => after(known),
            Piece::Value(_) | Piece::Kept => None,
        };
        let (at, n_skipped) = part.iter().enumerate().find_map(|(at, piece)| Some((at, is_it(piece)?)))?;
        let Piece::Const(known) = &part[at] else { return None };
        let rest = (n_skipped < known.len()).then(|| Piece::Const(known[n_skipped..].to_owned()));
        Some(rest.into_iter().chain(part[at + 1..].iter().cloned()).collect())
    })
}

/// The pieces between separators.
fn split(pieces: &[Piece], by: &str) -> Vec<Vec<Piece>> {
    let mut tokens = vec![Vec::new()];
    for piece in pieces {
        let Piece::Const(known) = piece else {
            tokens.last_mut().expect("begins with one").push(piece.clone());
            continue;
        };
        for (at, part) in known.split(by).enumerate() {
            if at > 0 {
                tokens.push(Vec::new());
            }
            let last = tokens.last_mut().expect("begins with one");
            last.extend((!part.is_empty()).then(|| Piece::Const(part.to_owned())));
        }
    }
    tokens
}

fn joined(tokens: &[Vec<Piece>], by: &str) -> Vec<Piece> {
    tokens.join(&Piece::Const(by.to_owned()))
}

/// Without the first characters, as far as they are known.
fn skipped(pieces: Vec<Piece>, n: usize) -> Option<Vec<Piece>> {
    let mut n = n;
    let mut rest = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Const(known) if n > 0 => {
                let n_known = known.chars().count();
                let left: String = known.chars().skip(n).collect();
                n = n.saturating_sub(n_known);
                rest.extend((!left.is_empty()).then_some(Piece::Const(left)));
            }
            Piece::Value(_) | Piece::Kept if n > 0 => return None,
            piece => rest.push(piece),
        }
    }
    Some(rest)
}

/// Texts that fields hold, each written once in the program.
#[derive(Debug, Default)]
pub(super) struct Fields {
    puts: FxHashMap<FieldRef, Option<(MethodId, ValueId)>>,
}

impl Fields {
    /// Of the whole program.
    pub(super) fn new(context: Context<'_>) -> Self {
        let of = |index: usize| {
            let insts = context.program.methods[index].body.iter().flat_map(Body::iter);
            let puts = insts.filter_map(move |(_, inst)| match inst.op {
                Op::PutField(field, _, value) if field.descriptor == "Ljava/lang/String;" => {
                    Some((field, (MethodId::new(index), value)))
                }
                _ => None,
            });
            puts.collect::<Vec<_>>()
        };
        let found: Vec<_> = (0..context.program.methods.len()).into_par_iter().flat_map_iter(of).collect();
        let mut fields = Fields::default();
        for (field, put) in found {
            fields.puts.entry(field).and_modify(|put| *put = None).or_insert(Some(put));
        }
        fields
    }

    /// The pieces of a text in the frame of `method`, with what is known of those that
    /// fields hold.
    pub(super) fn known(&self, context: Context<'_>, method: MethodId, pieces: Vec<Piece>) -> Vec<Piece> {
        let Some(body) = &context.program.methods[method.index()].body else { return pieces };
        let kept = |piece: &Piece| {
            let Piece::Value(value) = piece else { return None };
            let Op::GetField(field, _) = body.op(*value) else { return None };
            let (method, put) = (*self.puts.get(field)?)?;
            let body = context.program.methods[method.index()].body.as_ref()?;
            let known = self::pieces(body, put).into_iter().map(|piece| match piece {
                Piece::Value(_) => Piece::Kept,
                piece => piece,
            });
            let known: Vec<Piece> = known.collect();
            (known != [Piece::Kept]).then_some(known)
        };
        pieces.into_iter().flat_map(|piece| kept(&piece).unwrap_or_else(|| vec![piece])).collect()
    }
}

/// Calls that make something that stands for the address in a text: (class, method); the
/// text is the last argument that is one.
const ADDRESSES: &[(&str, &str)] = &[
    ("java/net/URI", "create"),
    ("java/net/URI", "<init>"),
    ("java/net/URL", "<init>"),
    ("org/apache/http/client/methods/HttpGet", "<init>"),
    ("org/apache/http/client/methods/HttpPost", "<init>"),
    ("org/apache/http/client/methods/HttpPut", "<init>"),
    ("org/apache/http/client/methods/HttpDelete", "<init>"),
    ("okhttp3/Request$Builder", "url"),
];

/// The argument that is the text of an address.
pub(super) fn address(method: &MethodRef, args: &[ValueId]) -> Option<ValueId> {
    let is_it = |row: &&(&str, &str)| (method.class.as_str(), method.name.as_str()) == **row;
    ADDRESSES.iter().find(is_it)?;
    let is_text = method.descriptor.contains(&*format!("(L{TEXT};)"));
    args.last().copied().filter(|_| is_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(n: usize) -> Piece {
        Piece::Value(ValueId::new(n))
    }

    fn known(text: &str) -> Piece {
        Piece::Const(text.to_owned())
    }

    #[test]
    fn what_was_put_into_a_text_is_cut_out_of_it() {
        // "SET /items/" + 1 + " " + 2
        let line = || vec![known("SET /items/"), value(1), known(" "), value(2)];
        let token = |at| Cut::Token(" ".to_owned(), at);
        let left = |cuts: &[Cut]| left(line(), cuts).map(|(value, n)| (value.index(), n));
        assert_eq!(left(&[token(2)]), Some((2, 1)));
        assert_eq!(left(&[token(1), Cut::AfterLast("/".to_owned())]), Some((1, 2)));
        assert_eq!(left(&[token(1), Cut::Skip(7)]), Some((1, 2)));
        assert_eq!(left(&[token(1), Cut::Some]), Some((1, 2)));
        assert_eq!(left(&[token(2), Cut::Skip(7)]), Some((2, 1)), "the rest is cut out of it");
        assert_eq!(left(&[token(1)]), None, "the folder is a part of it");
        assert_eq!(left(&[Cut::Some]), None, "which of two");
        assert_eq!(left(&[token(3)]), None);
        assert_eq!(left(&[Cut::Skip(12)]), None, "nobody knows how long it is");
    }

    #[test]
    fn what_stands_before_and_after_a_separator() {
        let pair = || vec![value(1), known(":"), value(2), known(":"), value(3)];
        let by = || ":".to_owned();
        let left = |cuts: &[Cut]| left(pair(), cuts).map(|(value, _)| value.index());
        assert_eq!(left(&[Cut::Before(by())]), Some(1));
        assert_eq!(left(&[Cut::AfterLast(by())]), Some(3));
        assert_eq!(left(&[Cut::After(by()), Cut::Before(by())]), Some(2));
        assert_eq!(left(&[Cut::BeforeLast(by()), Cut::AfterLast(by())]), Some(2));
        assert_eq!(left(&[Cut::After(by())]), None);
    }

    #[test]
    fn what_stands_under_a_name_is_cut_out_by_it() {
        // "http://host:" + 1 + "/open?id=" + 2 + "&of=" + 3 + "&n=5"
        let address = || {
            let rest = [known("/open?id="), value(2), known("&of="), value(3), known("&n=5")];
            [vec![known("http://host:"), value(1)], rest.to_vec()].concat()
        };
        let named = Cut::Named("&".to_owned(), "=".to_owned());
        let of = |name: &str| [Cut::Some, named.clone(), Cut::ValueOf(name.to_owned())];
        let left = |name: &str| left(address(), &of(name)).map(|(value, _)| value.index());
        assert_eq!((left("id"), left("of")), (Some(2), Some(3)));
        assert_eq!(left("d"), None, "the end of another name");
        assert_eq!(left("n"), None, "nobody's value");
        let no_names = super::left(address(), &[Cut::ValueOf("id".to_owned())]);
        assert_eq!(no_names, None, "nothing says what stands between");
    }
}
