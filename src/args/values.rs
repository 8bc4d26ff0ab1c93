//! Values of flags: numbers with units, days, names.

use reducer::append::partition::Partition;
use schema::Pass;

/// Between 0 and 100, without both.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok().filter(|n| *n > 0.0 && *n < 100.0);
    number.ok_or_else(|| "expected a number between 0 and 100".to_owned())
}

/// A share; above 1 is what nothing reaches.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// `2/16`, the second of sixteen.
pub(super) fn partition(text: &str) -> Result<Partition, String> {
    let numbers = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    match numbers {
        Some((number, of)) if (1..=of).contains(&number) => Ok(Partition { number, of }),
        _ => Err("expected K/N with K from 1 to N, e.g. 2/16".to_owned()),
    }
}

/// A pass by its name.
pub(super) fn pass(name: &str) -> Result<Pass, String> {
    Pass::named(name).ok_or_else(|| {
        let names: Vec<&str> = Pass::ALL.iter().map(|pass| pass.name()).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// `500ms`, `60s`, `5m`, `1h`; a bare number is seconds.
pub(super) fn duration_us(text: &str) -> Result<i64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match &text[digits..] {
        "us" => 1,
        "ms" => 1_000,
        "" | "s" => 1_000_000,
        "m" | "min" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return Err("expected a number and one of ms, s, m, h, d".to_owned()),
    };
    let number: i64 = text[..digits].parse().map_err(|_| "expected a number, e.g. 60s".to_owned())?;
    number.checked_mul(unit).ok_or_else(|| "longer than time itself".to_owned())
}

/// The same, longer than nothing.
pub(super) fn period_us(text: &str) -> Result<i64, String> {
    duration_us(text)
        .and_then(|us| if us > 0 { Ok(us) } else { Err("expected more than no time, e.g. 10s".to_owned()) })
}

/// `512MB`, `2GiB`; a bare number is bytes.
pub(super) fn bytes(text: &str) -> Result<usize, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match text[digits..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => return Err("expected a number and one of kB, MB, GB, KiB, MiB, GiB".to_owned()),
    };
    let number: usize = text[..digits].parse().map_err(|_| "expected a number, e.g. 512MB".to_owned())?;
    match number.checked_mul(unit) {
        Some(0) => Err("without memory nothing can be answered".to_owned()),
        Some(size) => Ok(size),
        None => Err("more than there can be".to_owned()),
    }
}

/// `2026-11-21`
pub(super) fn day(text: &str) -> Result<(i16, u8, u8), String> {
    let mut parts = text.splitn(3, '-');
    let mut number = || parts.next().and_then(|part| part.parse::<u16>().ok());
    match (number(), number(), number()) {
        (Some(year @ 1970..=9999), Some(month @ 1..=12), Some(day @ 1..=31)) => {
            Ok((year.cast_signed(), month as u8, day as u8))
        }
        _ => Err("expected a day, e.g. 2026-11-21".to_owned()),
    }
}

/// A time, µs since 1970: `2026-11-21`, `2026-11-21T10:00`, both in UTC, `2026-11-21T10:00+01:00`, or
/// how long ago, `30d`.
pub(super) fn instant_us(text: &str) -> Result<i64, String> {
    use jiff::{Timestamp, civil, tz::TimeZone};

    if let Ok(ago_us) = duration_us(text).and_then(|us| if us > 0 { Ok(us) } else { Err(String::new()) })
        && text.ends_with(|unit: char| unit.is_ascii_alphabetic())
    {
        return Ok(Timestamp::now().as_microsecond().saturating_sub(ago_us));
    }
    let at = |time: civil::DateTime| time.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp());
    let is_day = text.len() == "2026-11-21".len();
    let found = match text.parse::<Timestamp>() {
        Ok(time) => Ok(time),
        Err(_) if is_day => text.parse::<civil::Date>().and_then(|day| at(day.at(0, 0, 0, 0))),
        Err(_) => text.parse::<civil::DateTime>().and_then(at),
    };
    let expected = "expected a day, a time or how long ago, e.g. 2026-11-21, 2026-11-21T10:00Z, 30d";
    found.map(Timestamp::as_microsecond).map_err(|_| expected.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{bytes, duration_us, instant_us, period_us};

    #[test]
    fn instants() {
        let day_us = 1_795_219_200_000_000;
        for (text, expected_s) in [
            ("2026-11-21", 0),
            ("2026-11-21T10:00", 36_000),
            ("2026-11-21 10:00:01", 36_001),
            ("2026-11-21T10:00:00Z", 36_000),
            ("2026-11-21T10:00+01:00", 32_400),
        ] {
            assert_eq!(instant_us(text), Ok(day_us + expected_s * 1_000_000), "{text}");
        }
        let now_us = jiff::Timestamp::now().as_microsecond();
        let ago_us = now_us - instant_us("30d").expect("a time");
        assert!((ago_us - 30 * 86_400_000_000).abs() < 60_000_000, "{ago_us}");
        for text in ["", "2026", "30", "2026-13-01", "0d", "yesterday", "2026-11-21T25:00"] {
            assert!(instant_us(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations() {
        assert_eq!(period_us("1ms"), Ok(1_000));
        assert!(period_us("0s").is_err());
        for (text, expected) in [("60s", 60_000_000), ("60", 60_000_000), ("5ms", 5_000), ("2m", 120_000_000)]
        {
            assert_eq!(duration_us(text), Ok(expected), "{text}");
        }
        for text in ["", "s", "-1s", "1x", "99999999999999999999s", "9223372036854775807d"] {
            assert!(duration_us(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes() {
        for (text, expected) in [("512MB", 512_000_000), ("1GiB", 1 << 30), ("64m", 64 << 20), ("1000", 1000)]
        {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "MB", "-1MB", "1x", "0", "99999999999999999999", "18446744073709551615GiB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
