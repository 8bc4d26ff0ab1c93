//! Functions of regular expressions, and `substring`, which takes places or one of them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, Int64Array, ListBuilder, StringBuilder};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, exec_err};
use regex::Captures;

use super::function::{Call, Function, all_texts, is_integer, is_text, no_such};
use super::regex::{Flags, Matcher, similar, translated};

/// The functions.
pub(super) const FUNCTIONS: [Function; 10] = [
    Function { name: "regex_of", takes: |of| all_texts("regex_of", of), gives: text, run: regex_of },
    Function {
        name: "similar_to_regex",
        takes: |of| all_texts("similar_to_regex", of),
        gives: text,
        run: similar_to_regex,
    },
    Function { name: "substring", takes: |of| substring_types("substring", of), gives: text, run: substring },
    Function { name: "substr", takes: |of| substring_types("substr", of), gives: text, run: substring },
    Function { name: "regexp_replace", takes: replace_types, gives: text, run: replace },
    Function {
        name: "regexp_match",
        takes: |of| pattern_types("regexp_match", 3, of),
        gives: |_| texts(),
        run: first_match,
    },
    Function {
        name: "regexp_split_to_array",
        takes: |of| pattern_types("regexp_split_to_array", 3, of),
        gives: |_| texts(),
        run: split,
    },
    Function {
        name: "regexp_like",
        takes: |of| pattern_types("regexp_like", 3, of),
        gives: |_| DataType::Boolean,
        run: like,
    },
    Function { name: "regexp_count", takes: count_types, gives: |_| DataType::Int64, run: count },
    Function {
        name: "regexp_substr",
        takes: |of| pattern_types("regexp_substr", 2, of),
        gives: text,
        run: substr,
    },
];

fn text(_: &[DataType]) -> DataType {
    DataType::Utf8
}

/// The type of a list of texts.
fn texts() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)))
}

/// Two texts, or three where flags can be given.
fn pattern_types(name: &str, most: usize, types: &[DataType]) -> Result<Vec<DataType>> {
    match types.len() >= 2 && types.len() <= most {
        true => all_texts(name, types),
        false => no_such(name, types),
    }
}

fn replace_types(types: &[DataType]) -> Result<Vec<DataType>> {
    match types.len() {
        3 | 4 => all_texts("regexp_replace", types),
        _ => no_such("regexp_replace", types),
    }
}

fn count_types(types: &[DataType]) -> Result<Vec<DataType>> {
    match types {
        [of, pattern, start] if is_text(of) && is_text(pattern) && is_integer(start) => {
            Ok(vec![DataType::Utf8, DataType::Utf8, DataType::Int64])
        }
        [_, _] => all_texts("regexp_count", types),
        _ => no_such("regexp_count", types),
    }
}

fn substring_types(name: &str, types: &[DataType]) -> Result<Vec<DataType>> {
    match types {
        [of, pattern] if is_text(of) && is_text(pattern) && name == "substring" => {
            Ok(vec![DataType::Utf8, DataType::Utf8])
        }
        [of, rest @ ..] if is_text(of) && matches!(rest.len(), 1 | 2) && rest.iter().all(is_integer) => {
            Ok([DataType::Utf8].into_iter().chain(rest.iter().map(|_| DataType::Int64)).collect())
        }
        _ => no_such(name, types),
    }
}

/// The expressions of a call, each compiled once.
#[derive(Default)]
struct Known(RefCell<HashMap<(String, String), Rc<Matcher>>>);

impl Known {
    fn of(&self, pattern: &str, letters: &str) -> Result<(Rc<Matcher>, Flags)> {
        let flags = Flags::of(letters)?;
        let key = (pattern.to_owned(), letters.to_owned());
        if let Some(known) = self.0.borrow().get(&key) {
            return Ok((Rc::clone(known), flags));
        }
        let made = Rc::new(Matcher::new(pattern, flags)?);
        self.0.borrow_mut().insert(key, Rc::clone(&made));
        Ok((made, flags))
    }
}

