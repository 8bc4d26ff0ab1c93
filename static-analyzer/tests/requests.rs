//! Call graph, top-level methods and identifiers of small servers with the
//! shapes of real ones (`fixtures/requests/java`): what begins a request, what
//! does not, and what keeps its value.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schema::{IdentifierStrength, LinkKind, TopLevelKind};
use static_analyzer::call_graph::programs::Programs;
use static_analyzer::call_graph::{self, CallGraph, CallKind};
use static_analyzer::identifiers::Bindings;
use static_analyzer::log_points::log_points;
use static_analyzer::pairs;
use static_analyzer::path::LogPoint;
use static_analyzer::program::{self, MethodId, Program};
use static_analyzer::rules::Rules;
use static_analyzer::thread_names;
use static_analyzer::top_level::{self, TopLevel, TopLevels};

#[path = "requests/asked.rs"]
mod asked;
#[path = "requests/awaited.rs"]
mod awaited;
#[path = "requests/backlogs.rs"]
mod backlogs;
#[path = "requests/berths.rs"]
mod berths;
#[path = "requests/cables.rs"]
mod cables;
#[path = "requests/caches.rs"]
mod caches;
#[path = "requests/canals.rs"]
mod canals;
#[path = "requests/carried.rs"]
mod carried;
#[path = "requests/choices.rs"]
mod choices;
#[path = "requests/clearings.rs"]
mod clearings;
#[path = "requests/counters.rs"]
mod counters;
#[path = "requests/couriers.rs"]
mod couriers;
#[path = "requests/crates.rs"]
mod crates;
#[path = "requests/crowded.rs"]
mod crowded;
#[path = "requests/doors.rs"]
mod doors;
#[path = "requests/gates.rs"]
mod gates;
#[path = "requests/giants.rs"]
mod giants;
#[path = "requests/given.rs"]
mod given;
#[path = "requests/idle.rs"]
mod idle;
#[path = "requests/initialized.rs"]
mod initialized;
#[path = "requests/journals.rs"]
mod journals;
#[path = "requests/later.rs"]
mod later;
#[path = "requests/ledgers.rs"]
mod ledgers;
#[path = "requests/lockers.rs"]
mod lockers;
#[path = "requests/movers.rs"]
mod movers;
#[path = "requests/orders.rs"]
mod orders;
#[path = "requests/parcels.rs"]
mod parcels;
#[path = "requests/plans.rs"]
mod plans;
#[path = "requests/posted.rs"]
mod posted;
#[path = "requests/preludes.rs"]
mod preludes;
#[path = "requests/reasons.rs"]
mod reasons;
#[path = "requests/reflected.rs"]
mod reflected;
#[path = "requests/sequels.rs"]
mod sequels;
#[path = "requests/shifts.rs"]
mod shifts;
#[path = "requests/sinks.rs"]
mod sinks;
#[path = "requests/spirals.rs"]
mod spirals;
#[path = "requests/turns.rs"]
mod turns;

struct Analysis {
    program: Program,
    graph: CallGraph,
    log_points: Vec<LogPoint>,
    tops: TopLevels,
}

fn analyze(rules: &Rules) -> Analysis {
    let classes = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/requests/classes");
    let program = program::load(&[classes], &Default::default()).expect("readable classes");
    let graph = call_graph::build(&program);
    let log_points = log_points(&program);
    let bindings = Bindings::new(&program, &graph);
    let mut tops = top_level::find(&program, &graph, &bindings, &log_points, rules);
    let (mut pairs, _) = pairs::find(&program, &graph, &bindings, &log_points, &tops, rules);
    pairs::settle(&mut tops, &mut pairs);
    Analysis { program, graph, log_points, tops }
}

impl Analysis {
    fn name(&self, method: MethodId) -> String {
        let m = &self.program.methods[method.index()];
        format!("{}.{}", self.program.classes[m.class.index()].name, m.name)
    }

