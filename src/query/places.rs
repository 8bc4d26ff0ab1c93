//! Where the parts of a query could run (Fay, TOCS'12, §3.2): what is known of a row where its
//! log is read, what only where requests are put together, and what needs the rows of all.

use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, Join, LogicalPlan};

/// Columns of `events` that are known where a log is read. All others say something of the
/// request, or are numbers of a table.
pub(super) const KNOWN_AT_NODE: [&str; 11] = [
    "node",
    "file",
    "line",
    "n_lines",
    "byte_offset",
    "ts",
    "level",
    "class",
    "method",
    "source_line",
    "values",
];

/// Where a part can run, the nearest to the logs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Where logs are read: `lprof map`.
    Mapper,
    /// Where spans become requests, each of which is whole there: `lprof reduce`.
    Reducer,
    /// Where everything comes together.
    Asker,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::Mapper => "at the mapper",
            Place::Reducer => "at the reducer",
            Place::Asker => "where it is asked",
        }
    }
}

/// The parts of `plan`, an optimized one, a line each: the last part first, and each one with
/// where it can run.
pub(super) fn places(plan: &LogicalPlan) -> String {
    let mut lines = Vec::new();
    add(plan, 0, &mut lines);
    lines.join("\n")
}

/// Adds the lines of `plan`; returns where its rows can be.
fn add(plan: &LogicalPlan, depth: usize, lines: &mut Vec<String>) -> Place {
    let at = lines.len();
    lines.push(String::new());
    let inputs: Vec<Place> = plan.inputs().into_iter().map(|input| add(input, depth + 1, lines)).collect();
    let input = inputs.into_iter().max().unwrap_or(Place::Asker);
    let (place, words) = match plan {
        LogicalPlan::TableScan(scan) => {
            let place = of_scan(scan.table_name.table(), plan);
            (place, place.name().to_owned())
        }
        LogicalPlan::Filter(_)
        | LogicalPlan::Projection(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Unnest(_)
        | LogicalPlan::Union(_) => (input, input.name().to_owned()),
        LogicalPlan::Join(join) if joins_in_request(join) => in_requests(input),
        // A filter in time: of rows of one request.
        LogicalPlan::Extension(_) => in_requests(input),
        LogicalPlan::Aggregate(_) if input < Place::Asker => {
            let words = format!("first half {}, second half {}", input.name(), Place::Asker.name());
            (Place::Asker, words)
        }
        _ => (Place::Asker, Place::Asker.name().to_owned()),
    };
    lines[at] = format!("{}{}: {words}", "  ".repeat(depth), first_line(plan));
    place
}

/// Of what is done within each request.
fn in_requests(input: Place) -> (Place, String) {
    let place = input.max(Place::Reducer);
    (place, place.name().to_owned())
}

fn first_line(plan: &LogicalPlan) -> String {
    let text = plan.display().to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

/// Where the rows of a table are, and those of its columns that are read.
fn of_scan(table: &str, plan: &LogicalPlan) -> Place {
    let LogicalPlan::TableScan(scan) = plan else { return Place::Asker };
    let filters = scan.filters.iter().flat_map(Expr::column_refs).map(|column| column.name.clone());
    let read = scan.projected_schema.fields().iter().map(|field| field.name().clone());
    match table {
        "events" if read.chain(filters).all(|name| KNOWN_AT_NODE.contains(&name.as_str())) => Place::Mapper,
        "events" | "spans" | "requests" | "request_nodes" => Place::Reducer,
        _ => Place::Asker,
    }
}

/// Whether both rows of each pair are of one request.
fn joins_in_request(join: &Join) -> bool {
    let is_id = |expr: &Expr| matches!(expr, Expr::Column(column) if column.name == "request_id");
    let mut is_in_request = join.on.iter().any(|(left, right)| is_id(left) && is_id(right));
    let mut look = |expr: &Expr| {
        let found = expr.apply(|part| {
            if let Expr::ScalarFunction(call) = part {
                is_in_request |= super::happened_before::is_of_one_request(call.name());
            }
            Ok(TreeNodeRecursion::Continue)
        });
        drop(found);
    };
    join.filter.iter().for_each(&mut look);
    is_in_request
}
