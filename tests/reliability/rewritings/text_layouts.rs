//! Records in other layouts and with other time stamps.

use super::sample_log::{Files, Record, Sample, Write};

/// Time, and what of the sample's time it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    Milliseconds,
    Seconds,
    /// The order alone.
    Nothing,
    /// All of it; with threads that are made up, so that other records belong together.
    Records,
}

use Keeps::{Milliseconds, Nothing, Records, Seconds};

fn record(r: &Record, header: &str) -> String {
    let more: String = r.lines[1..].iter().map(|line| format!("{line}\n")).collect();
    format!("{header}{}\n{more}", r.lines[0])
}

/// With the sample's arrangement behind a time stamp.
fn stamped(s: &Sample, stamp: impl Fn(&Record) -> String) -> Files {
    s.each(".log", |r| record(r, &format!("{} {} {}: ", stamp(r), r.level, r.logger)))
}

/// The name of a month, by its number, in other languages.
fn month(r: &Record, names: [&str; 12]) -> String {
    names[r.at("%m").parse::<usize>().expect("a month") - 1].to_owned()
}

const GERMAN: [&str; 12] =
    ["Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."];
const FRENCH: [&str; 12] =
    ["janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."];
const SPANISH: [&str; 12] =
    ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"];
const PORTUGUESE: [&str; 12] =
    ["jan.", "fev.", "mar.", "abr.", "mai.", "jun.", "jul.", "ago.", "set.", "out.", "nov.", "dez."];
const RUSSIAN: [&str; 12] =
    ["янв.", "февр.", "мар.", "апр.", "мая", "июн.", "июл.", "авг.", "сент.", "окт.", "нояб.", "дек."];

