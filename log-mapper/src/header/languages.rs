//! Languages: names of months, halves of days and levels that a Java machine prints where another
//! language than English is set. Upper and lower case count as equal in ASCII.

use schema::Level;

/// The start of a month's name, long enough to tell it from the others, and its number. A name
/// goes on with letters, and a point that shortens it.
const MONTHS: &[(&str, u8)] = &[
    ("jan", 1),
    ("feb", 2),
    ("mar", 3),
    ("apr", 4),
    ("may", 5),
    ("jun", 6),
    ("jul", 7),
    ("aug", 8),
    ("sep", 9),
    ("oct", 10),
    ("nov", 11),
    ("dec", 12),
    // German
    ("m\u{e4}r", 3),
    ("mrz", 3),
    ("mai", 5),
    ("okt", 10),
    ("dez", 12),
    // French
    ("f\u{e9}v", 2),
    ("avr", 4),
    ("juin", 6),
    ("juil", 7),
    ("ao\u{fb}", 8),
    ("d\u{e9}c", 12),
    // Spanish, Portuguese, Italian
    ("ene", 1),
    ("gen", 1),
    ("fev", 2),
    ("abr", 4),
    ("mag", 5),
    ("giu", 6),
    ("lug", 7),
    ("ago", 8),
    ("set", 9),
    ("out", 10),
    ("ott", 10),
    ("dic", 12),
    // Dutch, Swedish
    ("mrt", 3),
    ("mei", 5),
    ("maj", 5),
    // Russian
    ("\u{44f}\u{43d}\u{432}", 1),
    ("\u{444}\u{435}\u{432}", 2),
    ("\u{43c}\u{430}\u{440}", 3),
    ("\u{430}\u{43f}\u{440}", 4),
    ("\u{43c}\u{430}\u{439}", 5),
    ("\u{43c}\u{430}\u{44f}", 5),
    ("\u{438}\u{44e}\u{43d}", 6),
    ("\u{438}\u{44e}\u{43b}", 7),
    ("\u{430}\u{432}\u{433}", 8),
    ("\u{441}\u{435}\u{43d}", 9),
    ("\u{43e}\u{43a}\u{442}", 10),
    ("\u{43d}\u{43e}\u{44f}", 11),
    ("\u{434}\u{435}\u{43a}", 12),
    // Chinese, in words
    ("\u{5341}\u{4e8c}\u{6708}", 12),
    ("\u{5341}\u{4e00}\u{6708}", 11),
    ("\u{5341}\u{6708}", 10),
    ("\u{4e00}\u{6708}", 1),
    ("\u{4e8c}\u{6708}", 2),
    ("\u{4e09}\u{6708}", 3),
    ("\u{56db}\u{6708}", 4),
    ("\u{4e94}\u{6708}", 5),
    ("\u{516d}\u{6708}", 6),
    ("\u{4e03}\u{6708}", 7),
    ("\u{516b}\u{6708}", 8),
    ("\u{4e5d}\u{6708}", 9),
];

/// Behind the number of a month in Chinese, Japanese and Korean.
const MONTH_SIGNS: &[&str] = &["\u{6708}", "\u{c6d4}"];

/// Halves of the day, and whether it is the second.
const HALF_DAYS: &[(&str, bool)] = &[
    ("am", false),
    ("pm", true),
    ("a.m.", false),
    ("p.m.", true),
    ("a. m.", false),
    ("p. m.", true),
    ("a.\u{a0}m.", false),
    ("p.\u{a0}m.", true),
    ("\u{4e0a}\u{5348}", false),
    ("\u{4e0b}\u{5348}", true),
    ("\u{5348}\u{524d}", false),
    ("\u{5348}\u{5f8c}", true),
    ("\u{c624}\u{c804}", false),
    ("\u{c624}\u{d6c4}", true),
];

