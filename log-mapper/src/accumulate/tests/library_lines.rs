//! Lines of libraries: what their thread is at.

use super::*;

const CALLS: &str = "
    point asked id=Call.id
    point found
    point done id=Call.id
    top find RpcHandler id=Call.id
      >asked< found
      found done
      done<
    top list RpcHandler
      >found<";

#[test]
fn what_a_library_prints_between_two_lines_of_a_call_is_of_it_however_long_that_takes() {
    check(
        CALLS,
        "1.0 t asked id=call_01
         1.5 t ?
         1.9 t found
         1.9 t done id=call_01",
        "find: 1 opens; 2 thread, no log point; 3 thread, the rest; 4 thread",
    );
}

#[test]
fn what_a_library_prints_between_two_calls_is_of_the_nearer_one() {
    check(
        CALLS,
        "1.000 t asked id=call_01
         1.010 t ?
         1.300 t ?
         1.310 t asked id=call_02",
        "find: 1 opens; 2 thread, no log point
         find: 3 thread, no log point; 4 opens",
    );
}

#[test]
fn what_a_library_prints_long_after_a_call_is_of_none() {
    check(
        CALLS,
        "1.0 t asked id=call_01
         1.1 t ?
         5.0 t ?
         9.0 u ?",
        "find: 1 opens; 2 thread, no log point
         unattributed: 3
         unattributed: 4",
    );
}
