// What the server answers, as types, and how it is asked.

export interface Table {
  name: string;
  version: string;
  n_requests: number;
  types: { name: string; n: number }[];
  nodes: string[];
  flags: string[];
  sql: boolean;
  damage: string | null;
}

export interface Cell {
  n: number;
  p50: number | null;
  p99: number | null;
  max: number | null;
}

export interface Series {
  name: string;
  total: Cell;
  cells: Cell[];
}

export interface Overview {
  from: number;
  step: number;
  n_steps: number;
  n: number;
  types: Series[];
  nodes: Series[];
  heat: { rows: number[]; counts: number[][] };
  /** What quantiles can be off, as a part of them; null: they are exact. */
  error: number | null;
}

export interface Listed {
  id: string;
  type: string;
  start: number;
  duration: number;
  n_nodes: number;
  n_spans: number;
  n_events: number;
  flags: string[];
}

export interface NameValue {
  name: string;
  value: string;
}

export interface LogEvent {
  us: number;
  level: string | null;
  class: string | null;
  method: string | null;
  source_line: number | null;
  file: string;
  line: number;
  values: NameValue[];
  reason: string;
  pass: string | null;
  text: string | null;
}

export interface Span {
  id: string;
  node: string;
  thread: string | null;
  method: string;
  parent: number | null;
  wait: string;
  link: string | null;
  reason: string | null;
  start: number;
  end: number;
  hand_overs: { from: number; link: string | null; reason: string }[];
  events: LogEvent[];
}

export interface Request {
  id: string;
  type: string;
  start: number;
  end: number;
  duration: number;
  sequence: string;
  identifiers: NameValue[];
  flags: string[];
  spans: Span[];
  path: { span: number; is_hand_over: boolean; from: number; to: number }[];
}

export interface Input {
  node: string;
  file: string;
  layout: string;
  n_records: number;
  n_attributed: number;
  n_unattributed: number;
  n_headerless: number;
  n_rejected: number;
  damage: string[];
}

export interface Statistics {
  count: number;
  mean_us: number;
  std_us: number;
  p50_us: number;
  p99_us: number;
}

export interface Summary {
  all: Statistics | null;
  normal: Statistics | null;
  tail: Statistics | null;
}

export interface InOrder {
  order: string;
  subspan: number | null;
  n_requests: number;
  time: Summary;
  share_of_span: number;
  regions: { region: string; can_take_time: string[]; share: number; time: Statistics | null }[];
  examples: { request_id: string; us: number }[];
}

export interface Finding {
  rank: number;
  name: string;
  share: number;
  request_type: string;
  own_of_type: Summary;
  is_tail: boolean;
  path: string;
  part: string;
  child: number | null;
  tree: string;
  n_requests: number;
  of_tree: Statistics | null;
  mean_95_us: [number, number];
  orders: InOrder[];
}

export interface Difference {
  request_type: string;
  does: string;
  tail: { n: number; of: number };
  normal: { n: number; of: number };
}

export interface Profile {
  n: number;
  warnings: string[];
  report: {
    n_requests: number;
    n_types: number;
    n_trees: number;
    n_orders: number;
    tail_percent: number;
    differences: Difference[];
    lines: Finding[];
  };
}

export interface Answer {
  columns: string[];
  types: string[];
  rows: unknown[][];
  is_cut: boolean;
  rows_max: number;
  ms: number;
}

export type Parameters = Record<string, string>;

async function answer<T>(response: Response): Promise<T> {
  let body: unknown = null;
  try {
    body = await response.json();
  } catch {
    // What is not JSON is said by the status alone.
  }
  if (!response.ok) {
    const said = (body as { error?: string } | null)?.error;
    throw new Error(said ?? `the server said ${response.status} ${response.statusText}`);
  }
  return body as T;
}

export async function ask<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
  const query = new URLSearchParams(parameters).toString();
  return answer<T>(await fetch(`/api/${path}${query ? `?${query}` : ""}`, { signal }));
}

export async function askSql(query: string, signal?: AbortSignal): Promise<Answer> {
  return answer<Answer>(
    await fetch("/api/sql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query }),
      signal,
    }),
  );
}