    fn kinds(&self) -> BTreeMap<String, TopLevelKind> {
        self.tops.methods.iter().map(|t| (self.name(t.method), t.kind)).collect()
    }

    fn top(&self, name: &str) -> &TopLevel {
        self.tops.methods.iter().find(|t| self.name(t.method) == name).expect("a top-level method")
    }

    fn strengths(&self, name: &str) -> Vec<(String, IdentifierStrength)> {
        let identifiers = &self.top(name).identifiers;
        let mut all: Vec<_> =
            identifiers.iter().map(|i| (i.value_class.as_str().to_owned(), i.strength)).collect();
        all.sort();
        all.dedup();
        all
    }

    /// What a method starts in other threads.
    fn starts(&self, from: &str) -> Vec<String> {
        let method = (0..self.program.methods.len())
            .map(MethodId::new)
            .find(|&m| self.name(m) == from)
            .expect("the method");
        let started = self.graph.calls(method).iter().filter(|c| matches!(c.kind, CallKind::Start(_)));
        started.flat_map(|c| c.targets.iter().map(|&t| self.name(t))).collect()
    }

    /// Methods whose lines belong to a top-level method.
    fn members(&self, name: &str) -> Vec<String> {
        let points = self.top(name).members.iter();
        let mut all: Vec<String> =
            points.map(|m| self.name(self.log_points[m.log_point as usize].method)).collect();
        all.sort();
        all.dedup();
        all
    }
}

#[test]
fn requests_begin_where_the_dispatcher_loses_their_identifiers() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds["Server$Connection.run"], TopLevelKind::Dispatcher);
    // What prints its parameter is a log point of its caller, so `opPing` it is.
    for method in ["write", "read", "opPing"] {
        let kind = kinds[&format!("Server$Connection.{method}")];
        assert!(
            matches!(kind, TopLevelKind::IdentifierLoss | TopLevelKind::DispatchTarget),
            "{method}: {kind:?}"
        );
    }
    for none in
        ["Connection.process", "Connection.opWrite", "Connection.opRead", "Helper.check", "Receiver.receive"]
    {
        assert!(!kinds.contains_key(&format!("Server${none}")), "{none}");
    }
}

#[test]
fn what_is_made_for_a_method_that_calls_it_runs_where_it_is_made() {
    let analysis = analyze(&Rules::default());
    let made = ["Actions$Create.act", "Actions$Delete.act"];
    assert_eq!(analysis.members("Actions$Client.run"), made);
    assert!(made.iter().all(|&name| !analysis.kinds().contains_key(name)));
}

#[test]
fn a_command_is_a_program_of_its_own_whoever_runs_it() {
    let analysis = analyze(&Rules::default());
    assert!(!analysis.members("Commands.main").contains(&"Commands$C1.run".to_owned()));
    assert!(analysis.kinds().contains_key("Commands$C1.run"));
}

#[test]
fn a_thread_of_one_request_is_a_task_and_a_thread_of_many_dispatches() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds["Server$Responder.run"], TopLevelKind::Task);
    assert_eq!(kinds["Server$Deletion.run"], TopLevelKind::Task);
    assert_eq!(kinds["Server$Cleaner.run"], TopLevelKind::Dispatcher);
    assert!(kinds.contains_key("Server$Cleaner.clean"));
}

#[test]
fn wrappers_start_what_their_callers_give_them() {
    let analysis = analyze(&Rules::default());
    assert_eq!(analysis.starts("Server$Connection.write"), ["Server$Responder.run"]);
    assert_eq!(analysis.starts("Server$Cleaner.clean"), ["Server$Deletion.run"]);
}

