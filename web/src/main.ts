// The page: which view stands in it, by the address.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { type Table, ask, has, isFile } from "./api";
import { compare } from "./compare";
import { coverage } from "./coverage";
import { h, replace } from "./dom";
import { count } from "./format";
import { overview } from "./overview";
import { profile } from "./profile";
import { request } from "./request";
import { requests } from "./requests";
import { sql } from "./sql";
import { conditions, here, link } from "./state";
import type { View } from "./view";

// In the order of the bar; the first one that is there is shown if none is asked for.
const VIEWS: View[] = [overview, requests, profile, compare, sql, coverage, request];

const main = document.getElementById("main")!;
const status = document.getElementById("status")!;
let about: Table | null = null;
let leave: () => void = () => {};
let asking = new AbortController();

function isThere(view: View): boolean {
  return about !== null && (view.is_there?.(about) ?? true) && (!isFile || view.label === null || has(view.name));
}

function address(view: View): string {
  return link(view.name, view.keeps ? conditions(here().parameters) : {});
}

function navigation(now: View): void {
  const items = VIEWS.filter((view) => view.label !== null && isThere(view));
  replace(document.getElementById("nav")!, ...items.map((view) => h("a", { href: address(view), "aria-current": view === now ? "page" : null }, view.label)));
}

// The view that is asked for, or the first one.
function chosen(name: string): View {
  const there = VIEWS.filter(isThere);
  return there.find((view) => view.name === name) ?? there[0]!;
}

async function show(): Promise<void> {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const place = here();
  const [name = "", rest = ""] = place.view.split("/", 2);
  main.setAttribute("aria-busy", "true");
  const began = performance.now();
  try {
    about ??= await ask<Table>("table");
    replace(document.getElementById("table")!, about.name, ` · ${count(about.n_requests)} requests`);
    const view = chosen(name);
    navigation(view);
    const { nodes, leave: after } = await view.show(about, { ...place, view: rest === "" ? view.name : place.view }, rest, signal);
    if (signal.aborted) return;
    leave();
    leave = after ?? (() => {});
    const warning = about.damage === null ? null : h("p", { class: "error" }, `${about.damage}; the state before it is shown`);
    replace(main, warning, ...about.thinned.map((note) => h("p", { class: "note" }, note)), ...nodes);
    document.title = `${rest === "" ? view.name : rest.slice(0, 12)} · lprof`;
    status.textContent = `shown in ${Math.round(performance.now() - began)} ms`;
  } catch (error) {
    if (signal.aborted) return;
    leave();
    leave = () => {};
    replace(main, h("p", { class: "error", role: "alert" }, (error as Error).message), h("p", {}, h("a", { href: link(VIEWS.find(isThere)?.name ?? "overview") }, "Back")));
    status.textContent = "failed";
  } finally {
    if (!signal.aborted) main.removeAttribute("aria-busy");
  }
}

addEventListener("hashchange", () => void show());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => void show());
addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const view = VIEWS.find((view) => view.key === event.key);
  if (view !== undefined && isThere(view)) location.hash = address(view);
});
void show();
