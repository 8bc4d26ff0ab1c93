//! How often a part of a span takes how long: normal requests and the tail of the type, one
//! above the other. Classes grow by a constant factor, because times do.

use std::io::{self, Write};

use crate::output::duration;
use crate::profile::groups::Groups;
use crate::profile::layers::{Layer, Metric, Tails};
use crate::profile::report::InOrder;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 110.0;
/// Classes from one power of ten to the next one.
const CLASSES_OF_TEN: f64 = 8.0;

/// The distribution of what `order` is about.
pub(super) fn plot(out: &mut dyn Write, groups: &Groups, tails: &Tails, order: &InOrder) -> io::Result<()> {
    let metric = order.subspan.map_or(Metric::HandOver, Metric::Subspan);
    let mut counts: std::collections::BTreeMap<i64, (u64, u64)> = std::collections::BTreeMap::new();
    groups.each((order.group, order.place), metric, |request, us| {
        let count = counts.entry(class(us)).or_default();
        if tails.has(Layer::Type, request) { count.1 += 1 } else { count.0 += 1 }
    });
    let (Some((&first, _)), Some((&last, _))) = (counts.first_key_value(), counts.last_key_value()) else {
        return Ok(());
    };
    let highest = counts.values().map(|(normal, tail)| normal + tail).max().unwrap_or(1) as f64;
    let n_classes = (last - first + 1) as f64;
    let width = (WIDTH / n_classes).min(40.0);
    writeln!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} {0}\" width=\"{WIDTH}\" height=\"{0}\" role=\"img\" aria-label=\"distribution\">",
        HEIGHT + 20.0
    )?;
    for (number, (normal, tail)) in &counts {
        let x = (number - first) as f64 * width;
        let bar = |n: u64| n as f64 / highest * (HEIGHT - 4.0);
        let title = format!("{} and more: {normal} normal, {tail} in the tail", duration(bound(*number)));
        for (n, below, fill) in [(*normal, 0, "#54aeff"), (*tail, *normal, "#fb8f44")] {
            if n > 0 {
                let y = HEIGHT - bar(n + below);
                writeln!(
                    out,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\"><title>{title}</title></rect>",
                    (width - 1.0).max(1.0),
                    bar(n).max(1.0),
                )?;
            }
        }
    }
    writeln!(
        out,
        "<text x=\"0\" y=\"{0}\">{1}</text><text x=\"{2:.1}\" y=\"{0}\" text-anchor=\"end\">{3}</text></svg>",
        HEIGHT + 15.0,
        duration(bound(first)),
        (n_classes * width).max(120.0),
        duration(bound(last + 1)),
    )
}

/// The class of a time; that of no time is the one below that of 1 µs.
fn class(us: i64) -> i64 {
    if us <= 0 { -1 } else { ((us as f64).log10() * CLASSES_OF_TEN).floor() as i64 }
}

/// The shortest time of a class.
fn bound(class: i64) -> i64 {
    if class < 0 { 0 } else { 10_f64.powf(class as f64 / CLASSES_OF_TEN).round() as i64 }
}

#[cfg(test)]
mod tests {
    use super::{bound, class};

    #[test]
    fn classes_hold_what_they_begin_with() {
        assert_eq!([0, 1, 9, 10, 99_999, 100_000].map(class), [-1, 0, 7, 8, 39, 40]);
        assert_eq!([-1, 0, 8, 40].map(bound), [0, 1, 10, 100_000]);
    }
}
