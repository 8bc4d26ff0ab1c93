// What a view is: one file each, with one route, asking one answer. `main.ts` lists them.

import type { Table } from "./api";
import type { Child } from "./dom";
import type { Place } from "./state";

export interface Shown {
  nodes: Child[];
  // What is to be done when another view takes its place.
  leave?: () => void;
}

export interface View {
  // The first part of the route: `#/name/rest?parameters`.
  name: string;
  // How it is called in the bar of views; null: it is not in it.
  label: string | null;
  // The key that leads to it.
  key?: string;
  // Whether it is about the requests that were chosen, so that conditions go along.
  keeps?: boolean;
  // Whether there is anything to see; if that is not said, there is.
  is_there?: (about: Table) => boolean;
  show(about: Table, place: Place, rest: string, signal: AbortSignal): Promise<Shown>;
}
