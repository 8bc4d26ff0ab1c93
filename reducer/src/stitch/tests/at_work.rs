//! At work: who asks for something goes on when that is done.

use super::*;

/// Blocks are stored here and elsewhere, and both tell who keeps the list of them.
const BLOCKS: &str = "
    point p
    top store Task block=Block.name
      >p
    top list EventHandler block=Block.name
      >p
    pair store list Queue block=block many
    pair store list Socket block=block many
";

#[test]
fn who_is_at_work_elsewhere_has_asked_for_it_and_not_who_was_done_here() {
    check(
        BLOCKS,
        "a t1 store block=broadcast_7 1.000-1.010
         b t2 store block=broadcast_7 1.040-1.090
         a t3 list block=broadcast_7 1.050-1.051",
        "1
         2 3 2>3",
    );
}

#[test]
fn who_is_at_work_here_can_have_asked_for_it() {
    check(
        BLOCKS,
        "a t1 store block=broadcast_7 1.000-1.060
         b t2 store block=broadcast_7 1.040-1.090
         a t3 list block=broadcast_7 1.050-1.051",
        "1 2 3 1>3 2>3",
    );
}

#[test]
fn who_was_done_elsewhere_too_tells_nothing_of_who_is_here() {
    check(
        BLOCKS,
        "a t1 store block=broadcast_7 1.000-1.010
         b t2 store block=broadcast_7 1.020-1.030
         a t3 list block=broadcast_7 1.050-1.051",
        "1 2 3 1>3 2>3",
    );
}
