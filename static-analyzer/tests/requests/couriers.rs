//! Loops that print nothing but that something failed hand on what they take, and what a builder
//! has made is what it was given (`Couriers.java`).

use super::lockers::{carried, model_of};

#[test]
fn what_a_silent_worker_takes_is_handed_to_the_task_that_it_starts() {
    let model = model_of("Couriers");
    let found = carried(&model, "Couriers.lambda$main$0", "Couriers$Copier.lambda$serve$0");
    assert_eq!(found, ["Couriers$Sheet.sheet"]);
}

#[test]
fn what_a_silent_connection_reads_is_handed_to_the_queue_that_it_fills() {
    let model = model_of("Couriers");
    let found = carried(&model, "Couriers.lambda$main$2", "Couriers$Stamper.stamp");
    assert_eq!(found, ["Couriers$Letter.letter"]);
}

#[test]
fn what_is_built_of_a_name_is_called_so_where_it_is_taken() {
    let model = model_of("Couriers");
    let found = carried(&model, "Couriers.lambda$main$1", "Couriers$Lender.onLent");
    assert_eq!(found, ["Couriers$Loan.loan"]);
}

#[test]
fn who_prints_lines_of_his_own_is_no_wrapper_of_a_short_one() {
    let model = model_of("Couriers");
    let short = |point: &&schema::LogPoint| point.templates.iter().any(|t| t.regex.starts_with("To "));
    let [point] = model.log_points.iter().filter(short).collect::<Vec<_>>()[..] else { panic!("one") };
    assert_eq!((&*point.method, point.call_site.is_none()), ("send", true));
}
