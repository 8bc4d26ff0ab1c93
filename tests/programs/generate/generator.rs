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
mod pack;
mod plan;
mod queues;
mod random;
mod remote;
mod say;
mod score;
#[path = "../../support/thread_names.rs"]
mod thread_names;
mod threads;
mod words;
mod workshop;
mod write;

use std::path::{Path, PathBuf};

use rayon::prelude::*;

pub(crate) use score::Score;
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
    /// The lprof to hold against the sets.
    pub(crate) check: Option<PathBuf>,
    /// Shrink each wrong program.
    pub(crate) minimize: bool,
    /// One zip a seed instead of a folder.
    pub(crate) pack: bool,
}

/// Makes the sets, and checks them where asked to. `scratch`: a folder for what is not kept. One line a seed goes to `tell`.
pub(crate) fn generate(command: &Command, scratch: &Path, tell: &mut dyn FnMut(&str)) -> Result<()> {
    let mut workshop = workshop::Workshop::open(scratch)?;
    let mut checked = Vec::new();
    for seed in command.first..=command.last {
        let program = draw::draw(seed);
        let folder = command.out.join(format!("seed-{seed}"));
        workshop.make(&program, &folder).map_err(|e| format!("seed {seed}: {e}\n{program:#?}"))?;
        if command.pack {
            pack::pack(&folder, &command.out.join(packed_name(seed)))?;
        }
        let Some(lprof) = &command.check else {
            if command.pack {
                workshop::clear(&folder)?;
            }
            tell(&format!("seed {seed} made"));
            continue;
        };
        let found = score::score(lprof, &folder, scratch)?;
        tell(&found.row(&format!("seed {seed}")));
        let ingredients = program.ingredients().into_iter().collect();
        checked.push(Checked { name: format!("seed-{seed}"), score: found, with_threads: None, ingredients });
        if command.minimize && !found.is_right() {
            let least = shrink(&mut workshop, &program, lprof, scratch);
            let folder = command.out.join(format!("seed-{seed}-least"));
            workshop.make(&least, &folder)?;
            tell(&format!("  least: {}", summary(&least)));
        }
    }
    if command.check.is_some() {
        tell(&shares(&checked));
    }
    Ok(())
}

/// File of a packed set.
fn packed_name(seed: u64) -> String {
    format!("seed-{seed:03}.zip")
}

/// A packed set and what lprof makes of it.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub(crate) name: String,
    pub(crate) score: Score,
    /// Where the threads of its records are put into the logs.
    pub(crate) with_threads: Option<Score>,
    ingredients: Vec<String>,
}

/// Scores all packed sets of a folder, in the order of their names. Needs no JDK.
pub(crate) fn check_packed(lprof: &Path, folder: &Path, scratch: &Path) -> Result<Vec<Checked>> {
    let mut packed = workshop::files(folder)?;
    packed.retain(|path| path.extension().is_some_and(|ending| ending == "zip"));
    let check = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let scratch = scratch.join(&name);
        let set = scratch.join("set");
        pack::unpack(path, &set)?;
        let score = score::score(lprof, &set, &scratch).map_err(|e| format!("{name}: {e}"))?;
        let with_threads =
            score::score_with_threads(lprof, &set, &scratch).map_err(|e| format!("{name}: {e}"))?;
        let ingredients = workshop::read(&set.join("ingredients.tsv"))?;
        workshop::clear(&scratch)?;
        Ok(Checked {
            name,
            score,
            with_threads: Some(with_threads),
            ingredients: ingredients.lines().map(str::to_owned).collect(),
        })
    };
    packed.par_iter().map(check).collect()
}

/// The share that is right for each ingredient, and of all.
pub(crate) fn shares(checked: &[Checked]) -> String {
    let mut shares = score::Shares::default();
    for set in checked {
        shares.add(set.ingredients.iter().cloned(), set.score.is_right());
    }
    let rights = checked.iter().filter(|set| set.score.is_right()).count();
    let with_threads = checked.iter().filter_map(|set| set.with_threads);
    let told = match with_threads.clone().count() {
        0 => String::new(),
        n => format!(", {} of {n} with threads", with_threads.filter(|score| score.is_right()).count()),
    };
    format!("{}{rights} of {} programs right{told}", shares.table(), checked.len())
}

/// The least plan that lprof still does wrong. What cannot be made or scored does not count.
fn shrink(
    workshop: &mut workshop::Workshop,
    program: &plan::Program,
    lprof: &Path,
    scratch: &Path,
) -> plan::Program {
    let folder = scratch.join("candidate");
    minimize::minimize(program, |candidate| {
        workshop.make(candidate, &folder).is_ok()
            && score::score(lprof, &folder, scratch).is_ok_and(|found| !found.is_right())
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
