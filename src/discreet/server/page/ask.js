// Ask: a query, its cost before it is charged, and its answer. Costs come from the plan, never from data.
import { costOf, filesOf, filesOfSaved, markOld, offerViews, showAnswer } from "./answer.js";
import { balance } from "./budget.js";
import { $, accountName, button, call, epsilonText, HERE, lines, make, personOf, plusMinus, short, withWords } from "./dom.js";
import { QuestionEditor } from "./editor.js";
import { firstQuestions, fromLink, linkOf, quoted } from "./questions.js";
import { offerSaving, showSaved } from "./saved.js";

const PATIENCE = 250,
  LATER = 3000;
const PASSING = [0, 429, 503]; // the price is asked for again by itself
const CONFIDENCE = 0.95;
const WORDS = {
  planned: "Planned; recording the charge",
  paid: "Charged; reading the data",
  "asked before": "Asked before; loading the stored answer",
  reading: "Reading the data",
};
const state = { editor: null, epsilon: 0.5, within: null, turn: 0, timer: 0, answered: null, refused: null, saved: null, asking: false };

const question = () => ({ sql: state.editor.text.trim(), ...(state.within ? { within: state.within } : { epsilon: state.epsilon }) });
const body = (asked = question()) => (asked.within ? { ...asked, confidence: CONFIDENCE } : asked);
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

export async function showAsk(link, savedNumber, isGone) {
  const facts = await call("/v1/catalog");
  if (isGone()) return;
  $("ask").hidden = false;
  state.editor ??= new QuestionEditor($("editor"), { label: "Your query, in SQL", described: "offer told", changed, ask });
  state.editor.tables = facts.tables;
  showCatalog(facts.tables);
  showStarters(firstQuestions(facts.tables));
  showSaved();
  if (savedNumber) {
    await openSaved(savedNumber);
    return;
  }
  const linked = fromLink(link ?? "");
  if (linked) {
    await open(linked);
    return;
  }
  if (!state.editor.text) state.editor.text = firstQuestions(facts.tables)[0]?.sql ?? "";
  await price();
}

// Open a question in the editor; what was asked before shows its answer at once.
async function open({ sql, epsilon, within }) {
  setPrice(within ? { within } : { epsilon: epsilon ?? state.epsilon });
  state.editor.text = sql;
  $("saved-title").hidden = true;
  const facts = await price();
  if (facts?.asked_before) await recall();
}

async function openSaved(number) {
  try {
    const saved = await call(`/v1/saved/${encodeURIComponent(number)}`);
    setPrice(saved.query);
    state.editor.text = saved.query.sql;
    state.saved = question();
    $("saved-title").hidden = false;
    $("saved-title").textContent = saved.yours ? saved.name : `${saved.name}, shared by ${saved.by}`;
    await price();
    const answer = await call(`/v1/saved/${encodeURIComponent(number)}/answer`);
    settle(answer, question(), costOf(answer, saved.yours ? { replayed: true } : { by: saved.by, time: saved.time }), filesOfSaved(number));
  } catch (error) {
    if (error.code === "not-answered")
      $("told").replaceChildren(make("p", error.message), make("p", "You can run it yourself; its cost is shown above.", { class: "next" }));
    else refuse(error);
  }
}

async function recall() {
  const asked = question();
  const answer = await call("/v1/recall", { method: "POST", body: body(asked) }).catch(() => null);
  if (answer && same(asked, question())) settle(answer, asked, costOf(answer, { replayed: true }), filesOf(body(asked)));
}

// The price

function setPrice({ epsilon = null, within = null }) {
  state.within = within;
  if (epsilon) state.epsilon = epsilon;
  $("within").value = within ?? "";
  $("epsilon").value = Math.log10(state.epsilon);
}

function changed() {
  clearTimeout(state.timer);
  state.timer = setTimeout(price, PATIENCE);
  if (state.refused && !same(state.refused, question())) clearTold();
  if (state.answered) markOld(!same(state.answered, question()));
  if (!same(state.saved, question())) $("saved-title").hidden = true;
  $("go").disabled = true; // until the price of what now stands there is known
}

function clearTold() {
  state.refused = null;
  $("told").replaceChildren();
  state.editor.mark(null);
}

