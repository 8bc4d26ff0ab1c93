//! Time stamps: a Java date pattern compiled to a scanner of fixed shape, which
//! reads the digits; what they mean is for the clock to say ([`super::clock`]).

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::civil::Civil;

/// A compiled date pattern.
#[derive(Clone, Debug)]
pub struct TimeLayout {
    pattern: String,
    items: Vec<Item>,
    /// Zone the layout itself names (`%d{..}{UTC}`).
    zone: Option<TimeZone>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Year,
    ShortYear,
    Month,
    MonthName,
    Day,
    DayOfYear,
    /// The day of the year where that of the month belongs, as `DD` for `dd` prints it.
    DayOfYearOfMonth,
    DayName,
    Hour,
    /// `h`, `K`: with `a`.
    HalfDayHour,
    AmPm,
    Minute,
    /// Minutes where the month should be, as `mm` for `MM` prints them.
    MinuteOfMonth,
    Second,
    Fraction,
    Zone,
    EpochSeconds,
    EpochMillis,
    Literal(u8),
    /// The whole of ISO 8601 in the variants that libraries print: `T` or
    /// blank, comma or point, fraction and zone optional.
    Iso,
}

/// Names of patterns, as the libraries define them.
const NAMED: &[(&str, &str)] = &[
    ("ISO8601_BASIC", "yyyyMMdd'T'HHmmss,SSS"),
    ("ISO8601_BASIC_PERIOD", "yyyyMMdd'T'HHmmss.SSS"),
    ("ABSOLUTE", "HH:mm:ss,SSS"),
    ("ABSOLUTE_PERIOD", "HH:mm:ss.SSS"),
    ("ABSOLUTE_MICROS", "HH:mm:ss,SSSSSS"),
    ("ABSOLUTE_NANOS", "HH:mm:ss,SSSSSSSSS"),
    ("DATE", "dd MMM yyyy HH:mm:ss,SSS"),
    ("DATE_PERIOD", "dd MMM yyyy HH:mm:ss.SSS"),
    ("COMPACT", "yyyyMMddHHmmssSSS"),
    ("US_MONTH_DAY_YEAR2_TIME", "dd/MM/yy HH:mm:ss.SSS"),
    ("US_MONTH_DAY_YEAR4_TIME", "dd/MM/yyyy HH:mm:ss.SSS"),
];

/// Zone abbreviations that have one meaning wherever they are printed, in
/// minutes east of UTC. Others are left to the default zone.
const ZONES: &[(&[u8], i32)] = &[
    (b"UTC", 0),
    (b"GMT", 0),
    (b"WET", 0),
    (b"WEST", 60),
    (b"CET", 60),
    (b"CEST", 120),
    (b"EET", 120),
    (b"EEST", 180),
    (b"MSK", 180),
    (b"EST", -300),
    (b"EDT", -240),
    (b"CDT", -300),
    (b"MST", -420),
    (b"MDT", -360),
    (b"PST", -480),
    (b"PDT", -420),
    (b"JST", 540),
    (b"KST", 540),
    (b"AEST", 600),
    (b"AEDT", 660),
    (b"NZST", 720),
    (b"NZDT", 780),
];

impl TimeLayout {
    /// Compiles a date pattern of `SimpleDateFormat` or `DateTimeFormatter`, or
    /// one of the libraries' names for one; `zone` is an IANA name or offset.
    ///
    /// # Errors
    /// The zone is unknown, or nothing of the pattern is a time.
    pub fn compile(pattern: &str, zone: Option<&str>) -> Result<Self, String> {
        let zone = zone.map(parse_zone).transpose()?;
        let items = compile_items(pattern);
        let is_time = |i: &Item| !matches!(i, Item::Literal(_) | Item::DayName);
        if !items.iter().any(is_time) {
            return Err(format!("date pattern `{pattern}` has no time"));
        }
        Ok(Self { pattern: pattern.to_owned(), items, zone })
    }

    /// Every variant of ISO 8601.
    pub(super) fn iso() -> Self {
        Self { pattern: String::new(), items: vec![Item::Iso], zone: None }
    }

    /// Reads ISO 8601 at `at`.
    pub(crate) fn scan_iso(text: &[u8], at: usize) -> Option<(usize, Civil)> {
        let mut civil = Civil::default();
        Some((scan_iso(text, at, &mut civil)?, civil))
    }