#[test]
fn work_is_handed_over_through_what_starts_a_task_but_not_by_starting_a_timer() {
    let analysis = analyze(&Rules::default());
    let kinds = analysis.kinds();
    assert_eq!(kinds["Reports.delete"], TopLevelKind::DispatchTarget);
    assert!(!kinds.contains_key("Reports.startTimer"), "whoever starts it goes on in it");
    assert!(analysis.members("Reports$A.run").contains(&"Reports.startTimer".to_owned()));
    // It begins a request of its own; who names what it hands over has asked for that.
    let model = model();
    let top = |id: schema::TopLevelId| &model.top_level_methods[id.index()];
    let asking = model.communication_pairs.iter().filter(|pair| top(pair.to).class == "Reports");
    let asking: Vec<_> = asking.map(|pair| (&*top(pair.from).class, pair.kind)).collect();
    assert_eq!(asking, [("Reports$J", LinkKind::Ask)]);
}

#[test]
fn what_is_stored_is_started_if_somebody_runs_what_is_stored_there() {
    let analysis = analyze(&Rules::default());
    // The job is kept in a table and by an inner class, but run by neither.
    assert_eq!(analysis.starts("Sessions$Job.run"), Vec::<String>::new());
    // The pool runs what it finds in its queue: who makes the job starts it.
    assert_eq!(analysis.starts("Sessions$Node.run"), ["Sessions$Job.run"]);
}

#[test]
fn what_is_kept_is_run_by_who_calls_it() {
    let analysis = analyze(&Rules::default());
    let computes =
        |top: &str| analysis.members(top).iter().any(|m| m.starts_with("kept/Kept$Query.lambda$main"));
    assert!(computes("kept/Kept$Task.run"));
    assert!(!computes("kept/Kept$Query.main"));
}

#[test]
fn a_loop_over_the_messages_of_one_session_serves_one_request() {
    let analysis = analyze(&Rules::default());
    let kinds = analysis.kinds();
    assert_eq!(kinds["Sessions$Reader.run"], TopLevelKind::Task);
    for part in ["received", "prepare", "complete"] {
        assert!(!kinds.contains_key(&format!("Sessions$Session.{part}")), "{part}");
    }
}

#[test]
fn what_an_object_makes_for_itself_knows_it() {
    // `this.session.handler.session.id` is `this.session.id`.
    let analysis = analyze(&Rules::default());
    let ids = &analysis.top("Sessions$Reader.run").identifiers;
    let of_session = ids.iter().filter(|i| i.value_class.as_str() == "Sessions$Session.id");
    assert_eq!(of_session.count(), 1, "{ids:?}");
}

#[test]
fn a_program_runs_what_its_main_leads_to() {
    let analysis = analyze(&Rules::default());
    let programs = Programs::find(&analysis.program, &analysis.graph);
    let entry_points = top_level::entry_points::find(&programs, &analysis.tops);
    let programs = |top: &str| -> Vec<String> {
        let at = analysis.tops.methods.iter().position(|t| analysis.name(t.method) == top);
        let of = &entry_points.of[at.expect("a top-level method")];
        of.iter().map(|&main| analysis.name(entry_points.mains[usize::from(main)])).collect()
    };
    assert_eq!(programs("Sessions$Tool.main"), ["Sessions$Tool.main"]);
    // The node is made by reflection, of the class that is named; its sessions'
    // threads are started by the node's.
    assert_eq!(programs("Sessions$Node.run"), ["Sessions$Launcher.main"]);
    assert_eq!(programs("Sessions$Reader.run"), ["Sessions$Launcher.main"]);
    // What another process answers is an object here, which makes others.
    assert_eq!(programs("errand/Errand$Copy.run"), ["errand/Errand$WorkerMain.main"]);
    // The one object that starts its threads is made when its class is first used.
    assert_eq!(programs("Turning$Turns.run"), ["Turning$Opens.main"]);
    // A text that is a class's name makes an object of it.
    assert_eq!(programs("errand/Errand$Tidy.run"), ["errand/Errand$NamedMain.main"]);
    // A command is a program, and whoever makes its object runs it too.
    assert_eq!(programs("Served$Order.run"), ["Served.main", "Served$Order.run"]);
}

