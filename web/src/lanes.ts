// Where the spans of a request are drawn, and what its weak links hold together.

import type { Span } from "./api";

export const LANE = 24;
const GAP = 8;

// A link that is less likely true is weak.
export const SURE = 0.95;

export interface Lane {
  label: string;
  node: string;
  y: number;
  rows: number;
}

// A lane for each thread of a node, with rows for those spans that overlap.
export function lanes(spans: Span[]): { lanes: Lane[]; rows: number[]; height: number } {
  const order = spans.map((_, at) => at).sort((a, b) => spans[a]!.start - spans[b]!.start || a - b);
  const groups = new Map<string, { lane: Lane; ends: number[] }>();
  const place: { key: string; row: number }[] = [];
  for (const at of order) {
    const span = spans[at]!;
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
  const rows = spans.map((_, at) => groups.get(place[at]!.key)!.lane.y + place[at]!.row * LANE);
  return { lanes: all, rows, height: y + 4 };
}

export interface Link {
  from: number;
  to: number;
  // Besides that of the parent.
  isOther: boolean;
  link: string | null;
  probability: number | null;
}

// The hand-overs to each span, that of its parent first.
export function links(spans: Span[]): Link[] {
  return spans.flatMap((span, to) => [
    ...(span.parent === null ? [] : [{ from: span.parent, to, isOther: false, link: span.link, probability: span.probability }]),
    ...span.hand_overs.map(({ from, link, probability }) => ({ from, to, isOther: true, link, probability })),
  ]);
}

export function isWeak(link: { probability: number | null }): boolean {
  return link.probability !== null && link.probability < SURE;
}

// Spans that hang together with the first root by links that are not weak, in whatever direction.
export function held(spans: Span[]): boolean[] {
  const near: number[][] = spans.map(() => []);
  for (const link of links(spans).filter((link) => !isWeak(link))) {
    near[link.from]?.push(link.to);
    near[link.to]?.push(link.from);
  }
  const found = spans.map(() => false);
  const rest = [spans.findIndex((span) => span.parent === null)].filter((at) => at >= 0);
  while (rest.length > 0) {
    const at = rest.pop()!;
    if (found[at]) continue;
    found[at] = true;
    rest.push(...near[at]!);
  }
  return found;
}

// Round times after the start, `n` or some more of them.
export function ticks(total: number, n: number): number[] {
  const least = total / n;
  const size = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  const step = [1, 2, 5, 10].map((by) => by * size).find((by) => by >= least) ?? least;
  return Array.from({ length: Math.floor(total / step) + 1 }, (_, at) => at * step);
}

export function cut(text: string, n: number): string {
  return text.length > n ? `${text.slice(0, Math.max(Math.floor(n) - 1, 1))}…` : text;
}