async function price() {
  clearTimeout(state.timer);
  const mine = ++state.turn,
    asked = question(),
    isEmpty = !asked.sql;
  $("starters").hidden = !isEmpty;
  if (isEmpty) {
    clearTold();
    offer("", "The error and the cost of your query appear here before it runs.");
    return null;
  }
  try {
    const facts = await withWords($("progress"), "Computing the cost", () => call("/v1/explain", { method: "POST", body: body(asked) }));
    if (mine !== state.turn) return null;
    if (!state.refused) clearTold();
    if (state.within) setPrice({ within: state.within, epsilon: facts.loss.epsilon || state.epsilon });
    showOffer(facts);
    return facts;
  } catch (error) {
    if (mine !== state.turn) return null;
    offer("", `${asked.within ? plusMinus(asked.within) : epsilonText(asked.epsilon)} · it cannot be run as it is`);
    refuse(error, asked);
    if (PASSING.includes(error.status)) {
      state.refused = null;
      state.timer = setTimeout(price, LATER);
    }
    return null;
  }
}

function offer(error, small, { can = false, free = false, why = "" } = {}) {
  $("offer-error").textContent = error;
  $("offer-price").textContent = small;
  $("offer-free").hidden = !free;
  $("offer-why").textContent = why;
  $("go").disabled = !can || state.asking;
}

function showOffer(facts) {
  const widths = Object.entries(facts.half_widths).filter(([, width]) => width !== null);
  const error =
    widths.map(([name, width]) => `${name} ${plusMinus(width)}`).join("   ") ||
    (facts.measures.some((measure) => measure.ranks !== null) ? "± depends on the density of the values" : "± comes with the answer");
  const later = facts.columns.filter((name) => facts.half_widths[name] === null && !facts.keys.some((key) => key.name === name));
  const left = (account) => account.cap.epsilon - account.spent.epsilon - facts.loss.epsilon;
  const paying = facts.accounts.filter((account) => facts.pays.includes(account.account));
  const leaves = paying.map((account) => `${accountName(account.account)} ${left(account) < 0.005 ? "nothing" : left(account).toFixed(2)}`);
  const isFree = !facts.pays.length, // also what was paid for and failed
    beyond = facts.beyond.length > 0;
  const small = isFree
    ? ""
    : `${epsilonText(facts.loss.epsilon)}${facts.loss.delta ? `, δ ${facts.loss.delta.toPrecision(1)}` : ""}${beyond ? "" : ` · leaves ${leaves.join(", ")}`}`;
  const person = `one person = ${personOf(facts.person)}${facts.rows_per_person > 1 ? ` (at most ${facts.rows_per_person})` : ""}`;
  const unknown = widths.length && later.length ? [`the ± of ${later.join(", ")} comes with the answer`] : [];
  offer(error, small, { can: !beyond, free: isFree && !beyond, why: [...unknown, person, ...facts.notes].join(" · ") });
  $("epsilon").setAttribute("aria-valuetext", `${error}, ${epsilonText(facts.loss.epsilon)}`);
  if (beyond && !state.refused) overBudget(facts);
}

function overBudget(facts) {
  const short_ = facts.accounts.filter((account) => facts.beyond.includes(account.account));
  const stopped = short_.find((account) => account.frozen),
    rest = Math.min(...short_.map((account) => account.cap.epsilon - account.spent.epsilon));
  const fits = Math.floor(rest * 1000) / 1000;
  const problem = stopped
    ? `The account ${stopped.account} is frozen.`
    : short_.length
      ? `This costs more than what remains: ${short_.map((account) => `${account.account} has ε ${short(Math.max(0, account.cap.epsilon - account.spent.epsilon))} of ${account.cap.epsilon}`).join(", ")}.`
      : "You have no account here yet.";
  const step = stopped || !short_.length ? "Ask the owner of the data." : "Use a smaller ε, repeat an earlier query (free), or ask the owner to raise the cap.";
  const fix =
    !stopped && fits > 0.001 && fits < facts.loss.epsilon
      ? [
          button(
            `Use ${epsilonText(fits)}`,
            () => {
              setPrice({ epsilon: fits });
              clearTold();
              price();
            },
            { class: "plain small" },
          ),
        ]
      : [];
  tell(problem, step, fix);
}

function tell(problem, step, more = []) {
  const next = make("p", `${step} `, { class: "next" });
  next.append(...more);
  $("told").replaceChildren(make("p", problem), next);
}