#[test]
fn identifiers_are_what_keeps_its_value_and_names_something() {
    let analysis = analyze(&Rules::default());
    let write = analysis.strengths("Server$Connection.write");
    assert!(write.contains(&("Server$Key.id".to_owned(), IdentifierStrength::Request)), "{write:?}");
    assert!(write.iter().all(|(class, _)| !class.ends_with("Key.stamp")), "modified: {write:?}");
    let peer = write.iter().find(|(class, _)| class.ends_with("Connection.peer"));
    assert_eq!(peer.map(|p| p.1), Some(IdentifierStrength::Weak), "the connection outlives the request");
}

#[test]
fn what_is_kept_under_its_own_name_is_named_by_its_key() {
    let analysis = analyze(&Rules::default());
    let named = |top: &str| {
        let identifiers = &analysis.top(top).identifiers;
        identifiers.iter().any(|i| i.value_class.as_str() == "Tables$Session.id")
    };
    assert!(named("Tables$Close.run"), "`find(name).id` is `name`");
    assert!(!named("Tables$Drop.run"), "others are kept there under their owners");
    assert!(!named("Tables$Leave.run"), "two elements of one array are two");
}

#[test]
fn constructor_fields_are_the_arguments() {
    // `Receiver.block` is `key`: both print one and the same identifier.
    let analysis = analyze(&Rules::default());
    let ids = analysis.strengths("Server$Connection.write").len();
    let places = analysis.top("Server$Connection.write").identifiers.len();
    assert_eq!(ids, places);
}

#[test]
fn steps_of_a_state_machine_belong_to_their_entity() {
    let analysis = analyze(&Rules::default());
    assert_eq!(
        analysis.members("Machine$Job.handle"),
        ["Machine$Job$Started.apply", "Machine$Job$Stopped.apply", "Machine$Job.handle"]
    );
    assert_eq!(analysis.members("Machine$Node.handle"), ["Machine$Node$Joined.apply"]);
    assert!(!analysis.kinds().contains_key("Machine$Job$Started.apply"));
}

#[test]
fn rules_force_and_forbid() {
    let rules = Rules::parse(
        "top-level Server$Helper.check\nnot-top-level Server$Connection.write\nnot-identifier Server$Key.pool\n",
    )
    .expect("valid rules");
    let analysis = analyze(&rules);
    let kinds = analysis.kinds();
    assert!(kinds.contains_key("Server$Helper.check"));
    assert!(!kinds.contains_key("Server$Connection.write"));
    let read = analysis.strengths("Server$Connection.read");
    assert!(read.iter().all(|(class, _)| !class.ends_with("Key.pool")), "{read:?}");
}

#[test]
fn every_log_point_has_a_home() {
    let analysis = analyze(&Rules::default());
    for i in 0..analysis.log_points.len() as u32 {
        let homes = analysis.tops.methods.iter().filter(|t| t.members.iter().any(|m| m.log_point == i));
        assert!(homes.count() > 0, "log point {i}");
    }
}

fn model() -> schema::Model {
    let classes = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/requests/classes");
    static_analyzer::analyze(&[classes], &Default::default()).expect("readable classes")
}

#[test]
fn an_object_is_named_by_the_fields_that_its_getters_give() {
    // `equals` calls abstract getters; the log point prints the fields behind them.
    let model = model();
    let point = model.log_points.iter().find(|p| p.class == "Records$Worker" && p.variables.len() > 2);
    let variables = &point.expect("a log point with an object").variables;
    let object = variables.iter().find(|v| !v.parts.is_empty()).expect("an object");
    assert_eq!((object.parts.len(), object.in_text), (2, false));
    assert_eq!(object.value_class.map(|c| &model.value_classes[c.index()][..]), Some("Records$JobName"));
}

