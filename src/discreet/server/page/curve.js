// A curve of success: points with their intervals against one knob, the line of guessing, the line that privacy allows.

import { canvas, put } from "./chart.js";

const HIGH = 232,
  LEFT = 46,
  RIGHT = 14,
  TOP = 14,
  BOTTOM = 44;

// Round numbers between two ends, few enough to be read.
export function ticks({ least, most, log, whole }, room = 6) {
  if (least === most) return [least];
  const inside = (value) => value >= least * 0.999 && value <= most * 1.001;
  if (log) {
    const decades = Array.from({ length: 16 }, (_, i) => 10 ** (i - 8));
    const found = [[1, 2, 5], [1, 3], [1]].map((steps) => decades.flatMap((ten) => steps.map((step) => Number((step * ten).toPrecision(3)))).filter(inside));
    return found.find((some) => some.length <= room) ?? found.at(-1);
  }
  const step =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((size) => (most - least) / size < room && (!whole || size >= 1)) ??
    (most - least) / 4;
  const first = Math.ceil(least / step - 1e-9);
  return Array.from({ length: Math.floor(most / step + 1e-9) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(6)));
}

// points: { x, success, low, high, same, title }; allowed: [x, bound], ...; lines: { guessing, claimed } or null each.
export function drawCurve(box, { knob, label, at, points, allowed, guessing, claimed, described }) {
  const wide = Math.max(260, Math.round(box.clientWidth));
  const scale = knob.log ? Math.log : Number,
    [from, to] = [scale(knob.least), scale(knob.most)];
  const x = (value) => LEFT + 6 + ((wide - LEFT - RIGHT - 12) * (scale(value) - from)) / (to - from || 1);
  const y = (share) => TOP + (HIGH - TOP - BOTTOM) * (1 - share);
  const svg = canvas(wide, HIGH, described);

  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    put(svg, "line", { class: share ? "grid" : "axis", x1: LEFT, x2: wide - RIGHT, y1: y(share), y2: y(share) });
    if (share * 2 === Math.round(share * 2)) put(svg, "text", { class: "tick", x: LEFT - 8, y: y(share) + 4, "text-anchor": "end" }, `${100 * share}%`);
  }
  for (const value of ticks(knob, wide < 340 ? 5 : 8)) {
    put(svg, "line", { class: "axis", x1: x(value), x2: x(value), y1: y(0), y2: y(0) + 4 });
    put(svg, "text", { class: "tick", x: x(value), y: y(0) + 17, "text-anchor": "middle" }, value.toLocaleString("en"));
  }
  put(svg, "text", { class: "tick", x: (LEFT + wide - RIGHT) / 2, y: HIGH - 6, "text-anchor": "middle" }, label);

  if (allowed.length) {
    const line = allowed.map(([value, bound], i) => `${i ? "L" : "M"} ${x(value)} ${y(bound)}`).join(" ");
    const [first, last] = [allowed[0][0], allowed.at(-1)[0]];
    put(svg, "path", { class: "beyond", d: `${line} L ${x(last)} ${y(1)} L ${x(first)} ${y(1)} Z` });
    put(svg, "path", { class: "allowed", d: line });
    for (const [value, bound] of allowed.length < 12 ? allowed : [])
      put(svg, "line", { class: "allowed", x1: x(value) - 5, x2: x(value) + 5, y1: y(bound), y2: y(bound) });
    if (allowed.length > 1) put(svg, "text", { class: "tick", x: LEFT + 16, y: y(1) + 15 }, "more is not allowed");
  }
  const across = (share, kind) => put(svg, "line", { class: kind, x1: LEFT, x2: wide - RIGHT, y1: y(share), y2: y(share) });
  if (guessing !== null) {
    across(guessing, "guessing");
    put(svg, "text", { class: "tick", x: wide - RIGHT - 2, y: y(guessing) + (guessing > 0.2 ? 15 : -5), "text-anchor": "end" }, "guessing");
  }
  if (claimed !== null) {
    across(claimed, "claimed");
    put(svg, "text", { class: "tick", x: LEFT + 8, y: y(claimed) + 15 }, "its ε would allow");
  }
  put(svg, "line", { class: "now", x1: x(at), x2: x(at), y1: y(0), y2: y(1) });
  const main = points.filter((point) => point.same).sort((one, other) => one.x - other.x);
  if (main.length > 1) put(svg, "path", { class: "through", d: main.map((point, i) => `${i ? "L" : "M"} ${x(point.x)} ${y(point.success)}`).join(" ") });
  for (const point of [...points.filter((one) => !one.same), ...main]) {
    const group = put(svg, "g", { class: point.same ? "point" : "point other" });
    put(group, "line", { x1: x(point.x), x2: x(point.x), y1: y(point.low), y2: y(point.high) });
    for (const end of [point.low, point.high]) put(group, "line", { x1: x(point.x) - 4, x2: x(point.x) + 4, y1: y(end), y2: y(end) });
    put(group, "circle", { cx: x(point.x), cy: y(point.success), r: point.same && point.x === at ? 5 : 3.5 });
    put(group, "title", {}, point.title);
  }
  box.replaceChildren(svg);
}
