//! What is done on behalf of whoever is at work on a thing.

use super::*;

/// A program works on files; those that keep them know nothing of it.
const FILES: &str = "
    point p
    top work Task file=File.uri?
      >p
    top make RpcHandler path=Inode.path block=Block.id
      >p
    top store RpcHandler block=Replica.id
      >p
";

/// The digest that names a file.
fn digest(i: usize) -> String {
    format!("{i:031x}f").replacen("00", "ab", 1)
}

/// Whoever works on a file on node `node`, in a thread or in none.
fn worker(i: usize, (node, thread): (&str, &str), at: &str) -> String {
    let (t, name) = (i * 100, digest(i));
    let (start, end) = at.split_once('-').expect("two times");
    format!("{node} {thread} work file=hdfs://n:9000/dir{i}/{name} {t}.{start}-{t}.{end}\n")
}

/// What is made at `made` and stored at `stored`, in parts of the `i`-th time.
fn kept(i: usize, made: &str, stored: &str) -> String {
    let (t, name) = (i * 100, digest(i));
    format!(
        "n - make path=/dir{i}/{name} block=1000{i:04} {t}.{made}-{t}.{made}
         d - store block=1000{i:04} {t}.{stored}-{t}.{stored}\n"
    )
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

#[test]
fn what_is_done_to_a_thing_is_of_who_is_at_work_on_it() {
    let text = lines(8, |i| worker(i, ("a", "t"), "1-9") + &kept(i, "3", "5"));
    let whole = |i: usize| format!("{a} {b} {c} {a}>{b} {a}>{c}\n", a = i + 1, b = i + 2, c = i + 3);
    check(FILES, &text, &lines(8, |i| whole(3 * i)));
}

/// Every span by itself.
fn alone(n: usize) -> String {
    lines(n, |i| format!("{}\n", i + 1))
}

#[test]
fn who_is_not_at_work_elsewhere_has_nothing_done_for_it() {
    for (at, who) in [("1-2", ("a", "t")), ("6-9", ("a", "t")), ("1-9", ("a", "-"))] {
        let early = |i: usize| worker(i, who, at) + &kept(i, "3", "5");
        let late = |i: usize| kept(i, "3", "5") + &worker(i, who, at);
        check(FILES, &lines(8, |i| if at.starts_with('6') { late(i) } else { early(i) }), &alone(24));
    }
}

#[test]
fn of_two_at_work_on_a_thing_none_is_known_to_have_asked_for_it() {
    let both = |i: usize| worker(i, ("a", "t"), "1-9") + &worker(i, ("b", "t"), "2-9");
    check(FILES, &lines(8, |i| both(i) + &kept(i, "3", "5")), &alone(32));
}

#[test]
fn what_is_done_for_hardly_any_of_its_like_was_asked_for_by_somebody_else() {
    let some =
        |i: usize| worker(i, ("a", "t"), "1-9") + &if i < 8 { kept(i, "3", "5") } else { String::new() };
    check(FILES, &lines(80, some), &alone(96));
}

#[test]
fn where_the_same_is_done_for_nobody_known_just_then_others_are_at_it() {
    let text = lines(8, |i| {
        let t = i * 100;
        let again = format!("d - store block=1000{i:04} {t}.91-{t}.91\n");
        worker(i, ("a", "t"), "1-9") + &kept(i, "3", "895") + &again
    });
    let made = |i: usize| format!("{} {} {0}>{1}\n{}\n{}\n", i + 1, i + 2, i + 3, i + 4);
    check(FILES, &text, &lines(8, |i| made(4 * i)));
}
