//! `to_char` of times: the template patterns of PostgreSQL (its manual, table 9.27), in English.
//!
//! ```text
//! 'FMDay, DD Mon YYYY'  ─▶  keyword, text, keyword, ..  ─▶  'Saturday, 20 Apr 2002'
//! ```
//! A keyword is the longest that begins at a place; what is none stands for itself. Patterns that
//! depend on a locale (`TM`), or that PostgreSQL has for input only (`FX`), are refused.

use datafusion::common::{Result, exec_err, not_impl_err};
use jiff::civil::DateTime;

/// A time to be written.
pub(super) struct Moment {
    /// What calendar and clock show.
    pub(super) civil: DateTime,
    /// The offset from UTC in seconds.
    pub(super) offset: i32,
    /// The name of the zone at that time; none: a time without zone.
    pub(super) zone: Option<String>,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const ROMAN: [&str; 12] = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

/// All keywords that stand for a part of a time, in capitals, longest first.
const KEYWORDS: [&str; 49] = [
    "MONTH", "SSSSS", "Y,YYY", "A.D.", "A.M.", "B.C.", "HH12", "HH24", "IDDD", "IYYY", "P.M.", "SSSS",
    "YYYY", "DAY", "DDD", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6", "IYY", "MON", "TZH", "TZM", "YYY", "AD",
    "AM", "BC", "CC", "DD", "DY", "HH", "ID", "IW", "IY", "MI", "MM", "MS", "OF", "PM", "RM", "SS", "TZ",
    "US", "WW", "YY", "D", "I",
];
/// The rest of them, of one letter.
const LETTERS: [&str; 4] = ["J", "Q", "W", "Y"];
/// Keywords whose case is the case of what they write.
const CASED: [&str; 14] =
    ["MONTH", "MON", "DAY", "DY", "RM", "TZ", "AM", "PM", "AD", "BC", "A.M.", "P.M.", "A.D.", "B.C."];

/// `moment` as `pattern` says.
pub(super) fn time(moment: &Moment, pattern: &str) -> Result<String> {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            rest = quoted(&rest[1..], &mut out);
            continue;
        }
        if let Some(after) = rest.strip_prefix("\\\"") {
            out.push('"');
            rest = after;
            continue;
        }
        let prefix = rest.get(..2).unwrap_or_default().to_ascii_uppercase();
        if matches!(&*prefix, "TM" | "FX") {
            return not_impl_err!("to_char with `{prefix}` is not supported");
        }
        let is_filled = prefix != "FM";
        let body = if is_filled { rest } else { &rest[2..] };
        let Some((keyword, said)) = keyword(body) else {
            if is_filled {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            } else {
                rest = body;
            }
            continue;
        };
        let text = part(moment, keyword, said, is_filled)?;
        rest = &body[said.len()..];
        out.push_str(&text);
        if let Some(end) = rest.get(..2).filter(|end| matches!(*end, "TH" | "th"))
            && text.ends_with(|c: char| c.is_ascii_digit())
        {
            let ordinal = ordinal(&text);
            out.push_str(&if end == "TH" { ordinal.to_ascii_uppercase() } else { ordinal.to_owned() });
            rest = &rest[2..];
        }
    }
    Ok(out)
}

/// Writes what stands before the closing quote; the rest is what follows it.
fn quoted<'t>(text: &'t str, out: &mut String) -> &'t str {
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return &text[at + 1..],
            '\\' => out.extend(characters.next().map(|(_, c)| c)),
            c => out.push(c),
        }
    }
    ""
}

/// The longest keyword at the start of `text`, in capitals and as it is written.
fn keyword(text: &str) -> Option<(&'static str, &str)> {
    KEYWORDS.iter().chain(&LETTERS).find_map(|keyword| {
        let said = text.get(..keyword.len())?;
        let capital = |text: &str| text[..1].to_owned() + &text[1..].to_ascii_lowercase();
        let is_it = said == *keyword
            || said == keyword.to_ascii_lowercase()
            || matches!(*keyword, "MONTH" | "MON" | "DAY" | "DY") && said == capital(keyword);
        is_it.then_some((*keyword, said))
    })
}

/// What a keyword writes, in its case.
fn part(moment: &Moment, keyword: &str, said: &str, is_filled: bool) -> Result<String> {
    if moment.civil.year() <= 0 {
        return exec_err!("to_char: years before Christ are not supported");
    }
    let text = name(moment, keyword, is_filled)
        .or_else(|| zone(moment, keyword))
        .or_else(|| fixed(moment, keyword))
        .unwrap_or_else(|| number(moment, keyword, is_filled));
    let is_cased = CASED.contains(&keyword);
    Ok(match said {
        _ if !is_cased => text,
        said if said == said.to_ascii_uppercase() => text.to_uppercase(),
        said if said == said.to_ascii_lowercase() => text.to_lowercase(),
        _ => text,
    })
}

