//! Names so short that only their letters and digits tell that they are none by chance.

use super::*;

#[test]
fn a_short_name_that_was_made_is_the_whole_of_its_parts() {
    let model = "point p
         top close_all Task table=Table.name
           >p
         top relay Task region=Region.name
           >p
         top close RpcHandler region=Region.name
           >p
         pair close_all relay Thread many
         pair relay close Rpc region=region";
    let spans = |table: &str| {
        format!(
            "a t close_all table={table} 1.000-2.000
             b u close region={table},k2,7 1.100-1.200
             c v close region=x{table},k2,7 1.100-1.200"
        )
    };
    check(model, &spans("t0_152"), "1 2 1>2\n3");
    // Short numbers are in many texts, and words without a number were there before.
    check(model, &spans("39713"), "1\n2\n3");
    check(model, &spans("orders"), "1\n2\n3");
}

#[test]
fn who_names_a_part_of_a_short_name_would_name_this_one() {
    let model = "point p
         top close_all Task table=Table.name region[*]=Region.name
           >p
         top close Task region=Region.name
           >p
         pair close_all close Thread region[*]=region many";
    let spans = |named: &str| {
        format!(
            "a t close_all table=t0_152 region[*]={named} 1.000-2.000
             a u close region=t0_152,17 1.100-1.200"
        )
    };
    check(model, &spans("meta_1"), "1 2 1>2");
    check(model, &spans("t0_152,16"), "1\n2");
}

#[test]
fn a_thread_is_named_after_a_short_name_and_after_no_short_number() {
    let model = "point p
         top ask Task id=Id.text
           >p
         top work Task
           >p
         pair ask work Thread";
    let spans = |name: &str| {
        format!(
            "a t1 ask id={name}2 1.0-2.0
             a t2 ask id={name}3 1.0-2.0
             a worker-{name}2 work 1.1-1.2"
        )
    };
    check(model, &spans("t0_15"), "1 3 1>3\n2");
    check(model, &spans("3971"), "1\n2\n3");
}
