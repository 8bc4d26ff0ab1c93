import { expect, test } from "vitest";
import { LANE, cut, held, isWeak, lanes, links, ticks } from "./lanes";
import type { Span } from "./types";

function span(node: string, start: number, end: number, parent: number | null = null, probability: number | null = null): Span {
  return { id: "", node, thread: "t", method: "C.m", parent, wait: "nobody", link: null, reason: null, probability, start, end, hand_overs: [], events: [] };
}

test("a thread is a lane, with a row for each span at a time", () => {
  const placed = lanes([span("a", 0, 10), span("b", 2, 4), span("a", 5, 8), span("a", 11, 12)]);
  expect(placed.lanes.map(({ node, rows }) => [node, rows])).toEqual([["a", 2], ["b", 1]]);
  const [first, , beside, after] = placed.rows;
  expect(beside).toBe(first! + LANE);
  expect(after, "the row is free again").toBe(first);
  expect(placed.rows[1]).toBeGreaterThan(beside!);
  expect(placed.height).toBeGreaterThan(placed.rows[1]! + LANE);
});

test("spans that touch do not share a row", () => {
  const { rows } = lanes([span("a", 0, 5), span("a", 5, 6)]);
  expect(rows[0]).not.toBe(rows[1]);
});

test("of no spans there is nothing to draw", () => {
  expect(lanes([]).lanes).toEqual([]);
  expect([links([]), held([])]).toEqual([[], []]);
});

test("hand-overs besides that of the parent are links too", () => {
  const joined = { ...span("a", 4, 5, 0, 0.99), hand_overs: [{ from: 1, link: "queue", reason: "pair", probability: 0.5 }] };
  const found = links([span("a", 0, 1), span("a", 2, 3), joined]);
  expect(found.map((link) => [link.from, link.to, link.isOther, isWeak(link)])).toEqual([[0, 2, false, false], [1, 2, true, true]]);
});

test("a link of which nothing is told is not weak", () => {
  expect([null, 0.5, 0.95, 1].map((probability) => isWeak({ probability }))).toEqual([false, true, false, false]);
});

test("what only weak links hold is apart, with all below it", () => {
  const spans = [span("a", 0, 9), span("b", 1, 2, 0, 1), span("c", 3, 4, 0, 0.6), span("c", 3, 4, 2, 1)];
  expect(held(spans)).toEqual([true, true, false, false]);
});

test("marks of a request are round", () => {
  expect(ticks(4_420, 8)).toEqual([0, 1_000, 2_000, 3_000, 4_000]);
  expect(ticks(1, 8)).toEqual([0, 1]);
  expect([cut("short", 9), cut("ClientHandler", 5), cut("ab", 0)]).toEqual(["short", "Clie…", "a…"]);
});