#[test]
fn an_object_is_named_by_what_it_wraps() {
    // The getters give fields of a message, of the number only the lower digits are
    // printed; the message compares more than that and is no object of its own.
    let model = model();
    let point = model.log_points.iter().find(|p| p.class == "Wrapped$Clerk");
    let variables = &point.expect("a log point with an object").variables;
    let objects: Vec<_> = variables.iter().filter(|v| !v.parts.is_empty()).collect();
    let [object] = objects[..] else { panic!("{objects:?}") };
    assert_eq!((object.parts.len(), object.in_text), (2, false));
    assert_eq!(object.value_class.map(|c| &model.value_classes[c.index()][..]), Some("Wrapped$Ticket"));
}

#[test]
fn a_handler_is_one_with_the_method_behind_its_bridge() {
    let analysis = analyze(&Rules::default());
    let opens = analysis.log_points.iter().position(|p| p.templates[0].regex.contains("the door opens"));
    let opens = opens.expect("a log point") as u32;
    let prints = |t: &&TopLevel| t.members.iter().any(|m| m.log_point == opens);
    let homes: Vec<&str> = analysis.tops.methods.iter().filter(prints).map(|t| t.reason.as_str()).collect();
    let [home] = homes[..] else { panic!("{homes:?}") };
    assert!(home.contains("handlers called by"), "{home}");
}

/// How the names of threads look, with the classes of the values in them, and the
/// top-level methods that can run there; `any` if everything can.
fn thread_names(analysis: &Analysis) -> BTreeMap<String, (Vec<String>, Vec<String>)> {
    let names = thread_names::find(&analysis.program, &analysis.graph, &analysis.tops);
    let described = names.iter().map(|name| {
        let class = |&c: &u32| name.variables[c as usize].value_class;
        let classes = name.template.captures.iter().map(|c| class(c).map_or("-", |c| c.as_str()).to_owned());
        let mut runs: Vec<String> =
            name.runs.iter().map(|&top| analysis.name(analysis.tops.methods[top as usize].method)).collect();
        if runs.is_empty() {
            runs.push("any".to_owned());
        }
        if name.is_given_tasks {
            runs.push("tasks".to_owned());
        }
        runs.sort();
        (name.template.regex.clone(), (classes.collect(), runs))
    });
    described.collect()
}

#[test]
fn what_a_library_gives_to_a_closure_is_known_there() {
    let model = model();
    let balancer = top_of(&model, "kept.Kept$Balancer", "run");
    let paths: Vec<&str> = balancer.identifiers.iter().map(|i| i.path.as_str()).collect();
    assert_eq!(paths, ["region.name"]);
}

#[test]
fn names_of_threads_tell_what_runs_there_and_for_whom() {
    let analysis = analyze(&Rules::default());
    let names = thread_names(&analysis);
    let of = |regex: &str| names.get(regex).unwrap_or_else(|| panic!("{regex} in {:?}", names.keys()));
    let expected = [
        // The constructor of a subclass of Thread.
        (r"Reader of (.*?)", "block:Ljava/lang/String;", "Threads$Reader.run"),
        // A helper that is handed the thread of an object.
        (r"server\.flusher", "", "Threads$Flusher.run"),
        // Whoever runs it names itself.
        (r"Connection from (.*?)", "Threads$Connection.peer", "Threads$Connection.run"),
        // A factory that a pool is given later; its name comes through two constructors.
        (r"mutation\-stage\-(-?[0-9]+)", "-", "Threads$Mutation.run"),
        // A worker runs whatever it is given, and prints itself.
        ("worker thread", "", "Threads$Worker.run tasks"),
        // The body of all runs what the class of the thread defines.
        ("sweeping thread", "", "Turning$Sweeps.turn Turning$Turns.run"),
        ("mopping thread", "", "Turning$Mops.turn Turning$Turns.run"),
        // Pools in a list, of objects that are named when they are made.
        (r"PostClerk\-(-?[0-9]+)", "-", "Desks$Letter.run"),
        (r"TaxClerk\-(-?[0-9]+)", "-", "Desks$Letter.run"),
    ];
    for (regex, class, run) in expected {
        let (classes, runs) = of(regex);
        let wanted: Vec<&str> = class.split_whitespace().collect();
        assert_eq!(*classes, wanted, "values in {regex}");
        assert_eq!(runs.join(" "), run, "what runs in {regex}");
    }
    // A pool behind a helper and a completion service: the value is the caller's.
    let (classes, runs) = of(r"opener\-(.*?)\-(-?[0-9]+)");
    assert_eq!(classes.len(), 2);
    assert_eq!(runs, &["Threads$2.call"]);
}

