// One trial of each side, step by step.
import { calm, percent, SIDES, state, target } from "./attack_state.js";
import { $, make } from "./dom.js";

const PACE = 700,
  LONGEST_WALK = 7000; // milliseconds

const lines = (side) => (state.last[side]?.against === target(side) ? state.last[side].result.transcript : []);
const longest = () => Math.max(...SIDES.map((side) => lines(side).length));

// New answers stand there at once, except for the first of an attack: these come one after the other, where motion is welcome.
export function showSteps() {
  const both = SIDES.every((side) => lines(side).length);
  for (const side of SIDES) $(`${side}-steps`).replaceChildren(...lines(side).map((step, _, all) => row(side, step, all)));
  $("attack-walk").hidden = !both;
  if (state.fresh && both) {
    state.fresh = false;
    state.step = longest();
    if (!calm()) playWalk();
  } else if (!state.walk) state.step = longest();
  reveal();
}

function row(side, step, all) {
  const item = make("li", "", { class: step.kind }),
    text = make("span", "", /^SELECT\b/.test(step.text) ? { class: "sql" } : {});
  text.append(...(step.kind === "truth" ? compared(all.find((one) => one.kind === "guess")?.text ?? "", step.text) : [step.text]));
  item.append(make("b", step.kind), text);
  if (step.kind === "truth") item.append(verdict(state.last[side].result));
  return item;
}

// Where a guess is a row of bits, those that are wrong are marked in the truth.
function compared(guess, truth) {
  const [guessed, bits] = [guess, truth].map((text) => text.match(/[01]{6,}/)?.[0]);
  if (!guessed || guessed.length !== bits?.length) return [truth];
  const at = truth.indexOf(bits);
  return [truth.slice(0, at), ...[...bits].map((bit, i) => (bit === guessed[i] ? bit : make("mark", bit))), truth.slice(at + bits.length)];
}

function verdict(result) {
  const [first] = result.scores,
    sure = first === 0 || first === 1;
  const text =
    sure && !state.attack.whole_runs ? (first ? "the attack succeeds this time" : "the attack fails this time") : `${percent(first)} ${state.attack.measure}`;
  return make("em", text, { class: first > (1 + result.baseline) / 2 ? "fallen" : "held" });
}

function reveal() {
  const all = longest();
  for (const side of SIDES) for (const [i, item] of [...$(`${side}-steps`).children].entries()) item.classList.toggle("later", i >= state.step);
  $("walk-at").textContent = `step ${Math.min(state.step, all)} of ${all}`;
  $("walk-back").setAttribute("aria-disabled", state.step <= 1); // not disabled: the focus would be lost
  $("walk-next").setAttribute("aria-disabled", state.step >= all);
  $("walk-play").textContent = state.walk ? "Pause" : "Play from the start";
}

function walkTo(step) {
  state.step = Math.max(1, Math.min(longest(), step));
  reveal();
}

function playWalk() {
  const pace = Math.min(PACE, LONGEST_WALK / longest());
  state.step = 0;
  const next = () => {
    walkTo(state.step + 1);
    state.walk = state.step < longest() ? setTimeout(next, pace) : 0;
    reveal();
  };
  next();
}

export function pauseWalk() {
  clearTimeout(state.walk);
  state.walk = 0;
}

const walkBy = (by) => {
  pauseWalk();
  walkTo(state.step + by);
};

$("walk-back").addEventListener("click", () => walkBy(-1));
$("walk-next").addEventListener("click", () => walkBy(1));
$("walk-play").addEventListener("click", () => {
  if (state.walk) {
    pauseWalk();
    reveal();
  } else playWalk();
});
$("attack-walk").addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by) {
    event.preventDefault();
    walkBy(by);
  }
});
