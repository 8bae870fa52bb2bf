// The owner's tab of a release: exact numbers beside synthetic ones. They are not private: they are read on request only, and dropped when the page changes.
import { redrawn } from "./chart.js";
import { drawBeside, drawCells, drawLines, drawPrices, percent } from "./comparison_charts.js";
import { $, button, call, epsilonText, fill, make, many, scrolling, told, withWords } from "./dom.js";

const MOST_BARS = 12;
const PRICES = [0.1, 0.3, 1, 3, 10];
let turn = 0;

const at = (name) => $(`real-${name}`);

// What belongs to a release by its name; nothing is read yet.
export function offerReal(name) {
  forget();
  at("look").onclick = () => look(name);
}

// Real numbers stay in no page that shows something else.
export function forget() {
  turn += 1;
  at("told").textContent = at("progress").textContent = "";
  at("parts").replaceChildren();
  at("look").hidden = false;
}

const compared = (name, path, body) => call(`/v1/releases/${encodeURIComponent(name)}/comparison${path}`, { method: "POST", body });

async function look(name) {
  forget();
  const mine = turn;
  at("look").hidden = true;
  try {
    const facts = await withWords(at("progress"), "Counting protected rows", () => compared(name, "", {}));
    if (mine !== turn) return;
    showColumns(facts);
    showPair(name, facts);
    showPrices(name, facts);
    showTrained(facts);
  } catch (error) {
    if (mine !== turn) return;
    at("told").textContent = told(error);
    at("look").hidden = false;
  }
}

function part(title, words) {
  at("parts").append(make("h3", title), make("p", words, { class: "quiet" }));
}

// Draws into a new box, now, when its width changes, and when what is returned is called.
function drawn(draw, parent = at("parts")) {
  const box = make("div");
  parent.append(box);
  const again = () => redrawn(box, () => draw(box));
  again();
  return again;
}

const legend = (kinds) => {
  const line = make("p", "", { class: "legend" });
  for (const [kind, words] of Object.entries(kinds)) line.append(make("i", "", { class: kind }), make("span", words));
  at("parts").append(line);
};

function showColumns(facts) {
  part("Columns", `${many(facts.rows, "real row")} of data version ${facts.data_version}, exactly, beside ${many(facts.synthetic_rows, "synthetic row")}.`);
  legend({ real: "real", synthetic: "synthetic" });
  for (const { column, values } of facts.columns)
    drawn((box) => {
      const described = `${column}: shares of real and of synthetic rows`;
      if (values.length > MOST_BARS) drawLines(box, { title: column, values, described });
      else drawBeside(box, { title: column, rows: values.map((one) => ({ label: one.label, bars: barsOf(one, ["real", "synthetic"]) })), described });
    });
}

const barsOf = (shares, kinds) => kinds.map((kind) => ({ kind, value: shares[kind] }));

// Two columns of the owner's choice.
function showPair(name, { columns }) {
  if (columns.length < 2) return;
  part("A pair of columns", "Shares of all rows; neighbouring values are grouped if there are many.");
  const choices = [0, 1].map((chosen) => {
    const choice = make("select", "", { "aria-label": chosen ? "the other column" : "one column" });
    choice.append(...columns.map(({ column }) => make("option", column, { value: column })));
    choice.selectedIndex = chosen;
    return choice;
  });
  const line = make("p", "", { class: "line" }),
    said = make("span", "", { role: "status" }),
    box = make("div", "", { class: "halves" });
  line.append(choices[0], " × ", choices[1], " ", button("Show", show, { class: "plain small" }), " ", said);
  at("parts").append(line, box);

  async function show() {
    const mine = turn;
    said.textContent = "";
    try {
      const facts = await withWords(said, "Counting", () => compared(name, "/pair", { columns: choices.map((choice) => choice.value) }));
      if (mine !== turn) return;
      const most = Math.max(...facts.real.flat(), ...facts.synthetic.flat());
      const names = facts.columns.join(" × ");
      box.replaceChildren();
      for (const kind of ["real", "synthetic"])
        drawn(
          (half) => drawCells(half, { title: `${names}, ${kind}`, labels: facts.labels, cells: facts[kind], most, described: `${kind} shares of ${names}` }),
          box,
        );
    } catch (error) {
      if (mine === turn) said.textContent = told(error);
    }
  }
}

