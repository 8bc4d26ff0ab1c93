// The page: which view stands in it, by the address.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { type Table, ask } from "./api";
import { coverage } from "./coverage";
import { h, replace } from "./dom";
import { count } from "./format";
import { overview } from "./overview";
import { profile } from "./profile";
import { request } from "./request";
import { requests } from "./requests";
import { sql } from "./sql";
import { conditions, here, link } from "./state";

const main = document.getElementById("main")!;
const status = document.getElementById("status")!;
let about: Table | null = null;
let leave: () => void = () => {};
let asking = new AbortController();

function navigation(view: string): void {
  const place = here();
  const kept = conditions(place.parameters);
  const views: [string, string, string][] = [
    ["overview", "Overview", link("overview", kept)],
    ["requests", "Requests", link("requests", kept)],
    ["profile", "Profile", link("profile", kept)],
    ...(about?.sql ? [["sql", "SQL", link("sql")] as [string, string, string]] : []),
    ["coverage", "Coverage", link("coverage")],
  ];
  const items = views.map(([name, label, to]) => h("a", { href: to, "aria-current": view === name ? "page" : null }, label));
  replace(document.getElementById("nav")!, ...items);
}

async function show(): Promise<void> {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const place = here();
  const [view = "", rest = ""] = place.view.split("/", 2);
  main.setAttribute("aria-busy", "true");
  const began = performance.now();
  try {
    about ??= await ask<Table>("table");
    replace(document.getElementById("table")!, about.name, ` · ${count(about.n_requests)} requests`);
    navigation(view);
    let nodes: Node[];
    let after = () => {};
    if (view === "requests") nodes = await requests(about, place, signal);
    else if (view === "request") [nodes, after] = await request(rest, signal);
    else if (view === "profile") nodes = await profile(about, place, signal);
    else if (view === "sql") nodes = sql(place);
    else if (view === "coverage") nodes = await coverage(about, signal);
    else [nodes, after] = await overview(about, place, signal);
    if (signal.aborted) return;
    leave();
    leave = after;
    const warning = about.damage === null ? null : h("p", { class: "error" }, `${about.damage}; the state before it is shown`);
    replace(main, warning, ...nodes);
    document.title = `${view === "request" ? rest.slice(0, 12) : view} · lprof`;
    status.textContent = `shown in ${Math.round(performance.now() - began)} ms`;
  } catch (error) {
    if (signal.aborted) return;
    leave();
    leave = () => {};
    replace(main, h("p", { class: "error", role: "alert" }, (error as Error).message), h("p", {}, h("a", { href: link("overview") }, "To the overview")));
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
  const views: Record<string, string> = { o: "overview", r: "requests", p: "profile", s: "sql", c: "coverage" };
  const view = views[event.key];
  if (view) location.hash = link(view, view === "sql" || view === "coverage" ? {} : conditions(here().parameters));
});
void show();
