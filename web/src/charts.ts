// Charts: lines over time, and the heat map of times and durations. Dragging over either chooses
// what it was dragged over.

import uPlot from "uplot";
import type { Overview, Series } from "./api";
import { color, h } from "./dom";
import { count, duration, time } from "./format";
import { durationRange, durationTicks, timeLabels, timeTicks, widest } from "./scale";

export const COLORS = 9;

export function seriesColor(at: number): string {
  return color(`series-${at % COLORS}`);
}

// Pixels: of a chart, and of a letter of its labels.
const HEIGHT = 230;
const LETTER = 7;

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
  const place = h("div", { class: "plot", role: "img", "aria-label": title });
  const times = Array.from({ length: overview.n_steps }, (_, at) => (overview.from + at * overview.step) / 1e6);
  const data: uPlot.AlignedData = [times, ...series.map((of) => of.cells.map(value))];
  const axis = { stroke: color("dim"), font: FONT, grid: { stroke: color("grid"), width: 1 }, ticks: { stroke: color("grid"), size: 4 }, gap: 4 };
  const points = overview.n_steps <= 60 || overview.n < 1000;
  const values = (_: uPlot, marks: number[]) => marks.map(options.format);
  const xs = (chart: uPlot, _: number, min: number, max: number) => timeTicks(min * 1e6, max * 1e6, Math.floor(chart.width / 90)).map((us) => us / 1e6);
  const ys = (chart: uPlot, _: number, min: number, max: number) => durationTicks(min, max, Math.floor(chart.height / 30));
  const width = (chart: uPlot, marks: string[] | null) => (chart.status === 0 ? 50 : 14 + LETTER * widest(marks ?? []));
  const make = () =>
    new uPlot(
      {
        width: Math.max(place.clientWidth, 200),
        height: HEIGHT,
        padding: [8, 14, 0, 0],
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC"),
        ms: 1,
        cursor: { drag: { x: true, y: false, setScale: false }, sync: { key: "time" } },
        legend: { show: false },
        scales: { x: { time: true }, y: options.log ? { distr: 3, range: (_, min, max) => durationRange(min ?? 1, max ?? 10) } : { range: fromZero } },
        axes: [
          { ...axis, size: 24, splits: xs, values: (_, marks) => timeLabels(marks.map((seconds) => Math.round(seconds * 1e6))) },
          { ...axis, size: width, values, ...(options.log ? { splits: ys, filter: (_: uPlot, marks: number[]) => marks } : { space: 30 }) },
        ],
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
    else chart.setSize({ width: place.clientWidth, height: HEIGHT });
  });
  observer.observe(place);
  const element = h("figure", {}, h("figcaption", {}, title, said), place);
  return {
    element,
    destroy: () => {
      observer.disconnect();
      chart?.destroy();
    },
  };
}

function fromZero(_: uPlot, __: number | null, max: number | null): uPlot.Range.MinMax {
  return [0, Math.max(max ?? 1, 1) * 1.1];
}

const FONT = "12px system-ui, sans-serif";
const BOTTOM = 24;
const TOP = 8;
const RIGHT = 14;

// Requests by time and duration; the darker the more, on a scale of logarithms.
export function heatMap(overview: Overview, choose: Choose): { element: HTMLElement; destroy: () => void } {
  const canvas = h("canvas", { class: "heat", height: HEIGHT });
  const brush = h("div", { class: "brush", hidden: true });
  const said = h("div", { class: "readout", "aria-hidden": "true" });
  const title = "Requests by time and duration";
  const place = h("div", { class: "plot", role: "img", "aria-label": `${title}, heat map` }, canvas, brush);
  const { rows, counts } = overview.heat;
  const used = rows.map((_, row) => counts.some((column) => (column[row] ?? 0) > 0));
  const first = Math.max(used.indexOf(true), 0);
  const last = Math.max(used.lastIndexOf(true), first);
  const most = Math.max(1, ...counts.map((column) => Math.max(0, ...column)));
  const n = last - first + 1;
  const every = Math.max(1, Math.ceil(n / 7));
  const marks = Array.from({ length: Math.ceil(n / every) }, (_, at) => first + at * every);
  const left = 14 + LETTER * widest(marks.map((row) => duration(rows[row] ?? 0)));
  const box = () => ({ width: canvas.clientWidth - left - RIGHT, height: HEIGHT - BOTTOM - TOP });
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
        const y = TOP + height - (row - first + 1) * cellHeight;
        context.fillRect(left + at * cellWidth, y, Math.max(cellWidth - 0.4, 0.8), Math.max(cellHeight - 0.4, 0.8));
      }
    });
    context.globalAlpha = 1;
    context.fillStyle = color("dim");
    context.font = FONT;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const row of marks) {
      context.fillText(duration(rows[row] ?? 0), left - 8, TOP + height - (row - first) * cellHeight);
    }
    context.textBaseline = "top";
    context.textAlign = "center";
    const lasts = overview.step * overview.n_steps;
    const ticks = timeTicks(overview.from, overview.from + lasts, Math.floor(canvas.clientWidth / 90));
    const labels = timeLabels(ticks);
    ticks.forEach((us, at) => {
      context.fillText(labels[at]!, left + ((us - overview.from) / lasts) * width, HEIGHT - BOTTOM + 8);
    });
  };
  const cellAt = (event: PointerEvent) => {
    const area = canvas.getBoundingClientRect();
    const { width, height } = box();
    const x = Math.min(Math.max(event.clientX - area.left - left, 0), width - 0.01);
    const y = Math.min(Math.max(event.clientY - area.top - TOP, 0), height - 0.01);
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
    brush.style.left = `${left + Math.min(begun.x, cell.x)}px`;
    brush.style.top = `${TOP + Math.min(begun.y, cell.y)}px`;
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
  const element = h("figure", {}, h("figcaption", {}, title, said), place);
  return { element, destroy: () => observer.disconnect() };
}
