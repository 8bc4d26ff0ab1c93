//! Small services (`fixtures/services/java`) that ask each other over HTTP, gRPC and a broker:
//! who serves what, who asks for it between which lines, and which values go over. The libraries
//! are not on the class path.

use std::path::PathBuf;
use std::sync::OnceLock;

use schema::{LinkKind, LogPointId, Model, RemoteCall, TopLevelId};

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        let classes = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/services/classes");
        static_analyzer::analyze(&[classes], &static_analyzer::Config::default()).expect("readable classes")
    })
}

fn name(id: TopLevelId) -> String {
    let top = &model().top_level_methods[id.index()];
    format!("{}.{}", top.class, top.method)
}

/// What a method is asked by.
#[track_caller]
fn serves(method: &str) -> Vec<&'static str> {
    let top = model().top_level_methods.iter().find(|top| format!("{}.{}", top.class, top.method) == method);
    top.unwrap_or_else(|| panic!("{method}")).serves.iter().map(String::as_str).collect()
}

/// The constant front of what a log point prints.
fn line(id: &LogPointId) -> &'static str {
    let regex = model().log_points[id.index()].templates[0].regex.as_str();
    regex.split('(').next().unwrap_or_default().trim_end()
}

/// How a remote call looks: what for, whom, between which lines.
fn shown(call: &RemoteCall) -> String {
    let side = |points: &[LogPointId], is_end: bool| {
        let end = is_end.then_some("end");
        points.iter().map(line).chain(end).collect::<Vec<_>>().join("|")
    };
    format!(
        "{}{}{} of {}: {} .. {}",
        call.request(),
        if call.waits { "" } else { " later" },
        if call.repeats { " repeats" } else { "" },
        call.host,
        side(&call.after, call.is_first),
        side(&call.before, call.is_last)
    )
}

/// The remote calls from one method to others, in order, with the receiver.
fn asks(from: &str) -> Vec<(String, LinkKind, String)> {
    let pairs =
        model().communication_pairs.iter().filter(|pair| pair.kind.is_served() && name(pair.from) == from);
    let mut calls: Vec<_> = pairs
        .flat_map(|pair| {
            pair.remote_calls.iter().map(|call| (call.order, name(pair.to), pair.kind, shown(call)))
        })
        .collect();
    calls.sort();
    calls.into_iter().map(|(_, to, kind, shown)| (to, kind, shown)).collect()
}

/// Names of values that are carried, (sender's, receiver's).
#[track_caller]
fn carried(from: &str, to: &str) -> Vec<(&'static str, &'static str)> {
    let pair = model().communication_pairs.iter().find(|pair| name(pair.from) == from && name(pair.to) == to);
    let pair = pair.unwrap_or_else(|| panic!("no pair from {from} to {to}"));
    let path = |of: TopLevelId, id: schema::IdentifierId| {
        model().top_level_methods[of.index()].identifiers[id.index()].path.as_str()
    };
    pair.identifiers.iter().map(|&(a, b)| (path(pair.from, a), path(pair.to, b))).collect()
}

fn http(to: &str, shown: &str) -> (String, LinkKind, String) {
    (to.to_owned(), LinkKind::Http, shown.to_owned())
}

#[test]
fn a_handler_serves_the_path_of_its_class_and_its_own() {
    assert_eq!(serves("Spring$Orders.place"), ["POST /api/orders/{id}"]);
    assert_eq!(serves("Spring$Orders.pay"), ["POST /api/orders/{id}/pay"]);
    assert_eq!(serves("Spring$Payment.card"), ["/cards/{number}"]);
    assert_eq!(serves("Resources$BooksResource.find"), ["GET /books/{isbn}"]);
    assert_eq!(serves("Registered$Tracks.doGet"), ["GET /tracks"]);
    assert_eq!(serves("Registered.lambda$main$0"), ["GET /trains/{train}"]);
    assert_eq!(serves("Declared$Sales.sold"), ["sold"]);
    assert_eq!(serves("Grpc$OrdersService.find"), ["shop.Orders/find"]);
}

#[test]
fn a_client_asks_between_its_lines_for_what_is_served() {
    let stock = http("Spring$Stock.reserve", "GET /stock/{item} of stock: placing .. placed");
    assert_eq!(asks("Spring$Orders.place"), [stock]);
    assert_eq!(carried("Spring$Orders.place", "Spring$Stock.reserve"), [("order", "item")]);
}

