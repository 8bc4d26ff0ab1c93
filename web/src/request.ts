// One request: lanes of spans by node and thread with the hand-overs between them, what was
// printed, and, of a line that one clicks, what must have come before and after it.

import { type EventOrder, type LogEvent, type Relation, type Related, type Request, type Span, type Table, ask, has, isFile } from "./api";
import { type Child, h, replace, s, table } from "./dom";
import { count, duration, likely, several, shortClass, time } from "./format";
import { LANE, type Link, cut, held, isWeak, lanes, links, ticks } from "./lanes";
import { type Place, link } from "./state";
import type { Shown, View } from "./view";

const LABEL = 190;
const SPANS_MAX = 1500;
const LINES_MAX = 2000;

export const request: View = { name: "request", label: null, show };

function draw(request: Request, width: number, hidesWeak: boolean, select: (span: number) => void): SVGElement {
  const spans = request.spans.slice(0, SPANS_MAX);
  const begin = Math.min(request.start, ...spans.map((span) => span.start));
  const total = Math.max(request.end - begin, 1);
  const label = width < 600 ? 96 : LABEL;
  const x = (us: number) => label + ((us - begin) / total) * (width - label - 12);
  const placed = lanes(spans);
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
  const drawn = links(spans).filter((link) => link.from < SPANS_MAX && !(hidesWeak && isWeak(link)));
  drawn.forEach((link) => svg.append(arrow(spans, placed.rows, x, link)));
  const isHeld = hidesWeak ? held(spans) : null;
  spans.forEach((span, at) => svg.append(box(span, at, placed.rows[at]!, isHeld?.[at] ?? true, x, select)));
  for (const part of request.path) {
    if (part.span >= SPANS_MAX) continue;
    const y = placed.rows[part.span]! + LANE - 4;
    svg.append(s("line", { x1: x(part.from), x2: Math.max(x(part.to), x(part.from) + 1), y1: y, y2: y, class: part.is_hand_over ? "path over" : "path" }));
  }
  return svg;
}

function arrow(spans: Span[], rows: number[], x: (us: number) => number, link: Link): SVGElement {
  const [sender, receiver] = [spans[link.from]!, spans[link.to]!];
  const x1 = x(Math.min(Math.max(receiver.start, sender.start), sender.end));
  const [x2, y1, y2] = [x(receiver.start), rows[link.from]! + LANE / 2, rows[link.to]! + LANE / 2 - 2];
  const bend = Math.max(Math.min(Math.abs(x2 - x1), 24), 8);
  const kind = link.isOther ? " other" : receiver.wait === "nobody" ? " free" : "";
  const path = s("path", { d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, class: `arrow${kind}${isWeak(link) ? " weak" : ""}`, "marker-end": "url(#head)" });
  path.append(s("title", {}, `${link.link ?? "hand-over"}${sure(link.probability)}`));
  if (!isWeak(link)) return path;
  const words = s("text", { x: x2 - 4, y: y2 - 4, class: "weak", "text-anchor": "end" }, likely(link.probability!));
  return s("g", {}, path, words);
}

function sure(probability: number | null): string {
  return probability === null ? "" : `, true with ${likely(probability)}`;
}

