// What became of every record of every log, and so what was not parsed.

import { type Input, ask } from "./api";
import { h, table } from "./dom";
import { count } from "./format";

export async function coverage(signal: AbortSignal): Promise<Node[]> {
  const { inputs } = await ask<{ inputs: Input[] }>("coverage", {}, signal);
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
    return [input.node, h("span", { class: "code" }, input.file), h("span", { class: "barred" }, bar, count(input.n_records)), count(input.n_attributed), count(input.n_unattributed), count(input.n_headerless), count(input.n_rejected), h("span", { class: "code" }, input.layout), input.damage.join("; ")];
  };
  return [
    h("p", { class: "dim" }, "Every record of every log is counted once: records = in a request + of no known log point + without a header + refused."),
    h("dl", { class: "facts" }, ...facts.flatMap(([name, n]) => [h("dt", {}, name), h("dd", {}, `${count(n)}${name === "records" ? "" : share(n)}`)])),
    inputs.length === 0 ? h("p", { class: "empty" }, "Nothing was read into this table.") : table("Logs", ["node", "log", "records", "in a request", "no log point", "no header", "refused", "layout", "damage"], inputs.map(row), [2, 3, 4, 5, 6]),
  ];
}
