// Attacks: one attack against a vulnerable release and against Discreet, side by side. Each change of a parameter
// runs a few trials of each; all points of this visit stay on the curves.

import { choosePeople, offerPeople, onCatalog, showSample, showWorld } from "./attack_people.js";
import { between, EPSILON, inShort, knobs, matters, percent, priced, SIDES, shownNumber, state, target } from "./attack_state.js";
import { pauseWalk, showSteps } from "./attack_walk.js";
import { drawCurve } from "./curve.js";
import { $, call, fill, make, many, told } from "./dom.js";

const POSITIONS = 60,
  SWEEP = 9,
  MOST_SCORES = 1900,
  PATIENCE = 250;
const SLOW = 1.5,
  QUICK = 0.6; // seconds of a request, after which fewer or more trials are played

export async function showAttacks(name) {
  $("attack-told").textContent = "";
  try {
    if (!state.attacks.length) Object.assign(state, await call("/v1/attacks"));
  } catch (error) {
    $("attack-told").textContent = told(error);
    return;
  }
  const attack = state.attacks.find((one) => one.name === name);
  $("attacks-all").hidden = Boolean(attack);
  $("attack").hidden = !attack;
  if (attack) open(attack);
  else list();
}

function list() {
  $("attack-list").replaceChildren(
    ...state.attacks.map((attack) => {
      const link = make("a", "", { href: `#attacks/${attack.name}` }),
        item = make("li");
      link.append(make("b", attack.title), make("span", attack.lesson), make("small", outcome(attack)));
      item.append(link);
      return item;
    }),
  );
}

// What was seen of an attack in this visit.
function outcome(attack) {
  if (attack.missing.length) return `${attack.name} · needs ${attack.missing.join(", ")}`;
  const last = (ours) => [...state.points.values()].filter((point) => point.attack === attack.name && (point.target === "discreet") === ours).at(-1);
  const [weak, ours] = [last(false), last(true)];
  return [attack.name, ...(weak ? [`weak ${percent(weak.result.success)}`] : []), ...(ours ? [`Discreet ${percent(ours.result.success)}`] : [])].join(" · ");
}

// One attack

function open(attack) {
  const again = state.attack === attack;
  if (!again) {
    Object.assign(state, { attack, release: Object.keys(attack.releases)[0], turned: "", fresh: true, last: {}, step: 0 });
    state.values = Object.fromEntries([...attack.knobs, EPSILON].map((knob) => [knob.name, knob.usual]));
    stop();
    pauseWalk();
  }
  const i = state.attacks.indexOf(attack),
    near = [state.attacks.at(i - 1), state.attacks[(i + 1) % state.attacks.length]];
  $("attack-before").replaceChildren(make("a", `← ${near[0].title}`, { href: `#attacks/${near[0].name}` }));
  $("attack-after").replaceChildren(make("a", `${near[1].title} →`, { href: `#attacks/${near[1].name}` }));
  $("attack-title").textContent = attack.title;
  $("attack-wants").textContent = attack.wants;
  $("attack-sees").textContent = attack.sees;
  $("attack-lesson").textContent = attack.lesson;
  $("attack-citation").textContent = attack.citation;
  const targets = Object.entries({ ...attack.releases, ...attack.peers });
  $("attack-release").replaceChildren(...targets.map(([name]) => make("option", name in attack.peers ? `${name}, another package` : name, { value: name })));
  $("attack-release").value = state.release;
  offerPeople();
  $("attack-title").focus({ preventScroll: true });
  if (!again) scrollTo(0, 0);
  released();
  if (again && SIDES.every((side) => state.last[side])) showAll();
  else want(SIDES);
}

function released() {
  const { attack } = state;
  $("weak-about").textContent = { ...attack.releases, ...attack.peers }[state.release];
  $("weak-name").textContent = state.release;
  sliders();
  showAll();
}

// Sliders

const place = (knob, value) =>
  Math.round(POSITIONS * (knob.log ? Math.log(value / knob.least) / Math.log(knob.most / knob.least) : (value - knob.least) / (knob.most - knob.least)));

function valueAt(knob, position) {
  const share = position / POSITIONS;
  const value = knob.log ? knob.least * (knob.most / knob.least) ** share : knob.least + share * (knob.most - knob.least);
  const round = knob.whole ? Math.round(value) : Number(value.toPrecision(2));
  return Math.min(knob.most, Math.max(knob.least, round));
}

const few = (knob) => knob.whole && knob.most - knob.least <= POSITIONS; // each whole number has a position of its own

function sliders() {
  $("attack-knobs").replaceChildren(
    ...knobs().map((knob) => {
      const line = make("div", "", { class: "knob" }),
        id = `knob-${knob.name}`,
        own = few(knob) && !knob.log;
      const label = make("label", knob.label, { for: id }),
        number = make("output", "", { for: id, id: `${id}-value` });
      const ends = own ? { min: knob.least, max: knob.most } : { min: 0, max: POSITIONS };
      const slider = make("input", "", { id, type: "range", step: 1, ...ends });
      slider.addEventListener("input", () => turn(knob, own ? Number(slider.value) : valueAt(knob, Number(slider.value))));
      const sides = SIDES.filter((side) => matters(knob, side));
      line.append(label, number, slider);
      if (sides.length === 1) line.append(make("small", sides[0] === "weak" ? "only the vulnerable release" : "only Discreet", { class: "quiet" }));
      return line;
    }),
  );
  for (const knob of knobs()) point(knob);
}

