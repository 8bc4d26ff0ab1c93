//! A generator of programs: from a seed a small service, written, compiled, run and
//! labelled by itself. It combines what the small programs with known answers isolate.

mod begin;
mod draw;
mod events;
mod forms;
mod hand_over;
mod identifiers;
mod java;
mod minimize;
mod plan;
mod queues;
mod random;
mod remote;
mod say;
mod score;
mod threads;
mod words;
mod workshop;
mod write;

use std::path::{Path, PathBuf};

pub(crate) use workshop::has_jdk;

/// What went wrong, in words.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// What to do with which seeds.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) first: u64,
    /// Inclusive.
    pub(crate) last: u64,
    /// Folder of the sets, one folder a seed.
    pub(crate) out: PathBuf,
    /// Folder for what is not kept.
    pub(crate) scratch: PathBuf,
    /// The lprof to hold against the sets.
    pub(crate) check: Option<PathBuf>,
    /// Shrink each wrong program.
    pub(crate) minimize: bool,
}

/// Makes the sets, and checks them where asked to. One line a seed goes to `tell`.
pub(crate) fn generate(command: &Command, tell: &mut dyn FnMut(&str)) -> Result<()> {
    let mut workshop = workshop::Workshop::open(&command.scratch)?;
    let mut shares = score::Shares::default();
    let (mut rights, mut all) = (0, 0);
    for seed in command.first..=command.last {
        let program = draw::draw(seed);
        let folder = command.out.join(format!("seed-{seed}"));
        workshop.make(&program, &folder).map_err(|e| format!("seed {seed}: {e}\n{program:#?}"))?;
        let Some(lprof) = &command.check else {
            tell(&format!("seed {seed} made"));
            continue;
        };
        let found = score::score(lprof, &folder, &command.scratch)?;
        let right = found.is_right();
        tell(&format!("seed {seed} {} {found:?}", if right { "right" } else { "wrong" }));
        shares.add(program.ingredients(), right);
        all += 1;
        rights += usize::from(right);
        if command.minimize && !right {
            let least = shrink(&mut workshop, &program, lprof, command);
            let folder = command.out.join(format!("seed-{seed}-least"));
            workshop.make(&least, &folder)?;
            tell(&format!("  least: {}", summary(&least)));
        }
    }
    if command.check.is_some() {
        tell(&shares.table());
        tell(&format!("{rights} of {all} programs right"));
    }
    Ok(())
}

/// The least plan that lprof still does wrong. What cannot be made or scored does not count.
fn shrink(
    workshop: &mut workshop::Workshop,
    program: &plan::Program,
    lprof: &Path,
    command: &Command,
) -> plan::Program {
    let folder = command.scratch.join("candidate");
    minimize::minimize(program, |candidate| {
        workshop.make(candidate, &folder).is_ok()
            && score::score(lprof, &folder, &command.scratch).is_ok_and(|found| !found.is_right())
    })
}

/// A plan in one line.
fn summary(program: &plan::Program) -> String {
    let kinds: Vec<String> = program
        .kinds
        .iter()
        .map(|k| format!("{:?} {:?} {:?} {:?}", k.begin, k.id, k.carry, k.steps))
        .collect();
    format!("{:?} {} {:?} {}", program.library, program.release, program.servers, kinds.join(" | "))
}
