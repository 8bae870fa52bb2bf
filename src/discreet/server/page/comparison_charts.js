// Pictures of real numbers beside synthetic ones, for the owner alone. Each of them says in the picture itself that it is not private.
import { axis, canvas, put } from "./chart.js";

const MARK = "NOT PRIVATE: do not show, do not publish";
const TOP = 46,
  BAR = 15;
export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
const cut = (text, room) => ([...text].length > room ? `${[...text].slice(0, Math.max(1, room - 1)).join("")}…` : text);
const widthOf = (box) => Math.max(box.clientWidth, 280);

function marked(box, { wide, high, title, left, described }) {
  const svg = canvas(wide, high, `Not private. ${described}`);
  put(svg, "text", { class: "loud", x: 2, y: 13 }, MARK);
  put(svg, "text", { class: "title", x: left, y: 32 }, cut(title, Math.floor((wide - left) / 7.8)));
  box.append(svg);
  return svg;
}

// Two or three bars for each row; rows: { label, bars: [{ kind, value }] }.
export function drawBeside(box, { title, rows, described }) {
  const wide = widthOf(box),
    left = Math.min(170, wide * 0.3, 16 + 7.8 * Math.max(4, ...rows.map(({ label }) => [...label].length)));
  const right = 66,
    row = BAR * rows[0].bars.length + 8,
    high = TOP + rows.length * row + 24,
    ticks = axis(0, Math.max(1e-9, ...rows.flatMap(({ bars }) => bars.map(({ value }) => value))), wide < 480 ? 2 : 5);
  const x = (value) => left + ((wide - left - right) * value) / ticks.at(-1);
  const svg = marked(box, { wide, high, title, left, described });
  for (const value of ticks) {
    put(svg, "line", { class: value ? "grid" : "axis", x1: x(value), x2: x(value), y1: TOP - 4, y2: high - 22 });
    put(svg, "text", { class: "tick", x: x(value), y: high - 8, "text-anchor": "middle" }, percent(value, 0));
  }
  rows.forEach(({ label, bars }, i) => {
    const y = TOP + i * row;
    put(svg, "text", { x: left - 10, y: y + row / 2, "text-anchor": "end" }, cut(label, Math.floor((left - 12) / 7.6)));
    bars.forEach(({ kind, value }, k) => {
      const bar = put(svg, "rect", { class: kind, x: x(0), y: y + k * BAR, width: Math.max(0, x(value) - x(0)), height: BAR - 1 });
      put(bar, "title", {}, `${label}, ${kind}: ${percent(value, 2)}`);
      put(svg, "text", { class: "tick", x: wide - 2, y: y + (k + 0.5) * BAR + 4, "text-anchor": "end" }, percent(value));
    });
  });
}

// Two lines over the values of a column that has many; values: { label, real, synthetic }.
export function drawLines(box, { title, values, described }) {
  const wide = widthOf(box),
    high = 240,
    left = 58,
    bottom = 34,
    ticks = axis(0, Math.max(1e-9, ...values.flatMap(({ real, synthetic }) => [real, synthetic])), 4);
  const x = (at) => left + ((wide - left - 12) * at) / Math.max(1, values.length - 1),
    y = (share) => TOP + (high - TOP - bottom) * (1 - share / ticks.at(-1));
  const svg = marked(box, { wide, high, title, left, described });
  for (const value of ticks) {
    put(svg, "line", { class: value ? "grid" : "axis", x1: left, x2: wide - 12, y1: y(value), y2: y(value) });
    put(svg, "text", { class: "tick", x: left - 8, y: y(value) + 4, "text-anchor": "end" }, percent(value));
  }
  for (const kind of ["real", "synthetic"])
    put(svg, "path", { class: `line ${kind}`, d: values.map((one, i) => `${i ? "L" : "M"} ${x(i).toFixed(1)} ${y(one[kind]).toFixed(1)}`).join(" ") });
  const half = Math.floor((wide - left) / 15.5);
  put(svg, "text", { class: "tick", x: left, y: high - 12 }, cut(values[0].label, half));
  put(svg, "text", { class: "tick", x: wide - 12, y: high - 12, "text-anchor": "end" }, cut(values.at(-1).label, half));
}

