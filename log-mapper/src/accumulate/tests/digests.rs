//! Digests: who has one has it by no chance, whatever prints it.

use super::*;

const ONE: &str = "27d9e6758350b73e967e79da261bade8";
const OTHER: &str = "3be017b53c16900681d4cae837cb61af";

/// What a thread prints after a pause can begin another round.
const FLUSHER: &str = "
    point opened code=Region.code
    point flushing code=Region.code
    point wrote path=File.path
    top open RpcHandler code=Region.code
      >opened<
    top flush DispatchTarget code=Region.code
      >flushing< wrote
      >wrote<";

#[test]
fn a_digest_within_a_text_tells_what_a_thread_goes_on_with() {
    let records = |path: &str| {
        format!(
            "1.000 rpc opened code={ONE}
             1.100 rpc opened code={OTHER}
             2.000 flusher flushing code={ONE}
             2.500 flusher wrote path={path}"
        )
    };
    let opened = "open: 1 opens\nopen: 2 opens\n";
    let goes_on = format!("{opened}flush: 3 opens; 4 thread+1 id");
    check(FLUSHER, &records(&format!("/data/{ONE}/a")), &goes_on);
    let apart = format!("{opened}flush: 3 opens\nflush: 4 opens");
    check(FLUSHER, &records(&format!("/data/{OTHER}/a")), &apart);
}

#[test]
fn a_digest_within_a_text_of_a_thread_tells_nothing_to_others() {
    let records = format!(
        "1.000 rpc opened code={ONE}
         2.000 flusher flushing code={ONE}
         2.500 flusher wrote path=/data/{ONE}/a
         3.000 flusher flushing code={OTHER}
         3.500 flusher wrote path=/data/{ONE}/b"
    );
    // What its thread has left behind is not found by it.
    let spans = "open: 1 opens\nflush: 2 opens; 3 thread+1 id\nflush: 4 opens\nflush: 5 opens";
    check(FLUSHER, &records, spans);
}

#[test]
fn without_threads_a_digest_is_a_name_however_many_print_it() {
    let records = format!(
        "1.000 - closes code={ONE}
         1.001 - closes code={OTHER}
         1.002 - closed code={ONE}
         1.003 - closed code={OTHER}"
    );
    let spans = "close: 1 opens; 3 1 id\nclose: 2 opens; 4 1 id";
    let model = |class: &str, identifiers: &str| {
        format!(
            "point closes code={class}
             point closed code=Region.code
             top close Task {identifiers}
               >closes closed
               >closed<"
        )
    };
    check(&model("Region.code", "code=Region.code?"), &records, spans);
    // Under another name, and as what is nobody's identifier.
    check(&model("Request.code", "asked=Request.code code=Region.code"), &records, spans);
    check(&model("Region.code", ""), &records, spans);
}

#[test]
fn who_shares_a_digest_with_a_record_may_differ_in_other_names() {
    check(
        "point reading path=File.path
         point flushing code=Region.code
         point wrote path=File.path
         point added path=File.path
         top read RpcHandler path=File.path
           >reading<
         top flush Task code=Region.code
           >flushing wrote
           wrote added
           added<",
        &format!(
            "1.000 - flushing code={ONE}
             1.001 - flushing code={OTHER}
             1.002 - wrote path=/data/{ONE}/file_1
             1.003 - wrote path=/data/{OTHER}/file_2
             1.004 - added path=/data/{ONE}/file_3
             1.005 - added path=/data/{OTHER}/file_4"
        ),
        "flush: 1 opens; 3 1 id; 5 1 id\nflush: 2 opens; 4 1 id; 6 1 id",
    );
}

#[test]
fn a_digest_is_one_thing_by_whatever_identifier_it_is_known() {
    check(
        "point closes asked=Request.code
         point closed code=Region.code
         top close Task asked=Request.code code=Region.code
           >closes closed
           >closed<",
        &format!(
            "1.000 - closes asked={ONE}
             1.001 - closes asked={OTHER}
             1.002 - closed code={OTHER}
             1.003 - closed code={ONE}"
        ),
        "close: 1 opens; 4 1 id\nclose: 2 opens; 3 1 id",
    );
}

#[test]
fn a_digest_within_a_text_of_a_thread_contradicts_nothing() {
    let records = format!(
        "1.000 rpc opened code={ONE}
         1.100 rpc opened code={OTHER}
         2.000 flusher flushing code={ONE}
         2.001 flusher wrote path=/data/{OTHER}/a"
    );
    // The file can be of one thing and lie in the folder of another.
    let spans = "open: 1 opens\nopen: 2 opens\nflush: 3 opens; 4 thread";
    check(FLUSHER, &records, spans);
}

#[test]
fn what_a_thread_left_behind_is_not_found_by_a_digest_within_a_text() {
    check(
        "point opened code=Region.code
         point flushing code=Region.code
         point wrote path=File.path
         point added path=File.path
         top open RpcHandler code=Region.code
           >opened<
         top flush Task code=Region.code
           >flushing wrote
           wrote added
           added<",
        &format!(
            "1.000 rpc opened code={ONE}
             1.100 rpc opened code={OTHER}
             2.000 flusher flushing code={ONE}
             2.100 flusher wrote path=/data/{ONE}/a
             2.200 flusher flushing code={OTHER}
             2.300 flusher wrote path=/data/{OTHER}/a
             2.400 flusher added path=/data/{ONE}/a"
        ),
        "open: 1 opens
         open: 2 opens
         flush: 3 opens; 4 thread+1 id
         flush: 5 opens; 6 thread+1 id; 7 thread",
    );
}

/// What the last span is known by.
fn known_of_last(model: &str, records: &str) -> Vec<String> {
    let model = sketch::model(model);
    let mut records = Sketched { model: &model, lines: records.lines().enumerate() };
    let accumulated = accumulate(&model, &mut records, &Config { node: "n".to_owned(), ..Config::default() });
    let last = accumulated.accumulators.last().expect("a span");
    last.spans[0].identifiers.iter().map(|value| value.text.to_string()).collect()
}

#[test]
fn a_span_is_known_by_a_digest_within_a_text_only_without_threads() {
    let model = "
        point opened code=Region.code
        point wrote path=File.path
        point named code=Region.code
        top open RpcHandler code=Region.code
          >opened<
        top write Task path=File.path
          >wrote< named
          named<";
    let records = format!("1.0 rpc opened code={ONE}\n2.0 t wrote path=/data/{ONE}/a");
    let is_known = |records: &str| known_of_last(model, records).iter().any(|text| text == ONE);
    assert!(!is_known(&records));
    assert!(is_known(&records.replace(" rpc ", " - ").replace(" t ", " - ")));
    // Here the thread says itself what that is.
    assert!(is_known(&format!("{records}\n2.001 t named code={ONE}")));
}
