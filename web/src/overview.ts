// The overview: rate and latency over time by type, the heat map, and nodes.

import { type OverviewAnswer, type Series, type Table, ask } from "./api";
import { type Choose, heatMap, lines, seriesColor } from "./charts";
import { h, table } from "./dom";
import { filters } from "./filters";
import { count, duration, time } from "./format";
import { type Place, conditions, go, link } from "./state";
import type { Shown, View } from "./view";

export const overview: View = { name: "overview", label: "Overview", key: "o", keeps: true, show };

async function show(about: Table, place: Place, _: string, signal: AbortSignal): Promise<Shown> {
  const asked = { ...conditions(place.parameters), steps: innerWidth < 600 ? "60" : "120" };
  const { overview: found } = await ask<OverviewAnswer>("overview", asked, signal);
  const bar = filters(about, place);
  if (found.n === 0) {
    return { nodes: [bar, h("p", { class: "empty" }, about.n_requests === 0 ? "This table holds no requests yet." : "No request meets these conditions.")] };
  }
  const choose: Choose = (from, to, min, max) => {
    const chosen: Record<string, string> = { ...place.parameters, from: String(from), to: String(to) };
    if (min !== undefined && min > 0) chosen["min"] = String(min);
    if (max !== undefined) chosen["max"] = String(max);
    go(place.view, chosen);
  };
  const seconds = found.step / 1e6;
  const rate = { format: (value: number) => `${Number(value.toPrecision(3)).toLocaleString("en-US")}/s` };
  const latency = { log: true, format: (value: number) => duration(value) };
  const which = place.parameters["quantile"] === "p50" ? "p50" : "p99";
  // Nothing is 0 on a scale of logarithms.
  const quantile = (cell: Series["cells"][number]) => (cell[which] === null ? null : Math.max(cell[which] ?? 0, 1));
  const charts = [
    lines("Requests per second, by type", found, found.types, (cell) => cell.n / seconds, rate, choose),
    lines(`Latency ${which}, by type`, found, found.types, quantile, latency, choose),
    heatMap(found, choose),
  ];
  if (found.nodes.length > 0) {
    charts.push(lines(`Time on a node, ${which}`, found, found.nodes, quantile, latency, choose));
  }
  const toggle = h(
    "div",
    { class: "toggle", role: "group", "aria-label": "Quantile" },
    ...["p50", "p99"].map((name) =>
      h("a", { href: link(place.view, { ...place.parameters, quantile: name }), "aria-current": name === which ? "true" : null }, name),
    ),
  );
  const until = found.from + found.n_steps * found.step;
  const heading = h(
    "p",
    { class: "summary" },
    h("strong", {}, count(found.n)), ` requests from ${time(found.from)} to ${time(until)} UTC, a point is ${duration(found.step)}. `,
    h("a", { href: link("requests", conditions(place.parameters)) }, "List them"), " · ",
    h("a", { href: link("profile", conditions(place.parameters)) }, "profile them"),
    // Of many requests durations are counted by ranges.
    found.error !== null && h("span", { class: "dim" }, ` p50 and p99 are within ${Number((100 * found.error).toPrecision(2))} % of what they are.`),
    toggle,
  );
  const nodes = [
    bar,
    heading,
    h("div", { class: "charts" }, ...charts.map((chart) => chart.element)),
    h(
      "div",
      { class: "charts" },
      h("section", {}, h("h2", {}, "Types"), totals("Requests by type", found.types, "type", place)),
      found.nodes.length > 0 && h("section", {}, h("h2", {}, "Nodes"), totals("Requests by node", found.nodes, "node", place)),
    ),
  ];
  return { nodes, leave: () => charts.forEach((chart) => chart.destroy()) };
}

function totals(caption: string, series: Series[], name: string, place: Place): HTMLElement {
  const row = (of: Series, at: number) => {
    const swatch = h("i", { class: "swatch" });
    swatch.style.background = seriesColor(at);
    const isOne = !/^\d+ others$/.test(of.name);
    const label = isOne ? h("a", { href: link(place.view, { ...place.parameters, [name]: of.name }) }, of.name) : of.name;
    return [h("span", {}, swatch, label), count(of.total.n), duration(of.total.p50), duration(of.total.p99), duration(of.total.max)];
  };
  return table(caption, [name, "requests", "p50", "p99", "longest"], series.map(row), [1, 2, 3, 4]);
}
