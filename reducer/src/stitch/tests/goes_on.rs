//! What a thread goes on with when it has printed what everybody prints.

use super::*;

/// Nine methods can print `p`; the last of them goes on with `q`, which another one prints, too.
fn everybodys() -> (String, String) {
    let mut model = "point p\npoint q\n".to_owned();
    (0..8).for_each(|n| model += &format!("top utility{n} Task\n>p\n"));
    model += "top work Task\n>p q\nq\ntop other Task\n>q\n";
    let tops: Vec<String> = (0..8).map(|n| format!("utility{n}")).collect();
    (model, tops.join("|") + "|work")
}

/// `n` lines that everybody can have printed, each of a thread of the pool, and ten seconds
/// from any other, followed by a span of `next` after `gap` seconds in all but the last
/// `n_alone`.
fn lines(n: usize, n_alone: usize, next: &str, gap: f64) -> String {
    let (_, tops) = everybodys();
    let line = |i: usize| {
        let (t, start) = (i % 3, i * 10);
        let begin = format!("a pool-{t} {tops} p@{start}.0\n");
        let goes_on = format!("a pool-{t} {next} q@{}\n", start as f64 + gap);
        if i + n_alone < n { begin + &goes_on } else { begin }
    };
    (0..n).map(line).collect()
}

/// Of `n` such lines, the requests: all together with what follows, or all apart.
fn requests(n: usize, n_alone: usize, is_joined: bool) -> String {
    let n_followed = n - n_alone;
    let followed = |i: usize| match is_joined {
        true => format!("{0} {1} {1}>{0}\n", 2 * i + 1, 2 * i + 2),
        false => format!("{0}\n{1}\n", 2 * i + 1, 2 * i + 2),
    };
    let alone = (0..n_alone).map(|i| format!("{}\n", 2 * n_followed + i + 1));
    (0..n_followed).map(followed).chain(alone).collect()
}

#[test]
fn what_everybody_prints_is_of_what_its_thread_goes_on_with() {
    let (model, _) = everybodys();
    check(&model, &lines(8, 0, "work", 0.05), &requests(8, 0, true));
    // Too few to learn from.
    check(&model, &lines(7, 0, "work", 0.05), &requests(7, 0, false));
    // Too late to be the same piece of work.
    check(&model, &lines(8, 0, "work", 0.2), &requests(8, 0, false));
    // With fewer methods, the line says what it is of.
    let few = lines(8, 0, "work", 0.05).replace("utility0|", "");
    check(&model, &few, &requests(8, 0, false));
}

#[test]
fn what_everybody_prints_stands_alone_where_more_than_one_in_eight_does() {
    let (model, _) = everybodys();
    check(&model, &lines(16, 2, "work", 0.05), &requests(16, 2, true));
    check(&model, &lines(16, 3, "work", 0.05), &requests(16, 3, false));
    // What the threads of one name do says nothing of those of another, later.
    let later = lines(16, 3, "work", 0.05).replace('@', "@9").replace("pool-", "worker-");
    let number = |line: &str| format!("{}\n", line.parse::<usize>().expect("a span") + 16);
    let apart: String = requests(16, 3, false).lines().map(number).collect();
    check(&model, &(lines(8, 0, "work", 0.05) + &later), &(requests(8, 0, true) + &apart));
}

#[test]
fn what_everybody_prints_is_not_of_a_method_that_cannot_print_it() {
    let (model, _) = everybodys();
    check(&model, &lines(8, 0, "other", 0.05), &requests(8, 0, false));
}

#[test]
fn what_everybody_prints_stands_alone_where_anything_else_would_be_followed_as_well() {
    let (model, _) = everybodys();
    // The thread works all the time: whatever it prints is followed by something.
    let busy = |i: usize| format!("a pool-{} work q@{}.{:02}\n", i / 200 % 3, i / 20, i % 20 * 5 + 1);
    let busy: String = (0..1600).map(busy).collect();
    let (_, tops) = everybodys();
    let text: String = (0..8).map(|i| format!("a pool-{} {tops} p@{}.0\n", i % 3, 10 * i + 5)).collect();
    let model = sketch::model(&model);
    let spans = spans(&model, &(text + &busy));
    let made = reduce(&model, outputs(&spans, |_, _| 0), &Config::default());
    assert!(made.iter().all(|request| request.links.is_empty()));
}
