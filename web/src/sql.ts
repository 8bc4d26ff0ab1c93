// The box for SQL.

import { type Table, askSql } from "./api";
import { h, replace, table } from "./dom";
import { count } from "./format";
import { type Place, link } from "./state";
import type { Shown, View } from "./view";

const EXAMPLES: [string, string][] = [
  ["slowest types", "SELECT request_type, count(*) AS n, approx_percentile_cont(duration_us, 0.99) AS p99_us\nFROM requests GROUP BY 1 ORDER BY p99_us DESC"],
  ["busiest log points", "SELECT class, method, source_line, count(*) AS n\nFROM events GROUP BY 1, 2, 3 ORDER BY n DESC LIMIT 20"],
  ["not understood", "SELECT node, file, line, level FROM events WHERE request_id IS NULL LIMIT 100"],
];

export const sql: View = { name: "sql", label: "SQL", key: "s", is_there: (about) => about.sql, show };

async function show(_: Table, place: Place): Promise<Shown> {
  const out = h("div", { "aria-live": "polite" });
  const text = h("textarea", { rows: 6, spellcheck: "false", class: "code", "aria-label": "Query in SQL" });
  text.value = place.parameters["query"] ?? EXAMPLES[0]![1];
  const run = async () => {
    history.replaceState(null, "", link("sql", { query: text.value }));
    replace(out, h("p", { class: "dim" }, "…"));
    try {
      const found = await askSql(text.value);
      const isId = (column: string, value: unknown) => column === "request_id" && typeof value === "string" && /^[0-9a-f]{32}$/.test(value);
      const cell = (value: unknown, at: number) => {
        if (value === null) return h("span", { class: "dim" }, "null");
        const shown = typeof value === "object" ? JSON.stringify(value) : String(value);
        return isId(found.columns[at]!, value) ? h("a", { href: link(`request/${shown}`), class: "code" }, shown.slice(0, 12)) : shown;
      };
      const numbers = found.types.flatMap((type, at) => (/^(U?Int|Float|Decimal)/.test(type) ? [at] : []));
      const more = found.is_cut ? `the first ${count(found.rows_max)} rows` : `${count(found.rows.length)} rows`;
      replace(out, h("p", { class: "dim" }, `${more}, ${count(found.ms)} ms`), table("Answer", found.columns, found.rows.slice(0, 1000).map((row) => row.map(cell)), numbers), found.rows.length > 1000 && h("p", { class: "dim" }, "1,000 of them are shown."));
    } catch (error) {
      replace(out, h("p", { class: "error", role: "alert" }, (error as Error).message));
    }
  };
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void run();
  });
  const example = ([name, query]: [string, string]) => h("button", { type: "button", class: "chip", click: () => ((text.value = query), void run()) }, name);
  if (place.parameters["query"]) void run();
  const nodes = [
    h("p", { class: "dim" }, "Tables: requests, request_nodes, spans, events, log_points, top_level_methods, communication_pairs, log_sequences, relations, inputs, runs. Queries can only read."),
    text,
    h("p", { class: "pages" }, h("button", { type: "button", class: "primary", click: () => void run() }, "Run (Ctrl+Enter)"), ...EXAMPLES.map(example)),
    out,
  ];
  return { nodes };
}
