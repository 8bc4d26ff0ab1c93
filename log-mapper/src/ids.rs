//! Ids: what the program itself prints of which request a record is of: the id of a trace, a
//! correlation, a request. Found once per file, in the field of its layouts or of JSON that holds
//! one, else under a well-known name in its messages; read of each record where it stands there.
//!
//! A name says that a field holds ids ([`names`]), and where it has none, their form does: so many
//! hexadecimal digits, a UUID. Whether an id lives as long as a request is for those to say who see
//! its records: within a span the accumulating, over all nodes the reducer.

use std::collections::BTreeSet;

use memchr::memmem::Finder;

use crate::accumulate::Accumulated;
use crate::header::{Header, Layout};
use crate::limits::{ID_BYTES_MAX, RECORD_BYTES_MAX};
use crate::lines::RawRecords;
use crate::reading::Reading;
use crate::wrappers;

mod names;

use names::Role;

/// Which fields hold ids, as far as that was decided by hand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// They do, the first that a file has.
    pub with: Vec<String>,
    /// They do not.
    pub without: Vec<String>,
}

/// The name of a field that was named by hand, as it is told: `%X{key}` and `key=` are of `key`.
#[must_use]
pub fn name_of_field(field: &str) -> &str {
    let key = field.strip_prefix("%X{").and_then(|key| key.strip_suffix('}')).unwrap_or(field);
    key.strip_suffix('=').unwrap_or(key)
}

/// Where the records of a file print ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    /// What the field is called; none: they print none.
    pub(crate) field: Option<String>,
    /// The places of the ids of traces and of spans, by layout.
    places: Vec<[Option<Place>; 2]>,
}

/// Where an id stands in a record of one layout.
#[derive(Clone, Debug)]
enum Place {
    /// In a field of the header.
    Slot(usize, Piece),
    /// In the message, behind its name.
    Message(Name),
    /// Under a key of the object that the line is.
    Key(String),
}

/// Which part of a field.
#[derive(Clone, Debug)]
enum Piece {
    /// All of it, or what in it has the form of an id.
    Whole,
    /// Of what has the form of an id, the one of this number.
    Nth(usize),
    /// What stands behind a name.
    Named(Name),
}

/// A name before a value.
#[derive(Clone, Debug)]
struct Name(Box<Finder<'static>>);

impl Name {
    fn new(name: &str) -> Self {
        Self(Box::new(Finder::new(name.as_bytes()).into_owned()))
    }

    /// The value that stands behind it: `name=value`, `name: value`, `"name":"value"`.
    fn value<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let n = self.0.needle().len();
        let mut from = 0;
        while let Some(at) = self.0.find(text.get(from..)?).map(|at| from + at) {
            from = at + n;
            let is_part = at > 0 && is_of_name(text[at - 1]);
            let value = (!is_part).then(|| value_at(text, at + n)).flatten();
            if value.is_some() {
                return value;
            }
        }
        None
    }
}

/// What an id can be made of.
fn is_of_id(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/' | b'+' | b'|')
}

/// What a name can be made of, where it is printed before a value.
fn is_of_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')
}

/// The value behind a name that ends at `at`, if a sign parts them; of a header that holds the ids of
/// trace and span together, that of the trace. With a blank behind `=` there is no value.
fn value_at(text: &[u8], at: usize) -> Option<&[u8]> {
    let rest = text.get(at..)?;
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    let rest = match rest.strip_prefix(b":") {
        Some(rest) => rest.strip_prefix(b" ").unwrap_or(rest),
        None => rest.strip_prefix(b"=")?,
    };
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"[")).unwrap_or(rest);
    // X-Ray's.
    let rest = rest.strip_prefix(b"Root=").unwrap_or(rest);
    let n = rest.iter().take_while(|b| is_of_id(**b)).count();
    // What stands before a sign of a value is the next name.
    let is_name =
        matches!(rest.get(n..), Some([b'=', ..] | [b':', ..])) && formed(&rest[..n]).next().is_none();
    let id = known(&rest[..n]).filter(|_| !is_name)?;
    Some(formed(id).next().unwrap_or(id))
}

/// The id that a field holds; none: what is printed where there is none.
fn known(text: &[u8]) -> Option<&[u8]> {
    const NONE: [&[u8]; 6] = [b"null", b"none", b"n/a", b"na", b"undefined", b"unknown"];
    let text = text.trim_ascii();
    let is_none = text.iter().all(|b| matches!(b, b'0' | b'-' | b'?' | b'.' | b'_'))
        || NONE.iter().any(|none| text.eq_ignore_ascii_case(none))
        || text.len() > ID_BYTES_MAX
        || text.iter().any(u8::is_ascii_whitespace);
    (!is_none).then_some(text)
}

