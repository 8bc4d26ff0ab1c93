import { beforeEach, expect, test, vi } from "vitest";
import { conditions, here, link } from "./state";

beforeEach(() => vi.stubGlobal("location", { hash: "" }));

test("a link leads back to its place, whatever it holds", () => {
  for (const type of ["C.m", "<a> & b", "x/y?z=1#2", "100 %", "+"]) {
    location.hash = link("requests", { type, from: "" });
    expect(here()).toEqual({ view: "requests", parameters: { type } });
  }
  location.hash = link("request/ab12");
  expect(here().view).toBe("request/ab12");
});

test("an address that nobody wrote is no error", () => {
  for (const hash of ["", "#", "#/", "#?", "#/%", "#/a?%"]) {
    location.hash = hash;
    expect(typeof here().view, hash).toBe("string");
  }
  location.hash = "";
  expect(here()).toEqual({ view: "overview", parameters: {} });
});

test("conditions go along, other parameters do not", () => {
  expect(conditions({ type: "C.m", sort: "duration", where: "x" })).toEqual({ type: "C.m", where: "x" });
});
