//! Spans as lanes: those of a request, and those of the aggregate trace of a group of layer 4,
//! in which each span has the mean of all of its starts and of all of its ends (tprof §3.5:
//! means of a sum are the sum of means, so they fit into each other).

use std::io::{self, Write};

use super::escaped;
use crate::output::duration;
use crate::profile::groups::{Group, Groups};

const WIDTH: f64 = 1_000.0;
/// Where times begin; operations stand before.
const LEFT: f64 = 300.0;
const LANE: f64 = 22.0;
/// Lanes that are drawn.
const LANES_MAX: usize = 60;
/// Letters of an operation that fit.
const NAME_CHARS_MAX: usize = 40;

/// The aggregate trace of a group; `marked` is a place and one of its subspans, or its
/// hand-over.
pub(super) fn lanes(
    out: &mut dyn Write,
    groups: &Groups,
    number: u32,
    marked: Option<(u32, Option<u32>)>,
) -> io::Result<()> {
    let group = &groups.groups[number as usize];
    let mut sums = vec![0.0_f64; 2 * group.places.len()];
    for row in group.rows() {
        sums.iter_mut().zip(row).for_each(|(sum, &us)| *sum += us as f64);
    }
    let n = group.requests.len() as f64;
    sums.iter_mut().for_each(|sum| *sum /= n);
    let stretch = marked.and_then(|(place, subspan)| {
        let of = &group.places[place as usize];
        let (from, to) = match subspan {
            Some(number) => *of.subspans.get(number as usize)?,
            None => of.hand_over?,
        };
        Some((place, sums[from as usize], sums[to as usize]))
    });
    draw(out, groups, group, &sums, stretch)
}

/// The spans of a request.
pub(super) fn request(out: &mut dyn Write, groups: &Groups, number: u32) -> io::Result<()> {
    let group = &groups.groups[groups.requests.groups[number as usize] as usize];
    let at = group.requests.binary_search(&number).expect("requests are added in order");
    let times: Vec<f64> = group.row(at).iter().map(|us| *us as f64).collect();
    draw(out, groups, group, &times, None)
}

fn draw(
    out: &mut dyn Write,
    groups: &Groups,
    group: &Group,
    times: &[f64],
    marked: Option<(u32, f64, f64)>,
) -> io::Result<()> {
    let last = times.iter().copied().fold(0.0, f64::max).max(1.0);
    let x = |us: f64| LEFT + us / last * (WIDTH - LEFT - 70.0);
    let n_lanes = group.places.len().min(LANES_MAX);
    let height = LANE * n_lanes as f64 + 22.0;
    writeln!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\" aria-label=\"spans over time\">"
    )?;
    let mut depths: Vec<u32> = Vec::with_capacity(group.places.len());
    for (at, place) in group.places.iter().enumerate() {
        let depth = place.parent.map_or(0, |parent| depths[parent as usize] + 1);
        depths.push(depth);
        if at >= LANES_MAX {
            continue;
        }
        let (from, to) = (times[2 * at], times[2 * at + 1]);
        let (y, indent) = (LANE * at as f64, 10.0 * f64::from(depth.min(8)));
        let name = groups.names.name(place.operation);
        let shown: String = name.chars().take(NAME_CHARS_MAX).collect();
        let fill = if place.wait == crate::request::trace::Wait::Nobody && place.parent.is_some() {
            "#8250df"
        } else {
            "#54aeff"
        };
        writeln!(
            out,
            "<text x=\"{indent}\" y=\"{:.1}\">{}</text><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"14\" fill=\"{fill}\"><title>{}: {} to {}</title></rect>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            y + 15.0,
            escaped(&shown),
            x(from),
            y + 4.0,
            (x(to) - x(from)).max(1.0),
            escaped(name),
            us(from),
            us(to),
            x(to) + 5.0,
            y + 15.0,
            us(to - from),
        )?;
        if let Some((_, from, to)) = marked.filter(|(place, ..)| *place as usize == at) {
            writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"14\" fill=\"#fb8f44\"><title>takes long: {}</title></rect>",
                x(from),
                y + 4.0,
                (x(to) - x(from)).max(2.0),
                us(to - from),
            )?;
        }
    }
    writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{0:.1}\">0</text><text x=\"{1:.1}\" y=\"{0:.1}\" text-anchor=\"end\">{2}</text></svg>",
        height - 5.0,
        x(last),
        us(last),
    )?;
    if group.places.len() > LANES_MAX {
        writeln!(out, "<p class=dim>{} more spans are not drawn.</p>", group.places.len() - LANES_MAX)?;
    }
    Ok(())
}

fn us(us: f64) -> String {
    duration(us.round() as i64)
}
