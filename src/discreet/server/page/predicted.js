// How exact synthetic data will be, before it is paid for: from public facts and an assumed number of rows, never from the data.
import { $, fill, many, plusMinus, short } from "./dom.js";

const at = (name) => $(`publish-${name}`);
const percent = (share) => (share === null ? "—" : `${short(100 * share)}\u00a0%`);

// The number of rows that the prediction is for, where it is not the catalog's.
export function assumedRows() {
  const rows = Number(at("rows").value.replaceAll(/[ ,]/g, ""));
  return Number.isInteger(rows) && rows > 0 ? { rows_about: rows } : {};
}

export function showPredicted(predicted) {
  at("predicted").hidden = !predicted;
  if (!predicted) return;
  at("rows").placeholder = predicted.rows_about.toLocaleString("en");
  const columns = predicted.columns.map(({ column, within, error }) => [
    column,
    within === null ? "not measured separately" : plusMinus(within),
    percent(error),
  ]);
  fill(
    at("exactness"),
    [
      ["expected of", "text"],
      ["one count, 95 %", "number"],
      ["all counts, of all rows", "number"],
    ],
    [...columns, ...predicted.tables.map(tablesLine)],
  );
  at("otherwise").textContent = predicted.otherwise.replaceAll("`", "");
}

function tablesLine({ width, tables, measurable, is_chosen: isChosen, within, least_error: least, typical_error: typical, most_error: most }) {
  const which = `${many(tables, "table")} of ${width} columns: ${measurable} can be measured${isChosen && measurable ? ", if chosen" : ""}`;
  if (within === null) return [which, "—", "—"];
  return [which, plusMinus(within), least === most ? percent(typical) : `${percent(typical)} (${percent(least)} … ${percent(most)})`];
}
