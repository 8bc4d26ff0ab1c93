// Charts: lines over time, and the heat map of times and durations. Dragging over either chooses
// what it was dragged over.

import uPlot from "uplot";
import type { Overview, Series } from "./api";
import { color, h } from "./dom";
import { count, duration, time } from "./format";

export const COLORS = 9;

export function seriesColor(at: number): string {
  return color(`series-${at % COLORS}`);
}

export type Choose = (from: number, to: number, min?: number, max?: number) => void;

// A chart of one value of each series.
export function lines(
  title: string,
  overview: Overview,
  series: Series[],
  value: (cell: Series["cells"][number]) => number | null,
  options: { log?: boolean; format: (value: number) => string },
  choose: Choose,
): { element: HTMLElement; destroy: () => void } {
  const place = h("div", { class: "plot" });
  const times = Array.from({ length: overview.n_steps }, (_, at) => (overview.from + at * overview.step) / 1e6);
  const data: uPlot.AlignedData = [times, ...series.map((of) => of.cells.map(value))];
  const axis = { stroke: color("dim"), grid: { stroke: color("grid"), width: 1 }, ticks: { stroke: color("grid") } };
  const points = overview.n_steps <= 60 || overview.n < 1000;
  const make = () =>
    new uPlot(
      {
        width: Math.max(place.clientWidth, 200),
        height: 190,
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC"),
        ms: 1,
        cursor: { drag: { x: true, y: false, setScale: false }, sync: { key: "time" } },
        legend: { show: false },
        scales: { x: { time: true }, y: options.log ? { distr: 3, range: logRange } : { range: fromZero } },
        axes: [{ ...axis, space: 80, values: (_, all) => all.map((seconds) => clock(seconds * 1e6, overview)) }, { ...axis, size: 64, values: (_, all) => all.map((v) => (v === null ? "" : options.format(v))) }],
        series: [
          {},
          ...series.map((of, at) => ({
            label: of.name, stroke: seriesColor(at), width: 1.5, points: { show: points, size: 4 }, spanGaps: false,
          })),
        ],
        hooks: {
          setSelect: [
            (chart) => {
              if (chart.select.width < 4) return;
              const at = (x: number) => Math.round(chart.posToVal(x, "x") * 1e6);
              choose(at(chart.select.left), at(chart.select.left + chart.select.width));
            },
          ],
          setCursor: [(chart) => say(chart.cursor.idx ?? null)],
        },
      },
      data,
      place,
    );
  const said = h("div", { class: "readout", "aria-hidden": "true" });
  const say = (at: number | null) => {
    const parts: (Node | string)[] = [];
    if (at !== null) {
      parts.push(h("span", { class: "dim" }, time(overview.from + at * overview.step)));
      series.forEach((of, number) => {
        const cell = of.cells[at];
        const shown = cell ? value(cell) : null;
        if (shown === null) return;
        const swatch = h("i", { class: "swatch" });
        swatch.style.background = seriesColor(number);
        parts.push(h("span", {}, swatch, `${options.format(shown)}`));
      });
    }
    said.replaceChildren(...parts);
  };
  let chart: uPlot | null = null;
  const observer = new ResizeObserver(() => {
    if (place.clientWidth === 0) return;
    if (chart === null) chart = make();
    else chart.setSize({ width: place.clientWidth, height: 190 });
  });
  observer.observe(place);
  const element = h("figure", { role: "img", "aria-label": title }, h("figcaption", {}, title), place, said);
  return {
    element,
    destroy: () => {
      observer.disconnect();
      chart?.destroy();
    },
  };
}

// The time of day, with the day where there are several, as fine as it has to be.
function clock(us: number, overview: Overview): string {
  const text = time(Math.round(us));
  const lasts = overview.step * overview.n_steps;
  if (lasts > 3 * 86_400e6) return text.slice(5, 10);
  if (lasts > 86_400e6) return text.slice(5, 16);
  return text.slice(11, lasts < 10e6 ? 23 : 19);
}

function fromZero(_: uPlot, __: number | null, max: number | null): uPlot.Range.MinMax {
  return [0, Math.max(max ?? 1, 1) * 1.1];
}

