//! What a queue of closures runs, and what is only like it (`Crowded.java`).

use schema::TopLevelKind;

use super::analyze;
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
