// Where one is: the part of the address after `#`, so that a link is all there is to share.

import type { Parameters } from "./api";

export interface Place {
  view: string;
  parameters: Parameters;
}

export const CONDITIONS = ["type", "node", "flag", "from", "to", "min", "max", "where"];

export function here(): Place {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { view: safeDecode(path) || "overview", parameters: Object.fromEntries(new URLSearchParams(query)) };
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function link(view: string, parameters: Parameters = {}): string {
  const kept = Object.entries(parameters).filter(([, value]) => value !== "");
  const query = new URLSearchParams(kept).toString();
  return `#/${view.split("/").map(encodeURIComponent).join("/")}${query ? `?${query}` : ""}`;
}

export function go(view: string, parameters: Parameters): void {
  location.hash = link(view, parameters);
}

export function conditions(parameters: Parameters): Parameters {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => CONDITIONS.includes(name)));
}