function logRange(_: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax {
  const least = 10 ** Math.floor(Math.log10(Math.max(min ?? 1, 1)));
  const most = 10 ** Math.ceil(Math.log10(Math.max(max ?? 10, least * 10)));
  return [least, most];
}

const LEFT = 64;
const BOTTOM = 22;
const HEIGHT = 220;

// Requests by time and duration; the darker the more, on a scale of logarithms.
export function heatMap(overview: Overview, choose: Choose): { element: HTMLElement; destroy: () => void } {
  const canvas = h("canvas", { class: "heat", height: HEIGHT });
  const brush = h("div", { class: "brush", hidden: true });
  const said = h("div", { class: "readout", "aria-hidden": "true" });
  const place = h("div", { class: "plot" }, canvas, brush);
  const { rows, counts } = overview.heat;
  const used = rows.map((_, row) => counts.some((column) => (column[row] ?? 0) > 0));
  const first = Math.max(used.indexOf(true), 0);
  const last = Math.max(used.lastIndexOf(true), first);
  const most = Math.max(1, ...counts.map((column) => Math.max(0, ...column)));
  const n = last - first + 1;
  const box = () => ({ width: canvas.clientWidth - LEFT - 8, height: HEIGHT - BOTTOM - 6 });
  const draw = () => {
    const scale = devicePixelRatio;
    canvas.width = Math.round(canvas.clientWidth * scale);
    canvas.height = Math.round(HEIGHT * scale);
    const context = canvas.getContext("2d");
    if (!context) return;
    context.scale(scale, scale);
    const { width, height } = box();
    const [cellWidth, cellHeight] = [width / overview.n_steps, height / n];
    const heat = color("heat");
    counts.forEach((column, at) => {
      for (let row = first; row <= last; row++) {
        const found = column[row] ?? 0;
        if (found === 0) continue;
        context.globalAlpha = 0.12 + (0.88 * Math.log1p(found)) / Math.log1p(most);
        context.fillStyle = heat;
        const y = 6 + height - (row - first + 1) * cellHeight;
        context.fillRect(LEFT + at * cellWidth, y, Math.max(cellWidth - 0.4, 0.8), Math.max(cellHeight - 0.4, 0.8));
      }
    });
    context.globalAlpha = 1;
    context.fillStyle = color("dim");
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    const every = Math.max(1, Math.ceil(n / 8));
    for (let row = first; row <= last; row += every) {
      context.fillText(duration(rows[row] ?? 0), LEFT - 6, 6 + height - (row - first) * cellHeight);
    }
    context.textBaseline = "top";
    const labels = Math.max(2, Math.min(6, Math.floor(width / 130)));
    for (let label = 0; label < labels; label++) {
      const at = (label * overview.n_steps) / (labels - 1);
      context.textAlign = label === 0 ? "left" : label === labels - 1 ? "right" : "center";
      context.fillText(clock(overview.from + at * overview.step, overview), LEFT + (label * width) / (labels - 1), HEIGHT - BOTTOM + 6);
    }
  };
  const cellAt = (event: PointerEvent) => {
    const area = canvas.getBoundingClientRect();
    const { width, height } = box();
    const x = Math.min(Math.max(event.clientX - area.left - LEFT, 0), width - 0.01);
    const y = Math.min(Math.max(event.clientY - area.top - 6, 0), height - 0.01);
    return { x, y, at: Math.floor((x / width) * overview.n_steps), row: first + n - 1 - Math.floor((y / height) * n) };
  };
  let begun: ReturnType<typeof cellAt> | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    begun = cellAt(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const cell = cellAt(event);
    const found = counts[cell.at]?.[cell.row] ?? 0;
    const from = rows[cell.row] ?? 0;
    const until = rows[cell.row + 1];
    said.textContent = `${time(overview.from + cell.at * overview.step)} · ${duration(from)}${until === undefined ? " or more" : ` – ${duration(until)}`} · ${count(found)} requests`;
    brush.hidden = begun === null;
    if (begun === null) return;
    brush.style.left = `${LEFT + Math.min(begun.x, cell.x)}px`;
    brush.style.top = `${6 + Math.min(begun.y, cell.y)}px`;
    brush.style.width = `${Math.abs(begun.x - cell.x)}px`;
    brush.style.height = `${Math.abs(begun.y - cell.y)}px`;
  });
  canvas.addEventListener("pointerup", (event) => {
    const [start, cell] = [begun, cellAt(event)];
    begun = null;
    brush.hidden = true;
    if (start === null || Math.abs(start.x - cell.x) + Math.abs(start.y - cell.y) < 6) return;
    const [a, b] = [Math.min(start.at, cell.at), Math.max(start.at, cell.at) + 1];
    const [low, high] = [Math.min(start.row, cell.row), Math.max(start.row, cell.row) + 1];
    const above = rows[high];
    const max = above === undefined ? undefined : above - 1;
    choose(overview.from + a * overview.step, overview.from + b * overview.step, rows[low], max);
  });
  const observer = new ResizeObserver(draw);
  observer.observe(place);
  const title = "Requests by time and duration";
  const element = h("figure", { role: "img", "aria-label": `${title}, heat map` }, h("figcaption", {}, title), place, said);
  return { element, destroy: () => observer.disconnect() };
}
