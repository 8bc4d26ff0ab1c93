import { expect, test, vi } from "vitest";

vi.stubGlobal("document", { getElementById: () => null });
const { isNew, signed } = await import("./compare");

test("a share is compared, not a number", () => {
  expect(isNew({ n: 3, of: 10 }, { n: 30, of: 1000 })).toBe(false);
  expect(isNew({ n: 0, of: 10 }, { n: 1, of: 1000 })).toBe(true);
});

test("what grew has a sign", () => {
  expect([1500, 0, -2e6].map(signed)).toEqual(["+1.5 ms", "0", "-2 s"]);
});