function box(span: Span, at: number, y: number, isHeld: boolean, x: (us: number) => number, select: (span: number) => void): SVGElement {
  const [left, right] = [x(span.start), x(span.end)];
  const width = Math.max(right - left, 3);
  const words = `${span.method} on ${span.node}${span.thread ? `, thread ${span.thread}` : ""}, ${duration(span.end - span.start)}, ${several(span.events.length, "line")}`;
  const group = s("g", {
    class: `span${span.wait === "nobody" && span.parent !== null ? " free" : ""}${isHeld ? "" : " apart"}`, tabindex: 0, role: "button", "aria-label": words, "data-span": at,
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
  // As much of the name as fits.
  if (width > 40) group.append(s("svg", { x: left + 5, y, width: width - 7, height: LANE - 6 }, s("text", { x: 0, y: 13 }, span.method)));
  return group;
}

function isBad(event: LogEvent): boolean {
  return event.level === "WARN" || event.level === "ERROR" || event.level === "FATAL";
}

function placeOf(event: LogEvent): string {
  if (event.class === null) return "no known log point";
  return `${shortClass(event.class)}.${event.method ?? "?"}:${event.source_line ?? "?"}`;
}

function facts(all: [string, string][]): HTMLElement {
  return h("dl", { class: "facts" }, ...all.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function ofSpan(request: Request, at: number): HTMLElement {
  const span = request.spans[at]!;
  const all: [string, string][] = [
    ["node", span.node],
    ["thread", span.thread ?? "not known"],
    ["from", `+${duration(span.start - request.start)}`],
    ["took", duration(span.end - span.start)],
  ];
  if (span.parent !== null) {
    all.push(["handed over by", `${request.spans[span.parent]!.method}${span.link ? `, ${span.link}` : ""}`]);
    all.push(["found by", `${span.reason ?? "not known"}${sure(span.probability)}`]);
    all.push(["waited for", span.wait === "nobody" ? "by nobody, as far as is known" : span.wait]);
  }
  for (const over of span.hand_overs) all.push(["also from", `${request.spans[over.from]!.method}${over.link ? `, ${over.link}` : ""}, found by ${over.reason}${sure(over.probability)}`]);
  return facts(all);
}

function ofLine(event: LogEvent): HTMLElement {
  const said = event.is_read ? "as the log says" : event.text === null ? "nothing is known" : "put together from the template and the values; the log is not at hand, or holds something else by now";
  return facts([
    ["printed by", event.class === null ? "no known log point" : `${event.class}.${event.method ?? "?"}, line ${event.source_line ?? "?"}`],
    ["stands in", `${event.file}, line ${count(event.line)}`],
    ["level", event.level ?? "not printed"],
    ["text", said],
    ["is there by", `${event.reason}${event.pass === null ? "" : ` (${event.pass})`}`],
    ...event.values.map((of): [string, string] => [of.name, of.value]),
  ]);
}

const RELATIONS: Record<Relation, string> = {
  before: "must be before",
  after: "must be after",
  "may before": "before, by clocks",
  "may after": "after, by clocks",
  unknown: "no order known",
  this: "this line",
};

function related(all: Related[]): Child {
  if (all.length === 0) return null;
  const id = (of: Related) => {
    const path = `request/${of.id}`;
    return has(`requests/${of.id}`) ? h("a", { href: link(path), class: "code" }, of.id.slice(0, 12)) : h("code", {}, of.id.slice(0, 12));
  };
  const rows = all.map((of) => [id(of), of.how, h("code", {}, `${of.value_class} = ${of.value}`), count(of.odds)]);
  return h("section", {}, h("h2", {}, "Related requests"), table("Related requests", ["request", "how", "what they share", "as likely for a reason as by chance, times"], rows, [3]));
}

// The lines of a request, of all spans or of one.
class Lines {
  readonly element = h("div", { class: "log" });
  readonly all: { event: LogEvent; span: number; number: number }[];
  private rows = new Map<string, HTMLElement>();

  constructor(private request: Request, private choose: (span: number, number: number) => void) {
    this.all = request.spans
      .flatMap((span, at) => span.events.map((event, number) => ({ event, span: at, number })))
      .sort((a, b) => a.event.us - b.event.us || a.span - b.span || a.number - b.number);
  }

  draw(of: number | null): void {
    this.rows.clear();
    const shown = this.all.filter((line) => of === null || line.span === of);
    const more = shown.length > LINES_MAX && h("p", { class: "dim" }, `The first ${count(LINES_MAX)} of ${count(shown.length)} lines.`);
    replace(this.element, ...shown.slice(0, LINES_MAX).map((line) => this.row(line)), more);
  }

  private row({ event, span, number }: (typeof this.all)[number]): HTMLElement {
    const isMade = !event.is_read && event.text !== null;
    const text = event.text ?? `${placeOf(event)}  ${event.values.map((of) => `${of.name}=${of.value}`).join(" ")}`;
    const row = h(
      "button",
      { class: isBad(event) ? "line bad" : "line", type: "button", click: () => this.choose(span, number) },
      h("span", { class: "when" }, `+${duration(event.us - this.request.start)}`),
      h("span", { class: "where" }, this.request.spans[span]!.node),
      h("span", { class: "text" }, text, isMade && h("span", { class: "made", title: "put together from the template and the values" }, "made")),
      h("span", { class: "relation" }),
    );
    this.rows.set(`${span}.${number}`, row);
    return row;
  }

  mark(order: Relation[][]): void {
    for (const [key, row] of this.rows) {
      const [of, at] = key.split(".").map(Number) as [number, number];
      const relation = order[of]?.[at] ?? "unknown";
      row.dataset["order"] = relation;
      row.querySelector(".relation")!.textContent = RELATIONS[relation];
    }
  }
}

function heading(found: Request, n_lines: number): Child[] {
  const unsure = found.confidence !== null && found.spans.length > 1;
  return [
    h("h2", { class: "title" }, found.type, h("code", { class: "dim id" }, found.id)),
    found.types.length > 0 && h("p", { class: "dim" }, `Begins as one of ${found.types.join(", ")}, which print it alike.`),
    h(
      "p",
      { class: "summary" },
      h("strong", {}, duration(found.duration)), ` from ${time(found.start)} UTC on ${several(new Set(found.spans.map((span) => span.node)).size, "node")}, `,
      `${several(found.spans.length, "span")}, ${several(n_lines, "line")}`,
      unsure && `, all links true with ${likely(found.confidence!)}`,
      found.flags.length > 0 && `, flags: ${found.flags.join(", ")}`,
    ),
    found.missing !== null && h("p", { class: "note" }, `${found.missing}.`),
  ];
}

async function show(_: Table, __: Place, id: string, signal: AbortSignal): Promise<Shown> {
  const path = `requests/${encodeURIComponent(id)}`;
  const found = await ask<Request>(path, {}, signal);
  const picture = h("div", { class: "picture" });
  const detail = h("section", { class: "detail", "aria-live": "polite" });
  let chosen: number | null = null;
  let hidesWeak = false;

  const lines = new Lines(found, (span, number) => {
    const event = found.spans[span]!.events[number]!;
    replace(detail, h("h2", {}, placeOf(event)), ofLine(event));
    if (isFile) return;
    const asked = ask<EventOrder>(`${path}/order`, { span: String(span), event: String(number) }, signal);
    void asked.then(({ order }) => lines.mark(order)).catch(() => {});
  });
  const redraw = () => {
    picture.replaceChildren(draw(found, picture.clientWidth, hidesWeak, select));
    if (chosen !== null) picture.querySelector(`[data-span="${chosen}"]`)?.classList.add("chosen");
  };
  const select = (at: number | null) => {
    chosen = chosen === at ? null : at;
    picture.querySelectorAll(".chosen").forEach((element) => element.classList.remove("chosen"));
    if (chosen !== null) picture.querySelector(`[data-span="${chosen}"]`)?.classList.add("chosen");
    const all = h("button", { type: "button", click: () => select(chosen) }, "show all lines");
    if (chosen === null) replace(detail);
    else replace(detail, h("h2", {}, found.spans[chosen]!.method), ofSpan(found, chosen), all);
    lines.draw(chosen);
  };
  lines.draw(null);
  let drawn = 0;
  const observer = new ResizeObserver(() => {
    if (picture.clientWidth === drawn || picture.clientWidth === 0) return;
    drawn = picture.clientWidth;
    redraw();
  });
  observer.observe(picture);
  const n_weak = links(found.spans).filter(isWeak).length;
  const hide = h("input", { type: "checkbox", change: (event: Event) => ((hidesWeak = (event.target as HTMLInputElement).checked), redraw()) });
  const identifiers = found.identifiers.slice(0, 30).map((of) => [of.name, h("code", {}, of.value)]);
  const nodes = [
    ...heading(found, lines.all.length),
    h(
      "p",
      { class: "key dim" },
      h("i", { class: "key-span" }), "span ", h("i", { class: "key-free" }), "nobody waits for it ", h("i", { class: "key-path" }), "critical path. A click on a span shows its lines; one on a line what must have come before and after it.",
      n_weak > 0 && h("label", { class: "switch" }, hide, `hide ${several(n_weak, "weak link")}`),
    ),
    found.spans.length > SPANS_MAX && h("p", {}, `The first ${count(SPANS_MAX)} spans are drawn.`),
    found.spans.length > 0 && picture,
    detail,
    lines.element,
    related(found.related),
    identifiers.length > 0 && h("details", {}, h("summary", {}, several(found.identifiers.length, "identifier")), table("Identifiers", ["name", "value"], identifiers)),
  ];
  return { nodes, leave: () => observer.disconnect() };
}