    /// The date pattern.
    pub(crate) fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Reads a time stamp at `at`; gives where it ends.
    #[must_use]
    pub fn scan(&self, text: &[u8], at: usize) -> Option<(usize, Civil)> {
        let mut civil = Civil::default();
        let mut pos = at;
        let mut half_day: Option<u32> = None;
        let mut afternoon = false;
        let mut minute_of_month: Option<u32> = None;
        let mut day_of_year: Option<u32> = None;
        for item in &self.items {
            pos = match item {
                Item::Iso => scan_iso(text, pos, &mut civil)?,
                Item::Literal(b' ') => pos + blank(text.get(pos..)?)?,
                Item::Literal(b) => (text.get(pos) == Some(b)).then_some(pos + 1)?,
                Item::MinuteOfMonth => {
                    let (end, n) = number(text, pos, 2, 2)?;
                    minute_of_month = Some(n);
                    end
                }
                Item::DayOfYearOfMonth => {
                    let (end, n) = number(text, pos, 2, 3)?;
                    day_of_year = Some(n);
                    end
                }
                Item::HalfDayHour => {
                    let (end, n) = number(text, pos, 1, 2)?;
                    half_day = Some(n % 12);
                    end
                }
                Item::AmPm => {
                    let (len, is_afternoon) = super::languages::half_day(text.get(pos..)?)?;
                    afternoon = is_afternoon;
                    pos + len
                }
                other => scan_item(other, text, pos, &mut civil)?,
            };
        }
        if let Some(hour) = half_day {
            civil.second_of_day += (hour + if afternoon { 12 } else { 0 }) * 3600;
        }
        if let Some(n) = day_of_year {
            let (month, day) = day_of(civil.year?, n)?;
            (month == civil.month).then_some(())?;
            civil.day = day;
        }
        if minute_of_month.is_some_and(|minute| minute != civil.second_of_day / 60 % 60) {
            return None;
        }
        Some((pos, civil))
    }

    /// Whether it prints the day.
    pub(crate) fn has_day(&self) -> bool {
        let is_day = |item: &Item| {
            matches!(
                item,
                Item::Iso
                    | Item::Day
                    | Item::DayOfYear
                    | Item::DayOfYearOfMonth
                    | Item::EpochSeconds
                    | Item::EpochMillis
            )
        };
        self.items.iter().any(is_day)
    }

    /// Whether its year is that of the week.
    pub(crate) fn has_week_year(&self) -> bool {
        let mut is_quoted = false;
        self.pattern.bytes().any(|b| {
            is_quoted ^= b == b'\'';
            b == b'Y' && !is_quoted && !self.pattern.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
        })
    }

    /// Whether it prints a zone apart.
    pub(crate) fn has_zone_name(&self) -> bool {
        self.items.contains(&Item::Zone)
    }

    /// Whether it prints the half of the day.
    pub(crate) fn has_half_day(&self) -> bool {
        self.items.contains(&Item::AmPm)
    }

    /// The zone that the layout itself names.
    #[must_use]
    pub fn zone(&self) -> Option<&TimeZone> {
        self.zone.as_ref()
    }
}

/// A zone by IANA name, `UTC`, or offset like `+02:00`.
///
/// # Errors
/// No such zone.
pub fn parse_zone(name: &str) -> Result<TimeZone, String> {
    if let Some((end, seconds)) = scan_zone(name.as_bytes(), 0)
        && end == name.len()
        && let Some(seconds) = seconds
        && let Ok(offset) = jiff::tz::Offset::from_seconds(seconds)
    {
        return Ok(TimeZone::fixed(offset));
    }
    TimeZone::get(name).map_err(|_| format!("no time zone `{name}`"))
}

