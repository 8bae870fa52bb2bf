// What is known of the attack that is open: settings, points of this visit, and what both sides of it share.

export const SIDES = ["weak", "discreet"];
export const EPSILON = { name: "epsilon", label: "ε: all that the attacker may spend", least: 0.1, most: 10, usual: 1, whole: false, log: true };
export const state = {
  attacks: [],
  attack: null,
  catalog: null,
  peopleOf: "lab",
  release: "",
  values: {},
  turned: "",
  points: new Map(),
  pace: new Map(),
  last: {},
  step: 0,
  walk: 0,
  fresh: false,
  sweep: null,
  wanted: new Set(),
  busy: false,
  timer: 0,
};

export const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)}\u00a0%`;
export const shownNumber = (value) => (Number.isInteger(value) ? value : Number(value.toPrecision(3))).toLocaleString("en", { maximumFractionDigits: 6 });
export const inShort = (knob) => knob.label.split(/[:,]/)[0];
export const between = ([low, high]) => `${percent(low).slice(0, -2)} to ${percent(high)}`;
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export const target = (side) => (side === "weak" ? state.release : "discreet");
export const priced = (side) => side === "discreet" || state.attack.priced.includes(state.release) || state.release in state.attack.peers;
export const knobs = () => [...state.attack.knobs, EPSILON].filter((knob) => knob.least < knob.most && SIDES.some((side) => matters(knob, side)));
export const matters = (knob, side) => (knob === EPSILON ? priced(side) : knob.against.includes(target(side)));
