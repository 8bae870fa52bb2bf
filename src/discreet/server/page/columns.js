// What synthetic data shall be made of: columns of a table, each with its size, its bins, or what finding its values may cost; or a SELECT, with the same as words.
import { $, make, many } from "./dom.js";
import { quoted } from "./questions.js";

const NUMBERS = ["integer", "real", "date"];
let sizes = {};

const at = (name) => $(`publish-${name}`);
const entered = (name) => at(name).value.trim();
export const isSelect = () => entered("table") === "";
const columnBoxes = () => [...at("columns").querySelectorAll("input[type=checkbox]")];
const chosenBoxes = () => columnBoxes().filter((box) => box.checked);
export const columnCount = () => chosenBoxes().length;

export function source() {
  if (isSelect()) return entered("sql");
  const names = chosenBoxes().map((box) => quoted(box.value));
  return names.length ? `SELECT ${names.join(", ")} FROM ${quoted(entered("table"))}` : "";
}

// How many bins columns have, and what finding values may cost, as the API takes them: `{ bins, discover }`; or what is missing, as `{ missing }`.
export function details() {
  const bins = isSelect() ? pairs("bins") : fields("bins"),
    discover = isSelect() ? pairs("found") : fields("found");
  const unpriced = Object.keys(discover).find((name) => !(discover[name] > 0));
  if (unpriced) return { missing: `Enter, as ε, the cost of finding the values of ${unpriced}.` };
  if (Object.values(bins).some((count) => !Number.isInteger(count))) return { missing: "The number of bins must be an integer." };
  return { ...(Object.keys(bins).length ? { bins } : {}), ...(Object.keys(discover).length ? { discover } : {}) };
}

// Of the chosen columns; what a column's values cost must be said, bins need not be.
function fields(kind) {
  const inputs = chosenBoxes().map((box) => [box.value, box.closest("div").querySelector(`input[data-kind=${kind}]`)]);
  const used = inputs.filter(([, input]) => input && (kind === "found" || input.value.trim()));
  return Object.fromEntries(used.map(([name, input]) => [name, Number(input.value.trim() || Number.NaN)]));
}

// "age 16, cost 8"
function pairs(kind) {
  const parts = entered(kind)
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
  return Object.fromEntries(parts.map((part) => part.match(/^(.*?)\s+(\S+)$/) ?? [part, part, ""]).map(([, name, text]) => [name, Number(text || Number.NaN)]));
}

const isBounded = (column) => column.lower !== null && column.upper !== null;
const hasPublicValues = (column) => Boolean(column.values) || column.type === "boolean" || (column.type !== "timestamp" && isBounded(column));

// The columns of a table; those whose values are public are taken.
export function showColumns(table) {
  for (const name of ["sql-line", "select-line"]) at(name).hidden = !isSelect();
  at("columns").hidden = isSelect();
  sizes = {};
  for (const entry of at("columns").querySelectorAll("div")) entry.remove();
  if (table) at("columns").append(...table.columns.filter((column) => column.name !== table.person).map(columnEntry));
}

function columnEntry(column) {
  const entry = make("div"),
    label = make("label"),
    box = make("input", "", { type: "checkbox", value: column.name });
  box.checked = hasPublicValues(column);
  label.append(box, " ", column.name, " ", make("small", box.checked ? column.type : `${column.type}, its values are not public`, { class: "quiet" }));
  entry.append(label);
  const fine = box.checked ? binsField(column) : foundField(column);
  if (fine) entry.append(fine);
  const show = () => {
    if (fine) fine.hidden = !box.checked;
  };
  box.addEventListener("change", show);
  show();
  return entry;
}

function binsField(column) {
  return NUMBERS.includes(column.type) && isBounded(column) ? smallField("bins", "in", "bins", { size: 4, placeholder: "usual", inputmode: "numeric" }) : null;
}

const foundField = (column) =>
  smallField("found", "found for ε", "in addition to the cost", {
    size: 6,
    placeholder: "e.g. 0.2",
    inputmode: "decimal",
    "aria-label": `ε for the values of ${column.name}`,
  });

function smallField(kind, before, after, attributes) {
  const label = make("label", `${before} `, { class: "fine quiet" });
  label.append(make("input", "", { autocomplete: "off", "data-kind": kind, ...attributes }), ` ${after}`);
  return label;
}

// Sizes as the dry run has them; what is still to be found has none.
export function showSizes(known, finding) {
  Object.assign(sizes, known);
  for (const box of columnBoxes()) {
    const small = box.closest("div").querySelector("small");
    const canHaveBins = box.closest("div").querySelector("input[data-kind=bins]");
    if (sizes[box.value]) small.textContent = canHaveBins ? many(sizes[box.value], "value or bin", "values or bins") : many(sizes[box.value], "value");
    else if (finding[box.value]) small.textContent = "unknown until they are found";
  }
}