#[test]
fn branches_ask_for_several_and_templates_are_filled_in_later() {
    let expected = [
        http("Spring$Payment.card", "/cards/{number} of payment: paying .. paid"),
        http("Spring$Payment.transfer", "/transfers/{number} of payment: paying .. paid"),
        http("Spring$Stock.release", "POST /stock/{item}/release of stock: paying .. paid"),
    ];
    assert_eq!(asks("Spring$Orders.pay"), expected);
    assert_eq!(carried("Spring$Orders.pay", "Spring$Payment.card"), [("paid", "card")]);
    assert!(carried("Spring$Orders.pay", "Spring$Stock.release").contains(&("paid", "item")));
}

#[test]
fn who_calls_what_sends_asks_and_waits_only_if_that_does() {
    let expected = [
        http("Wrapper$Keys.key", "GET /keys/{key} of keys: booking .. booked"),
        http("Wrapper$Keys.bell", "GET /bells/{bell} later of keys: booked .. end"),
    ];
    assert_eq!(asks("Wrapper$Rooms.book"), expected);
    assert_eq!(carried("Wrapper$Rooms.book", "Wrapper$Keys.bell"), [("room", "bell")]);
}

#[test]
fn paths_and_addresses_are_what_the_configuration_says() {
    assert_eq!(serves("Settings$Rooms.free"), ["GET /v2/rooms/{room}"]);
    let free = http("Settings$Rooms.free", "GET /v2/rooms/{room} of hotel: booking .. booked at");
    assert_eq!(asks("Settings$Desk.book"), [free]);
    assert_eq!(carried("Settings$Desk.book", "Settings$Rooms.free"), [("booked", "room")]);
}

#[test]
fn a_call_in_a_loop_is_made_again_only_where_no_line_lies_between() {
    let expected = [
        http("Settings$Rooms.free", "GET /v2/rooms/{room} of hotel: booking all|one of all .. one of all"),
        http(
            "Settings$Rooms.free",
            "GET /v2/rooms/{room} repeats of hotel: booking all|one of all .. that was all",
        ),
    ];
    assert_eq!(asks("Settings$Desk.bookAll"), expected);
}

#[test]
fn resources_are_asked_for_by_targets() {
    let expected = [http("Resources$BooksResource.find", "GET /books/{isbn} of books: lending .. lent")];
    assert_eq!(asks("Resources$Loans.lend"), expected);
    assert_eq!(carried("Resources$Loans.lend", "Resources$BooksResource.find"), [("loan", "isbn")]);
}

#[test]
fn what_is_registered_for_a_path_runs_when_it_is_asked_for() {
    let expected = [http("Registered$Tracks.doGet", "GET /tracks of tracks: train .. end")];
    assert_eq!(asks("Registered.lambda$main$0"), expected);
    assert!(asks("Registered.main").is_empty());
}

#[test]
fn a_declared_client_asks_and_a_topic_and_another_thread_are_not_waited_for() {
    let expected = [
        http("Declared$Seats.seat", "GET /cinema/seats/{seat} of seats: buying .. bought"),
        ("Declared$Sales.sold".to_owned(), LinkKind::Message, "sold later of : bought .. end".to_owned()),
    ];
    assert_eq!(asks("Declared$Tickets.buy"), expected);
    assert_eq!(carried("Declared$Tickets.buy", "Declared$Seats.seat"), [("ticket", "seat")]);
    assert_eq!(carried("Declared$Tickets.buy", "Declared$Sales.sold"), [("ticket", "ticket")]);
    let mail = model().communication_pairs.iter().find(|pair| name(pair.to) == "Declared$Mail.send");
    assert_eq!(mail.map(|pair| pair.kind), Some(LinkKind::Thread));
}

#[test]
fn libraries_that_are_in_no_table_are_known_by_their_shape() {
    assert_eq!(serves("Shapes$Ships.ship"), ["/ships/{ship}"]);
    assert_eq!(serves("Shapes$Ships.berth"), ["GET /berths/of/{name}"]);
    let expected = [http("Shapes$Ships.berth", "/berths/of/{name} of harbour: ship .. berthed")];
    assert_eq!(asks("Shapes$Ships.ship"), expected);
}

#[test]
fn a_stub_asks_the_service() {
    let shown = "shop.Orders/find of : showing .. shown".to_owned();
    assert_eq!(asks("Grpc$Front.show"), [("Grpc$OrdersService.find".to_owned(), LinkKind::Grpc, shown)]);
    assert_eq!(carried("Grpc$Front.show", "Grpc$OrdersService.find"), [("order", "order")]);
}

#[test]
fn an_address_is_known_through_the_methods_that_put_it_together() {
    let expected = [
        http("Helpers$Shed.loan", "PUT /api/tools/{tool}/loan of : working with .. lent"),
        http("Helpers$Shed.tool", "GET /api/tools/{tool} of : lent .. found"),
        http("Helpers$Shed.open", "/shed/{tool} of : found .. end"),
    ];
    assert_eq!(asks("Helpers$Bench.work"), expected);
}