// A refusal stays until the question changes: its place is underlined, its next step a click away.
function refuse(error, asked = question()) {
  state.refused = asked;
  const { place, instead = [] } = error;
  const fixes = place ? instead.map((name) => button(`Use ${quoted(name)}`, () => state.editor.replace(place, name), { class: "plain small" })) : [];
  const where = place && state.editor.text.includes("\n") ? ` (line ${place.line})` : "";
  tell(`${error.message}${where}`, error.next_step ?? "", fixes);
  state.editor.mark(place ?? null, error.message);
}

// Asking

async function ask() {
  if (state.asking) return;
  if ($("go").disabled) await price(); // what was just typed has no price yet
  if ($("go").disabled) return;
  const asked = question(),
    name = crypto.randomUUID(),
    address = location.hash,
    begun = Date.now();
  Object.assign(state, { asking: true });
  clearTold();
  $("go").disabled = true;
  let words = "Planning",
    step = "",
    found = null;
  const clock = setInterval(() => {
    progress(`${words} … ${Math.round((Date.now() - begun) / 1000)} s`);
  }, 1000);
  $("stop").onclick = () => call(`/v1/ask/${name}`, { method: "DELETE" });
  try {
    await lines("/v1/ask", { method: "POST", body: body(asked), headers: { "Idempotency-Key": name } }, (line) => {
      if (line.state) {
        words = WORDS[line.state] ?? words;
        step = line.state === "reading" ? step : line.state;
        return;
      }
      if (line.error) throw Object.assign(new Error(line.error.message), line.error);
      found = line;
    });
    settle(found, asked, costOf(found, { replayed: step === "asked before" }), filesOf(body(asked)));
    if (location.hash === address) history.replaceState(null, "", linkOf(asked)); // not under somebody who has gone elsewhere
  } catch (error) {
    refuse(error, asked);
  } finally {
    clearInterval(clock);
    state.asking = false;
    progress("");
  }
  await Promise.all([balance(), price()]);
}

function progress(words) {
  $("progress").textContent = words;
  $("stop").hidden = !words;
}

function settle(answer, asked, cost, files) {
  state.answered = asked;
  $("answer-link").dataset.link = linkOf(asked);
  showAnswer(answer, { cost, question: asked, files });
  markOld(!same(asked, question()));
}

// The catalog and the first questions

const bounds = (column) =>
  column.values
    ? column.values.map(String).join(" ")
    : column.lower !== null
      ? `${column.lower.toLocaleString("en")} … ${column.upper.toLocaleString("en")}`
      : "";

function showCatalog(tables) {
  $("catalog").replaceChildren(
    ...tables.map((table) => {
      const part = make("details", "", { open: "" }),
        head = make("summary"),
        list = make("ul");
      head.append(
        make("b", table.name),
        " ",
        make("small", table.public ? "public" : table.max_rows === 1 ? "one row a person" : `≤ ${table.max_rows} rows a person`),
      );
      list.append(
        ...table.columns.map((column) => {
          const item = make("li"),
            about = bounds(column);
          item.append(
            button(column.name, () => state.editor.insert(column.name), { title: `put ${column.name} into the query` }),
            " ",
            make("small", column.name === table.person ? "the person" : column.type),
          );
          if (about) item.append(make("small", about, { class: "bounds", title: about }));
          return item;
        }),
      );
      part.append(head, list);
      return part;
    }),
  );
}

function showStarters(starters) {
  $("starters").replaceChildren(
    ...starters.slice(0, 5).map(({ about, sql }) =>
      button(
        about,
        () => {
          state.editor.text = sql;
          state.editor.view.focus();
        },
        { class: "plain small" },
      ),
    ),
  );
}

export function offerAsking() {
  offerViews();
  $("epsilon").addEventListener("input", () => {
    setPrice({ epsilon: Number((10 ** Number($("epsilon").value)).toPrecision(2)) });
    changed();
  });
  $("within").addEventListener("input", () => {
    const wanted = Number($("within").value.replaceAll(",", ""));
    state.within = wanted > 0 ? wanted : null;
    changed();
  });
  $("go").addEventListener("click", ask);
  $("answer-back").addEventListener("click", () => {
    setPrice(state.answered);
    state.editor.text = state.answered.sql;
    price();
  });
  $("answer-link").addEventListener("click", async () => {
    const url = `${HERE}/${$("answer-link").dataset.link}`;
    history.replaceState(null, "", url);
    const copied = await navigator.clipboard?.writeText(url).then(
      () => true,
      () => false,
    );
    $("answer-said").textContent = copied ? "Copied. Anyone with a key can open it." : "The link is now in the address bar.";
  });
  offerSaving(() => ({ query: body(state.answered) }));
}
