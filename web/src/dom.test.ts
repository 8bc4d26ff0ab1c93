import { expect, test } from "vitest";
import { visible } from "./dom";

test("what a reader cannot see is spelled out", () => {
  expect(visible("a\u202eb\u001b[2J\u200b")).toBe("a\\u{202e}b\\u{1b}[2J\\u{200b}");
  expect(visible("tab\tand line\n")).toBe("tab\tand line\n");
});