/// The flags of a row; none: they are NULL.
fn letters(call: &Call, argument: usize, row: usize) -> Option<&str> {
    if call.n() > argument { call.text(argument, row) } else { Some("") }
}

fn regex_of(call: &Call) -> Result<ArrayRef> {
    call.give_texts(|row| call.text(0, row).map(|pattern| translated(pattern, Flags::default())).transpose())
}

fn similar_to_regex(call: &Call) -> Result<ArrayRef> {
    call.give_texts(|row| {
        let (Some(pattern), Some(escape)) = (call.text(0, row), call.text(1, row)) else { return Ok(None) };
        let mut characters = escape.chars();
        match (characters.next(), characters.next()) {
            (escape, None) => similar(pattern, escape).map(Some),
            _ => exec_err!("invalid escape string: an escape is one character"),
        }
    })
}

fn substring(call: &Call) -> Result<ArrayRef> {
    if is_text(call.arguments[1].data_type()) {
        return of_pattern(call);
    }
    call.give_texts(|row| {
        let (Some(text), Some(start)) = (call.text(0, row), call.integer(1, row)) else { return Ok(None) };
        let end = match call.n() {
            2 => i64::MAX,
            _ => match call.integer(2, row) {
                None => return Ok(None),
                Some(..0) => return exec_err!("negative substring length not allowed"),
                Some(length) => start.saturating_add(length),
            },
        };
        let skipped = usize::try_from(start.max(1) - 1).unwrap_or(usize::MAX);
        let taken = usize::try_from(end.max(1) - start.max(1)).unwrap_or(0);
        Ok(Some(text.chars().skip(skipped).take(taken).collect()))
    })
}

/// What an expression matches: its first group, if it has one.
fn of_pattern(call: &Call) -> Result<ArrayRef> {
    let known = Known::default();
    call.give_texts(|row| {
        let (Some(text), Some(pattern)) = (call.text(0, row), call.text(1, row)) else { return Ok(None) };
        let (matcher, _) = known.of(pattern, "")?;
        let found = matcher.at(text, 0)?;
        let group = usize::from(matcher.n_groups() > 0);
        Ok(found.and_then(|found| found.get(group).map(|of| of.as_str().to_owned())))
    })
}

fn substr(call: &Call) -> Result<ArrayRef> {
    let known = Known::default();
    call.give_texts(|row| {
        let (Some(text), Some(pattern)) = (call.text(0, row), call.text(1, row)) else { return Ok(None) };
        let (matcher, _) = known.of(pattern, "")?;
        Ok(matcher.at(text, 0)?.map(|found| found[0].to_owned()))
    })
}

fn replace(call: &Call) -> Result<ArrayRef> {
    let known = Known::default();
    call.give_texts(|row| {
        let (Some(text), Some(pattern), Some(by), Some(letters)) =
            (call.text(0, row), call.text(1, row), call.text(2, row), letters(call, 3, row))
        else {
            return Ok(None);
        };
        let (matcher, flags) = known.of(pattern, letters)?;
        let found = match flags.is_global {
            true => matcher.all(text, 0)?,
            false => matcher.at(text, 0)?.into_iter().collect(),
        };
        let (mut out, mut end) = (String::new(), 0);
        for one in found {
            let range = one.get(0).expect("a match has an extent").range();
            out.push_str(&text[end..range.start]);
            put(by, &one, &mut out);
            end = range.end;
        }
        out.push_str(&text[end..]);
        Ok(Some(out))
    })
}

/// `by`, in which `\1` is a group and `\&` all that is matched.
fn put(by: &str, found: &Captures<'_>, out: &mut String) {
    let mut characters = by.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match characters.next() {
            Some('&') => out.push_str(&found[0]),
            Some(digit @ '1'..='9') => {
                let group = digit as usize - '0' as usize;
                out.push_str(found.get(group).map_or("", |of| of.as_str()));
            }
            Some('\\') | None => out.push('\\'),
            Some(other) => out.extend(['\\', other]),
        }
    }
}

