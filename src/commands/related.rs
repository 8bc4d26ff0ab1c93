//! `lprof related`: other requests that have to do with one, and what says so.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use schema::tables::{RequestRow, Text};
use serde_json::{Value, json};

use super::Usage;
use crate::args::RelatedArgs;
use crate::output::{self, Voice, duration};
use crate::render::{self, Format, neutral};
use crate::table::Table;
use crate::table::related::Related;

/// Digits of an id that are shown to people: no two of a table begin with the same so many.
const ID_CHARS: usize = 12;

pub(crate) fn run(args: &RelatedArgs, voice: Voice) -> Result<ExitCode> {
    let format = match output::format(args.format) {
        Format::Parquet => return Err(Usage("--format: parquet is for `lprof sql`".to_owned()).into()),
        format => format,
    };
    let table = Table::open(&args.table)?;
    if let Some(damage) = table.damage() {
        voice.say(&format!("warning: {damage}; the state before it is read"));
    }
    let request = table.request_row(&args.id)?;
    let mut related = table.related(&request.request_id)?;
    let n = related.len();
    related.truncate(args.limit);
    let ids: BTreeSet<u128> = related.iter().filter_map(|of| u128::from_str_radix(&of.id, 16).ok()).collect();
    let rows = table.request_rows(&ids)?;
    let others: BTreeMap<Text, RequestRow> =
        rows.into_iter().map(|row| (row.request_id.clone(), row)).collect();
    let mut out = output::stdout();
    if format == Format::Table {
        print(&mut out, &request, &related, &others)?;
        if n > related.len() {
            voice.say(&format!("{} of {n} are shown; --limit shows more", related.len()));
        }
    } else {
        let row = |of: &Related| row(&request, of, others.get(&of.id));
        let columns = [
            "request_id",
            "other_id",
            "request_type",
            "start_ts",
            "after_us",
            "duration_us",
            "how",
            "value_class",
            "value",
            "odds",
        ];
        render::rows(&mut out, format, &columns, related.iter().map(row).collect())?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// A relation for programs; of a request that was thinned nothing but its id is known.
fn row(request: &RequestRow, of: &Related, other: Option<&RequestRow>) -> Vec<Value> {
    let start = other.and_then(|other| jiff::Timestamp::from_microsecond(other.start_ts.0).ok());
    vec![
        json!(&*request.request_id),
        json!(&*of.id),
        json!(other.map(|other| &*other.request_type)),
        json!(start.map(|start| start.to_string())),
        json!(other.map(|other| other.start_ts.0 - request.start_ts.0)),
        json!(other.map(|other| other.duration_us)),
        json!(&*of.how),
        json!(&*of.value_class),
        json!(&*of.value),
        json!(of.odds),
    ]
}

/// The relations for people.
fn print(
    out: &mut dyn std::io::Write,
    request: &RequestRow,
    related: &[Related],
    others: &BTreeMap<Text, RequestRow>,
) -> Result<()> {
    writeln!(out, "{}  {}", request.request_id, neutral(&request.request_type))?;
    if related.is_empty() {
        writeln!(out, "  nothing that it shares with others is more than chance")?;
        return Ok(());
    }
    writeln!(out)?;
    let row = |of: &Related| -> Vec<Value> {
        let other = others.get(&of.id);
        let since = other.map(|other| since(other.start_ts.0 - request.start_ts.0));
        let kind = other.map_or("(thinned)", |other| &*other.request_type);
        vec![
            json!(of.odds),
            json!(&*of.how),
            json!(format!("{} = {}", of.value_class, of.value)),
            json!(since.unwrap_or_default()),
            json!(kind),
            json!(&of.id[..of.id.len().min(ID_CHARS)]),
        ]
    };
    let columns = ["odds", "how", "what they share", "starts", "request_type", "request"];
    render::rows(out, Format::Table, &columns, related.iter().map(row).collect())?;
    Ok(())
}

/// How long after the request another one starts.
fn since(us: i64) -> String {
    let sign = if us < 0 { '-' } else { '+' };
    format!("{sign}{}", duration(us.saturating_abs()))
}

#[cfg(test)]
mod tests {
    use super::since;

    #[test]
    fn times_are_before_or_after() {
        assert_eq!([-1_500, 0, 2_000_000].map(since), ["-1.5 ms", "+0 us", "+2.00 s"]);
    }
}
