//! Calls of objects of many classes that are no events (`Sinks.java`).

use schema::TopLevelKind;
use static_analyzer::call_graph::RootKind;
use static_analyzer::program::MethodId;
use static_analyzer::rules::Rules;

use super::{Analysis, analyze};

/// Per class of a sink: what kind of root a method of it is, and of top-level method.
fn kinds_of(analysis: &Analysis, method: &str) -> Vec<(Option<RootKind>, Option<TopLevelKind>)> {
    let tops = analysis.kinds();
    let kinds = ('A'..='I').map(|class| {
        let name = format!("Sinks${class}.{method}");
        let mut all = (0..analysis.program.methods.len()).map(MethodId::new);
        let id = all.find(|&id| analysis.name(id) == name).expect("the method");
        (analysis.graph.root(id).map(|root| root.kind), tops.get(&name).copied())
    });
    kinds.collect()
}

#[test]
fn what_is_told_of_an_event_handles_it() {
    for kinds in kinds_of(&analyze(&Rules::default()), "tell") {
        assert_eq!(kinds, (Some(RootKind::EventHandler), Some(TopLevelKind::Entity)));
    }
}

#[test]
fn what_a_wrapper_passes_on_is_no_event() {
    let analysis = analyze(&Rules::default());
    // What it wraps is read from its field, and given by its accessor.
    for method in ["put", "end"] {
        for (root, top) in kinds_of(&analysis, method) {
            assert_eq!(root, Some(RootKind::Callback), "{method}");
            assert_ne!(top, Some(TopLevelKind::Entity), "{method}");
        }
    }
}

#[test]
fn a_number_is_no_event() {
    for (root, top) in kinds_of(&analyze(&Rules::default()), "seek") {
        assert_eq!(root, Some(RootKind::Callback));
        assert_ne!(top, Some(TopLevelKind::Entity));
    }
}
