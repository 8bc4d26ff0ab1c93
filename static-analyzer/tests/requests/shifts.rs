//! Threads of a pool that are named by who makes what has the pool (`Shifts.java`).

use super::{analyze, thread_names};
use static_analyzer::rules::Rules;

#[test]
fn threads_of_a_scheduler_are_named_as_those_say_who_make_it() {
    let names = thread_names(&analyze(&Rules::default()));
    for regex in [r"day shift at (.*?) (-?[0-9]+)", r"night shift (-?[0-9]+)"] {
        let (_, runs) = names.get(regex).unwrap_or_else(|| panic!("{regex} in {:?}", names.keys()));
        // Whatever any scheduler is handed, and what wraps it.
        for task in ["Shifts.lambda$day$0", "Shifts.lambda$night$1"] {
            assert!(runs.contains(&task.to_owned()), "{task} in {runs:?}");
        }
    }
}