function point(knob) {
  const value = state.values[knob.name],
    slider = $(`knob-${knob.name}`);
  slider.value = few(knob) && !knob.log ? value : place(knob, value);
  slider.setAttribute("aria-valuetext", shownNumber(value));
  $(`knob-${knob.name}-value`).textContent = shownNumber(value);
}

function turn(knob, value) {
  stop();
  set(knob, value);
  showAll();
  const moved = SIDES.filter((side) => matters(knob, side));
  clearTimeout(state.timer);
  state.timer = setTimeout(() => want(moved), PATIENCE);
}

function set(knob, value) {
  state.values[knob.name] = value;
  if (knob !== EPSILON) state.turned = knob.name;
  point(knob);
}

// The knob that a side's curve is drawn against.
function axis(side) {
  if (side === "discreet") return EPSILON;
  const own = knobs().filter((knob) => matters(knob, side) && knob !== EPSILON);
  const usual = priced(side) ? EPSILON : (own.find((knob) => knob.name === "noise") ?? own[0]);
  return own.find((knob) => knob.name === state.turned) ?? usual ?? state.attack.knobs[0];
}

// Playing: one request at a time, always at the settings of now.

function want(sides) {
  for (const side of sides) state.wanted.add(side);
  if (!state.busy) work();
}

async function work() {
  state.busy = true;
  try {
    for (;;) {
      const [side] = state.wanted;
      if (side) {
        state.wanted.delete(side);
        await play(side);
        continue;
      }
      if (!state.sweep) break;
      const { side: swept, knob, values, back } = state.sweep,
        at = state.sweep.done++;
      set(knob, at < values.length ? values[at] : back);
      if (at >= values.length) {
        stop();
        showAll();
        say(`Swept ${inShort(knob)} from ${shownNumber(knob.least)} to ${shownNumber(knob.most)}. No budget was spent.`);
        break;
      }
      await play(swept);
    }
  } finally {
    state.busy = false;
  }
}

function settings(side) {
  const own = state.attack.knobs.filter((knob) => matters(knob, side)).map((knob) => [knob.name, state.values[knob.name]]);
  return Object.fromEntries([...own, ...(priced(side) ? [["epsilon", state.values.epsilon]] : [])]);
}

const keyOf = (attack, against, values) => JSON.stringify([attack.name, against, values, onCatalog()]);

async function play(side) {
  const { attack } = state,
    against = target(side),
    values = settings(side),
    key = keyOf(attack, against, values);
  const pace = `${attack.name} ${against}`,
    trials = state.pace.get(pace) ?? attack.trials[against];
  const before = state.points.get(key)?.scores ?? [],
    { people, epsilon, ...options } = values;
  const earlier = before.length > MOST_SCORES - trials ? [] : before;
  const swept = state.sweep ? `Sweep, ${Math.min(state.sweep.done, state.sweep.values.length)} of ${state.sweep.values.length}: ` : "";
  say(`${swept}Running ${many(trials, "trial")} against ${side === "weak" ? against : "Discreet"}${epsilon ? ` at ε ${shownNumber(epsilon)}` : ""} …`);
  try {
    const body = { against, trials, people, options, earlier, people_of: onCatalog() ? "catalog" : "lab", ...(epsilon ? { epsilon } : {}) };
    const result = await call(`/v1/attacks/${encodeURIComponent(attack.name)}`, { method: "POST", body });
    state.points.delete(key); // the last played is the last in order
    state.points.set(key, { attack: attack.name, target: against, peopleOf: body.people_of, values, scores: [...earlier, ...result.scores], result });
    const next = result.seconds > SLOW ? trials / 2 : result.seconds < QUICK ? trials * 2 : trials;
    state.pace.set(pace, Math.min(attack.trials[against], Math.max(2, Math.floor(next))));
    $("attack-told").textContent = "";
    if (attack !== state.attack || against !== target(side) || key !== keyOf(attack, against, values)) return;
    say(`Ran ${many(result.scores.length, "trial")} in ${result.seconds.toFixed(1)} s. The people are generated; no budget was spent.`);
    show(side);
    showSteps();
  } catch (error) {
    if (attack !== state.attack) return;
    stop();
    state.wanted.clear();
    say("");
    $("attack-told").textContent = told(error);
  }
}

function say(text) {
  $("attack-says").textContent = text;
}

function sweep(side) {
  const knob = axis(side);
  if (state.sweep) {
    set(state.sweep.knob, state.sweep.back);
    stop();
    showAll();
    return;
  }
  const values = [...new Set(Array.from({ length: SWEEP }, (_, i) => valueAt(knob, (POSITIONS * i) / (SWEEP - 1))))];
  state.sweep = { side, knob, values, done: 0, back: state.values[knob.name] };
  SIDES.forEach(offer);
  if (!state.busy) work();
}

