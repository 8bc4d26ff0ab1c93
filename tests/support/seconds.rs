//! Logs in seconds: what a layout with fractions of seconds has printed, as one without prints it
//! (`%d{yyyy-MM-dd HH:mm:ss}`), which is what Spark's and many a service's own configuration does.

/// Where the fraction of `2026-11-27 14:41:58,123` begins, and where it ends.
const FRACTION: std::ops::Range<usize> = 19..23;

/// The log without fractions of seconds in the times of its records.
pub(crate) fn in_seconds(log: &str) -> String {
    let mut cut = String::with_capacity(log.len());
    for line in log.split_inclusive('\n') {
        match line.get(..FRACTION.end).filter(|begin| is_time(begin.as_bytes())) {
            Some(begin) => {
                cut += &begin[..FRACTION.start];
                cut += &line[FRACTION.end..];
            }
            None => cut += line,
        }
    }
    cut
}

/// Whether a text is a time with milliseconds.
fn is_time(text: &[u8]) -> bool {
    let fits = |(at, byte): (usize, &u8)| match at {
        4 | 7 => *byte == b'-',
        10 => matches!(byte, b' ' | b'T'),
        13 | 16 => *byte == b':',
        19 => matches!(byte, b',' | b'.'),
        _ => byte.is_ascii_digit(),
    };
    text.iter().enumerate().all(fits)
}
