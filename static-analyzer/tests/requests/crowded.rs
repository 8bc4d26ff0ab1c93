//! What a queue of closures runs, and what is only like it (`Crowded.java`).

use schema::{LinkKind, TopLevelKind};

use super::{analyze, model};
use static_analyzer::rules::Rules;

#[test]
fn a_closure_that_a_pool_runs_is_no_command_of_a_queue() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds.get("Crowded.lambda$serve$0"), Some(&TopLevelKind::Task));
    for command in 1..=9 {
        let command = format!("Crowded.lambda$serve${command}");
        assert_eq!(kinds.get(&command), Some(&TopLevelKind::DispatchTarget), "{command}");
    }
}

#[test]
fn what_is_told_something_when_it_runs_is_no_command() {
    let analysis = analyze(&Rules::default());
    for listener in 10..=18 {
        let listener = format!("Crowded.lambda$serve${listener}");
        assert_eq!(analysis.kinds().get(&listener), Some(&TopLevelKind::Task), "{listener}");
    }
    assert!(!analysis.starts("Crowded.serve").contains(&"Crowded$Auditor.told".to_owned()));
}

#[test]
fn what_is_given_but_not_kept_is_no_command() {
    let analysis = analyze(&Rules::default());
    assert!(!analysis.starts("Crowded.serve").contains(&"Crowded$Idle.run".to_owned()));
}

#[test]
fn what_else_a_command_has_to_define_is_not_what_a_queue_runs() {
    let analysis = analyze(&Rules::default());
    assert!(!analysis.starts("Crowded.serve").contains(&"Crowded$Backup.prepare".to_owned()));
}

#[test]
fn an_object_of_one_of_many_classes_is_a_command_too() {
    let analysis = analyze(&Rules::default());
    for command in 1..=9 {
        let command = format!("Crowded${command}.run");
        assert!(analysis.starts("Crowded.serveMore").contains(&command), "{command}");
        assert_eq!(analysis.kinds().get(&command), Some(&TopLevelKind::DispatchTarget), "{command}");
    }
}

/// A queue looks up what it runs and hands it nothing that has a name: only its thread shows
/// which it was.
#[test]
fn what_a_dispatcher_looks_up_is_asked_for_in_its_thread() {
    let model = model();
    let name = |id: schema::TopLevelId| {
        let top = &model.top_level_methods[id.index()];
        format!("{}.{}", top.class, top.method)
    };
    let pairs = model.communication_pairs.iter();
    let mut asked =
        pairs.filter(|pair| name(pair.from) == "Crowded$Queue.run" && name(pair.to) == "Crowded$1.run");
    let pair = asked.next().expect("the queue runs its commands");
    assert_eq!((pair.kind, pair.identifiers.len()), (LinkKind::Ask, 0));
    // What the queue prints when a command fails comes after it.
    let point =
        model.log_points.iter().position(|point| point.class == "Crowded$Queue").expect("a log point");
    assert!(pair.after.iter().any(|after| after.index() == point));
}

#[test]
fn who_is_called_by_a_thread_alone_is_run_by_that() {
    let model = model();
    let only_in_tasks = |class: &str, method: &str| {
        let mut tops = model.top_level_methods.iter();
        tops.find(|top| top.class == class && top.method == method).expect("it is one").only_in_tasks
    };
    assert!(only_in_tasks("Server$Cleaner", "clean"));
    assert!(!only_in_tasks("Asked", "ask"), "nobody knows who asks");
}
