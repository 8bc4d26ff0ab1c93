//! Format strings of `java.util.logging.SimpleFormatter`: arguments of `java.util.Formatter`
//! are 1 the time, 2 the caller or the logger, 3 the logger, 4 the level, 5 the message, 6 the
//! throwable.

/// What each letter of a time prints, as a date pattern.
const TIMES: &[(char, &str)] = &[
    ('Y', "yyyy"),
    ('y', "yy"),
    ('m', "MM"),
    ('d', "dd"),
    ('e', "d"),
    ('b', "MMM"),
    ('h', "MMM"),
    ('B', "MMMM"),
    ('a', "EEE"),
    ('A', "EEEE"),
    ('j', "DDD"),
    ('H', "HH"),
    ('k', "H"),
    ('I', "hh"),
    ('l', "h"),
    ('M', "mm"),
    ('S', "ss"),
    ('L', "SSS"),
    ('N', "SSSSSSSSS"),
    ('p', "a"),
    ('Z', "zzz"),
    ('z', "Z"),
    ('F', "yyyy-MM-dd"),
    ('T', "HH:mm:ss"),
    ('R', "HH:mm"),
    ('D', "MM/dd/yy"),
    ('r', "hh:mm:ss a"),
    ('c', "EEE MMM dd HH:mm:ss zzz yyyy"),
    ('Q', "UNIX_MILLIS"),
    ('s', "UNIX"),
];

/// The conversion patterns that print what a format prints: the second argument is a class and
/// a method, or a logger where the caller is not known.
pub(super) fn patterns_of(format: &str) -> Vec<String> {
    let with_caller = pattern_of(format, "%C %M");
    let without = pattern_of(format, "%c");
    if with_caller == without { vec![with_caller] } else { vec![with_caller, without] }
}

fn pattern_of(format: &str, source: &str) -> String {
    let mut out = String::new();
    let mut date = String::new();
    // Text between two parts of one time is a part of it.
    let mut between = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            between.push(c);
            continue;
        }
        let mut spec = String::new();
        while let Some(c) = chars.next_if(|c| !c.is_ascii_alphabetic() && *c != '%') {
            spec.push(c);
        }
        let letter = chars.next().unwrap_or('%');
        if matches!(letter, 't' | 'T') {
            let part = chars.next().and_then(|c| TIMES.iter().find(|(letter, _)| *letter == c));
            if date.is_empty() {
                out.push_str(&std::mem::take(&mut between));
            } else if !between.is_empty() {
                date.push_str(&quoted(&std::mem::take(&mut between)));
            }
            date.push_str(part.map_or("", |(_, pattern)| pattern));
            continue;
        }
        flush(&mut out, &mut date, &mut between);
        let width = spec.split_once('$').map_or("", |(_, width)| width);
        match (letter, spec.chars().next()) {
            ('n', _) => out.push_str("%n"),
            ('%', _) => out.push_str("%%"),
            (_, Some('2')) => out.push_str(source),
            (_, Some('3')) => out.push_str("%c"),
            (_, Some('4')) => out.push_str(&format!("%{width}p")),
            (_, Some('5')) => out.push_str("%m"),
            (_, Some('6')) => {}
            _ => out.push_str("%x"),
        }
    }
    flush(&mut out, &mut date, &mut between);
    out
}

fn flush(out: &mut String, date: &mut String, between: &mut String) {
    if !date.is_empty() {
        out.push_str(&format!("%d{{{date}}}"));
        date.clear();
    }
    out.push_str(between);
    between.clear();
}

/// Text within a date pattern: letters are quoted.
fn quoted(text: &str) -> String {
    if text.chars().any(|c| c.is_ascii_alphabetic()) { format!("'{text}'") } else { text.to_owned() }
}
