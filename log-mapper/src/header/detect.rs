//! Detection: which layout the first records of a file are in.

use std::sync::{Arc, LazyLock};

use super::Layout;
use super::layouts::{ARRANGEMENTS, DATES, UNDATED};

/// All common layouts, those that say more first.
static COMMON: LazyLock<Vec<Arc<Layout>>> = LazyLock::new(|| {
    let dated = ARRANGEMENTS.iter().flat_map(|a| DATES.iter().map(move |d| a.replace("%d", d)));
    let all = dated.chain(UNDATED.iter().map(|l| (*l).to_owned()));
    all.map(|p| Arc::new(Layout::compile(&p).expect("a tested table"))).collect()
});

/// Lines of the sample that are looked at: a layout shows itself at once.
const N_LINES_MAX: usize = 400;

/// The layout that reads `sample`, the start of a file, best: of those that
/// find nearly as many headers as any, the one that says most. Looks at
/// `given` if there are any, otherwise at the common layouts.
#[must_use]
pub fn detect(sample: &[u8], given: &[Arc<Layout>]) -> Option<Arc<Layout>> {
    let layouts = if given.is_empty() { &COMMON[..] } else { given };
    let lines: Vec<&[u8]> =
        sample.split(|b| *b == b'\n').filter(|l| !l.is_empty()).take(N_LINES_MAX).collect();
    let count = |layout: &Arc<Layout>| lines.iter().filter(|line| fits(layout, line)).count();
    let counts: Vec<usize> = layouts.iter().map(count).collect();
    let most = counts.iter().copied().max().filter(|n| *n > 0)?;
    // A line of a message can look like the header of a layout that asks little.
    let enough = most - most / 10;
    let best = (0..layouts.len())
        .filter(|i| counts[*i] >= enough)
        .max_by_key(|i| (layouts[*i].n_fields(), counts[*i], std::cmp::Reverse(*i)))?;
    Some(Arc::clone(&layouts[best]))
}

/// Whether `line` is a whole one-line record of the layout. A layout that
/// prints something after the message does not fit a line without it, though
/// that can be the first of a longer message. No logger's name ends with a
/// colon: that is of a layout which prints one there, and what follows in
/// brackets is how the message begins and no thread.
fn fits(layout: &Layout, line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    layout.scan(line).is_some_and(|mut header| {
        let body = &line[header.message_start..];
        !header.logger.is_some_and(|name| name.ends_with(b":"))
            && layout.scan_suffix(body, &mut header).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sample: &str, expected: &str) {
        let found = detect(sample.as_bytes(), &[]);
        assert_eq!(found.as_ref().map_or("none", |l| l.pattern()), expected, "{sample}");
    }

    #[test]
    fn common_layouts() {
        check("2026-11-21 01:28:30,199 INFO a.b.C: x\n/***\n", "%d{ISO8601} %p %c: %m%n");
        check("2026-11-21 01:28:30,199 INFO  [main] b.C: x\n", "%d{ISO8601} %-5p [%t] %c: %m%n");
        check(
            "2026-11-21 01:28:30,199 ERROR [main] b.C: x\n2026-11-21 01:28:30,199 INFO [main] b.C: x\n",
            "%d{ISO8601} %p [%t] %c: %m%n",
        );
        check(
            "INFO  [main] 2026-11-21 10:23:21,405 A.java:102 - H: n\n",
            "%-5p [%t] %d{ISO8601} %F:%L - %m%n",
        );
        check(
            "2026-11-21 09:40:31,876 [myid:] - INFO  [main:Q@101] - x\n",
            "%d{ISO8601} [myid:%X{myid}] - %-5p [%t:%C{1}@%L] - %m%n",
        );
        check("2026-11-21 01:28:30,199 INFO a.b.C: [Part 3] x\n", "%d{ISO8601} %p %c: %m%n");
        check("2026-11-21 01:28:30,199 INFO a.b.C [Part 3] x\n", "%d{ISO8601} %p %c [%t] %m%n");
        check("26/11/21 09:40:31 INFO A: x\n", "%d{yy/MM/dd HH:mm:ss} %p %c: %m%n");
        check("[2026-11-21 09:40:31,876] INFO x y (k.S)\n", "[%d{ISO8601}] %p %m (%c)%n");
        check("09:40:31.876 [main] INFO  a.b.C - x\n", "%d{HH:mm:ss.SSS} [%t] %-5p %c - %m%n");
        check("hello\nworld\n", "none");
    }
}
