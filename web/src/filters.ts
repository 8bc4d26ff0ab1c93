// The bar of conditions: what requests have to be, shared by overview and list.

import type { Table } from "./api";
import { type Child, h } from "./dom";
import { duration, parseDuration, time } from "./format";
import { CONDITIONS, type Place, conditions, go } from "./state";

function choice(label: string, name: string, values: string[], place: Place): HTMLElement {
  const set = (event: Event) => {
    const value = (event.target as HTMLSelectElement).value;
    go(place.view, { ...place.parameters, [name]: value, offset: "" });
  };
  const now = place.parameters[name] ?? "";
  const all = values.includes(now) || now === "" ? values : [now, ...values];
  const option = (value: string) => h("option", { value, selected: value === now }, value);
  return h("label", {}, label, h("select", { change: set }, h("option", { value: "" }, "all"), ...all.map(option)));
}

function length(label: string, name: string, place: Place): HTMLElement {
  const now = place.parameters[name];
  const input = h("input", {
    type: "text", size: 7, value: now ? duration(Number(now)) : "", placeholder: "e.g. 5 ms",
    "aria-label": `duration ${label}`,
    change: () => {
      const us = parseDuration(input.value.replaceAll(",", ""));
      input.setCustomValidity(us === null && input.value.trim() !== "" ? "a number and one of µs, ms, s, min, h" : "");
      if (!input.reportValidity()) return;
      go(place.view, { ...place.parameters, [name]: us === null ? "" : String(us), offset: "" });
    },
  });
  return h("label", {}, label, input);
}

function condition(place: Place): HTMLElement {
  const input = h("input", {
    type: "text", value: place.parameters["where"] ?? "", spellcheck: "false", class: "code grow",
    placeholder: "e.g. n_nodes > 2 AND duration_us > 1000",
    change: () => go(place.view, { ...place.parameters, where: input.value.trim(), offset: "" }),
  });
  return h("label", { class: "grow" }, "where (SQL)", input);
}

export function filters(about: Table, place: Place): HTMLElement {
  const set = CONDITIONS.filter((name) => place.parameters[name]);
  const chips: Child[] = [];
  const { from, to } = place.parameters;
  if (from || to) {
    const text = `${from ? time(Number(from)) : "…"} – ${to ? time(Number(to)) : "…"}`;
    const clear = () => go(place.view, { ...place.parameters, from: "", to: "", offset: "" });
    chips.push(h("button", { class: "chip", click: clear, title: "show all times" }, `${text} ✕`));
  }
  if (set.length > 0) {
    const others = Object.fromEntries(Object.entries(place.parameters).filter(([name]) => !CONDITIONS.includes(name)));
    chips.push(h("button", { class: "chip", click: () => go(place.view, { ...others, offset: "" }) }, "clear all"));
  }
  return h(
    "form",
    { class: "filters", "aria-label": "Conditions", submit: (event: Event) => event.preventDefault() },
    choice("type", "type", about.types.map((type) => type.name), place),
    about.nodes.length > 0 && choice("node", "node", about.nodes, place),
    about.flags.length > 0 && choice("flag", "flag", about.flags, place),
    length("at least", "min", place),
    length("at most", "max", place),
    about.sql && condition(place),
    ...chips,
  );
}

export { conditions };
