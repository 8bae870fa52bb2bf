// What every part of the page shares: elements, calls of the API, numbers as people write them. Text from the server is only ever put in as text.

export const $ = (id) => document.getElementById(id);

export function make(tag, text = "", attributes = {}) {
  const node = document.createElement(tag);
  node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

export function button(text, act, attributes = {}) {
  const node = make("button", text, { type: "button", ...attributes });
  node.addEventListener("click", act);
  return node;
}

export function fill(table, columns, rows) {
  const head = make("thead"),
    body = make("tbody"),
    names = make("tr");
  const kind = ([, given]) => (given ? { class: given } : {});
  names.append(...columns.map((column) => make("th", column[0], { scope: "col", ...kind(column) })));
  head.append(names);
  body.append(
    ...rows.map((cells) => {
      const row = make("tr");
      row.append(
        ...cells.map((cell, i) => {
          const made = make("td", "", kind(columns[i]));
          made.append(cell);
          return made;
        }),
      );
      return row;
    }),
  );
  table.replaceChildren(head, body);
}

export function scrolling(table) {
  const box = make("div", "", { class: "scroll", tabindex: 0 });
  box.append(table);
  return box;
}

// Where this page is: at the root of a server, or under /d/NAME where it serves several datasets.
export const HERE = new URL(".", location.href).href.slice(0, -1);

// The API. A refusal is an Error with `code`, `next_step`, and of a question `place` and `instead`.

const HEADERS = { "X-Discreet-Page": "1" };

async function refusal(response) {
  const facts = await response.json().catch(() => ({}));
  const error = facts.error ?? { message: "The server sent an unexpected response.", next_step: "Try again in a moment." };
  return Object.assign(new Error(error.message), error, { status: response.status });
}

export async function request(path, { method = "GET", body, headers = {} } = {}) {
  const typed = body ? { "Content-Type": "application/json" } : {};
  let response;
  try {
    response = await fetch(`${HERE}${path}`, { method, headers: { ...HEADERS, ...typed, ...headers }, body: body ? JSON.stringify(body) : undefined });
  } catch {
    throw Object.assign(new Error("The server cannot be reached."), { code: "unreachable", next_step: "Check the connection, and try again.", status: 0 });
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

export async function call(path, details) {
  const response = await request(path, details);
  return response.status === 204 ? {} : response.json();
}

// Lines of JSON as they come; `hear` is told of each.
export async function lines(path, details, hear) {
  const response = await request(path, { ...details, headers: { ...details.headers, Accept: "application/x-ndjson" } });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    const parts = (waiting + (value ?? "")).split("\n");
    waiting = done ? "" : parts.pop();
    for (const part of parts.filter(Boolean)) hear(JSON.parse(part));
    if (done) return;
  }
}

export const told = (error) => `${error.message}\n${error.next_step ?? ""}`;

// In the head of the page: which dataset, and which version of its data.
export const nameDataset = ({ dataset, data_version }) => {
  $("dataset").textContent = `${dataset}, version ${data_version}`;
};

// Numbers

export const plain = (value) => (value === null || value === undefined ? "—" : String(value));

// So many decimals that two digits of the width are seen.
const decimals = (width) => (width >= 10 || width <= 0 ? 0 : Math.min(12, 1 - Math.floor(Math.log10(width))));

export function number(value, width = null) {
  if (typeof value !== "number") return plain(value);
  if (width === null || !Number.isFinite(width) || (width === 0 && !Number.isInteger(value)))
    return value.toLocaleString("en", { maximumSignificantDigits: 6 });
  const digits = Number.isInteger(value) && Number.isInteger(width) ? 0 : decimals(width);
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace(/^-/, "−");
}

export const plusMinus = (width) => (width === null || width === undefined ? "± ?" : `±\u00a0${number(width, width)}`);
export const short = (value) => Number(value.toPrecision(2)).toLocaleString("en", { maximumSignificantDigits: 3 });
// What people call an account of the books.
export const accountName = (account) => account.replace(/^analyst:/, "").replace(/^dataset$/, "everybody together");
export const epsilonText = (value) => `ε\u00a0${Number(value.toPrecision(3))}`;
export const many = (count, one, more = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : more}`;
// Who one person is, by the column that names them; a catalog where each row is a person has no such column, and says "row".
export const personOf = (column) => (column === "row" ? "one row" : `all rows of one ${column}`);
// What may be spent, and in which time, where the cap renews.
export const capText = ({ cap, renewal }) => `ε ${cap.epsilon}${cap.delta ? `, δ ${cap.delta}` : ""}${renewal ? ` each ${renewal.every}` : ""}`;
// What made the numbers uncertain, for people who know no mechanism by its name.
const MECHANISMS = {
  Laplace: "Laplace noise",
  Gaussian: "Gaussian noise",
  Histograms: "noisy histograms",
  PartitionSelection: "a noisy choice of groups",
  Exponential: "a noisy choice",
  PermuteAndFlip: "a noisy choice",
  NoisyMax: "a noisy choice",
  GeneralizedExponential: "a noisy choice",
  Ladder: "a noisy count",
  Quantile: "a noisy quantile",
  AboveThreshold: "a noisy threshold",
  Adaptive: "many noisy measurements",
  PureAdaptive: "many noisy measurements",
};
export const mechanismWords = (names) =>
  [...new Set(names.map((name) => MECHANISMS[name] ?? name.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase()))].join(" and ");
export const day = (time) => time.slice(0, 16).replace("T", " ");

// Work that takes longer than a second is told in words, by the clock.
export async function withWords(box, words, work) {
  const begun = Date.now();
  const timer = setInterval(() => {
    box.textContent = `${words} … ${Math.round((Date.now() - begun) / 1000)} s`;
  }, 1000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    box.textContent = "";
  }
}
