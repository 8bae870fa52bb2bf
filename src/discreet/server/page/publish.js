// Publish: synthetic data. Its settings, its cost before it is charged, and the list of releases.
import { balance } from "./budget.js";
import { columnCount, details, isSelect, showColumns, showSizes, source } from "./columns.js";
import { $, accountName, call, epsilonText, lines, make, many, short, told, withWords } from "./dom.js";
import { assumedRows, showPredicted } from "./predicted.js";
import { offerReleases, showRelease } from "./release.js";

const PATIENCE = 250,
  LATER = 3000;
const PASSING = [0, 429, 503]; // the price is asked for again by itself
const WORDS = {
  planned: "Planned; recording the charge",
  paid: "Charged; the result will be under Releases even if you leave this page. It appears at a fixed time",
  "asked before": "Asked before; loading the stored answer",
};
const FIELDS = ["table", "sql", "bins", "found", "width", "unit", "epsilon", "delta", "rho", "name", "reuse", "rows"];
const NOTHING = "The cost appears here before anything is charged: choose columns and a budget.";
const SIGNS = { epsilon: "ε", delta: "δ", rho: "ρ" },
  EXAMPLES = { epsilon: "0.5", delta: "1e-9", rho: "0.01" };
const state = { tables: null, named: "", turn: 0, timer: 0, making: false, hasPrice: true };

const at = (name) => $(`publish-${name}`);
const value = (name) => at(name).value.trim();

// What the server is asked for; or what is missing.
function wanted() {
  const prices = value("unit") === "rho" ? ["rho"] : ["epsilon", "delta"];
  if (!source() || !value(prices[0])) return { missing: NOTHING };
  const price = Object.fromEntries(prices.filter((name) => value(name)).map((name) => [name, Number(value(name))]));
  const wrong = Object.keys(price).find((name) => !(price[name] > 0 && Number.isFinite(price[name])));
  if (wrong) return { missing: `${SIGNS[wrong]} is a number above 0, with a point: ${EXAMPLES[wrong]}.` };
  const width = Number(value("width"));
  if (!Number.isInteger(width) || width < 1) return { missing: "Enter the number of columns k, 1 or more." };
  return { source: source(), workload: width, ...price, ...reuse(), ...details() };
}

// Under another name, what reuses tables is another release: so the name is part of what is priced.
const reuse = () => (at("reuse").checked ? { reuse: true, ...(value("name") ? { name: value("name") } : {}) } : {});

function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // typed by hand
  }
}

export async function showPublish(name, role) {
  const release = name ? decoded(name) : null;
  at("new").hidden = Boolean(release);
  at("release").hidden = !release;
  await list();
  if (release) {
    await showRelease(release, role, list);
    return;
  }
  const [{ tables }, { accounts }] = await Promise.all([call("/v1/catalog"), call("/v1/budget")]);
  offerTables(
    tables.filter((table) => !table.public),
    accounts,
  );
  await price();
}

function offerTables(tables, accounts) {
  if (JSON.stringify(tables) === JSON.stringify(state.tables)) return; // what was chosen stays
  state.tables = tables;
  at("table").replaceChildren(...tables.map((table) => make("option", table.name, { value: table.name })), make("option", "my own SELECT", { value: "" }));
  if (!accounts.some((account) => account.cap.delta)) at("delta").value = ""; // there, epsilon alone is the price
  showTable();
}

async function list() {
  const [{ releases }, { published }] = await Promise.all([call("/v1/releases"), call("/v1/transparency")]);
  const shown = new Set(published.map((one) => one.name));
  at("none").hidden = releases.length > 0;
  at("list").replaceChildren(
    ...releases.map((name) => {
      const item = make("li");
      item.append(make("a", name, { href: `#publish/${encodeURIComponent(name)}` }), " ", make("small", shown.has(name) ? "published" : ""));
      return item;
    }),
  );
}

function showTable() {
  const table = state.tables.find((each) => each.name === value("table"));
  showColumns(table);
  if (!table) return;
  at("width").value = Math.max(1, Math.min(2, columnCount())); // pairs, where there are any
  if (!value("name") || value("name") === state.named) at("name").value = state.named = `${table.name}-${new Date().getFullYear()}`;
}

// The price

function changed() {
  at("prices-epsilon").hidden = value("unit") === "rho";
  at("prices-rho").hidden = value("unit") !== "rho";
  clearTimeout(state.timer);
  state.timer = setTimeout(price, PATIENCE);
  clearTold();
  at("go").disabled = true; // until the price of what now stands there is known
}

function clearTold() {
  state.hasPrice = true;
  at("told").textContent = "";
}