function stop() {
  state.sweep = null;
  clearTimeout(state.timer);
  if (state.attack) SIDES.forEach(offer);
}

function offer(side) {
  const button = $(`${side}-sweep`),
    knob = axis(side);
  button.hidden = knob.least >= knob.most;
  button.disabled = Boolean(state.sweep) && state.sweep.side !== side;
  button.textContent = state.sweep?.side === side ? "Stop" : `Sweep ${inShort(knob)} ${shownNumber(knob.least)} … ${shownNumber(knob.most)}`;
}

// What was seen: the success, its curve, and other numbers

function showAll() {
  showWorld();
  SIDES.forEach(show);
  showSteps();
}

function show(side) {
  const { attack } = state,
    knob = axis(side),
    against = target(side),
    now = settings(side);
  const found = state.points.get(keyOf(attack, against, now));
  if (found) state.last[side] = { against, result: found.result };
  score(side, found?.result);
  offer(side);
  const same = (point) => Object.keys(now).every((name) => name === knob.name || point.values[name] === now[name]);
  const points = [...state.points.values()]
    .filter((point) => point.attack === attack.name && point.target === against && (point.peopleOf === "catalog") === onCatalog())
    .map((point) => ({ ...of(point.result), x: point.values[knob.name], same: same(point), result: point.result }));
  const like = points.filter((point) => point.same),
    latest = found?.result ?? like.at(-1)?.result;
  const measured = like
    .filter((point) => point.result.bound !== null)
    .map((point) => [point.x, point.result.bound])
    .sort(([one], [other]) => one - other);
  const line = like.map((point) => point.result.allowed).findLast((some) => some.length);
  drawCurve($(`${side}-curve`), {
    knob,
    points,
    at: state.values[knob.name],
    allowed: knob === EPSILON && line ? line : measured,
    label: knob.label,
    guessing: latest?.baseline ?? null,
    claimed: latest?.details["bound at its claimed epsilon"] ?? null,
    described: `${attack.measure} against ${against}, by ${knob.label}: ${like.map((point) => `${shownNumber(point.x)}: ${point.title}`).join("; ") || "nothing played yet"}`,
  });
  table(side, knob, like);
  facts(side, found?.result);
  showSample();
}

function of(result) {
  const [low, high] = result.interval;
  return { success: result.success, low, high, title: `${percent(result.success)} (${between(result.interval)}), ${many(result.trials, "trial")}` };
}

function score(side, result) {
  $(`${side}-success`).textContent = result ? percent(result.success).replace("\u00a0", "") : "…";
  $(`${side}-measure`).textContent = state.attack.measure;
  const allowed = !result ? "" : result.bound !== null ? `privacy allows ${percent(result.bound)}` : side === "weak" ? "no guarantee" : "";
  $(`${side}-against`).textContent = result
    ? [`${between(result.interval)} in ${many(result.trials, "trial")}`, `guessing ${percent(result.baseline)}`, allowed].filter(Boolean).join(" · ")
    : "not run at these settings yet";
}

function table(side, knob, points) {
  const rows = [...points].sort((one, other) => one.x - other.x);
  fill(
    $(`${side}-table`),
    [
      [inShort(knob), "number"],
      ["success", "number"],
      ["95 % interval", "number"],
      ["trials", "number"],
      ["allowed", "number"],
    ],
    rows.map(({ x, result }) => [
      shownNumber(x),
      percent(result.success),
      between(result.interval),
      String(result.trials),
      result.bound === null ? "—" : percent(result.bound),
    ]),
  );
}

function facts(side, result) {
  const told = Object.entries(result?.details ?? {}).filter(([, value]) => ["number", "string", "object"].includes(typeof value) && value !== null);
  const plain = (value) =>
    typeof value === "number"
      ? shownNumber(value)
      : typeof value === "object"
        ? Object.entries(value)
            .map(([name, one]) => `${name}: ${plain(one)}`)
            .join(", ")
        : value;
  $(`${side}-facts`).replaceChildren(...told.flatMap(([name, value]) => [make("dt", name), make("dd", plain(value))]));
}

$("attack-more").addEventListener("click", () => {
  stop();
  want(SIDES);
});
$("attack-people").addEventListener("change", () => {
  stop();
  choosePeople();
  showAll();
  want(SIDES);
});
$("attack-release").addEventListener("change", () => {
  stop();
  state.release = $("attack-release").value;
  state.turned = "";
  released();
  want(["weak"]);
});
for (const side of SIDES) $(`${side}-sweep`).addEventListener("click", () => sweep(side));
addEventListener("hashchange", () => {
  if (location.hash !== `#attacks/${state.attack?.name}`) {
    stop();
    state.wanted.clear();
    pauseWalk();
  }
});
let resized;
addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => {
    if (state.attack && $("weak-curve").clientWidth) SIDES.forEach(show);
  }, 150);
});
