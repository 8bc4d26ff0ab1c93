// Elements. Every text becomes a text node: what logs hold is never read as markup.

export type Child = Node | string | number | null | undefined | false;

type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

const SVG = "http://www.w3.org/2000/svg";

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name, value as EventListener);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, String(value));
    }
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(String(child))));
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  fill(element, attributes, children);
  return element;
}

export function s<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, name);
  fill(element, attributes, children);
  return element;
}

// Control characters and marks that turn the direction of text, spelled out.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export function visible(text: string): string {
  return text.replace(HIDDEN, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);
}

export function replace(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  fill(element, {}, children);
}

export function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// A table with a header; `numbers` are columns that stand right.
export function table(caption: string, header: Child[], rows: Child[][], numbers: number[] = []): HTMLElement {
  const kind = (at: number) => (numbers.includes(at) ? "n" : null);
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", { class: "hidden" }, caption),
      h("thead", {}, h("tr", {}, ...header.map((cell, at) => h("th", { scope: "col", class: kind(at) }, cell)))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell, at) => h("td", { class: kind(at) }, cell))))),
    ),
  );
}