fn compile_items(pattern: &str) -> Vec<Item> {
    let pattern = pattern.trim();
    let name = pattern.trim_end_matches("_PERIOD").trim_end_matches("_MICROS").trim_end_matches("_NANOS");
    if matches!(name, "" | "ISO8601" | "DEFAULT" | "STRICT") || name.starts_with("ISO8601_OFFSET") {
        return vec![Item::Iso];
    }
    match pattern {
        "UNIX" => return vec![Item::EpochSeconds],
        "UNIX_MILLIS" => return vec![Item::EpochMillis],
        _ => {}
    }
    let java = NAMED.iter().find(|(n, _)| *n == pattern).map_or(pattern, |(_, p)| p);
    let bytes = java.as_bytes();
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(&b) = bytes.get(at) {
        if b == b'\'' {
            at = compile_quoted(bytes, at, &mut items);
            continue;
        }
        let run = bytes[at..].iter().take_while(|&&c| c == b).count();
        match compile_letter(b, run) {
            Some(item) => items.push(item),
            None => items.extend(std::iter::repeat_n(Item::Literal(b), run)),
        }
        at += run;
    }
    let is = |of: Item| move |item: &Item| *item == of;
    if !items.iter().any(|item| matches!(item, Item::Month | Item::MonthName | Item::DayOfYear))
        && items.iter().filter(|item| is(Item::Minute)(item)).count() == 2
        && items.contains(&Item::Day)
        && let Some(first) = items.iter().position(is(Item::Minute))
    {
        items[first] = Item::MinuteOfMonth;
    }
    if items.iter().any(|item| matches!(item, Item::Month | Item::MonthName))
        && !items.contains(&Item::Day)
        && let Some(day) = items.iter().position(is(Item::DayOfYear))
    {
        items[day] = Item::DayOfYearOfMonth;
    }
    items
}

/// A quoted literal of a Java date pattern, `''` being one quote.
fn compile_quoted(bytes: &[u8], open: usize, items: &mut Vec<Item>) -> usize {
    let mut at = open + 1;
    if bytes.get(at) == Some(&b'\'') {
        items.push(Item::Literal(b'\''));
        return at + 1;
    }
    while let Some(&b) = bytes.get(at) {
        at += 1;
        if b != b'\'' {
            items.push(Item::Literal(b));
        } else if bytes.get(at) == Some(&b'\'') {
            items.push(Item::Literal(b'\''));
            at += 1;
        } else {
            break;
        }
    }
    at
}

fn compile_letter(letter: u8, run: usize) -> Option<Item> {
    Some(match letter {
        b'y' | b'u' | b'Y' if run == 2 => Item::ShortYear,
        b'y' | b'u' | b'Y' => Item::Year,
        b'M' | b'L' if run >= 3 => Item::MonthName,
        b'M' | b'L' => Item::Month,
        b'd' => Item::Day,
        b'D' => Item::DayOfYear,
        b'E' => Item::DayName,
        b'H' | b'k' => Item::Hour,
        b'h' | b'K' => Item::HalfDayHour,
        b'm' => Item::Minute,
        b's' => Item::Second,
        b'S' | b'n' => Item::Fraction,
        b'a' => Item::AmPm,
        b'z' | b'Z' | b'X' | b'x' | b'V' | b'O' => Item::Zone,
        _ => return None,
    })
}

/// Length of the blank that `text` begins with: newer Java machines print a narrow one, that is
/// never broken, before `AM` and `PM`.
fn blank(text: &[u8]) -> Option<usize> {
    match text {
        [b' ', ..] => Some(1),
        [0xe2, 0x80, 0xaf, ..] => Some(3),
        [0xc2, 0xa0, ..] => Some(2),
        _ => None,
    }
}

fn scan_item(item: &Item, text: &[u8], pos: usize, civil: &mut Civil) -> Option<usize> {
    let end = match item {
        Item::Year => {
            let (end, n) = number(text, pos, 4, 4)?;
            civil.year = Some(n as i16);
            end
        }
        Item::ShortYear => {
            let (end, n) = number(text, pos, 2, 2)?;
            // The window of SimpleDateFormat is 80 years back from now; logs are younger.
            civil.year = Some(if n >= 70 { 1900 } else { 2000 } + n as i16);
            end
        }
        Item::Month => {
            let (end, n) = number(text, pos, 1, 2)?;
            civil.month = n as u8;
            end
        }
        Item::MonthName => {
            let (end, n) = month_name(text, pos)?;
            civil.month = n;
            end
        }
        Item::Day => {
            // Padded with a blank by syslog and `%e`.
            let (end, n) = number(text, pos + usize::from(text.get(pos) == Some(&b' ')), 1, 2)?;
            civil.day = n as u8;
            end
        }
        Item::DayOfYear => scan_day_of_year(text, pos, civil)?,
        Item::DayName => pos + letters(text, pos, 3)?,
        Item::Hour => {
            let (end, n) = number(text, pos, 1, 2)?;
            civil.impossible |= n > 24;
            civil.second_of_day += (n % 24) * 3600;
            end
        }
        Item::Minute => {
            let (end, n) = number(text, pos, 1, 2)?;
            civil.impossible |= n > 59;
            civil.second_of_day += n * 60;
            end
        }
        Item::Second => {
            let (end, n) = number(text, pos, 1, 2)?;
            civil.impossible |= n > 60;
            civil.second_of_day += n;
            end
        }
        Item::Fraction => scan_fraction(text, pos, civil)?,
        Item::Zone => {
            let (end, offset) = scan_any_zone(text, pos, civil)?;
            civil.offset = offset;
            end
        }
        Item::EpochSeconds => scan_epoch_seconds(text, pos, civil)?,
        Item::EpochMillis => {
            let (end, n) = long_number(text, pos, 12)?;
            // Of milliseconds there are twelve digits or thirteen, of micro- and nanoseconds more.
            civil.epoch_us = Some(match end - pos {
                0..=14 => n.checked_mul(1_000)?,
                15..=17 => n,
                _ => n / 1_000,
            });
            end
        }
        _ => return None,
    };
    Some(end)
}