/// What of `text` has the form of an id, in order.
fn formed(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'-';
    text.split(move |b| !is_word(b)).flat_map(|word| {
        let is_whole = is_uuid(word) || is_of_xray(word);
        let pieces = word.split(move |b| !is_whole && *b == b'-');
        pieces.filter(move |piece| is_whole || is_hex(piece))
    })
}

/// 64 or 128 bits in hexadecimal digits, by no chance a number.
fn is_hex(text: &[u8]) -> bool {
    matches!(text.len(), 16 | 32)
        && text.iter().all(u8::is_ascii_hexdigit)
        && text.iter().any(u8::is_ascii_alphabetic)
        && text.iter().any(u8::is_ascii_digit)
}

/// A number that only 64 bits hold, as tracers print that have no other ones.
fn is_of_64_bits(text: &[u8]) -> bool {
    (17..=20).contains(&text.len()) && text.iter().all(u8::is_ascii_digit)
}

fn is_uuid(text: &[u8]) -> bool {
    is_of_hex_words(text, &[8, 4, 4, 4, 12])
}

/// `1-` seconds `-` 96 bits.
fn is_of_xray(text: &[u8]) -> bool {
    text.strip_prefix(b"1-").is_some_and(|rest| is_of_hex_words(rest, &[8, 24]))
}

fn is_of_hex_words(text: &[u8], lengths: &[usize]) -> bool {
    let words = text.split(|b| *b == b'-');
    text.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-')
        && words.map(<[u8]>::len).eq(lengths.iter().copied())
}

impl Piece {
    fn of<'t>(&self, field: &'t [u8]) -> Option<&'t [u8]> {
        match self {
            Self::Whole => formed(field).next().or_else(|| known(field)),
            Self::Nth(n) => formed(field).nth(*n),
            Self::Named(name) => name.value(field),
        }
    }
}

/// What a record is read of.
#[derive(Clone, Copy)]
pub(crate) struct Printed<'a, 'r> {
    pub(crate) layout: usize,
    pub(crate) header: &'r Header<'a>,
    pub(crate) message: &'a [u8],
    /// Its line as it stands in the file, with what is around it, where something is.
    pub(crate) line: &'r [u8],
}

/// The ids that a record prints: that of its trace and that of its span.
pub(crate) type Found<'a> = [Option<std::borrow::Cow<'a, [u8]>>; 2];

/// Says of the ids of spans in which field they were printed, by the file.
pub(crate) fn name_fields(part: &mut Accumulated, fields: &[schema::Name]) {
    for span in part.accumulators.iter_mut().flat_map(|one| &mut one.spans) {
        let file = span.events.first().map_or(0, |event| event.file as usize);
        if let Some(trace) = &mut span.trace {
            trace.field = fields.get(file).copied().unwrap_or_default();
        }
    }
}

/// Says of ids that change within what one request runs that they are none of requests.
pub(crate) fn tell_changes(accounts: &mut [schema::InputAccount]) {
    for account in accounts.iter_mut().filter(|account| account.n_ids > 0) {
        let field = account.id_field.as_deref().unwrap_or_default();
        account
            .damage
            .push(format!("`{field}` changes in the middle of requests: it is not used as their id"));
    }
}

impl Ids {
    /// What the field is called; empty: there is none.
    pub(crate) fn name(&self) -> schema::Name {
        self.field.as_deref().map(schema::Name::from).unwrap_or_default()
    }

    /// Those of a record. Nothing is allocated, but for keys that were named by hand.
    pub(crate) fn of<'a>(&self, wrappers: &[wrappers::Wrapper], printed: Printed<'a, '_>) -> Found<'a> {
        let Some(places) = self.places.get(printed.layout) else { return [None, None] };
        let Printed { header, message, line, .. } = printed;
        places.each_ref().map(|place| match place.as_ref()? {
            Place::Slot(slot, piece) => piece.of(header.mdc[*slot]?).map(Into::into),
            Place::Message(name) => name.value(message).map(Into::into),
            Place::Key(key) => {
                let value = wrappers::context(wrappers, line, key)?;
                known(&value).map(|id| formed(id).next().unwrap_or(id).to_vec().into())
            }
        })
    }
}

/// Where a field can be that holds ids.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Candidate {
    /// A field of the header that is called so, all of it.
    Field(String),
    /// What in a field of the header has the form of an id.
    Formed(String),
    /// In a field of the header, behind a name.
    Named(String, String),
    /// In messages, behind a name.
    Message(String),
}

impl Candidate {
    /// What it is called.
    fn field(&self) -> &str {
        match self {
            Self::Field(field) | Self::Formed(field) | Self::Named(_, field) | Self::Message(field) => field,
        }
    }

