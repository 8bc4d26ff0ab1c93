import { expect, test } from "vitest";
import { durationRange, durationTicks, stepOf, timeLabels, timeTicks, widest } from "./scale";

const [SECOND, MINUTE, HOUR, DAY] = [1e6, 6e7, 3.6e9, 8.64e10];
const NOON = Date.UTC(2026, 10, 21, 12) * 1e3;

test("an axis has about as many marks as are asked for, whatever its length", () => {
  for (const length of [50, 3e3, 2 * SECOND, 7 * MINUTE, 2 * HOUR, 3 * DAY, 400 * DAY]) {
    const n = timeTicks(NOON + 17, NOON + 17 + length, 6).length;
    expect(n, `${length} µs`).toBeGreaterThanOrEqual(3);
    expect(n, `${length} µs`).toBeLessThanOrEqual(7);
  }
});

test("two hours are marked at round times", () => {
  const ticks = timeTicks(NOON - 7 * MINUTE, NOON - 7 * MINUTE + 2 * HOUR, 6);
  expect(timeLabels(ticks)).toEqual(["12:00", "12:30", "13:00", "13:30"]);
  expect(stepOf(2 * HOUR, 5)).toBe(30 * MINUTE);
});

test("labels are as fine as the marks are apart, and name another day", () => {
  expect(timeLabels([NOON, NOON + 5 * SECOND])).toEqual(["12:00:00", "12:00:05"]);
  expect(timeLabels([NOON, NOON + 2_000])).toEqual(["12:00:00.000", "12:00:00.002"]);
  expect(timeLabels([NOON, NOON + 12 * HOUR, NOON + DAY])).toEqual(["11-21 12:00", "11-22 00:00", "12:00"]);
  expect(timeLabels([NOON - 12 * HOUR, NOON + 12 * HOUR])).toEqual(["2026-11-21", "2026-11-22"]);
  expect(timeLabels([])).toEqual([]);
});

test("a scale of durations lies closely around its values", () => {
  expect(durationRange(4_100, 4_200)).toEqual([2_000, 5_000]);
  expect(durationRange(1, 1)).toEqual([1, 2]);
  expect(durationRange(70 * SECOND, 100 * SECOND)).toEqual([MINUTE, 2 * MINUTE]);
  const [low, high] = durationRange(0.5, 9e9);
  expect([low, high]).toEqual([1, 5 * HOUR]);
  const marks = durationTicks(low, high, 7);
  expect(marks.length).toBeLessThanOrEqual(7);
  expect(marks.length).toBeGreaterThan(3);
  expect(durationTicks(1_000, 10_000, 7)).toEqual([1_000, 2_000, 5_000, 10_000]);
});

test("the widest label is told by its letters", () => {
  expect(widest(["1 ms", "1.67 min", ""])).toBe(8);
  expect(widest([])).toBe(0);
});