/// A service with a filter, an interceptor, advice and an event of its own.
fn around() -> Model {
    let classes = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/services/around");
    static_analyzer::analyze(&[classes], &static_analyzer::Config::default()).expect("readable classes")
}

#[test]
fn what_a_library_runs_before_and_after_a_handler_is_of_its_request() {
    let model = around();
    let names: Vec<&str> = model.top_level_methods.iter().map(|top| top.method.as_str()).collect();
    assert_eq!(names, ["park", "doFilter"]);
    let text = |id: &LogPointId| {
        let regex = model.log_points[id.index()].templates[0].regex.as_str();
        regex.split('(').next().unwrap_or_default().trim_end().to_owned()
    };
    let nodes = &model.top_level_methods[0].dag.nodes;
    let mut printed: Vec<String> =
        nodes.iter().flat_map(|node| &node.points).map(|point| text(&point.log_point)).collect();
    printed.sort_unstable();
    printed.dedup();
    assert_eq!(printed, ["garage is full", "guard looks", "noted", "parked", "parking"]);
}

#[test]
fn what_goes_around_handlers_calls_them() {
    let model = around();
    let pairs: Vec<_> =
        model.communication_pairs.iter().map(|pair| (pair.from, pair.to, pair.kind)).collect();
    assert_eq!(pairs, [(TopLevelId::new(1), TopLevelId::new(0), LinkKind::Call)]);
}

#[test]
fn what_a_library_calls_back_is_within_the_call_or_after_the_handler() {
    let classes = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/services/called");
    let config = static_analyzer::Config::default();
    let model = static_analyzer::analyze(&[classes], &config).expect("readable classes");
    let names: Vec<&str> = model.top_level_methods.iter().map(|top| top.method.as_str()).collect();
    assert_eq!(names, ["enter"]);
    let dag = &model.top_level_methods[0].dag;
    let text = |&node: &u32| {
        let point = dag.nodes[node as usize].points[0].log_point;
        let regex = model.log_points[point.index()].templates[0].regex.as_str();
        regex.split('(').next().unwrap_or_default().trim_end().to_owned()
    };
    let texts = |nodes: &[u32]| nodes.iter().map(text).collect::<Vec<_>>().join("|");
    let shown = |(at, node): (u32, &schema::DagNode)| {
        format!("{}{} -> {}", text(&at), if node.repeats { "*" } else { "" }, texts(&node.next))
    };
    assert_eq!(texts(&dag.entries), "at the gate");
    assert_eq!(
        (0..).zip(&dag.nodes).map(shown).collect::<Vec<_>>(),
        ["at the gate -> looks for|entered", "looks for* -> entered", "entered -> writes", "writes* -> "]
    );
}

/// The services of one of the labelled programs.
fn program(name: &str) -> Model {
    let sets = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/services/sets");
    let jar = sets.join(name).join("app.jar");
    static_analyzer::analyze(&[jar], &static_analyzer::Config::default()).expect("a readable jar")
}

#[test]
fn a_handler_that_prints_nothing_is_asked_for_and_passed_by() {
    let model = program("spring-branch");
    let name = |id: TopLevelId| {
        let top = &model.top_level_methods[id.index()];
        format!("{}.{}", top.class.rsplit('.').next().unwrap_or_default(), top.method)
    };
    let pairs = model.communication_pairs.iter().map(|pair| format!("{} {}", name(pair.from), name(pair.to)));
    let expected = [
        "BrokerController.seat LineController.seat",
        "BrokerController.stay RoomController.book",
        "TripController.book BrokerController.seat",
        "TripController.book BrokerController.stay",
        "TripController.book RoomController.book",
        "TripController.book LineController.seat",
    ];
    assert!(pairs.eq(expected));
    let silent = model.top_level_methods.iter().filter(|top| top.dag.nodes.is_empty());
    assert!(silent.map(|top| &*top.method).eq(["seat", "stay"]));
}

#[test]
fn what_is_registered_for_exceptions_is_of_the_handlers_of_its_server() {
    let model = program("javalin-retrofit");
    let n_points = |top: &schema::TopLevelMethod| {
        let n = top.dag.nodes.iter().map(|node| node.points.len()).sum::<usize>();
        format!("{} {n}", top.class.rsplit('.').next().unwrap_or_default())
    };
    let tops: Vec<String> = model.top_level_methods.iter().map(n_points).collect();
    assert_eq!(tops, ["Lobby 2", "Lobby 2", "Lobby 1", "Scores 3", "Scores 2", "Scores 2"]);
}
