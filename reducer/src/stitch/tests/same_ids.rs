//! What ids that logs carry tell of spans that have none.

use super::*;

const SHOP: &str = "
    point p
    point before
    point between
    point after
    point lookup
    point looked
    top order RpcHandler
      >before between
      between after
      after<
    top find RpcHandler
      >lookup looked
      looked<
    pair order find Http waits call:GET/articles/{id},before..between call:GET/articles/{id},between..after
";

#[test]
fn handlers_are_of_callers_of_their_own_id() {
    // All of the handlers can be of either of two callers that have no id.
    check(
        SHOP,
        "a t1 order before@1.000 between@1.100 after@1.200
         a t2 order before@1.000 between@1.100 after@1.200
         b u1 find id:4f lookup@1.030 looked@1.070
         b u2 find id:4f lookup@1.130 looked@1.170
         a t1 order id:4f before@0.900 between@0.920 after@0.950
         b u3 find id:7c lookup@1.031 looked@1.071
         a t3 order id:7c before@1.001 between@1.099 after@1.190",
        "5 3 4 5>3 5>4\n1\n2\n7 6 7>6",
    );
}
