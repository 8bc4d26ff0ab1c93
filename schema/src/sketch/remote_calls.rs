//! Remote calls of a sketched pair: `call:GET/orders/{id},A|B..C,orders`.
//!
//! First what is asked for: a path with the verb before it, or a method or topic alone. Then the
//! log points before and after, the nearest ones; `^` is the start of the sender and `$` its end,
//! which an empty side means too; `*` at the end: again and again. Then the host, if it is known.

use super::point;
use crate::ids::LogPointId;
use crate::model::{Model, RemoteCall};

const WORD: &str = "call:";

/// The words of remote calls, and the others.
pub(super) fn split<'a>(words: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    words.iter().partition(|word| word.starts_with(WORD))
}

/// The remote calls of `words`, in their order, behind those of the pairs before.
pub(super) fn parse(model: &Model, words: &[&str], waits: bool) -> Vec<RemoteCall> {
    let n_before = model.communication_pairs.iter().map(|pair| pair.remote_calls.len()).sum::<usize>();
    let of = |(order, word): (u32, &&str)| {
        let mut parts = word.trim_start_matches(WORD).split(',');
        let asked = parts.next().unwrap_or_default();
        let verb = asked.bytes().take_while(u8::is_ascii_uppercase).count();
        let (verb, template) = match asked[verb..].starts_with('/') {
            true => asked.split_at(verb),
            false => ("", asked),
        };
        let place = parts.next().unwrap_or("..");
        let (before, after) = place.trim_end_matches('*').split_once("..").expect("`A..B`");
        let ((after_points, is_first), (before_points, is_last)) =
            (side(model, before, "^"), side(model, after, "$"));
        RemoteCall {
            order: order + n_before as u32,
            verb: verb.to_owned(),
            template: template.to_owned(),
            asked: template.to_owned(),
            host: parts.next().unwrap_or_default().to_owned(),
            waits,
            repeats: place.ends_with('*'),
            after: after_points,
            is_first,
            before: before_points,
            is_last,
        }
    };
    (0..).zip(words).map(of).collect()
}

/// The log points of one side, and whether the end of the method is among them.
fn side(model: &Model, text: &str, end: &str) -> (Vec<LogPointId>, bool) {
    let names = || text.split('|').filter(|name| !name.is_empty());
    let mut points: Vec<LogPointId> =
        names().filter(|&name| name != end).map(|name| point(model, name)).collect();
    points.sort_unstable();
    (points, text.is_empty() || names().any(|name| name == end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_says_what_it_asks_for_and_where_it_stands() {
        let model = crate::sketch::model(
            "point A
             point B
             top serve RpcHandler
               >A B
               B<
             top find RpcHandler
               >B<
             pair serve find Http waits call:GET/orders/{id},A..B,orders call:shop.Orders/Find,A|^..$*",
        );
        let [first, second] = &model.communication_pairs[0].remote_calls[..] else { panic!("two calls") };
        assert_eq!(first.request(), "GET /orders/{id}");
        assert_eq!(
            (first.order, first.host.as_str(), first.waits, first.repeats),
            (0, "orders", true, false)
        );
        assert_eq!((&first.after[..], first.is_first), (&[point(&model, "A")][..], false));
        assert_eq!((&first.before[..], first.is_last), (&[point(&model, "B")][..], false));
        assert_eq!((second.verb.as_str(), second.template.as_str()), ("", "shop.Orders/Find"));
        assert!(second.is_first && second.is_last && second.repeats && second.before.is_empty());
    }
}