// A square for every two groups of values, as strong as its share of the largest one; `cells` has a line for each label of the first side.
export function drawCells(box, { title, labels, cells, most, described }) {
  const wide = widthOf(box),
    [down, across] = labels;
  const left = Math.min(130, wide * 0.3, 14 + 7.2 * Math.max(...down.map((label) => [...label].length)));
  const step = (wide - left - 6) / across.length,
    each = Math.min(26, Math.max(10, step)),
    top = TOP + 4,
    half = Math.floor((wide - left) / 15);
  const svg = marked(box, { wide, high: top + each * down.length + 28, title, left, described });
  down.forEach((label, i) => {
    put(svg, "text", { class: "tick", x: left - 6, y: top + each * (i + 0.5) + 4, "text-anchor": "end" }, cut(label, Math.floor((left - 8) / 7.2)));
    across.forEach((other, k) => {
      const square = put(svg, "rect", {
        class: "cell",
        x: left + step * k,
        y: top + each * i,
        width: step - 1,
        height: each - 1,
        "fill-opacity": (0.04 + 0.9 * Math.sqrt(cells[i][k] / (most || 1))).toFixed(3),
      });
      put(square, "title", {}, `${label}, ${other}: ${percent(cells[i][k], 2)}`);
    });
  });
  put(svg, "text", { class: "tick", x: left, y: top + each * down.length + 18 }, cut(across[0], half));
  put(svg, "text", { class: "tick", x: wide - 6, y: top + each * down.length + 18, "text-anchor": "end" }, cut(across.at(-1), half));
}

// The mean distance of tables against the price; points: { epsilon, value, isRelease }.
export function drawPrices(box, { title, points, independent, resampled, described }) {
  const wide = widthOf(box),
    high = 250,
    left = 52,
    bottom = 54,
    ticks = axis(0, Math.max(independent, resampled, ...points.map(({ value }) => value)), 4),
    prices = points.map(({ epsilon }) => epsilon),
    [from, to] = [Math.log10(Math.min(0.1, ...prices)), Math.log10(Math.max(10, ...prices))];
  const x = (epsilon) => left + 8 + ((wide - left - 24) * (Math.log10(epsilon) - from)) / (to - from),
    y = (value) => TOP + (high - TOP - bottom) * (1 - value / ticks.at(-1));
  const svg = marked(box, { wide, high, title, left, described });
  for (const value of ticks) {
    put(svg, "line", { class: value ? "grid" : "axis", x1: left, x2: wide - 8, y1: y(value), y2: y(value) });
    put(svg, "text", { class: "tick", x: left - 8, y: y(value) + 4, "text-anchor": "end" }, value.toLocaleString("en"));
  }
  for (const epsilon of [0.001, 0.01, 0.1, 1, 10, 100])
    if (Math.log10(epsilon) >= from - 1e-9 && Math.log10(epsilon) <= to + 1e-9)
      put(svg, "text", { class: "tick", x: x(epsilon), y: high - 20, "text-anchor": "middle" }, epsilon.toLocaleString("en"));
  put(svg, "text", { class: "tick", x: (left + wide) / 2, y: high - 4, "text-anchor": "middle" }, "ε");
  const baselines = [
    [independent, "independent columns"],
    [resampled, "real rows drawn again"],
  ].sort(([one], [other]) => other - one);
  baselines.forEach(([value, words], i) => {
    put(svg, "line", { class: "baseline", x1: left, x2: wide - 8, y1: y(value), y2: y(value) });
    const below = y(0) - y(value) < 18 ? y(0) + 13 : y(value) + 14; // of the lower one; the higher one has its words above its line
    put(svg, "text", { class: "tick", x: left + 6, y: i ? below : y(value) - 5 }, words);
  });
  const sorted = [...points].sort((one, other) => one.epsilon - other.epsilon);
  put(svg, "path", {
    class: "line synthetic",
    d: sorted.map(({ epsilon, value }, i) => `${i ? "L" : "M"} ${x(epsilon).toFixed(1)} ${y(value).toFixed(1)}`).join(" "),
  });
  for (const { epsilon, value, isRelease } of sorted) {
    const dot = put(svg, "circle", { class: isRelease ? "synthetic release" : "synthetic", cx: x(epsilon), cy: y(value), r: isRelease ? 6 : 4 });
    put(dot, "title", {}, `ε ${Number(epsilon.toPrecision(3))}: ${value.toPrecision(3)}${isRelease ? ", this release" : ""}`);
  }
}
