// Where the time of the chosen requests goes, from the operation with the most time of its own down to a
// region of code, and what only the slow ones do.

import { type Difference, type Finding, type InOrder, type Profile, type Statistics, type Table, ask, has, isFile } from "./api";
import { type Child, h } from "./dom";
import { filters } from "./filters";
import { count, duration, percent } from "./format";
import { type Place, conditions, link } from "./state";
import type { Shown, View } from "./view";

function mean(of: Statistics | null): string {
  return of === null ? "none" : duration(Math.round(of.mean_us));
}

function times(of: Finding["own_of_type"]): string {
  const tail = of.tail === null ? "" : `; tail ${mean(of.tail)}, others ${mean(of.normal)}`;
  return `${count(of.all?.count ?? 0)} times, ${mean(of.all)} on average${tail}`;
}

function part(of: Finding): string {
  if (of.part === "before_child") return of.child ? `before its child ${of.child + 1}` : "before its first child";
  return ({ last_part: "after its last child", full_span: "all of it", hand_over: "until it starts" } as Record<string, string>)[of.part] ?? of.part;
}

function bar(share: number): HTMLElement {
  const filled = h("i", { class: "bar" });
  filled.style.width = `${Math.min(100, 100 * share)}%`;
  return h("span", { class: "barred share" }, filled, percent(share));
}

function order(of: InOrder): HTMLElement {
  const what = of.subspan === null ? "hand-over" : `subspan ${of.subspan}, ${percent(of.share_of_span)} of the span`;
  const regions = of.regions.map((region) =>
    h(
      "li",
      {},
      h("span", { class: "code" }, region.region),
      ` ${percent(region.share)}, ${count(region.time?.count ?? 0)} times, ${mean(region.time)} on average`,
    ),
  );
  const examples = of.examples.flatMap((example, at): Child[] => [
    at > 0 && ", ",
    has(`requests/${example.request_id}`) ? h("a", { href: link(`request/${example.request_id}`), class: "code" }, example.request_id.slice(0, 12)) : h("code", {}, example.request_id.slice(0, 12)),
    ` (${duration(example.us)})`,
  ]);
  return h(
    "div",
    { class: "order" },
    h("p", {}, h("span", { class: "dim" }, `order ${of.order}: `), `${what}: ${times(of.time)}`),
    regions.length > 0 && h("ul", {}, ...regions),
    examples.length > 0 && h("p", {}, "longest: ", ...examples),
  );
}

function finding(of: Finding, place: Place): HTMLElement {
  const of_type = link("requests", { ...conditions(place.parameters), type: of.request_type, sort: "duration" });
  return h(
    "div",
    { class: "finding" },
    h("p", {}, "requests ", isFile ? of.request_type : h("a", { href: of_type }, of.request_type), `${of.is_tail ? ", in the tail" : ""}: ${times(of.own_of_type)}`),
    h(
      "p",
      {},
      h("span", { class: "code" }, of.path),
      `, ${part(of)}: ${mean(of.of_tree)} on average (${of.mean_95_us.map((us) => duration(Math.round(us))).join(" to ")}), ${count(of.n_requests)} times in tree ${of.tree}`,
    ),
    ...of.orders.map(order),
  );
}

function difference(of: Difference): HTMLElement {
  const side = ({ n, of }: { n: number; of: number }) => `${count(n)} of ${count(of)}`;
  return h("li", {}, `${of.request_type}: `, h("span", { class: "code" }, of.does), h("div", { class: "dim" }, `${side(of.tail)} of the tail, ${side(of.normal)} of the rest`));
}

// What can take time in the regions of some lines, each region once.
export function slow(lines: Finding[]): [string, string[]][] {
  const found = new Map<string, string[]>();
  for (const { region, can_take_time } of lines.flatMap((line) => line.orders).flatMap((order) => order.regions)) {
    if (can_take_time.length > 0) found.set(region, can_take_time);
  }
  return [...found];
}

function slowCalls(lines: Finding[]): Child {
  const found = slow(lines);
  const region = ([name, calls]: [string, string[]]) => h("li", {}, h("span", { class: "code" }, name), h("ul", {}, ...calls.map((call) => h("li", {}, call))));
  return found.length > 0 && h("details", { class: "slow" }, h("summary", {}, "What can take time in its code"), h("ul", {}, ...found.map(region)));
}

// The lines of one operation stand together, those of the first one open.
function operations(found: Profile, place: Place): HTMLElement[] {
  const ranks = [...new Set(found.report.lines.map((line) => line.rank))];
  return ranks.map((rank, at) => {
    const lines = found.report.lines.filter((line) => line.rank === rank);
    const { name, part, share } = lines[0]!;
    const what = part === "hand_over" ? "hand-over" : "operation";
    return h(
      "details",
      { open: at === 0 },
      h("summary", {}, bar(share), h("span", { class: "dim" }, ` ${what} `), h("strong", { class: "code" }, name)),
      ...lines.map((line) => finding(line, place)),
      slowCalls(lines),
    );
  });
}

export const profile: View = { name: "profile", label: "Profile", key: "p", keeps: true, show };

async function show(about: Table, place: Place, _: string, signal: AbortSignal): Promise<Shown> {
  const found = await ask<Profile>("profile", conditions(place.parameters), signal);
  const { report } = found;
  const some = report.n_requests < found.n ? `${count(report.n_requests)} of ${count(found.n)} requests, in runs that lie evenly over them,` : `${count(report.n_requests)} requests`;
  const empty = report.n_requests === 0 ? "No request meets these conditions." : "Nothing is seen in enough requests to be told.";
  const nodes = [
    !isFile && filters(about, place),
    h("p", { class: "summary" }, `${some} of ${count(report.n_types)} types, in ${count(report.n_trees)} trees of spans and ${count(report.n_orders)} orders; the tail is the slowest ${report.tail_percent} %.`),
    ...found.warnings.map((warning) => h("p", { class: "error" }, warning)),
    h(
      "section",
      {},
      h("h2", {}, "Where the time goes"),
      h("p", { class: "dim" }, "Shares of the time that operations, and hand-overs between them, take themselves."),
      report.lines.length === 0 ? h("p", { class: "empty" }, empty) : h("div", { class: "report" }, ...operations(found, place)),
    ),
    report.differences.length > 0 &&
      h("section", {}, h("h2", {}, "What the tail does, and the rest does not, or a quarter as often at most"), h("ul", { class: "report" }, ...report.differences.map(difference))),
  ];
  return { nodes };
}