/// A zone by its name, its abbreviation or its offset: the end, and seconds east of UTC.
fn scan_any_zone(text: &[u8], pos: usize, civil: &Civil) -> Option<(usize, Option<i32>)> {
    match scan_zone_id(text, pos) {
        Some((end, zone)) => Some((end, offset_in(&zone, civil))),
        None => scan_zone(text, pos),
    }
}

/// Seconds since 1970, with a fraction or without.
fn scan_epoch_seconds(text: &[u8], pos: usize, civil: &mut Civil) -> Option<usize> {
    let (end, n) = long_number(text, pos, 9)?;
    (n <= EPOCH_SECONDS_MAX).then_some(())?;
    let is_fraction = text.get(end) == Some(&b'.') && text.get(end + 1).is_some_and(u8::is_ascii_digit);
    let end = if is_fraction { scan_fraction(text, end + 1, civil)? } else { end };
    civil.epoch_us = Some(n.checked_mul(1_000_000)? + i64::from(civil.micros));
    Some(end)
}

/// The last second of a number of ten digits.
const EPOCH_SECONDS_MAX: i64 = 9_999_999_999;

fn scan_day_of_year(text: &[u8], pos: usize, civil: &mut Civil) -> Option<usize> {
    let (end, n) = number(text, pos, 1, 3)?;
    (civil.month, civil.day) = day_of(civil.year?, n)?;
    Some(end)
}

/// Month and day of the `n`-th day of a year.
fn day_of(year: i16, n: u32) -> Option<(u8, u8)> {
    let first = Date::new(year, 1, 1).ok()?;
    let date = first.checked_add(jiff::Span::new().days(i64::from(n) - 1)).ok()?;
    (date.year() == year).then_some((date.month() as u8, date.day() as u8))
}

/// `yyyy-MM-dd[T ]HH:mm:ss[[,.]S+][zone]`.
fn scan_iso(text: &[u8], pos: usize, civil: &mut Civil) -> Option<usize> {
    let head: &[u8; 19] = text.get(pos..)?.first_chunk()?;
    if head[4] != b'-' || head[7] != b'-' || head[13] != b':' || head[16] != b':' {
        return None;
    }
    if head[10] != b' ' && head[10] != b'T' {
        return None;
    }
    let two = |i: usize| -> Option<u32> {
        let (a, b) = (head[i].wrapping_sub(b'0'), head[i + 1].wrapping_sub(b'0'));
        (a < 10 && b < 10).then(|| u32::from(a) * 10 + u32::from(b))
    };
    civil.year = Some((two(0)? * 100 + two(2)?) as i16);
    civil.month = two(5)? as u8;
    civil.day = two(8)? as u8;
    let (hour, minute, second) = (two(11)?, two(14)?, two(17)?);
    civil.impossible = hour > 24 || minute > 59 || second > 60;
    civil.second_of_day = (hour % 24) * 3600 + minute * 60 + second;
    let mut end = pos + 19;
    if matches!(text.get(end), Some(b',' | b'.')) && text.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = scan_fraction(text, end + 1, civil)?;
    }
    if matches!(text.get(end), Some(b'Z' | b'+' | b'-'))
        && let Some((zone_end, offset)) = scan_zone(text, end)
    {
        civil.offset = offset;
        end = zone_end + zone_name(&text[zone_end..]);
    }
    Some(end)
}

