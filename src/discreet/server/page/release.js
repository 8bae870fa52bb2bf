// One release: its quality with simultaneous bounds, and downloads. All of it is free.

import { drawBars, drawLine, drawPairs, redrawn } from "./chart.js";
import { forget, offerReal } from "./comparison.js";
import { $, call, epsilonText, fill, HERE, make, many, number, request, short, told, withWords } from "./dom.js";
import { download } from "./files.js";
import { careful } from "./owner_actions.js";
import { chooseTab, offerTabs } from "./tabs.js";

const MOST_BARS = 12,
  TABS = ["release", "real"];
const FILE = "application/vnd.discreet.release",
  PARQUET = "application/vnd.apache.parquet";
let turn = 0;

const at = (name) => $(`release-${name}`);
const place = (name) => `/v1/releases/${encodeURIComponent(name)}`;

// `changed` is called when it has been published.
export async function showRelease(name, role, changed) {
  const mine = ++turn;
  at("head").textContent = name;
  at("told").textContent = at("said").textContent = "";
  at("parts").hidden = true;
  chooseTab(TABS, "release");
  try {
    const facts = await call(place(name));
    const report = facts.kind === "synthesize" ? await withWords(at("said"), "Rebuilding the model", () => call(`${place(name)}/report`)) : null;
    if (mine !== turn) return;
    at("parts").hidden = false;
    showFacts(report ?? facts);
    at("quality").hidden = !report;
    if (report) showQuality(report);
    showFiles(name, Boolean(report));
    at("tabs").hidden = role !== "owner" || !report;
    if (role === "owner") offerReal(name);
    at("head").focus();
    await offerPublication(name, role, changed);
  } catch (error) {
    if (mine === turn) at("told").textContent = told(error);
  }
}

export function offerReleases() {
  offerTabs(TABS);
  addEventListener("hashchange", forget);
}

function showFacts(facts) {
  const rows = facts.rows_per_person;
  const lines = {
    "made by": `${facts.method ?? facts.strategy ?? facts.tree ?? facts.model}, ${many(facts.measurements, "noisy measurement")}`,
    columns: Object.entries(facts.columns)
      .map(([name, size]) => `${name} ${size.toLocaleString("en")}`)
      .join(", "),
    ...(facts.total === undefined
      ? {}
      : { "rows that count": `about ${Math.round(facts.total).toLocaleString("en")}: those with a value that is public in every column` }),
    "one person": rows === 1 ? "one row counts" : `at most ${rows.toLocaleString("en")} rows count`,
    ...(facts.reused?.length ? { "takes in": facts.reused.join(", ") } : {}),
    price: facts.epsilon === null ? `ρ ${short(facts.rho)}` : epsilonText(facts.epsilon),
  };
  at("facts").replaceChildren(...Object.entries(lines).flatMap(([name, text]) => [make("dt", name), make("dd", text)]));
}

// How good it is

const percent = (share) => `${(100 * share).toFixed(0)}\u00a0%`;

function showQuality({ bars, pairs, level }) {
  at("level").textContent = `All of these bounds hold together in ${100 * level} of 100 releases.`;
  redrawn(at("bars"), () => {
    for (const column of bars) drawColumn(column);
  });
  const isBounded = pairs.length > 0 && pairs[0].share !== null;
  at("pairs").hidden = !isBounded;
  if (!isBounded) return;
  redrawn(at("heat"), () => drawPairs(at("heat"), { names: bars.map((column) => column.column), pairs }));
  fill(
    at("table"),
    [
      ["columns", "text"],
      ["off by at most", "number"],
      ["of all rows", "number"],
      ["measured", ""],
    ],
    pairs.map((pair) => [pair.columns.join(" × "), number(pair.within, pair.within), percent(pair.share), pair.is_measured ? "yes" : "no"]),
  );
}

// Few values are bars; many are a line with its band.
function drawColumn({ column, values, within, share }) {
  const points = values.map(({ label, count }, i) => {
    const [low, high] = within === null ? [null, null] : [Math.max(0, count - within), count + within];
    return { at: i, label, value: count, low, high, width: within };
  });
  if (points.length > MOST_BARS) drawLine(at("bars"), { title: column, points, high: 200 });
  else drawBars(at("bars"), { title: column, rows: points });
  const words =
    within === null
      ? "This method has no error bound."
      : `All counts of ${column} together are off by at most ${number(within, within)} rows, ${percent(share)} of all${share < 2 ? "" : ": nothing is known about them at this price"}.`;
  at("bars").append(make("p", words, { class: "quiet small-print" }));
}

// Ways to take it away

function showFiles(name, hasRows) {
  const rows = (kind) => () => request(`${place(name)}/rows`, { headers: { Accept: kind } });
  const boxes = { said: at("said"), refused: at("told") };
  const kept = download(
    `${name}.discreet`,
    "Release",
    "the model, to draw rows and tables anywhere",
    () => request(place(name), { headers: { Accept: FILE } }),
    boxes,
  );
  const tables = [
    download(`${name}.csv`, "CSV", "rows, about as many as in the data", rows("text/csv"), boxes),
    download(`${name}.parquet`, "Parquet", "the same rows, with types", rows(PARQUET), boxes),
  ];
  at("files").replaceChildren(...(hasRows ? tables : []), kept);
  const use = hasRows ? "release.sample(10_000).to_pandas()  # as many as you like\nrelease.bounds(0.95)" : "release.facts";
  at("python").textContent = `import discreet\n\ncurator = discreet.connect("${HERE}", key="dk_…")\nrelease = curator.release(${JSON.stringify(name)})\n${use}`;
}

// Publishing

async function offerPublication(name, role, changed) {
  const isPublished = (await call("/v1/transparency")).published.some((one) => one.name === name);
  const box = at("published");
  box.replaceChildren();
  if (isPublished)
    box.append("Published at ", make("a", `v1/published/${name}`, { href: `v1/published/${encodeURIComponent(name)}` }), ", for everyone without a key.");
  else if (role !== "owner") box.append("Visible to you and the owner. The owner can publish it.");
  else box.append(careful("Publish", "It becomes visible to everyone. This cannot be undone.", () => publish(name, role, changed)));
}

async function publish(name, role, changed) {
  at("told").textContent = "";
  try {
    await call(`${place(name)}/published`, { method: "PUT" });
    await Promise.all([offerPublication(name, role, changed), changed()]);
    at("said").textContent = `${name} is published.`;
  } catch (error) {
    at("told").textContent = told(error);
  }
}
