// Collect: the visitor's device flips the coins, shows what would leave it, sends it; and a made-up crowd rehearses.
import { BUDGET, Device, hex } from "./device.js";
import { $, call, make, many, told } from "./dom.js";

const NAMES = { "😀": "grin", "😂": "tears of joy", "🥰": "hearts", "😎": "cool", "🤔": "thinking", "😭": "crying" };
const MOST_VALUES = 24,
  MOST_PEOPLE = 1_000_000,
  MOST_AT_ONCE = 50_000;
const EARLY = 0.5; // a half width above which a share says nothing
const onPaper = (share) => Math.min(1.5, Math.max(-0.5, share)); // a longer line runs to the edge
const PYTHON = "Use the Python client: discreet.local.Client.";
const percent = (share, digits = 1) => `${(100 * share).toFixed(digits).replace("-", "−")}\u00a0%`; // never broken over two lines
const points = (share) => (100 * share).toFixed(share < 0.01 ? 2 : 1);
const fresh = () => ({ people: 0, truth: [], tally: null });
const state = { device: null, pending: null, crowd: fresh(), timer: 0, queue: Promise.resolve() };

function shown(value) {
  return make("span", String(value), /^[^\d#*]*\p{Extended_Pictographic}/u.test(value) ? { class: "emoji" } : {});
}

export async function showCollect() {
  $("collect-told").textContent = "";
  try {
    const { tasks } = await call("/v1/tasks");
    const asked = tasks.filter((task) => task.kind === "frequency");
    $("collect-none").hidden = asked.length > 0;
    if (!asked.length) return;
    $("collect-other").hidden = asked.length < 2;
    const before = $("collect-task").value;
    $("collect-task").replaceChildren(...asked.map((task) => make("option", task.name, { value: task.id })));
    if (asked.some((task) => task.id === before)) $("collect-task").value = before;
    await open($("collect-task").value);
  } catch (error) {
    refuse(error);
  }
}

function refuse(error) {
  $("collecting").hidden = !state.device;
  $("collect-told").textContent = told(error);
}

async function open(id) {
  if (state.device?.id === id) {
    const { people } = state.crowd; // before the wait: who begins anew meanwhile wants to see nobody
    if ((await crowd()) && !people) join(100);
    return;
  }
  state.device = null;
  state.device = await Device.open(await call(`/v1/tasks/${encodeURIComponent(id)}`));
  const { values, told, other, spec } = state.device;
  if (values.length > MOST_VALUES) {
    state.device = null;
    throw Object.assign(new Error("This collection has too many values for the page."), { next_step: PYTHON });
  }
  drop("");
  startAgain();
  $("collecting").hidden = false;
  $("collect-question").textContent = spec.name.startsWith("favourite ") ? `What’s your ${spec.name}?` : spec.name;
  const odds = (told / other).toPrecision(2);
  $("collect-promise").textContent =
    `Your click stays here. This device flips coins first: ${percent(told)} of the time its report names what you clicked, else one of the other ${values.length - 1}, ${percent(other)} each. Anyone who sees the report can raise the odds of a guess about you at most ${odds} times (ε ${spec.epsilon}).`;
  $("collect-values").replaceChildren(
    ...values.map((value) => {
      const button = make("button", "", { type: "button", "aria-pressed": "false" });
      button.append(shown(value));
      if (NAMES[value]) button.append(make("small", NAMES[value]));
      button.addEventListener("click", () => flip(value, button));
      return button;
    }),
  );
  left();
  await sendWaiting(state.device);
  if (await crowd()) join(100);
}

// What a dead server did not take before.
async function sendWaiting(device) {
  try {
    for (const message of device.pending()) await device.send(message);
  } catch (error) {
    $("collect-told").textContent = told(error);
  }
}

// One answer

function left() {
  const { device } = state,
    { lifetime, per_epoch } = device.spec.caps,
    all = device.left;
  const often = per_epoch < lifetime ? `, at most ${per_epoch} in ${many(device.spec.epoch_seconds, "second")}` : "";
  const spent = `For all collections of this site together the limit is ε\u00a0${BUDGET}; ε\u00a0${device.spentInAll} is used.`;
  $("collect-left").textContent = all
    ? `This device gives ${many(lifetime, "report")} in all${often}, ε\u00a0${device.lifetimeEpsilon} together; ${all.toLocaleString("en")} left. A report counts as soon as it is drawn, sent or not. ${spent}`
    : `This device has given ${many(device.reports, "report")} which is its limit. ${spent}`;
  for (const button of $("collect-values").children) button.disabled = !all || state.pending !== null;
}

async function flip(value, button) {
  if (state.pending) return;
  const { device } = state;
  $("collect-told").textContent = $("report-done").textContent = "";
  state.pending = {}; // a second click while the coins fall is none
  try {
    state.pending = await device.report(value);
  } catch (error) {
    state.pending = null;
    refuse(error);
    return;
  }
  if (device !== state.device) return;
  button.setAttribute("aria-pressed", "true");
  left();
  const { pending } = state;
  $("report-says").replaceChildren(
    "It says ",
    shown(pending.value),
    pending.kept ? ". The coins kept your answer. Only you know that." : ". The coins chose another answer than yours. Only you know that.",
  );
  $("coin").firstElementChild.style.width = `${100 * device.told}%`;
  $("coin").lastElementChild.style.left = `${100 * pending.coin}%`;
  $("coin").setAttribute("aria-label", `The coins fell at ${percent(pending.coin)}; below ${percent(device.told)} they keep the answer.`);
  $("coin-kept").textContent = `${percent(device.told)}: what you clicked`;
  $("coin-other").textContent = `${percent(1 - device.told)}: another`;
  bytes(pending);
  $("report").hidden = false;
  $("report").focus(); // not the button: a key held down would send what nobody has read
}

function bytes({ parts, message, value, report }) {
  const { bits, told } = state.device,
    code = report.toString(2).padStart(bits, "0");
  const words = {
    version: "format of the message",
    task: "hash of the task, checked by this device",
    message: "random, so that it counts once",
    sender: "random: an id for this browser and this task only",
    count: "one report",
    payload: [`${many(bits, "bit")}, ${code}: `, shown(value), `. With probability ${percent(told, 0)} this is what you clicked`],
    checksum: "detects transmission errors",
  };
  $("report-size").textContent = `All ${message.length} bytes of the message`;
  $("report-parts").replaceChildren(
    ...Object.entries(parts).flatMap(([name, part]) => {
      const about = make("dd", "", name === "payload" ? { class: "said" } : {});
      const said = make("small");
      said.append(...[words[name]].flat());
      about.append(make("code", hex(part)), " ", said);
      return [make("dt", name === "message" ? "message number" : name), about];
    }),
  );
}

function drop(because) {
  state.pending = null;
  $("report").hidden = true;
  $("report-done").textContent = because;
  for (const button of $("collect-values").children) button.setAttribute("aria-pressed", "false");
  if (!because) return;
  left();
  $("report-done").focus(); // what had the focus is gone
}

async function send() {
  const { device, pending } = state;
  $("report-send").disabled = true;
  try {
    await device.keepTillSent(pending.message);
    await device.send(pending.message);
    drop("Sent. The collector keeps the report and will never learn what you clicked.");
    await crowd();
  } catch (error) {
    drop("Not sent."); // kept, or refused for ever: either way it is not flipped again
    refuse(error);
  } finally {
    $("report-send").disabled = false;
  }
}

// The crowd

async function crowd() {
  const { device } = state,
    made = shares().flatMap((share, i) => [i ? ", " : "", `${percent(share, 0)}\u00a0`, shown(device.values[i])]);
  $("rehearsal-about").replaceChildren(
    "These people do not exist and are never mixed with real reports. This page generated their answers: ",
    ...made,
    ". The server flips coins for each as your device does, estimates from the reports alone, and deletes them.",
  );
  const found = await call(`/v1/tasks/${encodeURIComponent(device.id)}/estimate`).catch((error) => error);
  if (device !== state.device) return false;
  const closed = found.status === 401;
  for (const button of [...$("joining").children, $("crowd-again")]) button.disabled = closed;
  $("crowd-notes").textContent = "";
  if (found instanceof Error) {
    $("crowd").replaceChildren();
    $("crowd-says").textContent = found.code === "too-few-reports" && device.spec.min_batch === 1 ? "No reports yet." : told(found);
    if (closed)
      $("crowd-says").replaceChildren(
        "Anyone can send a report. The estimate needs a key. ",
        make("a", "Sign\u00a0in", { href: "#ask" }),
        " to see it, and to rehearse.",
      );
    return !closed;
  }
  const wide = widest(found.estimates, found.reports);
  $("crowd-says").textContent =
    `${many(found.reports, "report")} so far. The collector never saw a true answer. The widest interval is ±\u00a0${points(wide)} points${wide > 0.2 ? ", too wide to say anything" : ""}.`;
  $("crowd-notes").textContent =
    `Shares of those who answered; each lies inside its line in 95 of 100 collections. One fake report moves a count by at most ${found.one_fake_report.toFixed(1)}.`;
  draw($("crowd"), found.estimates, found.reports);
  return true;
}

const widest = (rows, people) => Math.max(...rows.map((row) => (row.high - row.low) / 2 / people));

// Rows are kept from one drawing to the next, so that a line can be seen to shrink.
function draw(table, rows, people, truth = null) {
  const ends = rows.flatMap((row) => [row.low / people, row.high / people]).map(onPaper);
  const span = Math.max(0.2, ...ends) - Math.min(0, ...ends);
  const step = [0.1, 0.2, 0.5, 1, 2, 5].find((size) => span / size <= (table.clientWidth < 450 ? 3.2 : 6)) ?? span / 3;
  const least = Math.floor(Math.min(0, ...ends) / step),
    most = Math.ceil(Math.max(0.2, ...ends) / step);
  const at = (share) => `${(100 * (share / step - least)) / (most - least)}%`;
  const axis = JSON.stringify([least, most, step, rows.map((row) => row.value)]);
  if (table.dataset.axis !== axis || table.rows.length !== rows.length + 1) {
    const ticks = Array.from({ length: most - least + 1 }, (_, i) => (least + i) * step);
    table.replaceChildren(headed(ticks, at, truth), ...rows.map((row) => blank(row.value, ticks, at, truth)));
    table.dataset.axis = axis;
    table.classList.toggle(
      "worded",
      rows.some((row) => [...String(row.value)].length > 3),
    );
  }
  rows.forEach((row, i) => {
    const [, track, value, made] = table.rows[i + 1].cells;
    const [share, low, high] = [row.estimate / people, row.low / people, row.high / people],
      isEarly = (high - low) / 2 > EARLY;
    const [bar, range, tick] = [".bar", ".range", ".made-up"].map((name) => track.querySelector(name));
    place(bar, at(Math.min(0, isEarly ? 0 : share)), at(Math.max(0, isEarly ? 0 : share)));
    place(range, at(onPaper(low)), at(onPaper(high)));
    const numbers = `${percent(share, high - low < 0.02 ? 2 : 1)}\u00a0±\u00a0${points((high - low) / 2)}`;
    value.textContent = isEarly ? "too early to tell" : numbers;
    value.title = numbers;
    if (!truth) return;
    tick.style.left = at(truth[i] / people);
    made.textContent = percent(truth[i] / people);
  });
}

function place(node, from, to) {
  node.style.left = from;
  node.style.width = `${parseFloat(to) - parseFloat(from)}%`;
}

function headed(ticks, at, truth) {
  const row = make("tr"),
    scale = make("div", "", { class: "track" }),
    cell = make("th");
  ticks.forEach((tick) => {
    const label = make("span", percent(tick, 0).replace("\u00a0", ""), { class: "tick" });
    label.style.left = at(tick);
    scale.append(label);
  });
  cell.append(scale);
  row.append(make("td", "", { class: "name" }), cell, make("th", "estimate", { class: "number value" }));
  if (truth) row.append(make("th", "made up", { class: "number truth" }));
  return row;
}

function blank(value, ticks, at, truth) {
  const row = make("tr"),
    track = make("div", "", { class: "track", "aria-hidden": "true" }),
    cell = make("td");
  for (const tick of ticks) {
    const line = make("span", "", { class: tick === 0 ? "grid zero" : "grid" });
    line.style.left = at(tick);
    track.append(line);
  }
  track.append(...["bar", "range", ...(truth ? ["made-up"] : [])].map((name) => make("span", "", { class: name })));
  cell.append(track);
  const name = make("th", "", { class: "name", scope: "row" });
  name.append(shown(value));
  row.append(name, cell, make("td", "", { class: "number value" }));
  if (truth) row.append(make("td", "", { class: "number truth" }));
  return row;
}

// The rehearsal

// The first value is twice as frequent as the second, three times as the third, and so on (Zipf).
function shares() {
  const weights = state.device.values.map((_, i) => 1 / (i + 1)),
    all = weights.reduce((sum, weight) => sum + weight);
  return weights.map((weight) => weight / all);
}

// Whole people, by largest remainders.
export function apportioned(parts, people) {
  const counts = parts.map((share) => Math.floor(share * people));
  const order = parts.map((share, i) => [share * people - counts[i], i]).sort(([one], [other]) => other - one);
  const missing = people - counts.reduce((sum, count) => sum + count, 0);
  for (const [, i] of order.slice(0, missing)) counts[i] += 1;
  return counts;
}

function startAgain() {
  pause();
  state.crowd = fresh();
  $("rehearsal").replaceChildren();
  $("rehearsal-says").textContent = "No people yet.";
}

// One after the other: each takes the tally of the one before. Who joined a crowd that was given up joins no other.
function join(people) {
  const { device, crowd: mine } = state;
  state.queue = state.queue.then(() => joined(people, device, mine));
  return state.queue;
}

async function joined(people, device, mine) {
  if (mine !== state.crowd) return;
  const truth = apportioned(shares(), people);
  $("rehearsal-told").textContent = "";
  try {
    const body = { truth, people_before: mine.people, ...(mine.tally ? { tally: mine.tally } : {}) };
    const facts = await call(`/v1/tasks/${encodeURIComponent(device.id)}/rehearsal`, { method: "POST", body });
    if (mine !== state.crowd) return;
    Object.assign(mine, { people: facts.reports, tally: facts.tally, truth: truth.map((count, i) => count + (mine.truth[i] ?? 0)) });
    const inside = facts.estimates.filter((row, i) => row.low <= mine.truth[i] && mine.truth[i] <= row.high).length;
    $("rehearsal-says").textContent =
      `${many(mine.people, "made-up person", "made-up people")} · widest interval ±\u00a0${points(widest(facts.estimates, mine.people))} points · ${inside} of ${mine.truth.length} truths inside their lines`;
    draw($("rehearsal"), facts.estimates, mine.people, mine.truth);
  } catch (error) {
    pause();
    $("rehearsal-told").textContent = told(error);
  }
}

function play() {
  if (state.crowd.people >= MOST_PEOPLE) startAgain();
  $("play").textContent = "Pause";
  $("rehearsal-says").setAttribute("aria-live", "off"); // too fast to be read out
  const wait = matchMedia("(prefers-reduced-motion: reduce)").matches ? 1500 : 500;
  const step = async () => {
    const { people } = state.crowd,
      few = Math.min(MOST_AT_ONCE, Math.max(100, 100 * Math.round(people / 500)));
    await join(Math.min(few, MOST_PEOPLE - people));
    if (!state.timer) return;
    if (state.crowd.people >= MOST_PEOPLE) pause();
    else state.timer = setTimeout(step, wait);
  };
  state.timer = setTimeout(step, 0);
}

function pause() {
  clearTimeout(state.timer);
  state.timer = 0;
  $("play").textContent = "Play";
  $("rehearsal-says").removeAttribute("aria-live");
}

$("report-send").addEventListener("click", send);
$("report-drop").addEventListener("click", () => drop("Nothing was sent; the report is deleted."));
$("crowd-again").addEventListener("click", crowd);
$("collect-task").addEventListener("change", () => open($("collect-task").value).catch(refuse));
$("play").addEventListener("click", () => (state.timer ? pause() : play()));
$("rehearsal-anew").addEventListener("click", startAgain);
for (const button of document.querySelectorAll("[data-people]")) button.addEventListener("click", () => join(Number(button.dataset.people)));
addEventListener("hashchange", () => {
  if (location.hash !== "#collect") pause();
});
