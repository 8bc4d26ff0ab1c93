// What differs between the table and another one, such as that of the last release: types, what only one of them
// does, ways through the code, and where time grew or shrank.

import { type Bounds, type ChangeReport, type Comparison, type Part, type Side, type Table, ask, has, isFile } from "./api";
import { type Child, h, table } from "./dom";
import { filters } from "./filters";
import { count, duration, several, time } from "./format";
import { type Place, conditions, link } from "./state";
import type { Shown, View } from "./view";

export function signed(us: number): string {
  return us > 0 ? `+${duration(us)}` : duration(us);
}

// `+3 ms (1 ms to 5 ms)`, grey if it can be nothing.
function change(of: Bounds | null): Child {
  if (of === null) return "–";
  const [us, low, high] = [of.us, of.low_us, of.high_us].map((us) => signed(Math.round(us)));
  return h("span", { class: of.is_sure ? "sure" : "dim" }, `${us} (${low} to ${high}${of.is_sure ? "" : ", unsure"})`);
}

// Which of the two has more of something, of as many requests.
export function isNew(first: Part, second: Part): boolean {
  return second.n * first.of > first.n * second.of;
}

function parts(first: Part, second: Part): string {
  return `${count(second.n)} of ${count(second.of)} of the second, ${count(first.n)} of ${count(first.of)} of the first`;
}

function side(name: string, of: Side): HTMLElement {
  const some = of.n_requests < of.n_of ? `${count(of.n_requests)} of ${several(of.n_of, "request")}, in runs that lie evenly over them` : several(of.n_requests, "request");
  const extent = of.from === null || of.to === null ? "" : `, ${time(of.from)} to ${time(of.to)}`;
  return h("p", { class: "summary" }, h("span", { class: "dim" }, `${name} `), h("strong", {}, of.name), `: ${some}${extent}`);
}

function code(found: Comparison): Child {
  const of = found.release;
  if (of === null) return null;
  const counts: [number, string][] = [
    [of.n_moved, "moved to other methods"],
    [of.n_reworded, "with other words"],
    [of.n_only_first, "only in the first"],
    [of.n_only_second, "only in the second"],
  ];
  const rest = counts.filter(([n]) => n > 0).map(([n, what]) => `, ${count(n)} ${what}`);
  const names = of.renamed.map(({ first, second }) => h("li", {}, h("span", { class: "code" }, second), " is what ", h("span", { class: "code" }, first), " was"));
  return h(
    "div",
    {},
    h("p", { class: "dim" }, `Log points: ${count(of.n_same)} the same${rest.join("")}.`),
    names.length > 0 && h("details", {}, h("summary", {}, `${several(names.length, "method")} with another name`), h("ul", {}, ...names)),
  );
}

function types(found: Comparison, place: Place): Child {
  const header = ["type", "n, first", "second", "p50, first", "second", "change", "p99, first", "second", "change"];
  const us = (n: number, us: number) => (n > 0 ? duration(us) : "–");
  const rows = found.types.map((of): Child[] => [
    isFile ? of.request_type : h("a", { href: link("compare", { ...conditions(place.parameters), type: of.request_type }) }, of.request_type),
    count(of.first.n),
    count(of.second.n),
    us(of.first.n, of.first.p50_us),
    us(of.second.n, of.second.p50_us),
    change(of.p50),
    us(of.first.n, of.first.p99_us),
    us(of.second.n, of.second.p99_us),
    change(of.p99),
  ]);
  return h("section", {}, h("h2", {}, "Types"), table("types of requests", header, rows, [1, 2, 3, 4, 6, 7]));
}

// A request of the second table can be shown here, one of the first only there.
function example(id: string, isSecond: boolean, found: Comparison): Child {
  if (isSecond && has(`requests/${id}`)) return h("a", { href: link(`request/${id}`), class: "code" }, id.slice(0, 12));
  return h("code", {}, `lprof show request --table ${(isSecond ? found.second : found.first).name} ${id.slice(0, 12)}`);
}