fn top_of<'m>(model: &'m schema::Model, class: &str, method: &str) -> &'m schema::TopLevelMethod {
    let mut tops = model.top_level_methods.iter();
    tops.find(|top| top.class == class && top.method == method).expect("a top-level method")
}

/// The node at which a top-level method prints a text.
fn node_of(model: &schema::Model, top: &schema::TopLevelMethod, text: &str) -> u32 {
    let prints = |point: &schema::DagPoint| {
        let point = &model.log_points[point.log_point.index()];
        point.templates.iter().any(|template| template.regex.contains(text))
    };
    let position = top.dag.nodes.iter().position(|node| node.points.iter().any(prints));
    u32::try_from(position.expect("a node")).expect("few nodes")
}

#[test]
fn the_body_of_a_task_calls_what_its_subclasses_define() {
    let model = model();
    let called: Vec<String> = (model.communication_pairs.iter())
        .filter(|pair| pair.kind == schema::LinkKind::Call)
        .map(|pair| (&model.top_level_methods[pair.from.index()], &model.top_level_methods[pair.to.index()]))
        .filter(|(from, _)| from.class == "Rounds$Command")
        .map(|(_, to)| format!("{}.{}", to.class, to.method))
        .collect();
    assert_eq!(called, ["Rounds$Dump.execute", "Rounds$Statistics.execute"]);
}

#[test]
fn a_loop_that_reads_its_flag_through_an_accessor_serves() {
    let analysis = analyze(&Rules::default());
    let key = ("Loops$Connection.key".to_owned(), IdentifierStrength::Request);
    assert_eq!(analysis.strengths("Loops$Request.run"), [key]);
}

#[test]
fn a_loop_that_takes_its_work_through_a_helper_serves() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds["Loops$Handler.run"], TopLevelKind::Dispatcher);
    assert!(kinds.contains_key("Loops$Handler.handle"), "{kinds:?}");
}

#[test]
fn a_loop_that_ends_when_nothing_came_for_long_serves() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds["Loops$Pool$Worker.run"], TopLevelKind::Dispatcher);
    assert!(kinds.contains_key("Loops$Pool$Worker.work"), "{kinds:?}");
}

#[test]
fn what_a_thread_keeps_in_its_own_object_is_what_the_round_is_about() {
    let analysis = analyze(&Rules::default());
    let job = ("Loops$Job.jobId".to_owned(), IdentifierStrength::Request);
    assert_eq!(analysis.strengths("Loops$Pool$Worker.work"), [job]);
}

#[test]
fn a_loop_hands_out_work_through_an_accessor() {
    let kinds = analyze(&Rules::default()).kinds();
    assert_eq!(kinds["Loops$Pool$Dropper.run"], TopLevelKind::Dispatcher);
    assert!(kinds.contains_key("Loops$Pool.drop"), "{kinds:?}");
}

#[test]
fn what_calls_itself_hands_over_nothing() {
    let model = model();
    let handle =
        model.top_level_methods.iter().position(|t| t.class == "Loops$Handler" && t.method == "handle");
    let handle = schema::TopLevelId::new(handle.expect("a top-level method"));
    assert!(!model.communication_pairs.iter().any(|pair| pair.from == handle && pair.to == handle));
}

