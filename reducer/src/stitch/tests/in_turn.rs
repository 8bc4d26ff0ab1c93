//! Turns and numbers: who takes part in rounds, what is counted anew within each
//! thing, which names come back.

use super::*;

/// `text` for each of `numbers`, with `{i}` the number in two digits and `{t}` a time
/// of its own, ten seconds after the one before.
fn each(numbers: std::ops::Range<usize>, text: &str) -> String {
    let one = |i: usize| text.replace("{i}", &format!("{i:02}")).replace("{t}", &(10 * i).to_string());
    numbers.map(one).collect()
}

/// `lines` of numbers with `{n}` for the first of each group of `size`, `{n+1}` for the
/// second and so on, for `n` groups.
fn groups(n: usize, size: usize, lines: &str) -> String {
    let group = |i: usize| {
        (0..size).fold(lines.to_owned(), |text, k| {
            text.replace(&format!("{{{k}}}"), &(i * size + k + 1).to_string())
        })
    };
    (0..n).map(group).collect()
}

#[test]
fn who_names_no_round_has_part_in_those_that_it_has_not_named() {
    let model = "point p
        top confirm Task id=Request.id
          >p";
    let named = "a t confirm id=round-{i} {t}.1-{t}.1
        a u confirm id=round-{i} {t}.2-{t}.2\n";
    let all = format!("{named}a v confirm {{t}}.3-{{t}}.3\n");
    check(model, &each(0..16, &all), &groups(16, 3, "{0} {2} {0}>{2}\n{1}\n"));
    // Too few to know that they work in rounds.
    let apart = |n: usize| groups(n, 1, "{0}\n");
    check(model, &each(0..15, &all), &apart(45));
    // One has had no part in a round, and nothing tells in which.
    check(model, &(each(0..15, &all) + &each(15..16, named)), &apart(47));
    // Who is named in the middle of them parts those before from those after.
    let known = "a v confirm id=round-15 155.0-155.0\n";
    let parted = each(0..15, &all) + &each(15..16, named) + known + &each(16..17, named);
    let expected = groups(15, 3, "{0} {2} {0}>{2}\n{1}\n") + "46\n47\n48\n49\n50\n";
    check(model, &parted, &expected);
}

#[test]
fn who_names_nothing_has_part_in_the_round_that_lacks_one() {
    let model = "point p
        top confirm Task id=Request.id
          >p";
    // Who comes first prints nothing, who comes second names the round.
    let one = "a t confirm id=round-{i} {t}.1-{t}.1
        a u confirm {t}.2-{t}.2\n";
    let other = "a u confirm id=round-{i} {t}.1-{t}.1
        a v confirm {t}.2-{t}.2\n";
    let all = each(0..8, one) + &each(8..16, other);
    check(model, &all, &groups(16, 2, "{0} {1} {0}>{1}\n"));
    let apart = |from: usize, to: usize| (from..=to).map(|n| format!("{n}\n")).collect::<String>();
    // Too few to know that all rounds have as many parts.
    check(model, &each(0..15, one), &apart(1, 30));
    // One thread that comes late has as many parts as rounds were without it, in their order.
    let late = "a t confirm id=round-16 160.1-160.1
        a t confirm id=round-17 170.1-170.1
        a u confirm 170.2-170.2
        a u confirm 170.3-170.3\n";
    let joined = groups(16, 2, "{0} {1} {0}>{1}\n");
    check(model, &(all.clone() + late), &(joined.clone() + "33 35 33>35\n34 36 34>36\n"));
    // Of two threads that come late nothing tells who comes for which.
    let late = late.replace("a u confirm 170.3", "a v confirm 170.3");
    check(model, &(all.clone() + &late), &(joined.clone() + &apart(33, 36)));
    // No round after one that never has all its parts is known to be whole.
    let lacking = "a t confirm id=round-16 160.1-160.1\n".to_owned() + &each(17..18, one);
    check(model, &(all.clone() + &lacking), &(joined + &apart(33, 35)));
    // The thread that has named the rounds prints the other lines, too.
    let alone = "a t confirm id=round-{i} {t}.1-{t}.1
        a t confirm {t}.2-{t}.2\n";
    let once = "a u confirm 900.0-900.0\n";
    check(model, &(each(0..16, alone) + once), &apart(1, 33));
}

#[test]
fn a_number_that_is_counted_within_a_thing_names_nothing_by_itself() {
    let model = "point p
        top ask Task session=Session.id n=Request.n
          >p
        top work Task session=Session.id n=Request.n
          >p
        pair ask work Thread n=n";
    let session = "a t ask session=session-{i} n=1 {t}.0-{t}.0
        a t ask session=session-{i} n=2 {t}.5-{t}.5\n";
    let others = "a t ask session=session-90 n=7 900.0-900.0
        a u work session=session-91 n=7 900.1-900.1\n";
    let own = "a t ask session=session-90 n=7 900.0-900.0
        a u work session=session-90 n=7 900.1-900.1\n";
    let alone = |n: usize| groups(n, 1, "{0}\n");
    check(model, &(each(0..16, session) + others), &alone(34));
    check(model, &(each(0..16, session) + own), &(alone(32) + "33 34 33>34\n"));
    // Too few sessions to know that it is counted.
    check(model, &(each(0..14, session) + others), &(alone(28) + "29 30 29>30\n"));
    // A number that goes on from session to session names one thing.
    let session = "a t ask session=session-{i} n=1{i}1 {t}.0-{t}.0
        a t ask session=session-{i} n=1{i}2 {t}.5-{t}.5\n";
    check(model, &(each(0..16, session) + others), &(alone(32) + "33 34 33>34\n"));
}