/// Time stamps, each before the same fields.
pub(crate) const STAMPS: &[(&str, Keeps, &[&str], Write)] = &[
    ("a point before the fraction", Milliseconds, &[], |s| stamped(s, |r| r.at("%Y-%m-%d %H:%M:%S.%3f"))),
    ("nanoseconds", Milliseconds, &[], |s| stamped(s, |r| r.at("%Y-%m-%d %H:%M:%S.%9f"))),
    ("microseconds behind a comma", Milliseconds, &[], |s| stamped(s, |r| r.at("%Y-%m-%dT%H:%M:%S,%6f"))),
    ("T and Z", Milliseconds, &[], |s| stamped(s, |r| r.at("%Y-%m-%dT%H:%M:%S.%3fZ"))),
    ("an offset with a colon", Milliseconds, &[], |s| {
        stamped(s, |r| r.at_in("Asia/Kolkata", "%Y-%m-%dT%H:%M:%S.%3f%:z"))
    }),
    ("an offset of hours", Milliseconds, &[], |s| {
        stamped(s, |r| r.at_in("Europe/Berlin", "%Y-%m-%d %H:%M:%S,%3f+01"))
    }),
    ("a blank and an offset", Milliseconds, &[], |s| {
        stamped(s, |r| r.at_in("America/New_York", "%Y-%m-%d %H:%M:%S.%3f %z"))
    }),
    ("a zone named", Milliseconds, &[], |s| {
        stamped(s, |r| r.at_in("Europe/Berlin", "%Y-%m-%d %H:%M:%S,%3f CET"))
    }),
    ("a zone named, of America", Milliseconds, &[], |s| {
        stamped(s, |r| r.at_in("America/New_York", "%Y-%m-%d %H:%M:%S.%3f EST"))
    }),
    ("a zone by its city", Milliseconds, &[], |s| {
        stamped(s, |r| r.at_in("Europe/Berlin", "%Y-%m-%d %H:%M:%S.%3f Europe/Berlin"))
    }),
    ("GMT and an offset", Milliseconds, &[], |s| {
        stamped(s, |r| r.at_in("Asia/Tokyo", "%Y-%m-%d %H:%M:%S.%3f GMT+09:00"))
    }),
    ("a zone given", Milliseconds, &["--tz", "Asia/Tokyo"], |s| {
        stamped(s, |r| r.at_in("Asia/Tokyo", "%Y-%m-%d %H:%M:%S,%3f"))
    }),
    ("seconds only", Seconds, &[], |s| stamped(s, |r| r.at("%Y-%m-%d %H:%M:%S"))),
    ("halves of the day", Seconds, &[], |s| stamped(s, |r| r.at("%Y-%m-%d %I:%M:%S %p"))),
    ("halves of the day, as in America", Seconds, &[], |s| stamped(s, |r| r.at("%-m/%-d/%y, %-I:%M:%S %p"))),
    ("halves of the day, month named", Seconds, &[], |s| stamped(s, |r| r.at("%b %-d, %Y %-I:%M:%S %p"))),
    ("halves of the day, ms", Milliseconds, &[], |s| stamped(s, |r| r.at("%d-%b-%Y %I:%M:%S.%3f %p"))),
    ("12 hours without a half", Milliseconds, &[], |s| stamped(s, |r| r.at("%Y-%m-%d %I:%M:%S,%3f"))),
    ("day first, points", Milliseconds, &[], |s| stamped(s, |r| r.at("%d.%m.%Y %H:%M:%S,%3f"))),
    ("day first, two digits", Milliseconds, &[], |s| stamped(s, |r| r.at("%d.%m.%y %H:%M:%S.%3f"))),
    ("day first, slashes", Milliseconds, &[], |s| stamped(s, |r| r.at("%d/%m/%Y %H:%M:%S.%3f"))),
    ("month first, slashes", Milliseconds, &[], |s| stamped(s, |r| r.at("%m/%d/%Y %H:%M:%S.%3f"))),
    ("month first, two digits", Seconds, &[], |s| stamped(s, |r| r.at("%m/%d/%y %H:%M:%S"))),
    ("year first, slashes", Milliseconds, &[], |s| stamped(s, |r| r.at("%Y/%m/%d %H:%M:%S.%3f"))),
    ("two digits of the year first", Seconds, &[], |s| stamped(s, |r| r.at("%y/%m/%d %H:%M:%S"))),
    ("two digits of the year and lines between", Milliseconds, &[], |s| {
        stamped(s, |r| r.at("%y-%m-%d %H:%M:%S.%3f"))
    }),
    ("as access logs have it", Seconds, &[], |s| stamped(s, |r| r.at("%d/%b/%Y:%H:%M:%S %z"))),
    ("access logs in brackets", Seconds, &[], |s| stamped(s, |r| r.at("[%d/%b/%Y:%H:%M:%S %z]"))),
    ("of `Date.toString`", Seconds, &[], |s| stamped(s, |r| r.at("%a %b %d %H:%M:%S UTC %Y"))),
    ("of RFC 1123", Seconds, &[], |s| stamped(s, |r| r.at("%a, %d %b %Y %H:%M:%S GMT"))),
    ("month named", Milliseconds, &[], |s| stamped(s, |r| r.at("%d %b %Y %H:%M:%S,%3f"))),
    ("month named whole", Milliseconds, &[], |s| stamped(s, |r| r.at("%d %B %Y %H:%M:%S.%3f"))),
    ("month in capitals", Milliseconds, &[], |s| {
        stamped(s, |r| r.at("%d-%b-%Y %H:%M:%S.%3f").to_uppercase())
    }),
    ("no year", Milliseconds, &["--date", "2026-11-21"], |s| stamped(s, |r| r.at("%m-%d %H:%M:%S.%3f"))),
    ("no year, month named", Seconds, &["--date", "2026-11-21"], |s| stamped(s, |r| r.at("%b %d %H:%M:%S"))),
    ("no day", Milliseconds, &["--date", "2026-11-21"], |s| stamped(s, |r| r.at("%H:%M:%S.%3f"))),
    ("no day, seconds", Seconds, &["--date", "2026-11-21"], |s| stamped(s, |r| r.at("[%H:%M:%S]"))),
    ("digits alone", Milliseconds, &[], |s| stamped(s, |r| r.at("%Y%m%d%H%M%S%3f"))),
    ("digits and a line", Milliseconds, &[], |s| stamped(s, |r| r.at("%Y%m%d-%H%M%S.%3f"))),
    ("digits, T and Z", Milliseconds, &[], |s| stamped(s, |r| r.at("%Y%m%dT%H%M%S.%3fZ"))),
    ("digits, and colons in the time", Milliseconds, &[], |s| stamped(s, |r| r.at("%Y%m%d %H:%M:%S,%3f"))),
    ("seconds since 1970", Seconds, &[], |s| stamped(s, |r| (r.us / 1_000_000).to_string())),
    ("seconds since 1970 with a fraction", Milliseconds, &[], |s| {
        stamped(s, |r| format!("{}.{:03}", r.us / 1_000_000, r.ms()))
    }),
    ("milliseconds since 1970", Milliseconds, &[], |s| stamped(s, |r| (r.us / 1000).to_string())),
    ("milliseconds since 1970 in brackets", Milliseconds, &[], |s| {
        stamped(s, |r| format!("[{}]", r.us / 1000))
    }),
    ("the day of the year", Milliseconds, &[], |s| stamped(s, |r| r.at("%Y-%j %H:%M:%S,%3f"))),
    ("a colon between day and time", Milliseconds, &[], |s| stamped(s, |r| r.at("%Y-%m-%d:%H:%M:%S.%3f"))),
    ("a colon before the fraction", Milliseconds, &[], |s| stamped(s, |r| r.at("%Y-%m-%d %H:%M:%S:%3f"))),
    ("the weekday before", Milliseconds, &[], |s| stamped(s, |r| r.at("%a %Y-%m-%d %H:%M:%S.%3f"))),
    ("German months", Milliseconds, &[], |s| {
        stamped(s, |r| r.at("%d ") + &month(r, GERMAN) + &r.at(" %Y %H:%M:%S,%3f"))
    }),
    ("French months", Milliseconds, &[], |s| {
        stamped(s, |r| r.at("%d ") + &month(r, FRENCH) + &r.at(" %Y %H:%M:%S,%3f"))
    }),
    ("Spanish months", Milliseconds, &[], |s| {
        stamped(s, |r| r.at("%d-") + &month(r, SPANISH) + &r.at("-%Y %H:%M:%S.%3f"))
    }),
    ("Portuguese months", Milliseconds, &[], |s| {
        stamped(s, |r| r.at("%d ") + &month(r, PORTUGUESE) + &r.at(" %Y %H:%M:%S.%3f"))
    }),
    ("Russian months", Milliseconds, &[], |s| {
        stamped(s, |r| r.at("%d ") + &month(r, RUSSIAN) + &r.at(" %Y %H:%M:%S,%3f"))
    }),
    ("time first", Milliseconds, &[], |s| stamped(s, |r| r.at("%H:%M:%S.%3f %d.%m.%Y"))),
    ("time first, ISO", Milliseconds, &[], |s| stamped(s, |r| r.at("%H:%M:%S,%3f %Y-%m-%d"))),
    ("two digits of the year last, slashes", Milliseconds, &[], |s| {
        stamped(s, |r| r.at("%d/%m/%y %H:%M:%S.%3f"))
    }),
    ("two digits of the year first, points", Milliseconds, &[], |s| {
        stamped(s, |r| r.at("%y.%m.%d %H:%M:%S.%3f"))
    }),
    ("microseconds since 1970", Milliseconds, &[], |s| stamped(s, |r| r.us.to_string())),
    ("nanoseconds since 1970", Milliseconds, &[], |s| stamped(s, |r| format!("{}000", r.us))),
    ("milliseconds without zeros", Milliseconds, &[], |s| {
        stamped(s, |r| format!("{}{}", r.at("%Y-%m-%d %H:%M:%S."), r.ms()))
    }),
    ("the day of the year for that of the month", Milliseconds, &[], |s| {
        stamped(s, |r| r.at("%Y-%m-%j %H:%M:%S.%3f"))
    }),
    ("Buddhist years", Milliseconds, &[], |s| stamped(s, |r| r.at("2569-%m-%d %H:%M:%S,%3f"))),
    ("Chinese days", Milliseconds, &[], |s| stamped(s, |r| r.at("%Y年%m月%d日 %H:%M:%S.%3f"))),
    ("Chinese halves of the day", Seconds, &[], |s| {
        stamped(s, |r| {
            let half = if r.at("%p") == "AM" { "上午" } else { "下午" };
            r.at("%Y-%m-%d ") + half + &r.at(" %I:%M:%S")
        })
    }),
];

