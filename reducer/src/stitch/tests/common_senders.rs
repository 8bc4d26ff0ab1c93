//! Tasks of one sender.

use super::*;

/// A flush names a table; what it starts names how far it got, and its file or the
/// table's id.
const FLUSHES: &str = "
    point p
    top flush Task table=Table.name
      >p
    top write Task table=Table.name file=File.path at=Position
      >p
    top clean Task id=Table.id at=Position
      >p
    pair flush write Thread table=table
    pair flush clean Thread many
";

#[test]
fn what_names_the_same_as_a_task_has_its_sender() {
    let (a, b) = ("7ad54392-bcdd-35a6-8417-4e047860b377", "45f5b360-24bc-3f83-a363-1034ea4fa697");
    let flushes = |at: &str, other: &str| {
        format!(
            "a t1 flush table=peers0 1.000-1.000
             a t2 flush table=hints0 1.001-1.001
             a w1 write table=peers0 file=/data/peers0-{0}/1 at={at} 1.002-1.010
             a w2 write table=hints0 file=/data/hints0-{1}/1 at={other} 1.003-1.010
             a c1 clean id={a} at={at} 1.011-1.011
             a c1 clean id={b} at={other} 1.012-1.012",
            a.replace('-', ""),
            b.replace('-', "")
        )
    };
    let joined = "1 3 5 1>3 1>5\n2 4 6 2>4 2>6";
    check(FLUSHES, &flushes("105174", "105180"), joined);
    // What both have got to is one place, but a UUID is the same one without its dashes.
    check(FLUSHES, &flushes("105174", "105174"), joined);
    // A name that was there before is no sign.
    let known = format!("a c9 clean id={a} at=105174 0.1-0.1\na c9 clean id={b} at=105180 0.2-0.2\n");
    let late = flushes("105174", "105180").replace(" 1.0", " 9.0").replace("-1.0", "-9.0");
    check(FLUSHES, &format!("{known}{late}"), "1\n2\n3 5 3>5\n4 6 4>6\n7\n8");
}
