//! What is stamped with the time.

use super::*;

/// Who asks prints no stamp, and who answers knows of nobody.
const STAMPS: &str = "
    point p
    point q
    top ask RpcHandler
      >p
    top apply Task
      >q
";

/// Ten times a second somebody asks on one node, and two others apply what was stamped
/// then, with a stamp that is `late` ms later and an `old` one of somebody else's; in the
/// last three rounds somebody else asks at the same time.
fn rounds(late: u64, old: &str) -> String {
    let round = |i: u64| {
        let (second, ms) = (1_000_000_000 + i * 3, (1_000_000_000 + i * 3) * 1000 + late);
        let other = if i < 17 { String::new() } else { format!("b t0 ask p@{second}.001\n") };
        format!(
            "a t1 ask p@{second}.000 p@{second}.400
             b t2 apply q@{second}.100#c:{ms}{old}
             c t3 apply q@{second}.200#c:{ms}\n{other}"
        )
    };
    (0..20).map(round).collect()
}

/// The requests of `n` rounds in which one asks, and of those in which two do.
fn joined(n: usize, is_joined: bool) -> String {
    let one = |i: usize| {
        let (a, b, c) = (3 * i + 1, 3 * i + 2, 3 * i + 3);
        if is_joined { format!("{a} {b} {c} {a}>{b} {a}>{c}\n") } else { format!("{a}\n{b}\n{c}\n") }
    };
    let first: String = (0..n).map(one).collect();
    let two = |i: usize| {
        let a = 3 * n + 4 * i + 1;
        format!("{a}\n{}\n{}\n{}\n", a + 3, a + 1, a + 2)
    };
    first + &(0..20 - n).map(two).collect::<String>()
}

#[test]
fn what_was_stamped_as_one_request_began_is_of_it() {
    check(STAMPS, &rounds(1, ""), &joined(17, true));
    // What was made before is somebody else's.
    check(STAMPS, &rounds(1, "/1000000000001"), &joined(17, true));
    // Nobody begins when the stamps are made.
    check(STAMPS, &rounds(90, ""), &joined(17, false));
}

#[test]
fn what_shows_two_new_stamps_is_of_several() {
    let text = rounds(1, "").replace("#c:1000000030001\n", "#c:1000000030001/1000000030090\n");
    let expected = joined(17, true).replace("31 32 33 31>32 31>33\n", "31\n32\n33\n");
    assert_ne!(expected, joined(17, true), "two spans show another stamp");
    check(STAMPS, &text, &expected);
}

/// What `rounds` asks, with the digests that the two who ask name.
fn named_rounds(first: &str, second: &str, begun_s: &str) -> String {
    let text = rounds(1, "");
    let lines = text.lines().map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        ["a", _, _, first_at, end_at] => {
            let (begun, late) = first_at.split_once('.').expect("a time");
            let round: u64 = begun[2..].parse().expect("seconds");
            let begun_at = if round == 1_000_000_000 + 3 * 19 {
                format!("p@{}.{begun_s}", round - 1)
            } else {
                format!("{begun}.{late}")
            };
            format!("a t1 ask {begun_at}#{first} {end_at}\n")
        }
        ["b", "t0", ..] => format!("{}#{second}\n", line.trim()),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn of_several_who_begin_as_a_stamp_is_made_who_names_what_makers_do_has_made_it() {
    let (write, read) = ("f333f317a431f6eaa196cd621a254448", "bdd66b345f7a1561f360086e406fe37a");
    let two = |is_joined: bool| {
        let one =
            |i: usize| format!("{a} {b} {c} {a}>{b} {a}>{c}\n", a = 3 * i + 1, b = 3 * i + 2, c = 3 * i + 3);
        let first: String = (0..17).map(one).collect();
        let last = |i: usize| {
            let a = 52 + 4 * i;
            let (b, c, other) = (a + 1, a + 2, a + 3);
            if is_joined {
                format!("{a} {b} {c} {a}>{b} {a}>{c}\n{other}\n")
            } else {
                format!("{a}\n{other}\n{b}\n{c}\n")
            }
        };
        first + &(0..3).map(last).collect::<String>()
    };
    check(STAMPS, &named_rounds(write, read, "999"), &two(true));
    // Both say the same.
    check(STAMPS, &named_rounds(write, write, "999"), &two(false));
    // It has begun before, and is still at work; the other one does something else.
    check(STAMPS, &named_rounds(write, read, "990"), &two(true));
}