#[test]
fn what_a_silent_loop_calls_in_its_rounds_is_no_part_of_its_thread() {
    let model = model();
    assert!(
        top_of(&model, "Loops$Service", "run")
            .identifiers
            .iter()
            .all(|i| i.strength != IdentifierStrength::Request)
    );
    let round =
        model.top_level_methods.iter().position(|t| t.class == "Loops$Sweeper" && t.method == "round");
    let round = schema::TopLevelId::new(round.expect("a top-level method"));
    assert!(!model.communication_pairs.iter().any(|pair| pair.to == round));
}

/// The pairs between the top-level methods of a class: (sender, receiver, how, many).
fn pairs_of(class: &str) -> Vec<(String, String, LinkKind, bool)> {
    let Analysis { program, graph, log_points, tops } = analyze(&Rules::default());
    let bindings = Bindings::new(&program, &graph);
    let (pairs, _) = pairs::find(&program, &graph, &bindings, &log_points, &tops, &Rules::default());
    let name = |top: usize| {
        let method = &program.methods[tops.methods[top].method.index()];
        program.classes[method.class.index()].name.as_str().to_owned()
    };
    let pairs = pairs.iter().map(|pair| (name(pair.from), name(pair.to), pair.kind, pair.many));
    pairs.filter(|(from, to, ..)| from.starts_with(class) && to.starts_with(class)).collect()
}

/// What the top-level methods of a class hand over to others of its file: the receiver, how,
/// and the value classes of the receiver's identifiers that are carried, in one text.
fn handed(from: &str) -> Vec<String> {
    let model = model();
    let top = |id: schema::TopLevelId| &model.top_level_methods[id.index()];
    let pairs = model.communication_pairs.iter().filter(|pair| {
        let is_message = matches!(pair.kind, LinkKind::Queue | LinkKind::Socket);
        let is_of_file = from.split('$').next() == top(pair.to).class.split('$').next();
        is_message && is_of_file && top(pair.from).class == from
    });
    let described = pairs.map(|pair| {
        let to = top(pair.to);
        let class = |&(_, theirs): &(schema::IdentifierId, schema::IdentifierId)| {
            model.value_classes[to.identifiers[theirs.index()].value_class.index()].clone()
        };
        let carried: Vec<String> = pair.identifiers.iter().map(class).collect();
        format!("{}.{} {:?} {}", to.class, to.method, pair.kind, carried.join(" "))
    });
    described.collect()
}

#[test]
fn who_writes_into_a_folder_of_a_store_is_followed_by_who_is_told_of_its_keys() {
    let pairs = pairs_of("Watched$");
    let mut to_collector: Vec<&str> = (pairs.iter())
        .filter(|(_, to, kind, _)| to == "Watched$Collector" && *kind == LinkKind::Store)
        .map(|(from, ..)| from.as_str())
        .collect();
    to_collector.sort_unstable();
    // Another folder is none of its business, and a look at a key tells nobody; what
    // was collected is written one by one.
    assert_eq!(to_collector, ["Watched$Balancer", "Watched$Finisher"], "{pairs:?}");
}

#[test]
fn a_task_that_is_made_at_two_places_is_started_twice() {
    let pairs = pairs_of("Watched$");
    let halves = pairs.iter().find(|(from, to, ..)| from == "Watched$Splitter" && to == "Watched$Half");
    assert!(matches!(halves, Some((_, _, LinkKind::Thread, true))), "{pairs:?}");
}

#[test]
fn what_only_passes_on_looks_nothing_up_for_who_started_it() {
    let pairs = pairs_of("Relays$");
    let senders: Vec<&str> =
        pairs.iter().filter(|(_, to, ..)| to == "Relays$A").map(|(from, ..)| from.as_str()).collect();
    // Who names what it looks up the handler for has asked it; who has started a thread that
    // prints nothing has not chosen the handler.
    assert_eq!(senders, ["Relays$Asker"], "{pairs:?}");
}
