// Axes: where their marks stand and what these say. Times are µs since 1970 in UTC, durations µs.

import { time } from "./format";

const [MS, SECOND, MINUTE, HOUR, DAY] = [1e3, 1e6, 6e7, 3.6e9, 8.64e10];

const STEPS = [
  ...[1, 10, 100].flatMap((by) => [1, 2, 5].map((n) => n * by)),
  ...[1, 10, 100].flatMap((by) => [1, 2, 5].map((n) => n * by * MS)),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 30, 90, 180, 365].map((n) => n * DAY),
];

// Durations that a scale of logarithms marks.
const LADDER = [
  ...[1, 10, 100].flatMap((by) => [1, 2, 5].map((n) => n * by)),
  ...[1, 10, 100].flatMap((by) => [1, 2, 5].map((n) => n * by * MS)),
  ...[1, 2, 5, 10, 20, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 20, 30].map((n) => n * MINUTE),
  ...[1, 2, 5, 12].map((n) => n * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((n) => n * DAY),
];

// The step of about `n` marks over `length`: no more than that.
export function stepOf(length: number, n: number): number {
  const least = length / Math.max(n, 1);
  return STEPS.find((step) => step >= least) ?? Math.ceil(least / (365 * DAY)) * 365 * DAY;
}

// Round times from `from` to `until`, `n` at most and one more.
export function timeTicks(from: number, until: number, n: number): number[] {
  const step = stepOf(until - from, n);
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((until - first) / step) + 1) }, (_, at) => first + at * step);
}

// A time as fine as the marks are apart, with the day at the first one and where another begins.
export function timeLabels(ticks: number[]): string[] {
  const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : SECOND;
  const length = step >= MINUTE ? 5 : step >= SECOND ? 8 : step >= MS ? 12 : 15;
  const days = ticks.map((tick) => time(tick).slice(0, 10));
  if (step >= DAY) return days;
  const several = days[0] !== days.at(-1);
  return ticks.map((tick, at) => {
    const clock = time(tick).slice(11, 11 + length);
    return several && days[at] !== days[at - 1] ? `${days[at]!.slice(5)} ${clock}` : clock;
  });
}

// The marks next below and above what lies between.
export function durationRange(min: number, max: number): [number, number] {
  const low = LADDER.findLast((mark) => mark <= Math.max(min, 1)) ?? 1;
  const high = LADDER.find((mark) => mark >= max && mark > low) ?? LADDER.at(-1)!;
  return [low, high];
}

// Marks of a scale of logarithms, `n` at most: so many of the ladder are left out that they fit.
export function durationTicks(min: number, max: number, n: number): number[] {
  const all = LADDER.filter((mark) => mark >= min && mark <= max);
  const every = Math.max(1, Math.ceil(all.length / Math.max(n, 1)));
  return all.filter((_, at) => at % every === 0);
}

// How wide the longest of some labels is, by its letters.
export function widest(labels: string[]): number {
  return Math.max(0, ...labels.map((label) => label.length));
}
