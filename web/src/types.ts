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
 * A figure and its bounds at 95 %, µs.
 */
export type Bounds = { 
/**
 * The figure.
 */
us: number, 
/**
 * Its lower bound.
 */
low_us: number, 
/**
 * Its upper bound.
 */
high_us: number, 
/**
 * Both bounds are on the same side of 0.
 */
is_sure: boolean, };

/**
 * Something that can take time in a region of code.
 */
export type CallReport = { 
/**
 * What, and its line.
 */
what: string, 
/**
 * The first release does not have it there.
 */
is_new: boolean, };

/**
 * Durations of some requests: how many, and quantiles in µs.
 */
export type Cell = { n: number, p50: number | null, p99: number | null, max: number | null, };

/**
 * A change in time.
 */
export type ChangeReport = { 
/**
 * The type of the requests.
 */
request_type: string, 
/**
 * The operation or hand-over, or a region of code in it.
 */
what: string, 
/**
 * Time in the first population.
 */
first: SpentReport, 
/**
 * In the second one.
 */
second: SpentReport, 
/**
 * How much longer a request of the second population is busy with it.
 */
difference: Bounds, 
/**
 * How likely a difference as large is by chance, at most.
 */
chance: number, 
/**
 * What can take time there; of a region of code.
 */
can_take_time: Array<CallReport>, 
/**
 * The request in which it takes longest, in the population that it takes longer in.
 */
longest: Longest, 
/**
 * Regions of code of the operation or hand-over whose time changed.
 */
regions: Array<ChangeReport>, };

/**
 * What became of the log points and top-level methods of the first release.
 */
export type ChangedCode = { 
/**
 * Log points with the same place and message.
 */
n_same: number, 
/**
 * Log points that stand in another method.
 */
n_moved: number, 
/**
 * Log points with other words.
 */
n_reworded: number, 
/**
 * Log points that only the first release has.
 */
n_only_first: number, 
/**
 * Log points that only the second release has.
 */
n_only_second: number, 
/**
 * Top-level methods that have another name, which is the one that is used here.
 */
renamed: Array<Renamed>, };

/**
 * What is compared, and what differs.
 */
export type Comparison = { 
/**
 * The first population.
 */
first: Side, 
/**
 * The second one.
 */
second: Side, 
/**
 * What became of the code; none: both are of one table.
 */
release: ChangedCode | null, 
/**
 * Types of requests: those that changed for certain first, then those with the most requests.
 */
types: Array<TypeReport>, 
/**
 * Spans and regions of code that only one population has, or four times as often at least.
 */
one_sided: Array<DeedReport>, 
/**
 * Ways through the code of which the same is true.
 */
sequences: Array<SequenceReport>, 
/**
 * Changes in time that are more than chance, the largest that is sure first.
 */
changes: Array<ChangeReport>, 
/**
 * What could not be read.
 */
warnings: Array<string>, };

/**
 * All files of a table.
 */
export type Coverage = { inputs: Array<Input>, };

/**
 * What one population does and the other one does not.
 */
export type DeedReport = { 
/**
 * The type of the requests.
 */
request_type: string, 
/**
 * What is done.
 */
does: string, 
/**
 * Requests of the first population that do.
 */
first: Part, 
/**
 * Of the second one.
 */
second: Part, 
/**
 * How likely that is by chance, at most.
 */
chance: number, };

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
 * Figures of times, µs.
 */
export type Figures = { 
/**
 * Times.
 */
n: number, 
/**
 * Their mean.
 */
mean_us: number, 
/**
 * Half of them are not longer.
 */
p50_us: number, 
/**
 * 99 of 100 are not longer.
 */
p99_us: number, };

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
 * A request in which something takes long.
 */
export type Longest = { 
/**
 * Its id.
 */
request_id: string, 
/**
 * How long, µs.
 */
us: number, };

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
 * So many requests of all of the type.
 */
export type Part = { 
/**
 * So many.
 */
n: number, 
/**
 * Of so many.
 */
of: number, };

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
 * A top-level method with another name.
 */
export type Renamed = { 
/**
 * In the first release.
 */
first: string, 
/**
 * In the second one.
 */
second: string, };

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
 * A way that one population goes and the other one does not.
 */
export type SequenceReport = { 
/**
 * The type of the requests.
 */
request_type: string, 
/**
 * Steps that the most similar way of the other population does not have.
 */
more: Array<string>, 
/**
 * Steps of that one which it does not have.
 */
fewer: Array<string>, 
/**
 * Requests of the first population that go it.
 */
first: Part, 
/**
 * Of the second one.
 */
second: Part, 
/**
 * How likely that is by chance, at most.
 */
chance: number, 
/**
 * A request that goes it.
 */
example: string, };

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
 * A population.
 */
export type Side = { 
/**
 * Folder of its table, or the condition that its requests fulfil.
 */
name: string, 
/**
 * Its requests that were read.
 */
n_requests: number, 
/**
 * Those that were asked for; more, where only some of very many are read.
 */
n_of: number, 
/**
 * When the first one began, µs since 1970.
 */
from: number | null, 
/**
 * When the last one ended, µs since 1970.
 */
to: number | null, };

/**
 * A span.
 */
export type Span = { id: string, node: string, thread: string | null, method: string, parent: number | null, wait: Waits, link: string | null, reason: string | null, 
/**
 * How likely the link from its parent is true; null: the table does not say.
 */
probability: number | null, start: number, end: number, hand_overs: Array<HandOver>, events: Array<LogEvent>, };

/**
 * Time of requests on something.
 */
export type SpentReport = { 
/**
 * How often all requests do it.
 */
n_visits: number, 
/**
 * Time of each request, 0 for one that does not.
 */
of_requests: Figures, };

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
 * The table that it can be compared with.
 */
first: string | null, 
/**
 * What old detail is no longer there, in sentences.
 */
thinned: Array<string>, };

/**
 * A type of requests.
 */
export type TypeCount = { name: string, n: number, };

/**
 * A type of requests.
 */
export type TypeReport = { 
/**
 * Its name.
 */
request_type: string, 
/**
 * Durations in the first population.
 */
first: Figures, 
/**
 * In the second one.
 */
second: Figures, 
/**
 * How much longer those of the second one take; null: too few requests.
 */
mean: Bounds | null, 
/**
 * The same of the median.
 */
p50: Bounds | null, 
/**
 * The same of the 99th percentile.
 */
p99: Bounds | null, };

/**
 * Until when the one who handed over waits.
 */
export type Waits = "nobody" | "within" | "until the end";
