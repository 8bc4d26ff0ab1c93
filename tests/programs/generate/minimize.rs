//! Smaller plans: everything that can be taken out of a program or made plain, one
//! thing at a time, the largest first (greedy delta debugging, Zeller and Hildebrandt 2002).

use super::plan::{Begin, Carry, Form, Hand, Id, Kind, Library, Program, Protocol, Say, Step, Way, settle};

/// The plan with as few ingredients as it takes for `fails` to stay true.
pub(crate) fn minimize(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut least = program.clone();
    'smaller: loop {
        for candidate in smaller(&least) {
            if fails(&candidate) {
                least = candidate;
                continue 'smaller;
            }
        }
        return least;
    }
}

/// Plans with one thing less, none equal to `program`.
fn smaller(program: &Program) -> Vec<Program> {
    let mut found: Vec<Program> = Vec::new();
    let mut add = |mut candidate: Program| {
        settle(&mut candidate);
        if candidate != *program && !found.contains(&candidate) {
            found.push(candidate);
        }
    };
    for at in 0..program.kinds.len() {
        if program.kinds.len() > 1 {
            let mut candidate = program.clone();
            candidate.kinds.remove(at);
            add(candidate);
        }
        for steps in fewer(&program.kinds[at].steps) {
            add(with(program, at, |kind| kind.steps = steps));
        }
        add(with(program, at, |kind| kind.begin = Begin::ClientThreads));
        add(with(program, at, |kind| kind.watched = false));
        add(with(program, at, |kind| kind.carry = Carry::Values));
        add(with(program, at, |kind| kind.id = Id::Atomic));
        for steps in plainer(&program.kinds[at].steps) {
            add(with(program, at, |kind| kind.steps = steps));
        }
    }
    add(Program { library: Library::Log4j1, ..program.clone() });
    add(Program { same_ids: false, ..program.clone() });
    add(Program { release: 8, ..program.clone() });
    add(Program { servers: vec![Protocol::Data; program.servers.len()], ..program.clone() });
    found
}

fn with(program: &Program, at: usize, change: impl FnOnce(&mut Kind)) -> Program {
    let mut candidate = program.clone();
    change(&mut candidate.kinds[at]);
    candidate
}

/// The steps without one of them, or with one hand-over's steps in its place.
fn fewer(steps: &[Step]) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        found.push([&steps[..at], &steps[at + 1..]].concat());
        if let Step::Over(hand, inner) = step {
            found.push([&steps[..at], inner, &steps[at + 1..]].concat());
            for less in fewer(inner) {
                found.push(replaced(steps, at, Step::Over(*hand, less)));
            }
        }
    }
    found
}

/// The steps with one of them made plain.
fn plainer(steps: &[Step]) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Do(form, say) => {
                found.push(replaced(steps, at, Step::Do(Form::Line, *say)));
                found.push(replaced(steps, at, Step::Do(*form, Say::PLAIN)));
            }
            Step::Over(hand, inner) => {
                let mut hands = vec![
                    Hand::CALL,
                    Hand { way: Way::PoolTask, ..*hand },
                    Hand { renames: false, ..*hand },
                    Hand { waits: false, ..*hand },
                    Hand { single: false, ..*hand },
                ];
                if matches!(hand.way, Way::Call | Way::PoolTask) {
                    hands.remove(1);
                }
                if hand.way == Way::Interface {
                    hands.truncate(1);
                }
                for plain in hands {
                    found.push(replaced(steps, at, Step::Over(plain, inner.clone())));
                }
                for less in plainer(inner) {
                    found.push(replaced(steps, at, Step::Over(*hand, less)));
                }
            }
        }
    }
    found
}

fn replaced(steps: &[Step], at: usize, step: Step) -> Vec<Step> {
    let mut steps = steps.to_vec();
    steps[at] = step;
    steps
}
