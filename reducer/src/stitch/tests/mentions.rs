//! What a request has named is handed on by those of its spans that do not name it.

use super::*;

/// Who makes a block calls what finishes it, which names nothing and has it dropped.
const BLOCKS: &str = "
    point p
    top make Task block=Block.id
      >p
    top finish Task block=Block.id
      >p
    top drop Task block=Block.id
      >p
    pair make finish Call
    pair finish drop Thread block=block
";

/// Two at a time.
const MADE: &str = "
    a t1 make block=block_1001 1.0-2.0
    a t2 make block=block_1002 1.0-2.0
    a t1 finish 1.2-1.5
    a t2 finish 1.2-1.5
    a w1 drop block=block_1001 1.4-1.45
";

#[test]
fn a_task_is_of_the_request_that_has_named_what_it_works_on() {
    check(BLOCKS, MADE, "1 3 5 1>3 3>5\n2 4 2>4");
}

#[test]
fn who_handles_messages_takes_those_of_all_nodes() {
    check(&BLOCKS.replace("drop Thread", "drop Socket"), MADE, "1 3 1>3\n2 4 2>4\n5");
}
