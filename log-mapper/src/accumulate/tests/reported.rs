//! Failures that libraries report of methods of the program, by their stack traces.

use super::*;

const CALLS: &str = "
    point asked id=Call.id
    point done id=Call.id
    top find RpcHandler id=Call.id
      >asked< done
      done<
    top fetch RpcHandler";

#[test]
fn what_has_printed_nothing_is_its_report() {
    check(
        CALLS,
        "1.0 t asked id=call_01
         1.1 t done id=call_01
         1.2 t ? ran:fetch
         1.3 t ? ran:fetch
         1.4 t asked id=call_02",
        "find: 1 opens; 2 thread+1 id
         fetch: 3 opens, its failure is reported
         fetch: 4 opens, its failure is reported
         find: 5 opens",
    );
}

#[test]
fn a_report_of_what_its_thread_is_at_is_of_that() {
    check(
        CALLS,
        "1.0 t asked id=call_01
         1.1 t ? ran:find
         1.0 u asked id=call_02
         1.1 u ? ran:fetch ran:find",
        "find: 1 opens; 2 thread, no log point
         find: 3 opens; 4 thread, no log point",
    );
}

#[test]
fn a_run_that_fails_long_after_another_one_is_its_own() {
    check(
        CALLS,
        "1.0 t asked id=call_01
         1.1 t done id=call_01
         9.0 t ? ran:find",
        "find: 1 opens; 2 thread+1 id
         find: 3 opens, its failure is reported",
    );
}

#[test]
fn without_threads_only_what_prints_nothing_is_known_by_its_report() {
    check(
        CALLS,
        "1.0 - asked id=call_01
         1.1 - asked id=call_02
         1.2 - ? ran:fetch
         1.3 - ? ran:find",
        "find: 1 opens
         find: 2 opens
         fetch: 3 opens, its failure is reported
         unattributed: 4",
    );
}
