//! In which order lines can come, and on which side of a hand-off.

use schema::TopLevelKind;

use super::{model, node_of, top_of};

#[test]
fn a_line_whose_wrapper_decides_whether_it_comes_is_optional() {
    let model = model();
    let run = model.top_level_methods.iter().find(|t| t.class == "Records$Worker" && t.method == "run");
    let dag = &run.expect("a task").dag;
    let text = |node: u32| {
        let point = dag.nodes[node as usize].points[0].log_point;
        model.log_points[point.index()].templates[0].regex.clone()
    };
    let mut entries: Vec<String> = dag.entries.iter().map(|&node| text(node)).collect();
    entries.sort();
    assert_eq!(entries.len(), 2, "{entries:?}");
    assert!(entries[0].contains("the settings are old") && entries[1].starts_with("working on"));
}

#[test]
fn a_sender_prints_some_lines_on_one_side_only_of_its_hand_off() {
    let model = model();
    let is = |top: schema::TopLevelId, class: &str, method: &str| {
        let top = &model.top_level_methods[top.index()];
        top.class == class && top.method == method
    };
    let mut pairs = model.communication_pairs.iter();
    let pair = pairs
        .find(|pair| is(pair.from, "Server$Connection", "write") && is(pair.to, "Server$Responder", "run"))
        .expect("it starts the responder");
    let texts = |points: &[schema::LogPointId]| -> Vec<&str> {
        let prints = |text: &&str| {
            let mut templates = points.iter().flat_map(|point| &model.log_points[point.index()].templates);
            templates.any(|template| template.regex.contains(text))
        };
        ["checked", "data of", "receiving", "received"].into_iter().filter(prints).collect()
    };
    assert_eq!(texts(&pair.before), ["checked", "data of", "receiving"]);
    assert_eq!(texts(&pair.after), ["received"]);
}

#[test]
fn a_library_calls_back_for_each_element() {
    let model = model();
    let main = top_of(&model, "kept.Kept$Signals", "main");
    let node = |text: &str| node_of(&model, main, text);
    let (all, one, end) = (node("registering all"), node("registering one"), node("registered all"));
    let follows = |from: u32, to: u32| main.dag.nodes[from as usize].next.contains(&to);
    assert!(follows(one, one) || main.dag.nodes[one as usize].repeats);
    assert!(follows(all, one) && follows(all, end) && follows(one, end));
}

#[test]
fn what_calls_itself_begins_with_its_beginning() {
    let model = model();
    let main = top_of(&model, "kept.Kept$Tree", "main");
    let begins = node_of(&model, main, "visit begins");
    assert_eq!(main.dag.entries, [begins]);
    assert!(!main.dag.exits.contains(&begins));
}

#[test]
fn the_rounds_of_a_dispatcher_do_not_follow_each_other() {
    let model = model();
    let peer = top_of(&model, "Rounds$Peer", "run");
    assert_eq!(peer.kind, TopLevelKind::Dispatcher);
    let node = |text: &str| node_of(&model, peer, text);
    let (starts, leading, following) = (node("peer starts"), node("leading"), node("following"));
    let next = |from: u32| &peer.dag.nodes[from as usize].next;
    assert_ne!(leading, following);
    // What comes before the loop is no part of a round.
    assert!(peer.dag.exits.contains(&starts));
    assert!([starts, leading, following].iter().all(|node| peer.dag.entries.contains(node)));
    assert!(!next(starts).contains(&leading) && !next(starts).contains(&following));
    for round in [leading, following] {
        assert!(!peer.dag.nodes[round as usize].repeats);
        assert!(!next(round).contains(&leading) && !next(round).contains(&following));
        assert!(peer.dag.exits.contains(&round));
    }
}

#[test]
fn methods_that_call_each_other_back_begin_each_with_its_own_line() {
    let model = model();
    let main = top_of(&model, "Echoes$Bell", "main");
    let prints = |node: u32, text: &str| {
        let points = main.dag.nodes[node as usize].points.iter();
        let mut templates = points.flat_map(|point| &model.log_points[point.log_point.index()].templates);
        templates.any(|template| template.regex.contains(text))
    };
    let [detail, crack, mend] = ["looking at", "the bell cracked", "mended the bell"];
    let after = |node: u32| main.dag.nodes[node as usize].next.clone();
    let hangs = node_of(&model, main, "the bell hangs");
    // What is mended has cracked, whoever rings, and was looked at before that.
    assert!(after(hangs).iter().any(|&node| prints(node, detail)));
    assert!(!after(hangs).iter().any(|&node| prints(node, crack) || prints(node, mend)));
    let looked = after(hangs).into_iter().find(|&node| prints(node, detail)).expect("it is next");
    assert!(after(looked).iter().any(|&node| prints(node, crack)));
    assert!(!after(looked).iter().any(|&node| prints(node, mend)));
}