function offer(words, { small = "", notes = [], can = false, predicted = null } = {}) {
  at("price").textContent = words;
  at("small").textContent = small;
  at("notes").replaceChildren(...notes.map((note) => make("li", note)));
  at("go").disabled = !can || state.making;
  showPredicted(predicted);
}

async function price() {
  clearTimeout(state.timer);
  const mine = ++state.turn,
    body = wanted();
  if (body.missing) {
    offer("", { small: body.missing });
    return;
  }
  try {
    const plan = await withWords(at("progress"), "Computing the cost", () =>
      call("/v1/synthesize", { method: "POST", body: { ...body, ...assumedRows(), dry: true } }),
    );
    if (mine !== state.turn) return;
    if (!state.hasPrice) clearTold(); // what was refused has a price now
    showOffer(plan, body);
  } catch (error) {
    if (mine !== state.turn) return;
    offer("", { small: "It cannot be run as it is." });
    refuse(error, { hasPrice: false });
    if (PASSING.includes(error.status)) state.timer = setTimeout(changed, LATER);
  }
}

function showOffer(plan, body) {
  showSizes(plan.columns, plan.finding);
  const price = body.rho ? `ρ\u00a0${short(body.rho)}` : `${epsilonText(body.epsilon)}${body.delta ? `, δ\u00a0${body.delta}` : ` and no δ`}`;
  const found = Object.entries(plan.finding).map(([name, epsilon]) => `, and ${epsilonText(epsilon)} to find the values of ${name}`);
  const accounts = Object.entries(plan.charged),
    tooPoor = accounts.filter(([, allows]) => !allows).map(([name]) => accountName(name));
  const payers = accounts.map(([name]) => accountName(name)).join(", ");
  const sizes = Object.entries(plan.columns).map(([name, size]) => `${name} ${size.toLocaleString("en")}`);
  const reused = body.reuse ? [plan.reused.length ? `reuses ${plan.reused.join(", ")}` : "no earlier measurements to reuse"] : [];
  const about = [`preserves ${many(plan.tables, "table")} of ${many(body.workload, "column")}`, ...(isSelect() ? [sizes.join(", ")] : []), ...reused].join(
    " · ",
  );
  const isFree = plan.asked_before || !accounts.length;
  offer(isFree ? "free: asked before" : price + found.join(""), {
    small: isFree ? about : `${body.rho ? "" : `ρ ${short(plan.rho)} · `}paid by ${payers} · ${about}`,
    notes: plan.notes,
    predicted: plan.predicted,
    can: !tooPoor.length,
  });
  if (tooPoor.length)
    refuse(
      { message: `This costs more than what remains: ${tooPoor.join(", ")}.`, next_step: "Use a smaller ε, or ask the owner to raise the cap." },
      { hasPrice: false },
    );
}

// A refusal stays until something is changed; one of the price, until it has one.
function refuse(error, { hasPrice = true } = {}) {
  state.hasPrice = hasPrice;
  at("told").textContent = told(error);
}

// Making it

async function begin(event) {
  event.preventDefault();
  if (state.making || at("go").disabled) return;
  const body = { ...wanted(), name: value("name") },
    id = crypto.randomUUID(),
    address = location.hash,
    begun = Date.now();
  let words = "Planning",
    facts = null;
  const clock = setInterval(() => progress(`${words} … ${Math.round((Date.now() - begun) / 1000)} s`), 1000);
  state.making = at("go").disabled = true;
  clearTold();
  at("stop").textContent = "Cancel";
  at("stop").onclick = () => call(`/v1/ask/${id}`, { method: "DELETE" });
  progress(words);
  try {
    await lines("/v1/synthesize", { method: "POST", body, headers: { "Idempotency-Key": id } }, (line) => {
      if (line.error) throw Object.assign(new Error(line.error.message), line.error);
      words = WORDS[line.state] ?? words;
      if (line.state === "paid") at("stop").textContent = "Stop waiting"; // what is paid is not given back
      if (!line.state) facts = line;
    });
    if (!facts) refuse({ message: "The connection ended before the result arrived.", next_step: "Create it again: it is not charged twice." });
  } catch (error) {
    refuse(error);
  } finally {
    clearInterval(clock);
    state.making = false;
    progress("");
  }
  await balance();
  if (facts && location.hash === address)
    location.hash = `publish/${encodeURIComponent(facts.name)}`; // not under somebody who has gone elsewhere
  else await price();
}

function progress(words) {
  at("progress").textContent = words;
  at("stop").hidden = !words;
}

export function offerPublishing() {
  offerReleases();
  at("table").addEventListener("change", showTable);
  for (const name of [...FIELDS, "columns"]) at(name).addEventListener("input", changed);
  at("form").addEventListener("submit", begin);
}