/// A list of texts of each row.
fn give_lists<'c>(
    call: &'c Call,
    name: &str,
    of: impl Fn(&Matcher, &'c str) -> Result<Option<Vec<Option<&'c str>>>>,
) -> Result<ArrayRef> {
    let known = Known::default();
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in 0..call.n_rows {
        let asked = call.text(0, row).zip(call.text(1, row)).zip(letters(call, 2, row));
        let list = match asked {
            Some(((text, pattern), letters)) => {
                let (matcher, flags) = known.of(pattern, letters)?;
                if flags.is_global {
                    return exec_err!("{name}() does not support the \"global\" option");
                }
                of(&matcher, text)?
            }
            None => None,
        };
        let is_some = list.is_some();
        list.into_iter().flatten().for_each(|text| lists.values().append_option(text));
        lists.append(is_some);
    }
    Ok(Arc::new(lists.finish()))
}

fn first_match(call: &Call) -> Result<ArrayRef> {
    give_lists(call, "regexp_match", |matcher, text| Ok(matcher.at(text, 0)?.map(|found| groups(&found))))
}

fn split(call: &Call) -> Result<ArrayRef> {
    give_lists(call, "regexp_split_to_array", |matcher, text| {
        let (mut parts, mut end) = (Vec::new(), 0);
        for found in matcher.all(text, 0)? {
            let range = found.get(0).expect("a match has an extent").range();
            // What is empty splits between two characters, not at the ends of a text or of a part.
            if range.is_empty() && (range.start == end || range.start == text.len()) {
                continue;
            }
            parts.push(Some(&text[end..range.start]));
            end = range.end;
        }
        parts.push(Some(&text[end..]));
        Ok(Some(parts))
    })
}

fn like(call: &Call) -> Result<ArrayRef> {
    let known: RefCell<HashMap<(String, String), regex::Regex>> = RefCell::default();
    let is_like = |row: usize| -> Result<Option<bool>> {
        let (Some(text), Some(pattern), Some(letters)) =
            (call.text(0, row), call.text(1, row), letters(call, 2, row))
        else {
            return Ok(None);
        };
        let key = (pattern.to_owned(), letters.to_owned());
        if !known.borrow().contains_key(&key) {
            let flags = Flags::of(letters)?;
            if flags.is_global {
                return exec_err!("regexp_like() does not support the \"global\" option");
            }
            match regex::Regex::new(&translated(pattern, flags)?) {
                Ok(regex) => drop(known.borrow_mut().insert(key.clone(), regex)),
                Err(error) => return exec_err!("invalid regular expression: {error}"),
            }
        }
        Ok(Some(known.borrow()[&key].is_match(text)))
    };
    Ok(Arc::new((0..call.n_rows).map(is_like).collect::<Result<BooleanArray>>()?))
}

fn count(call: &Call) -> Result<ArrayRef> {
    let known = Known::default();
    let n = |row: usize| -> Result<Option<i64>> {
        let start = if call.n() == 3 { call.integer(2, row) } else { Some(1) };
        let (Some(text), Some(pattern), Some(start)) = (call.text(0, row), call.text(1, row), start) else {
            return Ok(None);
        };
        if start < 1 {
            return exec_err!("invalid value for parameter \"start\": {start}");
        }
        let skipped = usize::try_from(start - 1).unwrap_or(usize::MAX);
        let Some(from) = text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(skipped) else {
            return Ok(Some(0));
        };
        let (matcher, _) = known.of(pattern, "")?;
        Ok(i64::try_from(matcher.all(text, from)?.len()).ok())
    };
    Ok(Arc::new((0..call.n_rows).map(n).collect::<Result<Int64Array>>()?))
}

/// Its groups, or all that is matched where there are none.
fn groups<'t>(found: &Captures<'t>) -> Vec<Option<&'t str>> {
    match found.len() {
        1 => vec![found.get(0).map(|of| of.as_str())],
        n => (1..n).map(|group| found.get(group).map(|of| of.as_str())).collect(),
    }
}
