//! Times and numbers that a protocol has written in another form, as PostgreSQL writes them.

use jiff::civil::DateTime;

use super::shown;
use super::zone::{Zone, micros};

/// `2026-11-20 10:00:00.123000+00` as it is in `zone`; none: not this form.
pub(crate) fn instant(text: &str, zone: &Zone) -> Option<String> {
    shown::instant(at(text.strip_suffix("+00")?)?, zone).ok()
}

/// A time without zone.
pub(crate) fn time(text: &str) -> Option<String> {
    shown::time(at(text)?).ok()
}

fn at(text: &str) -> Option<i64> {
    micros(text.parse::<DateTime>().ok()?).ok()
}

/// A number in double precision.
pub(crate) fn double(text: &str) -> Option<String> {
    Some(shown::double(text.parse().ok()?))
}

/// Without zeros at the end of a fraction.
pub(crate) fn clock(text: &str) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    }
}

/// With the signs that are needed: what follows something negative says that it is not.
pub(crate) fn interval(text: &str) -> String {
    let mut is_after_negative = false;
    let words = clock(text);
    let signed = words.split(' ').map(|word| {
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        let signed = if is_number && is_after_negative { format!("+{word}") } else { word.to_owned() };
        is_after_negative = if word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            word.starts_with('-')
        } else {
            is_after_negative
        };
        signed
    });
    signed.collect::<Vec<_>>().join(" ")
}
