//! The end of `run` and `reduce`: what was read, what became of it, which
//! requests there are, and what to type next.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use crate::output::{self, Voice, duration, grouped};
use crate::pipeline::{self, AddedRequests, Appended, IdField, InputAccount};
use crate::render::{self, Format};

pub(crate) mod layouts;
pub(crate) mod warnings;

/// Types of requests that are listed; the rest are counted.
const TYPES_MAX: usize = 20;
/// Reasons that are listed.
const REASONS_MAX: usize = 10;

/// Accounting over several inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    n_inputs: u64,
    n_records: u64,
    n_attributed: u64,
    n_unattributed: u64,
    n_headerless: u64,
    n_rejected: u64,
    n_damaged: u64,
}

impl Totals {
    /// The sum of `accounts`.
    pub(crate) fn of<'a>(accounts: impl Iterator<Item = &'a InputAccount>) -> Self {
        let mut totals = Self::default();
        for account in accounts {
            totals.n_inputs += 1;
            totals.n_records += account.n_records;
            totals.n_attributed += account.n_attributed;
            totals.n_unattributed += account.n_unattributed;
            totals.n_headerless += account.n_headerless;
            totals.n_rejected += account.n_rejected;
            totals.n_damaged += account.damage.len() as u64;
        }
        totals
    }

    /// What is in no request, or could not be read.
    pub(crate) fn lost(&self) -> u64 {
        self.n_unattributed + self.n_headerless + self.n_rejected + self.n_damaged
    }

    /// In words.
    pub(crate) fn sentence(&self) -> String {
        format!("{} of {} records attributed", grouped(self.n_attributed), grouped(self.n_records))
    }
}

/// Warns of each log that has no header that could be read, and fails if that is all of
/// them: one bad log of many harms only itself.
pub(crate) fn require_headers<'a>(
    inputs: impl Iterator<Item = &'a InputAccount> + Clone,
    voice: Voice,
) -> Result<()> {
    warnings::tell(&pipeline::unread(inputs)?, voice);
    Ok(())
}