    /// Where it is in a layout.
    fn place(&self, layout: &Layout) -> Option<Place> {
        let slot = |field: &String| layout.mdc_keys().iter().position(|key| key == field);
        Some(match self {
            Self::Field(field) => Place::Slot(slot(field)?, Piece::Whole),
            Self::Formed(field) => Place::Slot(slot(field)?, Piece::Nth(0)),
            Self::Named(field, name) => Place::Slot(slot(field)?, Piece::Named(Name::new(name))),
            Self::Message(name) => Place::Message(Name::new(name)),
        })
    }

    /// Where the id of the span is that stands beside the one of the trace.
    fn place_of_span(&self, layout: &Layout, seen: &BTreeSet<Candidate>) -> Option<Place> {
        let is_of_span = |name: &str| names::role(name) == Some(Role::Span);
        let mut keys = layout.mdc_keys().iter();
        let named = |field: &str| {
            let mut names = seen.iter().filter_map(|other| match other {
                Self::Named(of, name) if of == field && is_of_span(name) => Some(name),
                _ => None,
            });
            names.next().cloned()
        };
        match self {
            Self::Field(_) => Self::Field(keys.find(|key| is_of_span(key.as_str()))?.clone()).place(layout),
            Self::Formed(field) => {
                let slot = layout.mdc_keys().iter().position(|key| key == field)?;
                Some(Place::Slot(slot, Piece::Nth(1)))
            }
            Self::Named(field, _) => Self::Named(field.clone(), named(field)?).place(layout),
            Self::Message(_) => None,
        }
    }
}

/// How a candidate looks in the start of a file.
#[derive(Debug, Default)]
struct Seen {
    n_records: usize,
    /// Different values, up to two.
    values: Vec<Vec<u8>>,
}

/// Where the records of a file print ids, as its start shows, which is `text` without what is
/// around its lines.
pub(crate) fn find(reading: &Reading, text: &[u8], fields: &Fields) -> Ids {
    let own = &reading.layouts[..reading.n_own];
    if own.is_empty() {
        return Ids::default();
    }
    if let Some(ids) = fields.with.iter().find_map(|field| by_hand(reading, field)) {
        return ids;
    }
    let seen = look(reading, text);
    let is_open = |candidate: &Candidate| {
        !fields.without.iter().any(|field| names::are_alike(name_of_field(field), candidate.field()))
    };
    let best = seen.iter().filter(|(candidate, _)| is_open(candidate) && rank(candidate).is_some());
    let best = best.max_by_key(|(candidate, seen)| {
        let is_constant = seen.values.len() < 2;
        (std::cmp::Reverse((is_constant, rank(candidate))), seen.n_records)
    });
    let known: BTreeSet<Candidate> = seen.iter().map(|(candidate, _)| candidate.clone()).collect();
    let chosen = best.map(|(candidate, _)| candidate.clone()).or_else(|| later(own, &is_open));
    let Some(chosen) = chosen else { return Ids::default() };
    let of = |layout: &std::sync::Arc<Layout>| [chosen.place(layout), chosen.place_of_span(layout, &known)];
    Ids { field: Some(chosen.field().to_owned()), places: own.iter().map(of).collect() }
}

/// How likely a candidate is the id of a request, the lowest is the likeliest; none: it is not.
/// A field of the layout is of each record, a word of a message of what that tells.
fn rank(candidate: &Candidate) -> Option<u8> {
    let of_role = |name: &str| match names::role(name)? {
        Role::Trace => Some(0),
        Role::Request => Some(1),
        Role::Span => None,
    };
    match candidate {
        Candidate::Field(name) | Candidate::Named(_, name) => of_role(name),
        Candidate::Formed(_) => Some(2),
        Candidate::Message(name) => of_role(name).map(|rank| 3 + rank),
    }
}

/// The field of a layout that will hold ids as its name says, where the start of a file shows none.
fn later(own: &[std::sync::Arc<Layout>], is_open: &dyn Fn(&Candidate) -> bool) -> Option<Candidate> {
    let keys = own.iter().flat_map(|layout| layout.mdc_keys());
    let fields = keys.map(|key| match names::role(key) {
        Some(_) => Candidate::Field(key.clone()),
        None => Candidate::Formed(key.clone()),
    });
    fields.filter(|field| is_open(field) && rank(field).is_some()).min_by_key(rank)
}