const WIDTHS = { 1: "One column", 2: "Two columns", 3: "Three columns" };

// How far tables are off: this release, and the same at other prices, one after another.
function showPrices(name, { errors, epsilon, delta }) {
  const points = [{ epsilon, errors, isRelease: true }];
  part(
    "Error by ε",
    `Mean distance of tables from the real ones: all differences of shares added up, from 0 to 2.${delta ? ` ε at δ ${delta}.` : ""} For another ε, the release is computed again from the protected rows and discarded: nothing is charged, as the result is shown to you only. Each is one draw, and another one would be a little different.`,
  );
  const line = make("p", "", { class: "line" }),
    said = make("span", "", { role: "status" }),
    go = button("Try other prices", tryPrices, { class: "plain small" }),
    stop = button("Stop", () => (isStopped = true), { class: "plain small", hidden: "" });
  let isStopped = false;
  line.append(go, " ", stop, " ", said);
  at("parts").append(line);
  const widths = make("div", "", { class: "thirds" });
  at("parts").append(widths);
  const pictures = errors.map(({ width, tables, of, independent, resampled }) =>
    drawn(
      (box) =>
        drawPrices(box, {
          title: `${WIDTHS[width]}, ${tables === of ? many(of, "table") : `${tables} of ${of} tables`}`,
          points: points.map((point) => ({ ...point, value: point.errors.find((one) => one.width === width).synthetic })),
          independent,
          resampled,
          described: `errors of tables of ${width} against the price`,
        }),
      widths,
    ),
  );
  const table = make("table");
  at("parts").append(scrolling(table));
  const show = () => {
    for (const draw of pictures) draw();
    const rows = [...points]
      .sort((one, other) => one.epsilon - other.epsilon)
      .map((point) => [priceText(point), ...point.errors.map((one) => one.synthetic.toFixed(4))]);
    const baselines = ["independent", "resampled"].map((kind) => [BASELINES[kind], ...errors.map((one) => one[kind].toFixed(4))]);
    fill(table, [["mean distance", "text"], ...errors.map(({ width }) => [WIDTHS[width].toLowerCase(), "number"])], [...rows, ...baselines]);
  };
  show();

  async function tryPrices() {
    const mine = turn,
      left = PRICES.filter((price) => !points.some((point) => !point.isRelease && point.epsilon === price));
    isStopped = false;
    go.hidden = true;
    stop.hidden = false;
    try {
      for (const price of left) {
        if (isStopped || mine !== turn) break;
        const facts = await withWords(said, `Trying ${epsilonText(price)}, ${left.indexOf(price) + 1} of ${left.length}`, () =>
          compared(name, "/price", { epsilon: price }),
        );
        if (mine !== turn) return;
        points.push({ epsilon: price, errors: facts.errors });
        show();
      }
    } catch (error) {
      if (mine === turn) said.textContent = told(error);
    }
    stop.hidden = true;
    go.hidden = points.length > PRICES.length;
  }
}

const BASELINES = { independent: "columns taken as independent", resampled: "as many real rows drawn again" };
const priceText = ({ epsilon, isRelease }) => `${epsilonText(epsilon)}${isRelease ? ", this release" : ""}`;

function showTrained({ trained }) {
  if (!trained.length) return;
  part(
    "Trained on synthetic rows",
    `How well each column can be predicted from the others, by naive Bayes, on ${many(trained[0].rows, "real row")} that were held out. Trained on the other real rows, on the synthetic ones, or always predicting the most frequent value. The release was made from all rows.`,
  );
  legend({ real: "trained on real rows", synthetic: "from synthetic rows", guess: "the most frequent value" });
  const kinds = ["real", "synthetic", "guess"];
  drawn((box) =>
    drawBeside(box, {
      title: "correctly predicted rows",
      rows: trained.map((one) => ({ label: one.column, bars: barsOf(one, kinds) })),
      described: trained.map((one) => `${one.column}: ${kinds.map((kind) => `${kind} ${percent(one[kind])}`).join(", ")}`).join("; "),
    }),
  );
}