/// Which fields hold ids of requests, in how many logs, and on how many of their records; what
/// became of them, as far as that is known.
pub(crate) fn print_ids<'a>(
    out: &mut dyn std::io::Write,
    inputs: impl Iterator<Item = &'a InputAccount>,
    found: &[IdField],
) -> Result<()> {
    let mut fields: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    for input in inputs.filter(|input| input.n_ids > 0) {
        let (n_logs, n_ids, n_records) =
            fields.entry(input.id_field.as_deref().unwrap_or_default()).or_default();
        (*n_logs, *n_ids, *n_records) = (*n_logs + 1, *n_ids + input.n_ids, *n_records + input.n_records);
    }
    for (field, (n_logs, n_ids, n_records)) in fields {
        let field_name = render::neutral(field);
        write!(
            out,
            "ids `{field_name}` in {n_logs} logs, on {} of {} records",
            grouped(n_ids),
            grouped(n_records)
        )?;
        match found.iter().find(|found| found.field == field) {
            Some(IdField { is_used: true, n_values, .. }) => {
                writeln!(out, ": requests are told by {} of them", grouped(*n_values as u64))?;
            }
            Some(IdField { n_values, n_again, .. }) => writeln!(
                out,
                ": not used, {} of them come again {} times after the request that they were of (--id '{field_name}' uses them)",
                grouped(*n_values as u64),
                grouped(*n_again as u64)
            )?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

/// Says what was damaged.
pub(crate) fn tell_damage<'a>(inputs: impl Iterator<Item = (&'a str, &'a InputAccount)>, voice: Voice) {
    let of_input = |(node, input): (&'a str, &'a InputAccount)| {
        input.damage.iter().map(move |damage| format!("{node}: `{}`: {damage}", input.file))
    };
    warnings::tell(&inputs.flat_map(of_input).collect::<Vec<String>>(), voice);
}

/// Prints the summary and returns how much was lost.
pub(crate) fn print(table: &Path, appended: &Appended, voice: Voice) -> Result<u64> {
    tell_damage(appended.inputs.iter().map(|(node, input)| (node.as_str(), input)), voice);
    let totals = Totals::of(appended.inputs.iter().map(|(_, input)| input));
    if voice.quiet {
        return Ok(totals.lost());
    }
    let mut out = output::stdout();
    if appended.n_inputs_known > 0 {
        let n = appended.n_inputs_known as u64;
        writeln!(out, "{} of the inputs are in the table already: nothing added for them", grouped(n))?;
    }
    if appended.run.is_some() {
        let inputs = appended.inputs.iter().map(|(node, input)| (node.as_str(), input));
        layouts::print(&mut out, inputs, voice)?;
        print_ids(&mut out, appended.inputs.iter().map(|(_, input)| input), &appended.id_fields)?;
        print_totals(&mut out, &totals, appended)?;
        print_requests(&mut out, &appended.requests)?;
    }
    print_next(&mut out, table, &appended.requests)?;
    out.flush()?;
    if totals.lost() > 0 {
        voice.say(&format!("{} records are in no request", grouped(totals.lost() - totals.n_damaged)));
    }
    Ok(totals.lost())
}

fn print_totals(out: &mut dyn std::io::Write, totals: &Totals, appended: &Appended) -> Result<()> {
    writeln!(out, "{:>12}  records read from {} files", grouped(totals.n_records), totals.n_inputs)?;
    writeln!(out, "{:>12}  in a request", grouped(totals.n_attributed))?;
    let not = totals.n_unattributed + totals.n_headerless + totals.n_rejected;
    writeln!(out, "{:>12}  in none", grouped(not))?;
    let mut reasons: Vec<(&str, u64)> =
        appended.unattributed.iter().map(|(why, n)| (why.as_str(), *n)).collect();
    reasons.push(("text without a header", totals.n_headerless));
    reasons.push(("refused: too long, or no time", totals.n_rejected));
    reasons.retain(|(_, n)| *n > 0);
    reasons.sort_by_key(|(why, n)| (std::cmp::Reverse(*n), *why));
    for (why, n) in reasons.into_iter().take(REASONS_MAX) {
        writeln!(out, "{:>14}  {}", grouped(n), render::neutral(why))?;
    }
    writeln!(out, "{:>12}  requests", grouped(appended.requests.len() as u64))?;
    let [n_gone_on, ..] = appended.n_gone_on;
    if n_gone_on > 0 {
        writeln!(out, "{:>14}  were open, and are made again with what is new", grouped(n_gone_on))?;
    }
    writeln!(out)?;
    Ok(())
}

fn print_requests(out: &mut dyn std::io::Write, requests: &AddedRequests) -> Result<()> {
    let types = requests.durations_us.iter().map(|(name, durations_us)| (&**name, durations_us.clone()));
    let mut types: Vec<(&str, Vec<i64>)> = types.collect();
    types.sort_by_key(|(name, durations)| (std::cmp::Reverse(durations.len()), *name));
    let n_more = types.len().saturating_sub(TYPES_MAX);
    let row = |(name, mut durations): (&str, Vec<i64>)| -> Vec<Value> {
        durations.sort_unstable();
        let at = |p| duration(percentile(&durations, p));
        vec![json!(name), json!(durations.len()), json!(at(50)), json!(at(99))]
    };
    let rows = types.into_iter().take(TYPES_MAX).map(row).collect();
    render::rows(out, Format::Table, &["request_type", "count", "p50", "p99"], rows)?;
    if n_more > 0 {
        writeln!(out, "... and {n_more} more types")?;
    }
    writeln!(out)?;
    Ok(())
}

fn print_next(out: &mut dyn std::io::Write, table: &Path, requests: &AddedRequests) -> Result<()> {
    let table = shell_word(&table.display().to_string());
    if cfg!(feature = "sql") {
        writeln!(
            out,
            "next: lprof sql --table {table} \"SELECT request_type, count(*), approx_percentile_cont(duration_us, 0.99) FROM requests GROUP BY 1 ORDER BY 2 DESC\""
        )?;
    }
    if let Some(id) = &requests.widest {
        writeln!(out, "      lprof show request --table {table} {}", &id[..12])?;
    }
    Ok(())
}

/// The smallest value that at least `p` percent are not above (nearest rank).
fn percentile(sorted: &[i64], p: usize) -> i64 {
    let rank = (sorted.len() * p).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::{percentile, shell_word};

    #[test]
    fn percentiles_are_values_that_occur() {
        let hundred: Vec<i64> = (1..=100).collect();
        assert_eq!([50, 99, 100].map(|p| percentile(&hundred, p)), [50, 99, 100]);
        assert_eq!([50, 99].map(|p| percentile(&[7], p)), [7, 7]);
        assert_eq!(percentile(&[1, 2, 3], 50), 2);
        assert_eq!(percentile(&[], 50), 0);
    }

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(["a/b", "a b", "it's"].map(shell_word), ["a/b", "'a b'", "'it'\\''s'"]);
    }
}
