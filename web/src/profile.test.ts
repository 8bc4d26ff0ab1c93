import { expect, test, vi } from "vitest";
import type { Finding, InOrder } from "./types";

vi.stubGlobal("document", { getElementById: () => null });
const { slow } = await import("./profile");

function line(...regions: [string, string[]][]): Finding {
  const order = { regions: regions.map(([region, can_take_time]) => ({ region, can_take_time, share: 1, time: null })) };
  return { orders: [order as unknown as InOrder] } as unknown as Finding;
}

test("what can take time is told once for each region", () => {
  const lines = [line(["A", ["Socket.read"]], ["B", []]), line(["A", ["Socket.read"]], ["C", ["Thread.sleep"]])];
  expect(slow(lines)).toEqual([["A", ["Socket.read"]], ["C", ["Thread.sleep"]]]);
  expect(slow([])).toEqual([]);
});
