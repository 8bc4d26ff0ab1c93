//! The four layers, each group to open down to its metrics and the aggregate trace of the
//! orders that hold most of its time.

use std::io::{self, Write};

use super::{escaped, lanes, us};
use crate::output::{duration, grouped};
use crate::profile::groups::Groups;
use crate::profile::layers::{Layer, LayerGroup, Tails, group};
use crate::profile::report::Report;
use crate::profile::statistics::Statistics;

/// Groups of layers 3 and 4 below one of the layer above.
const GROUPS_MAX: usize = 5;

pub(super) fn layers(out: &mut dyn Write, report: &Report<'_>, tails: &Tails) -> io::Result<()> {
    let groups = report.groups;
    let everything: Vec<u32> = (0..groups.groups.len() as u32).collect();
    open(out, "1: all requests", &group(groups, tails, Layer::All, &everything))?;
    writeln!(out, "</details>")?;
    for (name, of_type) in groups.by_type() {
        let title = format!("2: requests {}", groups.names.name(name));
        open(out, &title, &group(groups, tails, Layer::Type, &of_type))?;
        let trees = by_time(groups, groups.by_tree(&of_type));
        for tree in trees.iter().take(GROUPS_MAX) {
            let of_tree = group(groups, tails, Layer::Tree, tree);
            open(out, &format!("3: tree {}", of_tree.id), &of_tree)?;
            let orders = by_time(groups, tree.iter().map(|&order| vec![order]).collect());
            for order in orders.iter().take(GROUPS_MAX) {
                let of_order = group(groups, tails, Layer::Order, order);
                open(out, &format!("4: order {}", of_order.id), &of_order)?;
                lanes::lanes(out, groups, order[0], None)?;
                writeln!(out, "</details>")?;
            }
            rest(out, orders.len())?;
        }
        rest(out, trees.len())?;
    }
    Ok(())
}

/// Ends a group of which only so many of its own were told.
fn rest(out: &mut dyn Write, n: usize) -> io::Result<()> {
    if n > GROUPS_MAX {
        writeln!(out, "<p class=dim>{} more groups with less time are left out.</p>", n - GROUPS_MAX)?;
    }
    writeln!(out, "</details>")
}

/// Groups by the time of all of their requests, most first.
fn by_time(groups: &Groups, mut all: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    all.sort_by_cached_key(|of| {
        let time = groups.members(of).map(|r| i128::from(groups.requests.durations_us[r as usize]));
        std::cmp::Reverse(time.sum::<i128>())
    });
    all
}

fn open(out: &mut dyn Write, title: &str, of: &LayerGroup) -> io::Result<()> {
    writeln!(
        out,
        "<details><summary>layer {}, {} requests</summary>\n<table><tr><th>span</th><th>metric</th>\
         <th class=n>count</th><th class=n>mean</th><th class=n>std</th><th class=n>p50</th><th class=n>p99</th>\
         <th class=n>normal</th><th class=n>tail</th></tr>",
        escaped(title),
        grouped(of.n_requests),
    )?;
    for row in &of.rows {
        let all = &row.summary.all;
        let name = row.place.as_ref().map_or(row.name.as_str(), |(_, path)| path);
        let index = row.metric.index().map_or(String::new(), |index| format!(" {index}"));
        let mean = |of: &Statistics| if of.count > 0 { us(of.mean_us) } else { String::new() };
        writeln!(
            out,
            "<tr><td>{}</td><td>{}{index}</td><td class=n>{}</td><td class=n>{}</td><td class=n>{}</td><td class=n>{}</td>\
             <td class=n>{}</td><td class=n>{}</td><td class=\"n tail\">{}</td></tr>",
            escaped(name),
            row.metric.name(),
            grouped(all.count),
            us(all.mean_us),
            us(all.std_us),
            duration(all.p50_us),
            duration(all.p99_us),
            mean(&row.summary.normal),
            mean(&row.summary.tail),
        )?;
    }
    writeln!(out, "</table>")
}
