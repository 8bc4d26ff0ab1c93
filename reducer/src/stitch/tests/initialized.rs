//! Classes that are initialized in threads that print nothing else.

use super::*;

/// Who leads starts a thread that starts another one, which is silent as it accepts, but for
/// the line of a class.
const LEADER: &str = "
    point p
    point q
    point loads
    top lead Task
      >p
    top open Task
      >q
    top serve Dispatcher
      >q
    top accept DispatchTarget
      >loads
    pair lead open Thread
    pair open serve Thread many
    pair serve accept Call many";

#[test]
fn what_initializes_a_class_in_a_thread_is_of_its_only_starter_at_work() {
    let mut model = sketch::model(LEADER);
    let lines = "a t lead 1.0-9.0\na u accept loads@5.0";
    // Another line is of a round.
    check_model(&model, lines, "1\n2");
    initialize(&mut model, "loads");
    check_model(&model, lines, "1 2 1>2");
    // Nobody, or two are at work.
    check_model(&model, "a t lead 1.0-4.0\na u accept loads@5.0", "1\n2");
    check_model(&model, "a t lead 1.0-9.0\na v lead 1.0-9.0\na u accept loads@5.0", "1\n2\n3");
    check_model(&model, "a t lead 1.0-9.0\nb u accept loads@5.0", "1\n2");
}
