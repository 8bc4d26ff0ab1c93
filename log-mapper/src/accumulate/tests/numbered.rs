//! Work that is numbered from one counter.

use super::*;

/// Small numbers name pieces of work if the log shows that they do.
#[test]
fn a_thread_goes_on_with_other_work_if_it_prints_another_number() {
    let model = sketch::model(
        "point began n=Step.n
         point part n=Step.n of=Step.of
         point ended n=Step.n
         top work Entity this.n=Step.n this.of=Step.of
           >began|part* ended
           ended<",
    );
    let steps = |of: &dyn Fn(u32) -> u32| {
        let part = |n: u32| match n % 4 {
            0 => format!("{n}.0 t{n} began n={n}\n"),
            _ => format!("{n}.0 t{n} part n={n} of={}\n", of(n)),
        };
        let all: String = (0..40).map(part).collect();
        let ends = (0..40).step_by(4).map(|n| format!("40.0 t{n} ended n={n}\n"));
        all + &ends.collect::<String>()
    };
    let last = |work: &str, n: u32| {
        let text = run(&model, &format!("{work}50.0 x part n=41 of=40\n50.1 x ended n={n}"));
        text.trim().lines().last().map(str::to_owned).unwrap_or_default()
    };
    let work = steps(&|n| n / 4 * 4);
    assert!(last(&work, 41).contains(';'), "one");
    assert!(!last(&work, 42).contains(';'), "another one");
    let things = steps(&|n| n + 100);
    assert!(last(&things, 42).contains(';'), "a number of something else");
}