/// The length of `[Europe/Berlin]`, the name that Java prints behind the offset of a zone.
fn zone_name(text: &[u8]) -> usize {
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'+');
    let Some(rest) = text.strip_prefix(b"[") else { return 0 };
    let n = rest.iter().take_while(|b| is_name(b)).count();
    let name = &rest[..n];
    let is_zone = name.contains(&b'/') || matches!(name, b"UTC" | b"GMT" | b"UT" | b"Z");
    if is_zone && rest.get(n) == Some(&b']') { n + 2 } else { 0 }
}

/// Up to nine digits; what is finer than µs is cut.
fn scan_fraction(text: &[u8], pos: usize, civil: &mut Civil) -> Option<usize> {
    let mut micros = 0;
    let mut n_digits = 0;
    for &b in text[pos.min(text.len())..].iter().take(9) {
        if !b.is_ascii_digit() {
            break;
        }
        if n_digits < 6 {
            micros = micros * 10 + u32::from(b - b'0');
        }
        n_digits += 1;
    }
    if n_digits == 0 {
        return None;
    }
    for _ in n_digits..6 {
        micros *= 10;
    }
    civil.micros = micros;
    civil.n_fraction_digits = n_digits as u8;
    Some(pos + n_digits)
}

/// `Z`, `+hh`, `+hhmm`, `+hh:mm`, `GMT+hh:mm`, or an abbreviation; an unknown
/// abbreviation is a zone without an offset.
fn scan_zone(text: &[u8], pos: usize) -> Option<(usize, Option<i32>)> {
    let rest = text.get(pos..)?;
    let n_letters = rest.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let name = &rest[..n_letters];
    let sign_at = match name {
        b"Z" => return Some((pos + 1, Some(0))),
        b"GMT" | b"UTC" if matches!(rest.get(3), Some(b'+' | b'-')) => 3,
        b"" => 0,
        _ if (3..=5).contains(&n_letters) && !matches!(super::parse_level(name), Some(Some(_))) => {
            let known = ZONES.iter().find(|(n, _)| *n == name).map(|(_, minutes)| minutes * 60);
            return Some((pos + n_letters, known));
        }
        _ => return None,
    };
    let sign = match rest.get(sign_at)? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let at = pos + sign_at + 1;
    let (mut end, hours) = number(text, at, 2, 2)?;
    let minutes_at = if text.get(end) == Some(&b':') { end + 1 } else { end };
    let mut minutes = 0;
    if let Some((minutes_end, n)) = number(text, minutes_at, 2, 2) {
        (end, minutes) = (minutes_end, n);
    }
    Some((end, Some(sign * (hours * 3600 + minutes * 60) as i32)))
}

/// `Europe/Berlin`: a zone by its name.
fn scan_zone_id(text: &[u8], pos: usize) -> Option<(usize, TimeZone)> {
    let rest = text.get(pos..)?;
    let is_name = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'/' | b'_');
    let n = rest.iter().take_while(|b| is_name(b)).count();
    let slash = memchr::memchr(b'/', &rest[..n])?;
    (slash > 1).then_some(())?;
    let zone = TimeZone::get(std::str::from_utf8(&rest[..n]).ok()?).ok()?;
    Some((pos + n, zone))
}

/// Seconds east of UTC in `zone` at a time that has a date.
fn offset_in(zone: &TimeZone, civil: &Civil) -> Option<i32> {
    let time = civil.date_time()?;
    Some(zone.to_ambiguous_zoned(time).compatible().ok()?.offset().seconds())
}

/// A number of `min` to `max` digits.
fn number(text: &[u8], pos: usize, min: usize, max: usize) -> Option<(usize, u32)> {
    let mut n = 0;
    let mut len = 0;
    while len < max {
        match text.get(pos + len) {
            Some(&b) if b.is_ascii_digit() => n = n * 10 + u32::from(b - b'0'),
            _ => break,
        }
        len += 1;
    }
    (len >= min).then_some((pos + len, n))
}

fn long_number(text: &[u8], pos: usize, min: usize) -> Option<(usize, i64)> {
    let digits = text.get(pos..)?.iter().take_while(|b| b.is_ascii_digit()).count();
    if digits < min || digits > 19 {
        return None;
    }
    let n = text[pos..pos + digits]
        .iter()
        .try_fold(0_i64, |n, b| n.checked_mul(10)?.checked_add(i64::from(b - b'0')))?;
    Some((pos + digits, n))
}

fn month_name(text: &[u8], pos: usize) -> Option<(usize, u8)> {
    super::languages::month(text.get(pos..)?).map(|(len, month)| (pos + len, month))
}

