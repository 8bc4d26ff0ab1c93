//! What several report of one thing at once, and what only looks like it.

use super::*;

const REPORTS: &str = "
    point p
    top hear EventHandler thing=Thing.name place=Place.address
      >p
";

/// Sixteen things, each reported by two places, so many seconds apart.
fn reports(place: impl Fn(usize) -> usize, apart: f64) -> String {
    let thing = |i: usize| {
        let first = 100.0 * (i + 1) as f64;
        let second = first + apart;
        let [a, b] = [place(0), place(1)];
        format!(
            "a t hear thing=thing-{i:02} place=10.0.0.{a}:80 {first}-{first}\n\
             a t hear thing=thing-{i:02} place=10.0.0.{b}:80 {second}-{second}\n"
        )
    };
    (0..16).map(thing).collect()
}

fn lone(n: usize) -> String {
    (1..=n).map(|i| format!("{i}\n")).collect()
}

#[test]
fn what_several_places_report_of_one_thing_at_once_was_asked_of_them() {
    let pairs: String = (0..16).map(|i| format!("{a} {b} {a}>{b}\n", a = 2 * i + 1, b = 2 * i + 2)).collect();
    check(REPORTS, &reports(|i| i, 0.1), &pairs);
    // Too few to learn from.
    let few: String = reports(|i| i, 0.1).lines().take(30).map(|line| format!("{line}\n")).collect();
    check(REPORTS, &few, &lone(30));
}

#[test]
fn what_one_place_reports_twice_or_others_later_was_asked_by_several() {
    check(REPORTS, &reports(|_| 1, 0.1), &lone(32));
    check(REPORTS, &reports(|i| i, 2.0), &lone(32));
}

#[test]
fn what_mostly_comes_at_any_time_is_no_answer() {
    let later = |i: usize| {
        let (first, second) = (9000 + 9 * i, 9005 + 9 * i);
        format!(
            "a t hear thing=other-{i:02} place=10.0.0.1:80 {first}-{first}\n\
             a t hear thing=other-{i:02} place=10.0.0.2:80 {second}-{second}\n"
        )
    };
    let later: String = (0..2).map(later).collect();
    check(REPORTS, &(reports(|i| i, 0.1) + &later), &lone(36));
}
