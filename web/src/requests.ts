// The list of requests, with its conditions as SQL.

import { type RequestList, type Table, ask } from "./api";
import { h, table } from "./dom";
import { filters } from "./filters";
import { count, duration, time } from "./format";
import { type Place, conditions, link } from "./state";
import type { Shown, View } from "./view";

const PAGE = 100;
const COLUMNS: [string, string][] = [
  ["start", "start (UTC)"],
  ["duration", "duration"],
  ["nodes", "nodes"],
  ["spans", "spans"],
  ["events", "events"],
];

export function copyable(sql: string): HTMLElement {
  const copy = h("button", {
    type: "button",
    click: () => {
      void navigator.clipboard.writeText(sql).then(() => {
        copy.textContent = "copied";
        setTimeout(() => (copy.textContent = "copy"), 1500);
      });
    },
  }, "copy");
  return h("div", { class: "sql" }, h("code", {}, sql), copy);
}

export const requests: View = { name: "requests", label: "Requests", key: "r", keeps: true, show };

async function show(about: Table, place: Place, _: string, signal: AbortSignal): Promise<Shown> {
  const { sort = "duration", ascending = "false", offset = "0" } = place.parameters;
  const asked = { ...conditions(place.parameters), sort, ascending, offset, limit: String(PAGE) };
  const found = await ask<RequestList>("requests", asked, signal);
  const header = COLUMNS.map(([name, label]) => {
    const isNow = name === sort;
    const next = isNow && ascending === "false" ? "true" : "false";
    const mark = isNow ? (ascending === "true" ? " ▲" : " ▼") : "";
    return h("a", { href: link(place.view, { ...place.parameters, sort: name, ascending: next, offset: "" }) }, `${label}${mark}`);
  });
  const longest = Math.max(1, ...found.requests.map((of) => of.duration));
  const rows = found.requests.map((of) => {
    const bar = h("i", { class: "bar" });
    bar.style.width = `${(100 * of.duration) / longest}%`;
    return [
      h("a", { href: link(`request/${of.id}`), class: "code" }, of.id.slice(0, 12)),
      of.type,
      time(of.start),
      h("span", { class: "barred" }, bar, duration(of.duration)),
      count(of.n_nodes),
      count(of.n_spans),
      count(of.n_events),
      of.flags.join(", "),
    ];
  });
  const first = Number(offset) || 0;
  const page = (label: string, to: number) => h("a", { href: link(place.view, { ...place.parameters, offset: to > 0 ? String(to) : "" }), class: "button" }, label);
  const nodes = [
    filters(about, place),
    h("p", { class: "summary" }, h("strong", {}, count(found.n)), " requests"),
    found.n === 0
      ? h("p", { class: "empty" }, "No request meets these conditions.")
      : table("Requests", ["request", "type", ...header, "flags"], rows, [3, 4, 5, 6]),
    h(
      "p",
      { class: "pages" },
      first > 0 && page("← before", Math.max(first - PAGE, 0)),
      found.n > PAGE && h("span", { class: "dim" }, `${count(first + 1)}–${count(Math.min(first + PAGE, found.n))} of ${count(found.n)}`),
      first + PAGE < found.n && page("next →", first + PAGE),
    ),
    copyable(found.sql),
  ];
  return { nodes };
}
