//! What comes while a request waits.

use super::*;

/// Who asks waits for the answers, which name nothing, and to which no pair leads.
const ASKING: &str = "
    point asks
    point told
    point p
    top ask RpcHandler
      >asks told
      told<
    top respond EventHandler
      >p
";

/// Twelve times somebody asks at second 0 of a minute and is told after `wait_s`, once or in
/// two threads at once, and an answer comes a second after that; the first `n_alone` answers
/// come half a minute later, when nobody waits.
fn asking(n_askers: usize, wait_s: usize, n_alone: usize) -> String {
    let ask = |i: usize| {
        let t = i * 60;
        let askers: String =
            (0..n_askers).map(|n| format!("a w{n} ask asks@{t}.{n} told@{}.{n}\n", t + wait_s)).collect();
        let answer = if i < n_alone { t + 30 } else { t + 1 };
        format!("{askers}a r1 respond p@{answer}.5\n")
    };
    (0..12).map(ask).collect()
}

fn apart(n_per_round: usize) -> String {
    (1..=12 * n_per_round).map(|span| format!("{span}\n")).collect()
}

#[test]
fn what_always_comes_while_one_request_waits_is_of_that() {
    let whole: String = (0..12).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect();
    check(ASKING, &asking(1, 2, 0), &whole);
    // Without threads as well.
    check(ASKING, &asking(1, 2, 0).replace(" w0 ", " - ").replace(" r1 ", " - "), &whole);
}

#[test]
fn what_comes_while_two_wait_is_of_neither() {
    check(ASKING, &asking(2, 2, 0), &apart(3));
}

#[test]
fn what_often_comes_while_nobody_waits_begins_by_itself() {
    check(ASKING, &asking(1, 2, 2), &apart(2));
}

#[test]
fn who_waits_nearly_all_the_time_has_caused_nothing_that_time_could_tell() {
    check(ASKING, &asking(1, 57, 0), &apart(2));
}

#[test]
fn few_requests_that_wait_are_chance() {
    let text: String = asking(1, 2, 0).lines().take(6).map(|line| format!("{line}\n")).collect();
    check(ASKING, &text, &(1..=6).map(|span| format!("{span}\n")).collect::<String>());
}

/// All answers come while three requests wait: that they are caused by those is no more
/// likely than that they come in bursts.
#[test]
fn many_answers_to_one_request_count_as_one() {
    let burst = |i: usize| {
        let t = i * 60;
        let answers: String = (1..5).map(|n| format!("a r{n} respond p@{t}.{n}\n")).collect();
        format!("a w ask asks@{t}.0 told@{}.0\n{answers}", t + 2)
    };
    let text: String = (0..3).map(burst).collect();
    check(ASKING, &text, &(1..=15).map(|span| format!("{span}\n")).collect::<String>());
}

#[test]
fn what_names_another_thing_is_not_of_who_waits() {
    let model = ASKING
        .replace("top ask RpcHandler", "top ask RpcHandler job=Job.id")
        .replace("top respond EventHandler", "top respond EventHandler job=Job.id");
    let rounds = asking(1, 2, 0);
    let named = |job: &dyn Fn(usize) -> usize| -> String {
        let line = |(n, line): (usize, &str)| {
            let top = if n % 2 == 0 { "ask" } else { "respond" };
            line.replace(&format!(" {top} "), &format!(" {top} job=30f0{:04} ", job(n))) + "\n"
        };
        rounds.lines().enumerate().map(line).collect()
    };
    check(&model, &named(&|n| n), &apart(2));
}

/// Methods that print what anybody prints: more than say anything of a span.
const N_ANYBODY: usize = 9;

/// Who asks waits for what a utility prints meanwhile, that `n_tops` methods call.
fn with_anybody(n_tops: usize) -> (String, String) {
    let tops = (0..n_tops).map(|n| format!("top any{n} Task\n>first< other\n>other< first\n"));
    let model = format!(
        "point p\npoint asks\npoint told\npoint first\npoint other\ntop ask RpcHandler\n>asks told\ntold<\n{}",
        tops.collect::<String>()
    );
    let names: Vec<String> = (0..n_tops).map(|n| format!("any{n}")).collect();
    (model, names.join("|"))
}

/// `N_KIND` + `N_KIND` times somebody asks, and what `who` can be prints meanwhile: at first
/// `lines[0]`, then `lines[1]`.
fn printing(who: &str, lines: [&[&str]; 2]) -> String {
    let round = |i: usize| {
        let t = i * 60;
        let points = lines[i / N_KIND].iter().enumerate();
        let printed: String = points.map(|(n, point)| format!(" {point}@{}.{}", t + 1, 5 + n)).collect();
        format!("a w ask asks@{t}.0 told@{}.0\na r {who}{printed}\n", t + 2)
    };
    (0..2 * N_KIND).map(round).collect()
}

/// Too few to learn from, unless there are others of their kind.
const N_KIND: usize = 5;

#[test]
fn lines_that_anybody_prints_and_that_follow_each_other_are_of_one_kind() {
    let (model, who) = with_anybody(N_ANYBODY);
    let whole: String = (0..2 * N_KIND).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect();
    check(&model, &printing(&who, [&["first", "other"], &["other", "first"]]), &whole);
    let alone: String = (1..=4 * N_KIND).map(|span| format!("{span}\n")).collect();
    // They never stand together, or one of them never comes first.
    check(&model, &printing(&who, [&["first"], &["other"]]), &alone);
    check(&model, &printing(&who, [&["first", "other"], &["other"]]), &alone);
    // What a few methods print, each begins with what it begins with.
    let (model, who) = with_anybody(2);
    check(&model, &printing(&who, [&["first", "other"], &["other", "first"]]), &alone);
}

#[test]
fn what_is_received_from_afar_is_of_who_waits_on_another_node() {
    let whole: String = (0..12).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect();
    let afar = asking(1, 2, 0).replace("a r1 ", "b r1 ");
    // Nobody hands anything to it that comes from another node.
    check(ASKING, &afar, &apart(2));
    let with = |text: &str| format!("{ASKING}\n top send Task\n >p\n top give Task\n >p\n{text}");
    check(&with("pair send respond Rpc"), &afar, &whole);
    check(&with("pair send respond Queue"), &afar, &apart(2));
    // It is called by what calls what else is received.
    let called = "top other EventHandler\n>p\npair give respond Call\npair give other Call\n";
    check(&with(&format!("{called}pair send other Rpc")), &afar, &whole);
    check(&with(&format!("{called}pair send other Queue")), &afar, &apart(2));
    // It is handed on by what is received.
    let handed_on = "top other EventHandler\n>p\npair other respond Queue\n";
    check(&with(&format!("{handed_on}pair send other Rpc")), &afar, &whole);
    check(&with(handed_on), &afar, &apart(2));
}

#[test]
fn what_anybody_prints_directly_after_a_request_is_of_that() {
    let after = |who: &str, after: &str| -> String {
        let round =
            |i: usize| format!("a w ask asks@{0}.0 told@{0}.5\na r {who} first@{0}.{after}\n", i * 60);
        (0..12).map(round).collect()
    };
    let whole: String = (0..12).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 1, 2 * i + 2)).collect();
    let (model, who) = with_anybody(N_ANYBODY);
    check(&model, &after(&who, "503"), &whole);
    // It is not as soon as that, or begins something by itself.
    check(&model, &after(&who, "513"), &apart(2));
    let (model, who) = with_anybody(2);
    check(&model, &after(&who, "503"), &apart(2));
}