/// Names of months, days, halves of days and eras; none: the keyword is of something else.
fn name(moment: &Moment, keyword: &str, is_filled: bool) -> Option<String> {
    let date = moment.civil.date();
    let month = usize::try_from(date.month() - 1).unwrap_or(0);
    let day = usize::try_from(date.weekday().to_sunday_zero_offset()).unwrap_or(0);
    let is_afternoon = moment.civil.hour() >= 12;
    let filled = |name: &str, width: usize| match is_filled {
        true => format!("{name:width$}"),
        false => name.to_owned(),
    };
    Some(match keyword {
        "MONTH" => filled(MONTHS[month], 9),
        "MON" => MONTHS[month][..3].to_owned(),
        "DAY" => filled(DAYS[day], 9),
        "DY" => DAYS[day][..3].to_owned(),
        "RM" => filled(ROMAN[month], 4),
        "AM" | "PM" => if is_afternoon { "PM" } else { "AM" }.to_owned(),
        "A.M." | "P.M." => if is_afternoon { "P.M." } else { "A.M." }.to_owned(),
        "AD" | "BC" => "AD".to_owned(),
        "A.D." | "B.C." => "A.D.".to_owned(),
        _ => return None,
    })
}

/// The zone and its offset.
fn zone(moment: &Moment, keyword: &str) -> Option<String> {
    Some(match keyword {
        "TZ" => moment.zone.clone().unwrap_or_default(),
        "TZH" => format!("{}{:02}", sign(moment.offset), moment.offset.abs() / 3600),
        "TZM" => format!("{:02}", moment.offset.abs() / 60 % 60),
        "OF" => offset(moment.offset),
        _ => return None,
    })
}

/// Numbers that always have the same digits.
fn fixed(moment: &Moment, keyword: &str) -> Option<String> {
    let civil = &moment.civil;
    let micros = format!("{:06}", civil.subsec_nanosecond() / 1000);
    let day = civil.date().weekday();
    let year = i64::from(civil.year());
    Some(match keyword {
        "US" => micros,
        "FF1" | "FF2" | "FF3" | "FF4" | "FF5" | "FF6" => {
            micros[..usize::from(keyword.as_bytes()[2] - b'0')].to_owned()
        }
        "SSSS" | "SSSSS" => {
            let minutes = i64::from(civil.hour()) * 60 + i64::from(civil.minute());
            (minutes * 60 + i64::from(civil.second())).to_string()
        }
        "Y,YYY" => format!("{},{:03}", year / 1000, year % 1000),
        "D" => (day.to_sunday_zero_offset() + 1).to_string(),
        "ID" => day.to_monday_one_offset().to_string(),
        "W" => ((civil.day() - 1) / 7 + 1).to_string(),
        "Q" => ((civil.month() - 1) / 3 + 1).to_string(),
        "J" => julian(civil.date()).to_string(),
        _ => return None,
    })
}

/// Numbers with zeros before them, unless these are left out.
fn number(moment: &Moment, keyword: &str, is_filled: bool) -> String {
    let civil = &moment.civil;
    let (date, iso) = (civil.date(), civil.date().iso_week_date());
    let (year, iso_year) = (i64::from(date.year()), i64::from(iso.year()));
    let day_of_year = i64::from(date.day_of_year());
    let (value, width) = match keyword {
        "HH" | "HH12" => (i64::from((civil.hour() + 11) % 12 + 1), 2),
        "HH24" => (i64::from(civil.hour()), 2),
        "MI" => (i64::from(civil.minute()), 2),
        "SS" => (i64::from(civil.second()), 2),
        "MS" => (i64::from(civil.subsec_nanosecond() / 1_000_000), 3),
        "YYYY" => (year, 4),
        "YYY" => (year % 1000, 3),
        "YY" => (year % 100, 2),
        "Y" => (year % 10, 1),
        "IYYY" => (iso_year, 4),
        "IYY" => (iso_year % 1000, 3),
        "IY" => (iso_year % 100, 2),
        "I" => (iso_year % 10, 1),
        "CC" => ((year - 1) / 100 + 1, 2),
        "MM" => (i64::from(date.month()), 2),
        "DD" => (i64::from(date.day()), 2),
        "DDD" => (day_of_year, 3),
        "IDDD" => (i64::from(iso.week() - 1) * 7 + i64::from(date.weekday().to_monday_one_offset()), 3),
        "WW" => ((day_of_year - 1) / 7 + 1, 2),
        "IW" => (i64::from(iso.week()), 2),
        other => unreachable!("`{other}` is no keyword"),
    };
    match is_filled {
        true => format!("{value:0width$}"),
        false => value.to_string(),
    }
}

/// The number of a day, counted from 24 November 4714 B.C.
pub(super) fn julian(date: jiff::civil::Date) -> i64 {
    let epoch = jiff::civil::date(1970, 1, 1);
    2_440_588 + i64::from((date - epoch).get_days())
}

fn sign(offset: i32) -> char {
    if offset < 0 { '-' } else { '+' }
}

/// An offset as PostgreSQL writes it behind a time: with minutes and seconds only where there are some.
pub(super) fn offset(seconds: i32) -> String {
    let (hours, minutes, rest) = (seconds.abs() / 3600, seconds.abs() / 60 % 60, seconds.abs() % 60);
    let mut text = format!("{}{hours:02}", sign(seconds));
    if minutes != 0 || rest != 0 {
        text.push_str(&format!(":{minutes:02}"));
    }
    if rest != 0 {
        text.push_str(&format!(":{rest:02}"));
    }
    text
}

/// What makes an ordinal of a number.
fn ordinal(number: &str) -> &'static str {
    let teen = number.len() > 1 && number.as_bytes()[number.len() - 2] == b'1';
    match number.as_bytes().last() {
        Some(b'1') if !teen => "st",
        Some(b'2') if !teen => "nd",
        Some(b'3') if !teen => "rd",
        _ => "th",
    }
}
