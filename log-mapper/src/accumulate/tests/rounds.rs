//! When a round of a dispatcher goes on, and when the next one begins.

use super::check;

#[test]
fn a_step_is_over_after_a_pause_much_longer_than_it_lasted() {
    let model = "
        point finished
        point looking
        point registering
        top receive IdentifierLoss
          >finished< looking registering
          looking< registering
          >registering<";
    let lines = |looking: &str, registering: &str| {
        format!("1.000 t finished\n{looking} t looking\n{registering} t registering")
    };
    check(model, &lines("1.001", "1.050"), "receive: 1 opens; 2 thread; 3 thread");
    check(model, &lines("1.001", "1.400"), "receive: 1 opens; 2 thread\nreceive: 3 opens");
    // It has taken its time before.
    check(model, &lines("1.100", "1.400"), "receive: 1 opens; 2 thread; 3 thread");
}