/// Names of the levels of `java.util.logging`.
const LEVELS: &[(Level, &[&str])] = &[
    (
        Level::Error,
        &[
            "schwerwiegend",
            "grave",
            "allvarlig",
            "\u{4e25}\u{91cd}",
            "\u{56b4}\u{91cd}",
            "\u{91cd}\u{5927}",
            "\u{81f4}\u{547d}\u{7684}",
            "\u{c2ec}\u{ac01}",
        ],
    ),
    (
        Level::Warn,
        &[
            "warnung",
            "avertissement",
            "advertencia",
            "avvertenza",
            "advert\u{ea}ncia",
            "ADVERT\u{ca}NCIA",
            "varning",
            "\u{8b66}\u{544a}",
            "\u{acbd}\u{ace0}",
        ],
    ),
    (
        Level::Info,
        &[
            "information",
            "infos",
            "informaci\u{f3}n",
            "INFORMACI\u{d3}N",
            "informazioni",
            "informa\u{e7}\u{f5}es",
            "INFORMA\u{c7}\u{d5}ES",
            "konfiguration",
            "\u{4fe1}\u{606f}",
            "\u{8cc7}\u{8a0a}",
            "\u{60c5}\u{5831}",
            "\u{c815}\u{bcf4}",
            "\u{914d}\u{7f6e}",
        ],
    ),
    (Level::Debug, &["fein", "pr\u{e9}cis", "\u{8be6}\u{7ec6}", "\u{8a73}\u{7d30}", "\u{c0c1}\u{c138}"]),
];

/// The name of a month at the start of `text`: its length, and which month it is.
pub(super) fn month(text: &[u8]) -> Option<(usize, u8)> {
    let n_digits = text.iter().take(2).take_while(|b| b.is_ascii_digit()).count();
    if n_digits > 0 {
        let sign = MONTH_SIGNS.iter().find(|sign| text[n_digits..].starts_with(sign.as_bytes()))?;
        let month = text[..n_digits].iter().fold(0, |n, b| n * 10 + (b - b'0'));
        return (1..=12).contains(&month).then_some((n_digits + sign.len(), month));
    }
    let (_, month) = MONTHS.iter().find(|(name, _)| begins(text, name))?;
    let n = text.iter().take_while(|b| b.is_ascii_alphabetic() || **b >= 0x80).count();
    // A point belongs to what it shortens, unless the pattern has one there.
    let point = text.get(n..n + 2).is_some_and(|next| next[0] == b'.' && !next[1].is_ascii_digit());
    Some((n + usize::from(point), *month))
}

/// Half of a day at the start of `text`: its length, and whether it is the second.
pub(super) fn half_day(text: &[u8]) -> Option<(usize, bool)> {
    HALF_DAYS.iter().find(|(name, _)| begins(text, name)).map(|(name, second)| (name.len(), *second))
}

/// The level of a name that is not English.
pub(super) fn level(name: &[u8]) -> Option<Level> {
    let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    LEVELS.iter().find(|(_, names)| names.iter().any(|known| is(known))).map(|(level, _)| *level)
}

fn begins(text: &[u8], name: &str) -> bool {
    text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_months() {
        for (text, expected) in [
            ("Mar 29", Some((3, 3))),
            ("M\u{e4}rz 29", Some((5, 3))),
            ("f\u{e9}vr. 29", Some((6, 2))),
            ("3\u{6708}-2025", Some((4, 3))),
            ("12\u{6708}-2025", Some((5, 12))),
            ("13\u{6708}-2025", None),
            ("\u{5341}\u{4e8c}\u{6708} 01", Some((9, 12))),
            ("sept. 01", Some((5, 9))),
            ("29 x", None),
        ] {
            assert_eq!(month(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn halves_of_days_and_levels() {
        assert_eq!(half_day("PM x".as_bytes()), Some((2, true)));
        assert_eq!(half_day("\u{4e0a}\u{5348}".as_bytes()), Some((6, false)));
        assert_eq!(half_day(b"x"), None);
        assert_eq!(level("SCHWERWIEGEND".as_bytes()), Some(Level::Error));
        assert_eq!(level("\u{8b66}\u{544a}".as_bytes()), Some(Level::Warn));
        assert_eq!(level(b"INFO"), None);
    }
}