/// Length of the run of letters at `pos`, if at least `min`.
fn letters(text: &[u8], pos: usize, min: usize) -> Option<usize> {
    let n = text.get(pos..)?.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    (n >= min).then_some(n)
}

#[cfg(test)]
mod tests {
    use super::super::clock::Clock;
    use super::*;

    #[track_caller]
    fn check(pattern: &str, zone: &str, text: &str, expected: &str) {
        let layout = TimeLayout::compile(pattern, None).expect("pattern");
        let mut clock = Clock::new(parse_zone(zone).expect("zone"), (2026, 11, 21));
        let got = match layout.scan(text.as_bytes(), 0) {
            None => "no stamp".to_owned(),
            Some((end, civil)) => match clock.resolve(&civil) {
                None => format!("{end} impossible"),
                Some(us) => format!("{end} {}", jiff::Timestamp::from_microsecond(us).expect("in range")),
            },
        };
        assert_eq!(got, expected, "{pattern} of {text}");
    }

    #[test]
    fn layouts() {
        check("ISO8601", "UTC", "2026-11-21 01:28:30,199 INFO", "23 2026-11-21T01:28:30.199Z");
        check("ISO8601", "UTC", "2026-11-21T01:28:30.199+01:00 x", "29 2026-11-21T00:28:30.199Z");
        check("ISO8601", "UTC", "2026-11-21 01:28:30 - x", "19 2026-11-21T01:28:30Z");
        check("ISO8601", "UTC", "2026-13-21 01:28:30,199", "23 impossible");
        check("ISO8601", "UTC", "2026-11-21 01:61:30,199", "23 impossible");
        check("ISO8601", "UTC", "2026-11-2x 01:28:30,199", "no stamp");
        check("yy/MM/dd HH:mm:ss", "UTC", "26/11/21 01:28:30 x", "17 2026-11-21T01:28:30Z");
        check("ABSOLUTE", "UTC", "01:28:30,199", "12 2026-11-21T01:28:30.199Z");
        check("DATE", "UTC", "21 Nov 2026 01:28:30,199", "24 2026-11-21T01:28:30.199Z");
        check("MMM d, yyyy h:mm:ss a", "UTC", "Nov 21, 2026 1:28:30 PM", "23 2026-11-21T13:28:30Z");
        check(
            "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
            "UTC",
            "2026-11-21T01:28:30.123456Z",
            "27 2026-11-21T01:28:30.123456Z",
        );
        check(
            "EEE MMM dd HH:mm:ss zzz yyyy",
            "UTC",
            "Sat Nov 21 01:28:30 CET 2026",
            "28 2026-11-21T00:28:30Z",
        );
        check("UNIX_MILLIS", "UTC", "1795256194315 x", "13 2026-11-21T10:16:34.315Z");
        check("UNIX_MILLIS", "UTC", "1795256194315123 x", "16 2026-11-21T10:16:34.315123Z");
        check("UNIX_MILLIS", "UTC", "1795256194315123456 x", "19 2026-11-21T10:16:34.315123Z");
        check("yyyy-MM-DD HH:mm:ss", "UTC", "2025-03-88 11:54:05", "19 2025-03-29T11:54:05Z");
        check("DD/MM/yyyy HH:mm:ss", "UTC", "100/04/2025 11:54:05", "20 2025-04-10T11:54:05Z");
        check("yyyy-MM-DD HH:mm:ss", "UTC", "2025-03-29 11:54:05", "no stamp");
        check("COMPACT", "UTC", "20261121012830199", "17 2026-11-21T01:28:30.199Z");
    }

    #[test]
    fn zones() {
        check("ISO8601", "Europe/Berlin", "2026-07-01 12:00:00,000", "23 2026-07-01T10:00:00Z");
        check("ISO8601", "+05:30", "2026-07-01 12:00:00,000", "23 2026-07-01T06:30:00Z");
        // The hour that exists twice is the first one, the hour that does not exist moves on.
        check("ISO8601", "Europe/Berlin", "2026-10-25 02:30:00,000", "23 2026-10-25T00:30:00Z");
        check("ISO8601", "Europe/Berlin", "2026-03-29 02:30:00,000", "23 2026-03-29T01:30:00Z");
        check("ISO8601", "Europe/Berlin", "2026-03-29 12:00:00,000", "23 2026-03-29T10:00:00Z");
    }
}