function oneSided(found: Comparison, isSecond: boolean): Child {
  const deeds = found.one_sided.filter((of) => isNew(of.first, of.second) === isSecond);
  const items = deeds.map((of) => h("li", {}, `${of.request_type}: `, h("span", { class: "code" }, of.does), h("div", { class: "dim" }, parts(of.first, of.second))));
  const which = isSecond ? "second" : "first";
  return items.length > 0 && h("section", {}, h("h2", {}, `What the ${which} does, and the other does not, or a quarter as often at most`), h("ul", { class: "report" }, ...items));
}

function sequences(found: Comparison): Child {
  const item = (of: Comparison["sequences"][number]) => {
    const isSecond = isNew(of.first, of.second);
    const steps = (mark: string, all: string[]) => all.map((step) => h("li", { class: "code" }, `${mark} ${step}`));
    return h(
      "li",
      {},
      `${of.request_type}, ${isSecond ? "new" : "gone"}: ${parts(of.first, of.second)}`,
      h("ul", {}, ...steps("+", of.more), ...steps("−", of.fewer)),
      h("div", { class: "dim" }, "for instance ", example(of.example, isSecond, found)),
    );
  };
  return (
    found.sequences.length > 0 &&
    h(
      "section",
      {},
      h("h2", {}, "Log sequences that are new or gone"),
      h("p", { class: "dim" }, "The steps that the most similar one of the other table does not have, and those that only that one has."),
      h("ul", { class: "report" }, ...found.sequences.map(item)),
    )
  );
}

function spent(of: ChangeReport): string {
  const often = (spent: ChangeReport["first"]) => (spent.n_visits / Math.max(1, spent.of_requests.n)).toFixed(2);
  const mean = (spent: ChangeReport["first"]) => duration(Math.round(spent.of_requests.mean_us));
  return `${mean(of.second)} instead of ${mean(of.first)} on average, ${often(of.second)} times in a request instead of ${often(of.first)}`;
}

function calls(of: ChangeReport): Child {
  // What is new is the better guess.
  const sorted = [...of.can_take_time].sort((a, b) => Number(b.is_new) - Number(a.is_new));
  const item = ({ what, is_new }: ChangeReport["can_take_time"][number]) => h("li", {}, what, is_new && h("strong", {}, " (new)"));
  return sorted.length > 0 && h("details", { class: "slow" }, h("summary", {}, "What can take time there"), h("ul", {}, ...sorted.map(item)));
}

function changed(of: ChangeReport, found: Comparison, at: number): HTMLElement {
  const region = (of: ChangeReport) => h("li", {}, h("span", { class: "code" }, of.what), " ", change(of.difference), h("div", { class: "dim" }, spent(of)), calls(of));
  const isSecond = of.difference.us > 0;
  return h(
    "details",
    { open: at === 0 },
    h("summary", {}, change(of.difference), h("span", { class: "dim" }, ` ${of.request_type}: `), h("strong", { class: "code" }, of.what)),
    h(
      "div",
      { class: "finding" },
      h("p", {}, spent(of)),
      of.regions.length > 0 ? h("ul", {}, ...of.regions.map(region)) : calls(of),
      h("p", { class: "dim" }, "longest: ", example(of.longest.request_id, isSecond, found), ` (${duration(of.longest.us)})`),
    ),
  );
}

function changes(found: Comparison, heading: string, isLonger: boolean): Child {
  const all = found.changes.filter((of) => of.difference.us > 0 === isLonger);
  return all.length > 0 && h("section", {}, h("h2", {}, heading), h("div", { class: "report" }, ...all.map((of, at) => changed(of, found, at))));
}

export const compare: View = { name: "compare", label: "Compare", key: "d", keeps: true, is_there: (about) => about.first !== null, show };

async function show(about: Table, place: Place, _: string, signal: AbortSignal): Promise<Shown> {
  const found = await ask<Comparison>("compare", conditions(place.parameters), signal);
  const nothing = found.one_sided.length + found.sequences.length + found.changes.length === 0;
  const nodes = [
    !isFile && filters(about, place),
    side("first", found.first),
    side("second", found.second),
    code(found),
    ...found.warnings.map((warning) => h("p", { class: "error" }, warning)),
    types(found, place),
    changes(found, "What takes longer in the second, of each request", true),
    changes(found, "What takes shorter", false),
    oneSided(found, true),
    oneSided(found, false),
    sequences(found),
    nothing && h("p", { class: "empty" }, "Nothing else differs by more than chance."),
  ];
  return { nodes };
}
