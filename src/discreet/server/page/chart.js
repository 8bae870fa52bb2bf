// Charts: bars and lines, each value with its interval, on axes with numbers. Nothing is drawn without its uncertainty.
import { many, number, plusMinus, short } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const ROW = 30,
  TOP = 26,
  BOTTOM = 26;

export function put(parent, tag, attributes, text = "") {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;
  parent.append(node);
  return node;
}

export function canvas(wide, high, described) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", described);
  return svg;
}

// Round numbers from the one before the least to the one after the most, few enough to be read.
export function axis(least, most, room = 5) {
  const span = most - least || Math.abs(most) || 1,
    ten = 10 ** Math.floor(Math.log10(span / room));
  const step = [1, 2, 5, 10].map((size) => size * ten).find((size) => span / size <= room) ?? 10 * ten;
  const first = Math.floor(least / step + 1e-9),
    last = Math.ceil(most / step - 1e-9);
  return Array.from({ length: Math.max(last - first, 1) + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

const known = (end) => end !== null && end !== undefined && Number.isFinite(end);
const ends = (rows) => rows.flatMap(({ value, low, high }) => [value, low, high]).filter(known);
const tick = (value) => (Math.abs(value) >= 10_000 ? value.toLocaleString("en", { notation: "compact" }) : value.toLocaleString("en"));
const said = ({ label, value, width }) => `${label} ${number(value, width)} ${plusMinus(width)}`;
const cut = (text, room) => ([...text].length > room ? `${[...text].slice(0, Math.max(1, room - 1)).join("")}…` : text);

// rows: { label, value, low, high, width }; an end that nothing bounds is null, and its line runs to the edge.
export function drawBars(box, { title, rows, wide = box.clientWidth }) {
  const shown = rows.filter((row) => known(row.value));
  const room = Math.max(wide, 280),
    labels = shown.map(({ label }) => (label === title ? "" : label)); // a single number has its name above it
  const left = Math.min(200, room * 0.28, 16 + 7.8 * Math.max(labels.some(Boolean) ? 4 : 0, ...labels.map((label) => [...label].length)));
  const texts = shown.map((row) => `${number(row.value, row.width)} ${plusMinus(row.width)}`);
  const right = 16 + 7.9 * Math.max(...texts.map((text) => text.length), 4);
  const ticks = axis(Math.min(0, ...ends(shown)), Math.max(0, ...ends(shown)), room < 480 ? 2 : 5),
    [from, to] = [ticks[0], ticks.at(-1)];
  const x = (value) => left + ((room - left - right) * (Math.min(to, Math.max(from, value)) - from)) / (to - from);
  const high = TOP + shown.length * ROW + BOTTOM;
  const svg = canvas(room, high, `${title}: ${shown.slice(0, 12).map(said).join("; ")}`);
  put(svg, "text", { class: "title", x: left, y: 14 }, cut(title, Math.floor((room - left) / 7.8)));
  for (const value of ticks) {
    put(svg, "line", { class: value === 0 ? "axis" : "grid", x1: x(value), x2: x(value), y1: TOP - 4, y2: high - BOTTOM + 2 });
    put(svg, "text", { class: "tick", x: x(value), y: high - 8, "text-anchor": "middle" }, tick(value));
  }
  shown.forEach((row, i) => {
    const y = TOP + i * ROW + ROW / 2,
      group = put(svg, "g", { class: "row" });
    put(group, "title", {}, said(row));
    put(group, "text", { x: left - 10, y: y + 4.5, "text-anchor": "end" }, cut(labels[i], Math.floor((left - 12) / 7.6)));
    put(group, "rect", { class: "bar", x: Math.min(x(0), x(row.value)), y: y - 9, width: Math.abs(x(row.value) - x(0)), height: 18 });
    const [low, most] = [known(row.low) ? row.low : from, known(row.high) ? row.high : to];
    put(group, "line", { class: "range", x1: x(low), x2: x(most), y1: y, y2: y });
    for (const [end, isKnown] of [
      [low, known(row.low)],
      [most, known(row.high)],
    ])
      if (isKnown) put(group, "line", { class: "range", x1: x(end), x2: x(end), y1: y - 5, y2: y + 5 });
    put(group, "circle", { class: "dot", cx: x(row.value), cy: y, r: 3 });
    put(group, "text", { class: "value", x: room - 2, y: y + 4.5, "text-anchor": "end" }, texts[i]);
  });
  box.append(svg);
  return svg;
}

// Labels below an axis, as many as stand clear of each other.
function dateTicks(svg, points, { x, y, left, right }) {
  let free = -Infinity;
  for (const { at, label } of points) {
    const half = 3.8 * label.length,
      middle = Math.min(right - half, Math.max(left + half, x(at)));
    if (middle - half < free || Math.abs(middle - x(at)) > half + 1) continue;
    put(svg, "text", { class: "tick", x: middle, y, "text-anchor": "middle" }, label);
    free = middle + half + 18;
  }
}

// points: { at, label, value, low, high, width }, in order of `at`, a number; the band is where the truth lies.
export function drawLine(box, { title, points, wide = box.clientWidth, high = 240, range = null }) {
  const shown = points.filter((point) => known(point.value)),
    room = Math.max(wide, 280);
  const all = range ?? ends(shown),
    ticks = axis(Math.min(0, ...all), Math.max(0, ...all), 5),
    [from, to] = [ticks[0], ticks.at(-1)];
  const left = 14 + 7.4 * Math.max(...ticks.map((value) => tick(value).length)),
    right = 12,
    top = 28,
    bottom = 30;
  const [first, last] = [shown[0].at, shown.at(-1).at];
  const x = (at) => left + (last === first ? 0.5 : (at - first) / (last - first)) * (room - left - right);
  const y = (value) => top + (high - top - bottom) * (1 - (Math.min(to, Math.max(from, value)) - from) / (to - from));
  const svg = canvas(room, high, `${title}, ${many(shown.length, "point")} from ${said(shown[0])} to ${said(shown.at(-1))}`);
  put(svg, "text", { class: "title", x: left, y: 14 }, title);
  for (const value of ticks) {
    put(svg, "line", { class: value === 0 ? "axis" : "grid", x1: left, x2: room - right, y1: y(value), y2: y(value) });
    put(svg, "text", { class: "tick", x: left - 8, y: y(value) + 4, "text-anchor": "end" }, tick(value));
  }
  dateTicks(svg, shown, { x, y: high - 10, left, right: room - right });
  const low = ({ low: end }) => (known(end) ? end : from),
    most = ({ high: end }) => (known(end) ? end : to);
  const path = (pick, list = shown) => list.map((point, i) => `${i ? "L" : "M"} ${x(point.at).toFixed(1)} ${y(pick(point)).toFixed(1)}`).join(" ");
  put(svg, "path", { class: "band", d: `${path(most)} ${path(low, [...shown].reverse()).replace("M", "L")} Z` });
  put(svg, "path", { class: "through", d: path((point) => point.value) });
  for (const point of shown) {
    const group = put(svg, "g", {});
    put(group, "title", {}, said(point));
    if (shown.length <= 60) put(group, "line", { class: "range", x1: x(point.at), x2: x(point.at), y1: y(low(point)), y2: y(most(point)) });
    put(group, "circle", { class: "dot", cx: x(point.at), cy: y(point.value), r: shown.length > 60 ? 1.5 : 3 });
  }
  box.append(svg);
  return svg;
}

// A square for every two columns, as strong as its bound is wide; pairs: { columns, within, share, is_measured }. A frame says that the pair was measured.
export function drawPairs(box, { names, pairs, wide = box.clientWidth }) {
  const room = Math.max(wide, 280),
    left = Math.min(150, room * 0.3, 16 + 7.8 * Math.max(...names.map((name) => name.length)));
  const cell = Math.max(36, Math.min(64, (room - left - 40) / names.length)),
    high = left + cell * names.length + 6;
  const svg = canvas(left + cell * names.length + 40, high, `How far off every two of ${many(names.length, "column")} are at most; the same as a table below`);
  svg.style.width = `${left + cell * names.length + 40}px`;
  names.forEach((name, i) => {
    const middle = left + cell * (i + 0.5),
      words = cut(name, Math.floor((left - 12) / 7.6));
    put(svg, "text", { x: left - 8, y: middle + 4.5, "text-anchor": "end" }, words);
    put(svg, "text", { transform: `translate(${middle + 4} ${left - 8}) rotate(-60)` }, words);
  });
  for (const { columns, within, share, is_measured: isMeasured } of pairs) {
    const [one, other] = columns.map((name) => names.indexOf(name)),
      shown = Math.min(2, share);
    for (const [across, down] of [
      [one, other],
      [other, one],
    ]) {
      const [x, y] = [left + cell * across, left + cell * down],
        group = put(svg, "g", { class: isMeasured ? "pair measured" : "pair" });
      put(group, "title", {}, `${columns.join(" × ")}: off by at most ${number(within, within)} rows`);
      put(group, "rect", { x: x + 1.5, y: y + 1.5, width: cell - 3, height: cell - 3, "fill-opacity": (0.06 + 0.22 * shown).toFixed(2) });
      put(group, "text", { x: x + cell / 2, y: y + cell / 2 + 4.5, "text-anchor": "middle" }, `${(100 * shown).toFixed(0)}${share > 2 ? "+" : ""}`);
    }
  }
  box.append(svg);
  return svg;
}

// What was left of a budget, charge by charge; steps: { at, left, label }, in order of time, the last is now.
export function drawBurn(box, { steps, cap, wide = box.clientWidth, high = 190 }) {
  const room = Math.max(wide, 280),
    ticks = axis(0, cap, 4),
    left = 14 + 7.4 * Math.max(...ticks.map((value) => tick(value).length)),
    right = 12,
    top = 16,
    bottom = 30;
  const [first, last] = [steps[0].at, steps.at(-1).at],
    to = Math.max(ticks.at(-1), cap);
  const x = (at) => left + (last === first ? 1 : (at - first) / (last - first)) * (room - left - right);
  const y = (value) => top + (high - top - bottom) * (1 - value / to);
  const svg = canvas(room, high, `Remaining budget over time: ${short(steps.at(-1).left)} of ${short(cap)} now`);
  for (const value of ticks) {
    put(svg, "line", { class: value ? "grid" : "axis", x1: left, x2: room - right, y1: y(value), y2: y(value) });
    put(svg, "text", { class: "tick", x: left - 8, y: y(value) + 4, "text-anchor": "end" }, tick(value));
  }
  const path = steps
    .map((step, i) => (i ? `H ${x(step.at).toFixed(1)} V ${y(step.left).toFixed(1)}` : `M ${x(step.at).toFixed(1)} ${y(step.left).toFixed(1)}`))
    .join(" ");
  put(svg, "path", { class: "burnt", d: `${path} V ${y(0)} H ${x(first)} Z` });
  put(svg, "path", { class: "spent", d: path });
  put(svg, "circle", { class: "dot", cx: x(last), cy: y(steps.at(-1).left), r: 4 });
  put(svg, "text", { class: "tick", x: left, y: high - 10 }, steps[0].label);
  if (room > 420) put(svg, "text", { class: "tick", x: room - right, y: high - 10, "text-anchor": "end" }, "now");
  box.append(svg);
  return svg;
}

// Draws again when the box changes its width.
export function redrawn(box, draw) {
  let width = -1;
  const look = () => {
    const wide = Math.round(box.clientWidth);
    if (!wide || wide === width) return;
    width = wide;
    box.replaceChildren();
    draw();
  };
  box.watcher?.disconnect();
  box.watcher = new ResizeObserver(look);
  box.watcher.observe(box);
  box.replaceChildren();
  look();
}
