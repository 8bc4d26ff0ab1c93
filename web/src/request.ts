// One request: lanes of spans by node and thread with the hand-overs between them, what was
// printed, and, of a line that one clicks, what must have come before and after it.

import { type LogEvent, type Request, type Span, ask } from "./api";
import { h, replace, s, table } from "./dom";
import { count, duration, shortClass, time } from "./format";

const LANE = 24;
const GAP = 8;
const LABEL = 190;
const SPANS_MAX = 1500;
const LINES_MAX = 2000;

interface Lane {
  label: string;
  node: string;
  y: number;
  rows: number;
}

// Where each span is drawn: a lane for each thread of a node, with rows for those that overlap.
function lanes(request: Request): { lanes: Lane[]; rows: number[]; height: number } {
  const order = request.spans.map((_, at) => at).sort((a, b) => request.spans[a]!.start - request.spans[b]!.start || a - b);
  const groups = new Map<string, { lane: Lane; ends: number[] }>();
  const place: { key: string; row: number }[] = [];
  for (const at of order) {
    const span = request.spans[at]!;
    const key = JSON.stringify([span.node, span.thread]);
    let group = groups.get(key);
    if (!group) {
      group = { lane: { label: span.thread ?? "thread not known", node: span.node, y: 0, rows: 0 }, ends: [] };
      groups.set(key, group);
    }
    // A hair apart, so that one that begins where the other ends does not touch it.
    let row = group.ends.findIndex((end) => end < span.start);
    if (row < 0) row = group.ends.push(0) - 1;
    group.ends[row] = Math.max(span.end, span.start);
    group.lane.rows = group.ends.length;
    place[at] = { key, row };
  }
  const all = [...groups.values()].map((group) => group.lane);
  const nodes = [...new Set(all.map((lane) => lane.node))];
  all.sort((a, b) => nodes.indexOf(a.node) - nodes.indexOf(b.node));
  let y = 26;
  let node = "";
  for (const lane of all) {
    if (lane.node !== node) y += 18;
    node = lane.node;
    lane.y = y;
    y += lane.rows * LANE + GAP;
  }
  const rows = request.spans.map((_, at) => groups.get(place[at]!.key)!.lane.y + place[at]!.row * LANE);
  return { lanes: all, rows, height: y + 4 };
}

function ticks(total: number, n: number): number[] {
  const least = total / n;
  const size = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  const step = [1, 2, 5, 10].map((by) => by * size).find((by) => by >= least) ?? least;
  return Array.from({ length: Math.floor(total / step) + 1 }, (_, at) => at * step);
}

