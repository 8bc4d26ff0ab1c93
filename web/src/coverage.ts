// What became of every record of every log, and so what was not parsed.

import { type Coverage, type Input, type Table, ask } from "./api";
import { type Child, h, table } from "./dom";
import { count } from "./format";
import { type Place, link } from "./state";
import type { Shown, View } from "./view";

// The lines of a log that no known log point has printed, by SQL.
function unknown(input: Input, about: Table): Child {
  if (!about.sql || input.n_unattributed === 0) return count(input.n_unattributed);
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
  const query = `SELECT file, line, ts, level, reason FROM events\nWHERE request_id IS NULL AND node = ${quoted(input.node)} AND file = ${quoted(input.file)}\nORDER BY line LIMIT 1000`;
  return h("a", { href: link("sql", { query }) }, count(input.n_unattributed));
}

export const coverage: View = { name: "coverage", label: "Coverage", key: "c", show };

async function show(about: Table, _: Place, __: string, signal: AbortSignal): Promise<Shown> {
  const { inputs } = await ask<Coverage>("coverage", {}, signal);
  const sum = (of: (input: Input) => number) => inputs.reduce((all, input) => all + of(input), 0);
  const total = sum((input) => input.n_records);
  const share = (n: number) => (total === 0 ? "" : ` (${((100 * n) / total).toFixed(1)} %)`);
  const facts: [string, number][] = [
    ["records", total],
    ["in a request", sum((input) => input.n_attributed)],
    ["of no known log point", sum((input) => input.n_unattributed)],
    ["without a header", sum((input) => input.n_headerless)],
    ["refused", sum((input) => input.n_rejected)],
  ];
  const row = (input: Input) => {
    const bar = h("i", { class: "bar good" });
    bar.style.width = `${input.n_records === 0 ? 0 : (100 * input.n_attributed) / input.n_records}%`;
    return [input.node, h("span", { class: "code" }, input.file), h("span", { class: "barred" }, bar, count(input.n_records)), count(input.n_attributed), unknown(input, about), count(input.n_headerless), count(input.n_rejected), h("span", { class: "code" }, input.layout), input.damage.join("; ")];
  };
  const nodes = [
    h("p", { class: "dim" }, "Every record of every log is counted once: records = in a request + of no known log point + without a header + refused."),
    h("dl", { class: "facts" }, ...facts.flatMap(([name, n]) => [h("dt", {}, name), h("dd", {}, `${count(n)}${name === "records" ? "" : share(n)}`)])),
    inputs.length === 0 ? h("p", { class: "empty" }, "Nothing was read into this table.") : table("Logs", ["node", "log", "records", "in a request", "no log point", "no header", "refused", "layout", "damage"], inputs.map(row), [2, 3, 4, 5, 6]),
  ];
  return { nodes };
}
