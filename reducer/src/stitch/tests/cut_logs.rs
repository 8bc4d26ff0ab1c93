//! What a log that begins late or ends early must not change: names that everybody
//! shares tell nothing, however seldom they are seen.

use super::check;

#[test]
fn an_event_names_the_entity_that_it_is_sent_to() {
    let model = "point p
         top schedule Task queue=Queue.name?
           >p
         top state Entity this.id=Attempt.id queue=Queue.name?
           >p
         pair schedule state Queue";
    // The queue that there is says nothing of whose event it was.
    let spans = "a - schedule queue=default 1.000-1.001
         a - schedule queue=default 1.010-1.011
         a - state this.id=attempt_0001 queue=default 1.050-1.051";
    check(model, spans, "1\n2\n3");
    // A task is not sent to anybody in particular.
    check(&model.replace("Entity", "Task"), spans, "1\n2 3 2>3");
}

#[test]
fn what_only_has_a_name_in_common_is_not_one_thing() {
    // Neither end knows what it prints: the user is called as the queue is.
    let model = "point p
         top schedule Task queue=Queue.name? host=Host.name?
           >p
         top state Entity this.id=Attempt.id user=User.name? host=Host.name?
           >p
         pair schedule state Queue";
    let spans = |name: &str| {
        format!(
            "a - schedule queue={name} host=localhost 1.000-1.001
             a - schedule queue={name} host=localhost 1.010-1.011
             a - state this.id=attempt_0001 user={name} host=localhost 1.050-1.051"
        )
    };
    check(model, &spans("default"), "1\n2\n3");
    check(model, &spans("default_17"), "1\n2 3 2>3");
}

#[test]
fn events_of_what_was_set_up_are_of_who_they_name() {
    // A queue is no part of a request; the application that it serves is.
    let model = "point p
         top finish Entity this.queue=Queue.name app=App.id
           >p
         pair finish finish Queue this.queue=this.queue";
    let spans = |queue: &str| {
        format!(
            "a - finish this.queue={queue} app=app_0001 1.0-1.0
             a - finish this.queue={queue} app=app_0002 2.0-2.0"
        )
    };
    check(model, &spans("default"), "1\n2");
    check(model, &spans("queue_17"), "1 2 1>2");
}

#[test]
fn a_name_that_everybody_uses_is_common_whatever_it_is_called() {
    let model = "point p
         top hint Task peer=Peer.address
           >p
         top stream Task dst=Sync.dst
           >p
         top complete Task peer=Session.peer
           >p
         pair stream complete Thread dst=peer";
    let hints =
        |n: usize| -> String { (1..=n).map(|i| format!("a h hint peer=/10.0.0.1 {i}00-{i}00\n")).collect() };
    // What is completed is such a peer too.
    let others = "a h hint peer=/10.0.0.2 700-700
         a h hint peer=/10.0.0.3 710-710
         a c complete peer=/10.0.0.1 720-720
         a c complete peer=/10.0.0.2 730-730
         a c complete peer=/10.0.0.3 740-740
         a s stream dst=/10.0.0.1 1000.0-1000.0
         a s stream dst=/10.0.0.1 1000.3-1000.3
         a c complete peer=/10.0.0.1 1003.0-1003.1";
    let apart = |n: usize| -> String { (1..=n).map(|i| format!("{i}\n")).collect() };
    check(model, &(hints(6) + others), &apart(14));
    check(model, &(hints(1) + others), &(apart(7) + "8 9 8>9\n"));
}

#[test]
fn who_is_at_work_on_what_lives_on_means_the_one_that_was_made_then() {
    let model = "point p
         top look Task name=Part.name
           >p
         top drop Task name=Part.name
           >p
         top close RpcHandler name=Part.name
           >p
         pair drop close Rpc name=name";
    let spans = |name: &str| {
        let looks: String = (1..=6).map(|i| format!("b l look name={name} {i}0-{i}0\n")).collect();
        format!("{looks}a t drop name={name} 70.0-70.5\nb u close name={name} 70.2-70.3")
    };
    let apart: String = (1..=6).map(|i| format!("{i}\n")).collect();
    check(model, &spans("users_0,,1795256974097"), &(apart.clone() + "7 8 7>8"));
    // What is handed over by that name is meant whatever it is; what is only named is not.
    check(model, &spans("users_0,,17952569"), &(apart.clone() + "7 8 7>8"));
    let named = model.replace("Rpc name=name", "Socket");
    check(&named, &spans("users_0,,1795256974097"), &(apart.clone() + "7 8 7>8"));
    check(&named, &spans("users_0,,17952569"), &(apart + "7\n8"));
}

#[test]
fn a_thread_goes_on_about_a_thing_however_long_it_has_waited() {
    let model = "
        point p
        point done
        top split Task region=Region.name
          >p done
          done<";
    let spans = |thread: &str, first: char| {
        let digest = "123456789abcdef0123456789abcdef";
        format!(
            "a t1 split region=0{digest} p@1.0
             a {thread} split region={first}{digest} done@99.0"
        )
    };
    check(model, &spans("t1", '0'), "1 2 1>2");
    // Another thread, and another thing.
    check(model, &spans("t2", '0'), "1\n2");
    check(model, &spans("t1", '1'), "1\n2");
}
