// What the server answers. Written from the structs that are sent, by their test:
// `LPROF_UPDATE_TYPES=1 cargo test --lib types_of_the_answers`.

/**
 * What a query gives, in its first rows.
 */
export type Answer = { columns: Array<string>, types: Array<string>, rows: unknown[][], is_cut: boolean, 
/**
 * Rows that an answer can have.
 */
rows_max: number, ms: number, };

/**
 * Durations of some requests: how many, and quantiles in µs.
 */
export type Cell = { n: number, p50: number | null, p99: number | null, max: number | null, };

/**
 * All files of a table.
 */
export type Coverage = { inputs: Array<Input>, };

/**
 * What the tail of a type does, and the rest does not.
 */
export type Difference = { request_type: string, does: string, tail: Of, normal: Of, 
/**
 * How likely so much is by chance.
 */
chance: number, };

/**
 * How each event of a request stands to one of them, by span.
 */
export type EventOrder = { order: Array<Array<Relation>>, };

/**
 * A request that takes long.
 */
export type Example = { request_id: string, us: number, };

/**
 * What went wrong.
 */
export type Fault = { error: string, };

/**
 * A line of a report.
 */
export type Finding = { rank: number, name: string, 
/**
 * Of the own time of everything.
 */
share: number, own: Statistics | null, request_type: string, own_of_type: Summary, is_tail: boolean, 
/**
 * The operations from the root to the span.
 */
path: string, part: string, 
/**
 * Before which child the part is.
 */
child: number | null, tree: string, n_requests: number, of_tree: Statistics | null, mean_95_us: [number, number], orders: Array<InOrder>, };

/**
 * A hand-over besides that of the parent.
 */
export type HandOver = { from: number, link: string | null, reason: string, probability: number | null, };

/**
 * Requests by time and duration.
 */
export type Heat = { 
/**
 * Least duration of each row, µs.
 */
rows: Array<number>, 
/**
 * By piece of time, by row.
 */
counts: Array<Array<number>>, };

/**
 * A group of layer 4 in which a line shows.
 */
export type InOrder = { order: string, subspan: number | null, n_requests: number, time: Summary, share_of_span: number, regions: Array<Region>, examples: Array<Example>, };

/**
 * A file.
 */
export type Input = { node: string, file: string, layout: string, n_records: number, n_attributed: number, n_unattributed: number, n_headerless: number, n_rejected: number, damage: Array<string>, };

/**
 * A request of a list.
 */
export type Listed = { id: string, type: string, start: number, duration: number, n_nodes: number, n_spans: number, n_events: number, flags: Array<string>, };

/**
 * An event.
 */
export type LogEvent = { us: number, level: string | null, class: string | null, method: string | null, source_line: number | null, file: string, line: number, values: Array<NameValue>, reason: string, pass: string | null, 
/**
 * What it says; null: that is not known.
 */
text: string | null, 
/**
 * It is read in the log; else it is put together from a template of its log point.
 */
is_read: boolean, };

/**
 * A value with its name.
 */
export type NameValue = { name: string, value: string, };

/**
 * So many of some.
 */
export type Of = { n: number, of: number, };

/**
 * The overview of some requests.
 */
export type Overview = { 
/**
 * Start of the first piece of time, µs since 1970.
 */
from: number, 
/**
 * Length of a piece, µs.
 */
step: number, 
/**
 * Pieces.
 */
n_steps: number, 
/**
 * Requests.
 */
n: number, 
/**
 * By type, most first.
 */
types: Array<Series>, 
/**
 * By node, most first.
 */
nodes: Array<Series>, heat: Heat, 
/**
 * What quantiles can be off, as a part of them; none: they are exact.
 */
error: number | null, };

/**
 * The overview of some requests, and the condition that they meet, in SQL.
 */
export type OverviewAnswer = { overview: Overview, where: string | null, };

/**
 * A part of a critical path.
 */
export type PathPart = { span: number, is_hand_over: boolean, from: number, to: number, };

/**
 * The profile of some requests.
 */
export type Profile = { 
/**
 * Chosen ones; the report may be of some of them.
 */
n: number, report: Report, warnings: Array<string>, 
/**
 * The condition that they meet, in SQL.
 */
where: string | null, };

/**
 * Time in a region of code.
 */
export type Region = { region: string, can_take_time: Array<string>, share: number, time: Statistics | null, };

/**
 * Another request.
 */
export type Related = { id: string, how: string, value_class: string, value: string, odds: number, };

/**
 * `before` and `after` must have been, `may before` and `may after` are so by clocks only, of the
 * unknown nothing says how they stand.
 */
export type Relation = "before" | "after" | "may before" | "may after" | "unknown" | "this";

/**
 * A report.
 */
export type Report = { n_requests: number, n_types: number, n_trees: number, n_orders: number, 
/**
 * Of the requests of a type, so many percent are its tail: the slowest ones.
 */
tail_percent: number, differences: Array<Difference>, lines: Array<Finding>, };

/**
 * A request, and others that have to do with it.
 */
export type Request = { id: string, type: string, 
/**
 * Types that it can be of, where several print it alike.
 */
types: Array<string>, start: number, end: number, duration: number, sequence: string, identifiers: Array<NameValue>, flags: Array<string>, 
/**
 * How likely it is that all its links are true.
 */
confidence: number | null, 
/**
 * What of it is not there, and why.
 */
missing: string | null, spans: Array<Span>, 
/**
 * Its critical path, from the end back.
 */
path: Array<PathPart>, related: Array<Related>, };

/**
 * A list of requests as the page shows it.
 */
export type RequestList = { 
/**
 * Chosen ones.
 */
n: number, requests: Array<Listed>, 
/**
 * A query for the same.
 */
sql: string, };

/**
 * One line of a chart.
 */
export type Series = { name: string, 
/**
 * Of all times.
 */
total: Cell, 
/**
 * By piece of time.
 */
cells: Array<Cell>, };

/**
 * A span.
 */
export type Span = { id: string, node: string, thread: string | null, method: string, parent: number | null, wait: Waits, link: string | null, reason: string | null, 
/**
 * How likely the link from its parent is true; null: the table does not say.
 */
probability: number | null, start: number, end: number, hand_overs: Array<HandOver>, events: Array<LogEvent>, };

/**
 * Of how many, and how long, µs.
 */
export type Statistics = { count: number, mean_us: number, std_us: number, p50_us: number, p99_us: number, };

/**
 * Figures of all requests, the normal ones and the tail.
 */
export type Summary = { all: Statistics | null, normal: Statistics | null, tail: Statistics | null, };

/**
 * A table.
 */
export type Table = { name: string, version: string, n_requests: number, types: Array<TypeCount>, nodes: Array<string>, flags: Array<string>, 
/**
 * Whether it is answered in SQL.
 */
sql: boolean, damage: string | null, 
/**
 * What old detail is no longer there, in sentences.
 */
thinned: Array<string>, };

/**
 * A type of requests.
 */
export type TypeCount = { name: string, n: number, };

/**
 * Until when the one who handed over waits.
 */
export type Waits = "nobody" | "within" | "until the end";