function draw(request: Request, width: number, select: (span: number) => void): SVGElement {
  const begin = Math.min(request.start, ...request.spans.slice(0, SPANS_MAX).map((span) => span.start));
  const total = Math.max(request.end - begin, 1);
  const label = width < 600 ? 96 : LABEL;
  const x = (us: number) => label + ((us - begin) / total) * (width - label - 12);
  const placed = lanes(request);
  const svg = s("svg", { width, height: placed.height, viewBox: `0 0 ${width} ${placed.height}`, role: "group", "aria-label": "Spans by node and thread", class: "lanes" });
  const head = s("marker", { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto-start-reverse" }, s("path", { d: "M0 0 8 4 0 8Z", class: "head" }));
  svg.append(s("defs", {}, head));
  for (const at of ticks(total, width < 600 ? 3 : 8)) {
    const tick = x(begin + at);
    svg.append(s("line", { x1: tick, x2: tick, y1: 18, y2: placed.height, class: "tick" }));
    if (tick < width - 60) svg.append(s("text", { x: tick + 3, y: 14, class: "dim" }, `+${duration(at)}`));
  }
  let node = "";
  for (const lane of placed.lanes) {
    if (lane.node !== node) svg.append(s("text", { x: 2, y: lane.y - 5, class: "node" }, lane.node));
    node = lane.node;
    const name = s("text", { x: 10, y: lane.y + 15, class: "dim thread" }, cut(lane.label, label / 7));
    name.append(s("title", {}, lane.label));
    svg.append(name);
  }
  const shown = request.spans.slice(0, SPANS_MAX);
  shown.forEach((span, at) => {
    const others = span.hand_overs.map((over) => over.from);
    const from = span.parent === null ? others : [span.parent, ...others];
    from.filter((sender) => sender < SPANS_MAX).forEach((sender, number) => svg.append(arrow(request, placed.rows, x, sender, at, number > 0)));
  });
  shown.forEach((span, at) => svg.append(box(span, at, placed.rows[at]!, x, select)));
  for (const part of request.path) {
    if (part.span >= SPANS_MAX) continue;
    const y = placed.rows[part.span]! + LANE - 4;
    svg.append(s("line", { x1: x(part.from), x2: Math.max(x(part.to), x(part.from) + 1), y1: y, y2: y, class: part.is_hand_over ? "path over" : "path" }));
  }
  return svg;
}

function cut(text: string, n: number): string {
  return text.length > n ? `${text.slice(0, Math.max(Math.floor(n) - 1, 1))}…` : text;
}

function arrow(request: Request, rows: number[], x: (us: number) => number, from: number, to: number, isOther: boolean): SVGElement {
  const [sender, receiver] = [request.spans[from]!, request.spans[to]!];
  const x1 = x(Math.min(Math.max(receiver.start, sender.start), sender.end));
  const [x2, y1, y2] = [x(receiver.start), rows[from]! + LANE / 2, rows[to]! + LANE / 2 - 2];
  const bend = Math.max(Math.min(Math.abs(x2 - x1), 24), 8);
  const path = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  return s("path", { d: path, class: isOther ? "arrow other" : receiver.wait === "nobody" ? "arrow free" : "arrow", "marker-end": "url(#head)" });
}

function box(span: Span, at: number, y: number, x: (us: number) => number, select: (span: number) => void): SVGElement {
  const [left, right] = [x(span.start), x(span.end)];
  const width = Math.max(right - left, 3);
  const words = `${span.method} on ${span.node}${span.thread ? `, thread ${span.thread}` : ""}, ${duration(span.end - span.start)}, ${count(span.events.length)} lines`;
  const group = s("g", {
    class: span.wait === "nobody" && span.parent !== null ? "span free" : "span", tabindex: 0, role: "button", "aria-label": words, "data-span": at,
    click: () => select(at),
    keydown: (event: KeyboardEvent) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      select(at);
    },
  });
  group.append(s("title", {}, words));
  group.append(s("rect", { x: left, y, width, height: LANE - 6, rx: 3 }));
  for (const event of span.events.slice(0, 200)) {
    const place = Math.min(Math.max(x(event.us), left), left + width);
    group.append(s("line", { x1: place, x2: place, y1: y, y2: y + 5, class: isBad(event) ? "mark bad" : "mark" }));
  }
  if (width > 40) group.append(s("text", { x: left + 5, y: y + 13 }, cut(span.method, width / 7.2)));
  return group;
}

function isBad(event: LogEvent): boolean {
  return event.level === "WARN" || event.level === "ERROR" || event.level === "FATAL";
}

function placeOf(event: LogEvent): string {
  if (event.class === null) return "no known log point";
  return `${shortClass(event.class)}.${event.method ?? "?"}:${event.source_line ?? "?"}`;
}

function about(request: Request, at: number): HTMLElement {
  const span = request.spans[at]!;
  const facts: [string, string][] = [
    ["node", span.node],
    ["thread", span.thread ?? "not known"],
    ["from", `+${duration(span.start - request.start)}`],
    ["took", duration(span.end - span.start)],
  ];
  if (span.parent !== null) {
    facts.push(["handed over by", `${request.spans[span.parent]!.method}${span.link ? `, ${span.link}` : ""}`]);
    facts.push(["found by", span.reason ?? "not known"]);
    facts.push(["waited for", span.wait === "nobody" ? "by nobody, as far as is known" : span.wait]);
  }
  for (const over of span.hand_overs) facts.push(["also from", `${request.spans[over.from]!.method}${over.link ? `, ${over.link}` : ""}`]);
  return h("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

const RELATIONS: Record<string, string> = {
  before: "must be before",
  after: "must be after",
  "may before": "before, by clocks",
  "may after": "after, by clocks",
  unknown: "no order known",
  this: "this line",
};

export async function request(id: string, signal: AbortSignal): Promise<[Node[], () => void]> {
  const found = await ask<Request>(`requests/${encodeURIComponent(id)}`, {}, signal);
  const picture = h("div", { class: "picture" });
  const detail = h("section", { class: "detail", "aria-live": "polite" });
  const lines = found.spans
    .flatMap((span, at) => span.events.map((event, number) => ({ event, span: at, number })))
    .sort((a, b) => a.event.us - b.event.us || a.span - b.span || a.number - b.number);
  let chosen: number | null = null;
  const rows = new Map<string, HTMLElement>();
  const log = h("div", { class: "log" });

  const showOrder = async (span: number, number: number) => {
    const { order } = await ask<{ order: string[][] }>(`requests/${encodeURIComponent(id)}/order`, { span: String(span), event: String(number) }, signal);
    for (const [key, row] of rows) {
      const [of, at] = key.split(".").map(Number) as [number, number];
      const relation = order[of]?.[at] ?? "unknown";
      row.dataset["order"] = relation;
      row.querySelector(".relation")!.textContent = RELATIONS[relation] ?? relation;
    }
  };
  const drawLines = () => {
    rows.clear();
    const shown = lines.filter((line) => chosen === null || line.span === chosen).slice(0, LINES_MAX);
    const row = ({ event, span, number }: (typeof lines)[number]) => {
      const text = event.text ?? `${placeOf(event)}  ${event.values.map((of) => `${of.name}=${of.value}`).join(" ")}`;
      const element = h(
        "button",
        { class: isBad(event) ? "line bad" : "line", type: "button", title: `${event.file}:${event.line}`, click: () => void showOrder(span, number).catch(() => {}) },
        h("span", { class: "when" }, `+${duration(event.us - found.start)}`),
        h("span", { class: "where" }, found.spans[span]!.node),
        h("span", { class: "text" }, text),
        h("span", { class: "place dim" }, placeOf(event)),
        h("span", { class: "relation" }),
      );
      rows.set(`${span}.${number}`, element);
      return element;
    };
    replace(log, ...shown.map(row), lines.length > LINES_MAX && h("p", { class: "dim" }, `The first ${count(LINES_MAX)} of ${count(lines.length)} lines.`));
  };
  const select = (at: number | null) => {
    chosen = chosen === at ? null : at;
    picture.querySelectorAll(".chosen").forEach((element) => element.classList.remove("chosen"));
    if (chosen !== null) picture.querySelector(`[data-span="${chosen}"]`)?.classList.add("chosen");
    const all = h("button", { type: "button", click: () => select(chosen) }, "show all lines");
    if (chosen === null) replace(detail);
    else replace(detail, h("h2", {}, found.spans[chosen]!.method), about(found, chosen), all);
    drawLines();
  };
  drawLines();
  let drawn = 0;
  const observer = new ResizeObserver(() => {
    if (picture.clientWidth === drawn || picture.clientWidth === 0) return;
    drawn = picture.clientWidth;
    picture.replaceChildren(draw(found, drawn, select));
    if (chosen !== null) picture.querySelector(`[data-span="${chosen}"]`)?.classList.add("chosen");
  });
  observer.observe(picture);
  const identifiers = found.identifiers.slice(0, 30).map((of) => [of.name, h("code", {}, of.value)]);
  const nodes = [
    h("h2", { class: "title" }, found.type, h("code", { class: "dim id" }, found.id)),
    h(
      "p",
      { class: "summary" },
      h("strong", {}, duration(found.duration)), ` from ${time(found.start)} UTC on ${count(new Set(found.spans.map((span) => span.node)).size)} nodes, `,
      `${count(found.spans.length)} spans, ${count(lines.length)} lines`,
      found.flags.length > 0 && `, flags: ${found.flags.join(", ")}`,
    ),
    h("p", { class: "key dim" }, h("i", { class: "key-span" }), "span ", h("i", { class: "key-free" }), "nobody waits for it ", h("i", { class: "key-path" }), "critical path. A click on a span shows its lines; one on a line what must have come before and after it."),
    found.spans.length > SPANS_MAX && h("p", {}, `The first ${count(SPANS_MAX)} spans are drawn.`),
    found.spans.length > 0 ? picture : h("p", { class: "empty" }, "This table keeps no spans."),
    detail,
    log,
    identifiers.length > 0 && h("details", {}, h("summary", {}, `${count(found.identifiers.length)} identifiers`), table("Identifiers", ["name", "value"], identifiers)),
  ].filter((node): node is HTMLElement => node instanceof Node);
  return [nodes, () => observer.disconnect()];
}