#[test]
fn a_thing_and_a_number_counted_within_it_name_a_request_together() {
    // Nothing is handed from `answer` to `work`, but both work on what `ask` asks.
    let model = "point p
        top ask Task session=Session.id n=Request.n
          >p
        top work Task session=Session.id n=Request.n
          >p
        top answer Task session=Session.id n=Request.n
          >p
        pair ask handle Socket session=session n=n
        pair handle work Thread session=session n=n
        top handle EventHandler session=Session.id n=Request.n
          >p";
    let model: String = {
        let (pairs, rest): (Vec<&str>, Vec<&str>) =
            model.lines().partition(|line| line.trim().starts_with("pair"));
        rest.into_iter().chain(pairs).fold(String::new(), |text, line| text + line + "\n")
    };
    let handled = "c v handle session=another n=1 0-0\n";
    // Each session comes back, so that it names many requests.
    let requests = "a t ask session=session-{i} n=1 {t}.0-{t}.0
        b u work session=session-{i} n=1 {t}.1-{t}.1
        a t ask session=session-{i} n=2 {t}00.0-{t}00.0
        b u work session=session-{i} n=2 {t}00.1-{t}00.1\n";
    let requests = each(1..17, requests);
    let expected: String = (0..32).map(|i| format!("{0} {1} {0}>{1}\n", 2 * i + 2, 2 * i + 3)).collect();
    let in_time = |text: String| {
        let mut lines: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
        let start = |line: &String| {
            let time = line.rsplit(' ').next().and_then(|times| times.split('-').next());
            time.and_then(|time| time.parse::<f64>().ok()).unwrap_or_default()
        };
        lines.sort_by(|a, b| start(a).total_cmp(&start(b)));
        lines.join("\n")
    };
    check(&model, &in_time(handled.to_owned() + &requests), &("1\n".to_owned() + &expected));
}

#[test]
fn a_name_that_comes_with_one_thing_only_has_come_back_where_that_differs() {
    let model = "point p
        top serve Entity path=Node.path session=Session.id
          >p
        top close Task path=Node.path session=Request.session
          >p
        pair serve close Entity many
        pair close serve Entity many";
    let used = "a - serve path=/path-{i} session=session-{i} {t}.0-{t}.0
        a - close path=/path-{i} session=session-{i} {t}.1-{t}.1\n";
    let again = "a - serve path=/path-06 session=session-90 900.0-900.0\n";
    let pairs = |n: usize| groups(n, 2, "{0} {1} {0}>{1}\n");
    check(model, &(each(0..16, used) + again), &(pairs(16) + "33\n"));
    // Too few paths to know that each is of one session.
    check(model, &(each(0..7, used) + again), &(pairs(6) + "13 14 15 13>14 14>15\n"));
}

/// What all have met as they came by says nothing of whose connection it was.
#[test]
fn a_bare_number_is_a_state_to_those_about_different_things() {
    let model = "point p
        top serve Entity session=Session.id sum=Tree.sum
          >p
        pair serve serve Entity many";
    let serve = |session: &str, sum: &str| {
        format!(
            "a - serve session=session_10 sum=1371985504 1.0-1.0\na - serve session={session} sum={sum} 1.1-1.1"
        )
    };
    check(model, &serve("session_11", "1371985504"), "1\n2");
    check(model, &serve("session_10", "1371985507"), "1 2 1>2");
    check(model, &serve("session_11", "1371985504").replace("1371985504", "tree_71985504"), "1 2 1>2");
}

#[test]
fn what_carries_an_object_can_have_it_from_several_carriers() {
    check(
        "point p
         top serve Entity peer=Socket.peer session=Session.id
           >p
         top close Task peer=Conn.address session=Request.session
           >p
         pair serve serve Entity many
         pair serve close Entity many",
        "a - serve peer=/10.0.0.1:5001 1.0-1.0
         b - serve session=70001 1.1-1.1
         a - close peer=/10.0.0.1:5001 session=70001 1.2-1.2",
        "1 2 3 1>3 2>3",
    );
}

#[test]
fn a_life_joins_what_leads_to_one_that_has_its_sender() {
    let model = "point p
        top open Task session=Session.id
          >p
        top note Task session=Session.id
          >p
        top work Task session=Session.id
          >p
        pair open work Thread session=session
        pair note work Thread session=session";
    let session = "a t open session=session-{i} {t}.0-{t}.0
        a u work session=session-{i} {t}.1-{t}.1
        a v note session=session-{i} {t}.9-{t}.9\n";
    check(model, &each(0..16, session), &groups(16, 3, "{0} {1} {2} {0}>{1} {1}>{2}\n"));
    check(model, &each(0..14, session), &groups(14, 3, "{0} {1} {0}>{1}\n{2}\n"));
}
