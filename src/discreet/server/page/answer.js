// An answer as chart, table, Python and files, with its cost. An answer to another query than the one in the editor is marked as old.
import { drawBars, drawLine, redrawn } from "./chart.js";
import { $, day, epsilonText, fill, HERE, make, number, plain, plusMinus, request } from "./dom.js";
import { download } from "./files.js";
import { pythonOf } from "./questions.js";
import { chooseTab, offerTabs } from "./tabs.js";

const VIEWS = ["chart", "table", "python", "download"];
const MOST_BARS = 40,
  MOST_ROWS = 500,
  MOST_PANELS = 8;
const FILES = {
  csv: ["CSV", "text/csv", "for spreadsheets, R and everything else"],
  json: ["JSON", "application/vnd.discreet.records+json", "one object a row"],
  parquet: ["Parquet", "application/vnd.apache.parquet", "with types, for pandas, polars and DuckDB"],
};

// What of an answer is noisy, and what names its rows.
export function shape(answer) {
  const noisy = answer.columns.filter((name) => answer.half_widths.some((row) => row[name] !== null) || answer.intervals.some((row) => row[name]));
  return { noisy, keys: answer.columns.filter((name) => !noisy.includes(name)) };
}

export function isOverTime(answer, keys) {
  return (
    keys.length > 0 && ["date", "timestamp"].includes(answer.types[answer.columns.indexOf(keys[0])]) && new Set(answer.rows.map((row) => row[keys[0]])).size > 2
  );
}

// cost: in words; files: asks for the same answer as a file; question: what was asked.
export function showAnswer(answer, { cost, question, files }) {
  const { noisy, keys } = shape(answer);
  $("answer").hidden = false;
  $("answer-cost").textContent = cost;
  $("notes").replaceChildren(
    ...[`± covers the noise in ${100 * answer.confidence} of 100 answers. It does not cover rows that exceed the contribution bounds.`, ...answer.notes].map(
      (note) => make("li", note),
    ),
  );
  table(answer, noisy);
  redrawn($("chart"), () => chart(answer, noisy, keys));
  $("python").textContent = pythonOf(question, HERE);
  $("files").replaceChildren(
    ...Object.entries(FILES).map(([ending, [name, kind, about]]) => download(`answer.${ending}`, name, about, () => files(kind), { refused: $("files-told") })),
  );
  $("files-columns").textContent = noisy.length ? `Numbers are plain; each measure has three columns: ${noisy[0]}, ${noisy[0]}_low, ${noisy[0]}_high.` : "";
  if (!noisy.length) chooseTab(VIEWS, "table");
}

function table(answer, noisy) {
  const columns = answer.columns.flatMap((name) =>
    noisy.includes(name)
      ? [
          [name, "number"],
          ["±", "number width"],
        ]
      : [[name, ""]],
  );
  const rows = answer.rows.slice(0, MOST_ROWS).map((row, i) =>
    answer.columns.flatMap((name) => {
      const width = answer.half_widths[i][name];
      return noisy.includes(name) ? [number(row[name], width), width === null ? "—" : plusMinus(width)] : [plain(row[name])];
    }),
  );
  fill($("rows"), columns, rows);
  $("rows-more").textContent =
    answer.rows.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${answer.rows.length.toLocaleString("en")} rows; a file has them all.` : "";
}

function cell(answer, i, name) {
  const [low, high] = answer.intervals[i][name] ?? [null, null];
  return { value: answer.rows[i][name], width: answer.half_widths[i][name], low, high };
}

function chart(answer, noisy, keys) {
  const box = $("chart"),
    measures = noisy.filter((name) => answer.rows.some((row) => typeof row[name] === "number"));
  if (!measures.length || !answer.rows.length) {
    box.append(make("p", answer.rows.length ? "The answer cannot be drawn as a chart: see the table." : "The answer has no rows.", { class: "quiet" }));
    return;
  }
  const panels = isOverTime(answer, keys) ? overTime(answer, measures, keys) : sideBySide(answer, measures, keys);
  if (panels) box.append(make("p", panels, { class: "quiet" }));
}

function sideBySide(answer, measures, keys) {
  for (const name of measures) {
    const rows = answer.rows.slice(0, MOST_BARS).map((row, i) => ({ label: keys.map((key) => plain(row[key])).join(", ") || name, ...cell(answer, i, name) }));
    drawBars($("chart"), { title: name, rows });
  }
  return answer.rows.length > MOST_BARS ? `The first ${MOST_BARS} of ${answer.rows.length.toLocaleString("en")} rows; the table has them all.` : "";
}

function overTime(answer, measures, [time, ...others]) {
  const order = answer.rows
    .map((row, i) => [row, i])
    .filter(([row]) => row[time] !== null)
    .sort(([one], [other]) => (one[time] < other[time] ? -1 : 1));
  const named = Map.groupBy(order, ([row]) => others.map((key) => plain(row[key])).join(", ")),
    whole = Object.fromEntries(
      measures.map((name) => {
        const all = order
          .flatMap(([, i]) => {
            const { value, low, high } = cell(answer, i, name);
            return [value, low, high];
          })
          .filter(Number.isFinite);
        return [name, all];
      }),
    );
  const months = order.every(([row]) => row[time].endsWith("-01"));
  const panels = [...named].slice(0, MOST_PANELS).flatMap(([other, rows]) => measures.map((name) => [other, rows, name]));
  for (const [other, rows, name] of panels) {
    const points = rows.map(([row, i]) => ({ at: Date.parse(row[time]), label: months ? row[time].slice(0, 7) : row[time], ...cell(answer, i, name) }));
    drawLine($("chart"), { title: other ? `${name}: ${other}` : name, points, range: whole[name], high: panels.length > 2 ? 180 : 240 });
  }
  return named.size > MOST_PANELS ? `The first ${MOST_PANELS} of ${named.size} series; the table has them all.` : "";
}

// Files of a question that was asked before: looked up, so that nothing is written into the books.
export const filesOf = (body) => (kind) => request("/v1/recall", { method: "POST", body, headers: { Accept: kind } });
export const filesOfSaved = (number_) => (kind) => request(`/v1/saved/${encodeURIComponent(number_)}/answer`, { headers: { Accept: kind } });

export function costOf(answer, { replayed, by = null, time = null }) {
  const price = epsilonText(answer.loss.epsilon);
  if (by) return `${by}’s answer${time ? `, saved ${day(time)}` : ""}. It costs you nothing; it cost ${by} ${price}.`;
  if (!answer.loss.epsilon) return "Free: it uses public tables only.";
  return replayed ? `Free: asked before. It cost ${price} the first time.` : `Charged ${price}.`;
}

export function markOld(isOld) {
  $("answer").classList.toggle("old", isOld);
  $("answer-old").hidden = !isOld;
}

export const offerViews = () => offerTabs(VIEWS);
