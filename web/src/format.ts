// Numbers, times and names for people.

const UNITS: [number, string][] = [
  [3.6e9, "h"],
  [6e7, "min"],
  [1e6, "s"],
  [1e3, "ms"],
  [1, "µs"],
];

export function duration(us: number | null): string {
  if (us === null) return "–";
  if (us === 0) return "0";
  const [size, unit] = UNITS.find(([size]) => Math.abs(us) >= size) ?? [1, "µs"];
  const value = us / size;
  return `${Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 2 })} ${unit}`;
}

export function count(n: number): string {
  return n.toLocaleString("en-US");
}

// `1 line`, `2 lines`.
export function several(n: number, name: string): string {
  return `${count(n)} ${name}${n === 1 ? "" : "s"}`;
}

export function percent(share: number, digits = 1): string {
  return `${(100 * share).toFixed(digits)} %`;
}

// A probability: what is only nearly sure is not 100 %.
export function likely(probability: number): string {
  return probability < 1 && probability >= 0.995 ? "> 99 %" : percent(probability, 0);
}

// Times are UTC, as the table has them.
export function time(us: number, withDay = true): string {
  const text = new Date(us / 1000).toISOString();
  const micros = String(((us % 1000) + 1000) % 1000).padStart(3, "0");
  const clock = `${text.slice(11, 23)}${micros === "000" ? "" : micros}`;
  return withDay ? `${text.slice(0, 10)} ${clock}` : clock;
}

// `1.5 ms` as microseconds; a bare number is milliseconds. Null: it is none.
export function parseDuration(text: string): number | null {
  const found = /^\s*([0-9]+(?:\.[0-9]+)?)\s*(us|µs|ms|s|min|m|h)?\s*$/.exec(text);
  if (!found) return null;
  const sizes: Record<string, number> = { us: 1, µs: 1, ms: 1e3, s: 1e6, min: 6e7, m: 6e7, h: 3.6e9 };
  return Math.round(Number(found[1]) * (sizes[found[2] ?? "ms"] ?? 1e3));
}

// `org.a.B$C` as `C`.
export function shortClass(name: string): string {
  return name.split(/[.$]/).pop() ?? name;
}