/// Arrangements of the same fields.
pub(crate) const ARRANGEMENTS: &[(&str, Keeps, &[&str], Write)] = &[
    ("level first", Milliseconds, &[], |s| {
        s.each(".log", |r| {
            record(r, &format!("{:<5} {} {} - ", r.level, r.at("%Y-%m-%d %H:%M:%S,%3f"), r.logger))
        })
    }),
    ("tabs", Milliseconds, &[], |s| {
        s.each(".log", |r| {
            record(r, &format!("{}\t{}\t{}\t", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level, r.logger))
        })
    }),
    ("bars", Milliseconds, &[], |s| {
        s.each(".log", |r| {
            record(r, &format!("{} | {:<5} | {} | ", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level, r.logger))
        })
    }),
    ("bars without blanks", Milliseconds, &[], |s| {
        s.each(".log", |r| record(r, &format!("{}|{}|{}|", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level, r.logger)))
    }),
    ("semicolons", Milliseconds, &[], |s| {
        s.each(".log", |r| record(r, &format!("{};{};{};", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level, r.logger)))
    }),
    ("commas", Milliseconds, &[], |s| {
        s.each(".csv", |r| record(r, &format!("{},{},{},", r.at("%Y-%m-%d %H:%M:%S.%3f"), r.level, r.logger)))
    }),
    ("brackets", Milliseconds, &[], |s| {
        s.each(".log", |r| {
            record(r, &format!("[{}] [{}] [{}] ", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level, r.logger))
        })
    }),
    ("brackets without blanks", Milliseconds, &[], |s| {
        s.each(".log", |r| {
            record(r, &format!("[{}][{}][{}] ", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level, r.logger))
        })
    }),
    ("the level in angle brackets", Milliseconds, &[], |s| {
        s.each(".log", |r| {
            record(r, &format!("{} <{}> {}: ", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level, r.logger))
        })
    }),
    ("parentheses", Milliseconds, &[], |s| {
        s.each(".log", |r| {
            record(r, &format!("({}) {} ({}) ", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level, r.logger))
        })
    }),
    ("one letter for the level", Milliseconds, &[], |s| {
        s.each(".log", |r| {
            record(r, &format!("{} {} {}: ", r.at("%Y-%m-%d %H:%M:%S,%3f"), &r.level[..1], r.logger))
        })
    }),
    ("the level in small letters", Milliseconds, &[], |s| {
        s.each(".log", |r| {
            record(
                r,
                &format!("{} {} {} - ", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level.to_lowercase(), r.logger),
            )
        })
    }),
    ("the class alone", Milliseconds, &[], |s| {
        s.each(".log", |r| {
            record(r, &format!("{} {} {}: ", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level, r.class()))
        })
    }),
    ("the logger in short", Milliseconds, &[], |s| {
        s.each(".log", |r| {
            record(r, &format!("{} {} {} : ", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level, short(&r.logger)))
        })
    }),
    ("the message first", Milliseconds, &[], |s| {
        s.each(".log", |r| {
            format!(
                "[{}] {} {} ({})\n{}",
                r.at("%Y-%m-%d %H:%M:%S,%3f"),
                r.level,
                r.lines[0],
                r.logger,
                rest(r)
            )
        })
    }),
    ("Spring Boot in colours", Records, &[], |s| {
        s.each(".log", |r| record(r, &format!(
        "\u{1b}[2m{}\u{1b}[0;39m \u{1b}[32m{:>5}\u{1b}[0;39m \u{1b}[35m42\u{1b}[0;39m \u{1b}[2m---\u{1b}[0;39m \u{1b}[2m[store] [           main]\u{1b}[0;39m \u{1b}[36m{:<40}\u{1b}[0;39m \u{1b}[2m:\u{1b}[0;39m ",
        r.at("%Y-%m-%dT%H:%M:%S.%3fZ"), r.level, r.logger
    )))
    }),
    ("names before values", Milliseconds, &[], |s| {
        s.each(".log", |r| {
            record(
                r,
                &format!(
                    "time: {} level: {} logger: {} message: ",
                    r.at("%Y-%m-%d %H:%M:%S,%3f"),
                    r.level,
                    r.logger
                ),
            )
        })
    }),
    ("java.util.logging", Seconds, &[], |s| {
        s.each(".log", |r| {
            format!(
                "{} {} run\n{}: {}\n{}",
                r.at("%b %d, %Y %-I:%M:%S %p"),
                r.logger,
                r.level.replace("WARN", "WARNING"),
                r.lines[0],
                rest(r)
            )
        })
    }),
    ("java.util.logging in German", Seconds, &[], |s| {
        s.each(".log", |r| {
            format!(
                "{} {} run\n{}: {}\n{}",
                r.at("Nov. %d, %Y %-I:%M:%S %p"),
                r.logger,
                r.level.replace("WARN", "WARNUNG").replace("INFO", "INFORMATION"),
                r.lines[0],
                rest(r)
            )
        })
    }),
    ("ms since the start", Nothing, &[], |s| {
        s.each(".log", |r| {
            record(r, &format!("{} [main] {} {} - ", r.us / 1000 - 1_795_263_300_000, r.level, r.logger))
        })
    }),
    ("ms since the start, alone", Nothing, &[], |s| {
        s.each(".log", |r| {
            record(r, &format!("{} {} {} - ", r.us / 1000 - 1_795_263_300_000, r.level, r.logger))
        })
    }),
    ("no time", Nothing, &[], |s| s.each(".log", |r| record(r, &format!("{} {} - ", r.level, r.logger)))),
    ("no time, in brackets", Nothing, &[], |s| {
        s.each(".log", |r| record(r, &format!("[{}] {} - ", r.level, r.logger)))
    }),
    ("no time, class alone", Nothing, &[], |s| {
        s.each(".log", |r| record(r, &format!("{} [{}] ", r.level, r.class())))
    }),
    ("time and message", Milliseconds, &[], |s| {
        s.each(".log", |r| record(r, &r.at("%Y-%m-%d %H:%M:%S,%3f ")))
    }),
    ("time in brackets and message", Milliseconds, &[], |s| {
        s.each(".log", |r| record(r, &r.at("[%Y-%m-%d %H:%M:%S.%3f] ")))
    }),
    ("time, a line and message", Milliseconds, &[], |s| {
        s.each(".log", |r| record(r, &r.at("%Y-%m-%d %H:%M:%S.%3f - ")))
    }),
    ("time, a colon and message", Milliseconds, &[], |s| {
        s.each(".log", |r| record(r, &r.at("%Y-%m-%dT%H:%M:%S.%3fZ: ")))
    }),
    ("time of day and message", Milliseconds, &["--date", "2026-11-21"], |s| {
        s.each(".log", |r| record(r, &r.at("%H:%M:%S.%3f ")))
    }),
    ("time, level and message", Milliseconds, &[], |s| {
        s.each(".log", |r| record(r, &format!("{} {:<5} ", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level)))
    }),
    ("time, level in brackets and message", Milliseconds, &[], |s| {
        s.each(".log", |r| record(r, &format!("{} [{}] ", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level)))
    }),
    ("time, level, a colon and message", Milliseconds, &[], |s| {
        s.each(".log", |r| record(r, &format!("{} {}: ", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level)))
    }),
    ("all in brackets, and message", Milliseconds, &[], |s| {
        s.each(".log", |r| record(r, &format!("[{}] [{}] ", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level)))
    }),
    ("time, level, thread and message", Records, &[], |s| {
        s.each(".log", |r| {
            record(r, &format!("{} {} [t-{}] ", r.at("%Y-%m-%d %H:%M:%S,%3f"), r.level, r.number % 9))
        })
    }),
    ("level, time and message", Milliseconds, &[], |s| {
        s.each(".log", |r| record(r, &format!("{} {} ", r.level, r.at("%Y-%m-%d %H:%M:%S,%3f"))))
    }),
    ("level, a colon and message", Nothing, &[], |s| {
        s.each(".log", |r| record(r, &format!("{}: ", r.level)))
    }),
    ("level and message", Nothing, &[], |s| s.each(".log", |r| record(r, &format!("[{}] ", r.level)))),
    ("slf4j-simple", Nothing, &[], |s| {
        s.each(".log", |r| record(r, &format!("[main] {} {} - ", r.level, r.logger)))
    }),
];

/// `b.s.ClientHandler`
fn short(logger: &str) -> String {
    let (packages, class) = logger.rsplit_once('.').unwrap_or(("", logger));
    packages.split('.').filter_map(|name| name.chars().next()).map(|c| format!("{c}.")).collect::<String>()
        + class
}

fn rest(r: &Record) -> String {
    r.lines[1..].iter().map(|line| format!("{line}\n")).collect()
}