/// What the records at the start of a file show.
fn look(reading: &Reading, text: &[u8]) -> Vec<(Candidate, Seen)> {
    let mut all: std::collections::BTreeMap<Candidate, Seen> = std::collections::BTreeMap::new();
    let mut show = |candidate: Candidate, value: &[u8]| {
        let seen = all.entry(candidate).or_default();
        seen.n_records += 1;
        if seen.values.len() < 2 && !seen.values.iter().any(|known| known == value) {
            seen.values.push(value.to_vec());
        }
    };
    for record in RawRecords::new(text, reading) {
        let Some(begin) = record.begin.filter(|begin| begin.layout < reading.n_own) else { continue };
        for (key, value) in reading.layouts[begin.layout].mdc_keys().iter().zip(begin.header.mdc) {
            let Some(value) = value else { continue };
            if names::role(key).is_some() {
                Piece::Whole.of(value).into_iter().for_each(|id| show(Candidate::Field(key.clone()), id));
                continue;
            }
            let named = names::named(value).filter_map(|(name, at)| Some((name, value_at(value, at)?)));
            let mut is_named = false;
            for (name, id) in named {
                is_named = true;
                show(Candidate::Named(key.clone(), name.to_owned()), id);
            }
            if let Some(id) = formed(value).next().filter(|_| !is_named) {
                show(Candidate::Formed(key.clone()), id);
            }
        }
        let message = &record.bytes[begin.header.message_start.min(record.bytes.len())..];
        let message = &message[..message.len().min(RECORD_BYTES_MAX)];
        for (name, id) in names::named(message).filter_map(|(name, at)| Some((name, value_at(message, at)?)))
        {
            // A word of a message can name anything.
            if formed(id).next().is_some() || is_of_64_bits(id) {
                show(Candidate::Message(name.to_owned()), id);
            }
        }
    }
    all.into_iter().collect()
}

/// The field that was named by hand, as far as the file can have it.
fn by_hand(reading: &Reading, field: &str) -> Option<Ids> {
    let own = &reading.layouts[..reading.n_own];
    let key = name_of_field(field);
    let is_key = own.iter().any(|layout| layout.mdc_keys().iter().any(|known| known == key));
    let has_names = wrappers::has_names(&reading.wrappers);
    let candidate = match is_key && !field.ends_with('=') {
        true => Candidate::Field(key.to_owned()),
        false => Candidate::Message(key.to_owned()),
    };
    let none = BTreeSet::new();
    let of = |layout: &std::sync::Arc<Layout>| match has_names && !is_key {
        true => [Some(Place::Key(key.to_owned())), None],
        false => [candidate.place(layout), candidate.place_of_span(layout, &none)],
    };
    Some(Ids { field: Some(key.to_owned()), places: own.iter().map(of).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    fn behind<'t>(name: &str, text: &'t str) -> Option<&'t str> {
        Name::new(name).value(text.as_bytes()).map(|id| std::str::from_utf8(id).expect("text"))
    }

    #[test]
    fn ids_stand_behind_names_as_libraries_print_them() {
        let as_printed = [
            (
                "X-B3-TraceId",
                format!("GET /pets X-B3-TraceId: {TRACE}, X-B3-SpanId: 00f067aa0ba902b7"),
                TRACE,
            ),
            ("traceparent", format!("headers {{traceparent=00-{TRACE}-00f067aa0ba902b7-01}}"), TRACE),
            ("traceparent", format!("\"traceparent\":\"00-{TRACE}-00f067aa0ba902b7-01\""), TRACE),
            ("traceId", format!("\"traceId\":\"{TRACE}\",\"spanId\":\"00f067aa0ba902b7\""), TRACE),
            (
                "dd.trace_id",
                "[dd.trace_id=5577006791947779410 dd.span_id=8674665223082153551]".to_owned(),
                "5577006791947779410",
            ),
            ("correlationId", "correlationId: ord-7f-12 taken".to_owned(), "ord-7f-12"),
            ("uber-trace-id", format!("uber-trace-id: {TRACE}:00f067aa0ba902b7:0:1"), TRACE),
            (
                "X-Amzn-Trace-Id",
                "X-Amzn-Trace-Id: Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1".to_owned(),
                "1-5759e988-bd862e3fe1be46a994272793",
            ),
            ("X-Cloud-Trace-Context", format!("X-Cloud-Trace-Context: {TRACE}/7;o=1"), TRACE),
        ];
        for (name, text, id) in &as_printed {
            assert_eq!(behind(name, text), Some(*id), "{text}");
        }
    }

    #[test]
    fn where_no_value_stands_behind_a_name_there_is_no_id() {
        for text in [
            "[dd.trace_id= dd.span_id=]",
            "[dd.trace_id=0 dd.span_id=0]",
            "dd.trace_id=",
            "dd.trace_id: dd.span_id: 7",
        ] {
            assert_eq!(behind("dd.trace_id", text), None, "{text}");
        }
        assert_eq!(behind("id", "traceid=12 id=7"), Some("7"), "a part of a longer name is none");
    }
}
