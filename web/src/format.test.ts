import { expect, test } from "vitest";
import { count, duration, likely, parseDuration, percent, several, shortClass, time } from "./format";

test("durations have the unit that keeps them short", () => {
  expect([0, 999, 1_500, 2_000_000, 100_000_000, 7.2e9, null].map(duration)).toEqual(["0", "999 µs", "1.5 ms", "2 s", "1.67 min", "2 h", "–"]);
});

test("what is shown as a duration is read as one", () => {
  for (const us of [1, 20, 1_500, 2_000_000, 90_000_000, 7.2e9]) expect(parseDuration(duration(us))).toBe(us);
  expect(["5", "5ms", "0.5 s", " 2 m "].map(parseDuration)).toEqual([5_000, 5_000, 500_000, 1.2e8]);
  for (const text of ["", "x", "-1 s", "1 d", "1 2"]) expect(parseDuration(text), text).toBeNull();
});

test("times are UTC, with microseconds if there are any", () => {
  const us = Date.UTC(2026, 10, 21, 12, 15, 3, 464) * 1e3;
  expect(time(us)).toBe("2026-11-21 12:15:03.464");
  expect(time(us + 7)).toBe("2026-11-21 12:15:03.464007");
  expect(time(us, false)).toBe("12:15:03.464");
});

test("numbers and names", () => {
  expect([0, 1, 2_000].map((n) => several(n, "line"))).toEqual(["0 lines", "1 line", "2,000 lines"]);
  expect(count(1_234_567)).toBe("1,234,567");
  expect([percent(0.527), percent(0.62, 0)]).toEqual(["52.7 %", "62 %"]);
  expect([1, 0.999, 0.99, 0.5].map(likely)).toEqual(["100 %", "> 99 %", "99 %", "50 %"]);
  expect(["a.b.C$D", "C"].map(shortClass)).toEqual(["D", "C"]);
});
