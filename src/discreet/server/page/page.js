// The page asks the same API as everybody else. Text from the server is only ever put in as text.
import { showAttacks } from "./attacks.js";
import { showBooks } from "./books.js";
import { showCollect } from "./collect.js";
import { offerSignIn, pageFor, signedIn } from "./signin.js";

const $ = (id) => document.getElementById(id);
const state = { dataset: "", analyst: null };

async function call(path, { method = "GET", body, headers = {} } = {}) {
  const response = await fetch(path, {
    method,
    headers: { "X-Discreet-Page": "1", ...(body ? { "Content-Type": "application/json" } : {}), ...headers },
    body: body ? JSON.stringify(body) : undefined,
  });
  const facts = response.status === 204 ? {} : await response.json();
  if (!response.ok) throw Object.assign(new Error(facts.error.message), facts.error, { status: response.status });
  return facts;
}

function make(tag, text = "", attributes = {}) {
  const node = document.createElement(tag);
  node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

const told = (error) => `${error.message}\n${error.next_step ?? ""}`;
const plain = (value) => (value === null ? "—" : String(value));

function number(value, width) {
  if (typeof value !== "number" || width === null || width === undefined) return plain(value);
  const digits = width >= 10 || (Number.isInteger(value) && Number.isInteger(width)) ? 0 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function fill(table, columns, rows) {
  const head = make("tr");
  for (const [name, kind] of columns) head.append(make("th", name, kind ? { class: kind } : {}));
  table.replaceChildren(head, ...rows.map((cells) => {
    const row = make("tr");
    cells.forEach((cell, i) => row.append(make("td", cell, columns[i][1] ? { class: columns[i][1] } : {})));
    return row;
  }));
}

// Ask

const epsilon = () => Number((10 ** Number($("epsilon").value)).toPrecision(2));
const question = () => ({ sql: $("sql").value, epsilon: epsilon() });
let turn = 0;

async function price() {
  const mine = ++turn;
  try {
    const facts = await call("/v1/explain", { method: "POST", body: question() });
    if (mine !== turn) return;
    const widths = Object.entries(facts.half_widths).filter(([, width]) => width !== null);
    const error = widths.map(([name, width]) => `${name} ± ${number(width, width)}`).join(", ") || "± depends on the data";
    const left = facts.accounts.map((a) => `${a.account} ${Math.max(a.cap.epsilon - a.spent.epsilon - facts.loss.epsilon, 0).toFixed(2)}`);
    const leaves = facts.asked_before ? "free: asked before" : `leaves ${left.join(", ")}`;
    $("price").textContent = [error, `ε ${facts.loss.epsilon.toPrecision(2)}`, leaves, `one person = all rows of one ${facts.person} (max ${facts.rows_per_person})`, ...facts.notes].join(" · ");
    if (refused !== JSON.stringify(question())) $("told").textContent = "";
    $("go").disabled = false;
  } catch (error) {
    if (mine !== turn) return;
    $("price").textContent = `ε ${epsilon()}`;
    $("told").textContent = told(error);
    $("go").disabled = error.status !== 403;
  }
}

let waiting;
let refused = null; // the question whose refusal is shown: it stays until the question changes
const soon = () => { clearTimeout(waiting); waiting = setTimeout(price, 250); };

async function ask() {
  $("go").disabled = true;
  $("told").textContent = "";
  refused = null;
  const name = crypto.randomUUID();
  const waiting = setTimeout(() => { $("stop").hidden = false; }, 1500);
  $("stop").onclick = () => call(`/v1/ask/${name}`, { method: "DELETE" });
  try {
    show(await call("/v1/ask", { method: "POST", body: question(), headers: { "Idempotency-Key": name } }));
    await balance();
  } catch (error) {
    $("told").textContent = told(error);
    refused = JSON.stringify(question());
  }
  clearTimeout(waiting);
  $("stop").hidden = true;
  $("go").disabled = false;
  price();
}

function show(answer) {
  const noisy = answer.columns.filter((name) => answer.half_widths.some((row) => row[name] !== null) || answer.intervals.some((row) => row[name]));
  const columns = answer.columns.flatMap((name) => (noisy.includes(name) ? [[name, "number"], ["±", "number"]] : [[name, ""]]));
  const rows = answer.rows.map((row, i) => answer.columns.flatMap((name) => {
    const width = answer.half_widths[i][name];
    return noisy.includes(name) ? [number(row[name], width ?? 0), width === null ? "—" : `± ${number(width, width)}`] : [plain(row[name])];
  }));
  fill($("rows"), columns, rows);
  $("answer").hidden = false;
  draw(answer, noisy);
  $("notes").textContent = [`In ${100 * answer.confidence} of 100 answers the bounded value is inside ±, which covers noise, not rows cut by limits.`, `Paid ε ${answer.loss.epsilon}.`, ...answer.notes].join(" ");
  $("python").textContent = `import discreet\n\ncurator = discreet.connect("${location.origin}", key="…")\nanswer = curator.ask(${JSON.stringify($("sql").value)}, epsilon=${epsilon()})\nanswer.to_pandas()`;
  const csv = [columns.map(([name]) => name), ...rows].map((cells) => cells.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(",")).join("\n");
  const asked = question();
  $("parquet").onclick = async (event) => {
    event.preventDefault();
    const headers = { "X-Discreet-Page": "1", "Content-Type": "application/json", Accept: "application/vnd.apache.parquet" };
    const response = await fetch("/v1/ask", { method: "POST", headers, body: JSON.stringify(asked) });  // asked before, so free
    const link = make("a", "", { download: "answer.parquet", href: URL.createObjectURL(await response.blob()) });
    link.click();
  };
  $("csv").href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
}

function draw(answer, noisy) {
  const name = noisy[0];
  const keys = answer.columns.filter((column) => !noisy.includes(column));
  const shown = answer.rows.map((row, i) => [keys.map((key) => plain(row[key])).join(", ") || name, row[name], answer.intervals[i][name]])
    .filter(([, value, interval]) => typeof value === "number" && interval && interval.every((end) => end !== null)).slice(0, 30);
  $("chart").replaceChildren();
  if (!shown.length) return;
  const least = Math.min(0, ...shown.map(([, , i]) => i[0])), most = Math.max(0, ...shown.map(([, , i]) => i[1]));
  const wide = Math.max(300, $("chart").clientWidth), left = Math.min(160, wide / 3);
  const x = (value) => left + ((wide - left - 16) * (value - least)) / (most - least || 1);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${wide} ${shown.length * 28 + 30}`);
  const put = (tag, attributes, text = "") => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    svg.append(node);
  };
  put("text", { x: left, y: 16 }, name);
  shown.forEach(([label, value, [low, high]], i) => {
    const y = 40 + i * 28;
    put("text", { x: left - 10, y: y + 5, "text-anchor": "end" }, label.slice(0, Math.floor(left / 9)));
    put("rect", { class: "bar", x: Math.min(x(0), x(value)), y: y - 8, width: Math.abs(x(value) - x(0)), height: 16 });
    put("line", { class: "range", x1: x(low), x2: x(high), y1: y, y2: y });
    for (const end of [low, high]) put("line", { class: "range", x1: x(end), x2: x(end), y1: y - 6, y2: y + 6 });
    put("circle", { class: "dot", cx: x(value), cy: y, r: 3 });
  });
  $("chart").append(svg);
}

// Completion from the catalog: the names that begin like the word before the cursor; Tab takes the first.

const KEYWORDS = ["SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "COUNT(*)", "COUNT(DISTINCT ", "SUM(", "AVG(", "MEDIAN(", "STDDEV(", "JOIN", "USING (", "ROLLUP (", "LIMIT"];
let words = KEYWORDS, dismissed = false;

function insert(text, replaced = 0) {
  const box = $("sql"), at = box.selectionStart;
  box.setRangeText(text, at - replaced, box.selectionEnd, "end");
  box.focus();
  complete();
  soon();
}

function complete() {
  const box = $("sql"), [typed] = box.value.slice(0, box.selectionStart).match(/[\w(*]*$/);
  const found = typed && !dismissed ? words.filter((word) => word.toLowerCase().startsWith(typed.toLowerCase()) && word !== typed).slice(0, 6) : [];
  $("completions").replaceChildren(...found.map((word, i) => {
    const button = make("button", word, { type: "button" });
    button.addEventListener("click", () => insert(word, typed.length));
    return button;
  }), ...(found.length ? [make("span", "Tab takes the first")] : []));
  return found.length ? () => insert(found[0], typed.length) : null;
}

function catalog(facts) {
  words = [...new Set(facts.tables.flatMap((table) => [table.name, ...table.columns.map((column) => column.name)])), ...KEYWORDS];
  $("dataset").textContent = facts.dataset;
  $("catalog").replaceChildren(...facts.tables.flatMap((table) => {
    const head = make("h3", `${table.name} `);
    head.append(make("small", table.public ? "public" : `≤ ${table.max_rows} rows a person`));
    const list = make("ul");
    for (const column of table.columns) {
      const about = column.values ? column.values.join(" ") : column.lower !== null ? `${column.lower} … ${column.upper}` : "";
      const item = make("li");
      const name = make("button", column.name, { type: "button", title: `put ${column.name} into the question` });
      name.addEventListener("click", () => insert(column.name));
      item.append(name, " ", make("small", `${column.type} ${about}`));
      list.append(item);
    }
    return [head, list];
  }));
}

// Budget and transparency

async function balance() {
  const { role, accounts } = await call("/v1/budget");
  const own = role === "analyst" ? accounts.at(-1) : accounts[0];
  $("balance").textContent = `${own.account} ${(own.cap.epsilon - own.spent.epsilon).toFixed(2)} left of ${own.cap.epsilon}`;
  $("accounts").replaceChildren(...accounts.map((account) => {
    const line = make("div", "", { class: "meter" });
    const label = `${account.account}: ε ${account.spent.epsilon.toFixed(2)} of ${account.cap.epsilon}${account.frozen ? ", frozen" : ""}`;
    line.append(make("meter", "", { max: account.cap.epsilon, value: account.spent.epsilon, "aria-label": label }), make("span", label));
    return line;
  }));
}

const PAGE = 100;

async function past(known = []) {
  const earlier = known.length ? `&before=${known.at(-1).number}` : "";
  const page = (await call(`/v1/history?limit=${PAGE}${earlier}`)).questions;
  const questions = [...known, ...page];
  $("earlier").hidden = page.length < PAGE;
  $("earlier").onclick = () => past(questions);
  const free = questions.filter((q) => q.replayed).reduce((sum, q) => sum + (q.epsilon ?? 0), 0);
  fill($("history"), [["when", ""], ["question", "text"], ["price", "number"], ["", ""]],
    questions.map((q) => [q.time.slice(0, 16).replace("T", " "), q.sql, q.epsilon === null ? `ρ ${q.rho.toPrecision(3)}` : `ε ${q.epsilon}`, q.replayed ? "free: asked before" : ""]));
  const { role, accounts } = await call("/v1/budget");
  burn(questions, (role === "analyst" ? accounts.at(-1) : accounts[0]).cap.epsilon);
  if (free) $("history").append(make("caption", `asking again saved ε ${free.toFixed(2)}`));
}

function burn(newestFirst, cap) {
  const wide = Math.max(300, $("burn").clientWidth || 700), high = 120, steps = [0];
  for (const q of [...newestFirst].reverse()) if (!q.replayed) steps.push(steps.at(-1) + (q.epsilon ?? Math.sqrt(2 * q.rho)));
  const x = (i) => 40 + ((wide - 60) * i) / Math.max(steps.length - 1, 1), y = (value) => high - 20 - ((high - 40) * value) / Math.max(cap, steps.at(-1));
  const path = steps.map((value, i) => (i ? `H ${x(i)} V ${y(value)}` : `M ${x(0)} ${y(0)}`)).join(" ");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  for (const [tag, attributes, text] of [
    ["line", { class: "cap", x1: 40, x2: wide - 20, y1: y(cap), y2: y(cap) }, ""],
    ["path", { class: "spent", d: path }, ""],
    ["text", { x: 40, y: y(cap) - 5 }, `cap ${cap}`],
    ["text", { x: 40, y: high - 4 }, `${steps.length - 1} ${steps.length === 2 ? "question" : "questions"} paid for, added up`],
  ]) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    svg.append(node);
  }
  $("burn").replaceChildren(svg);
}

// The owner's catalog

async function editCatalog(method, path) {
  $("catalog-told").textContent = "";
  try {
    const facts = await call(path, { method, body: method === "GET" ? undefined : { text: $("toml").value } });
    if (facts.text !== undefined) $("toml").value = facts.text;
    $("catalog-told").textContent = facts.note ?? (method === "POST" ? "It can be read." : "");
    $("warnings").replaceChildren(...facts.warnings.map((warning) => make("li", warning)));
  } catch (error) {
    $("catalog-told").textContent = told(error);
  }
}

async function card() {
  const facts = await call("/v1/transparency");
  $("dataset").textContent = facts.dataset;
  const lines = {
    "one person": `all rows of one ${facts.person.join(" or ")}`,
    neighbours: facts.neighbours,
    "at most": `ε ${facts.cap.epsilon}${facts.cap.delta ? `, δ ${facts.cap.delta}` : ""} in all`,
    "in words": facts.in_words,
    "spent so far": `ε ${facts.spent.epsilon.toFixed(3)}`,
    releases: facts.totals.map((t) => `${t.releases} by ${t.mechanisms.join(" and ")}`).join(", ") || "none",
    "data version": String(facts.data_version),
    "ledger's head": facts.head,
  };
  $("card").replaceChildren(...Object.entries(lines).flatMap(([name, text]) => [make("dt", name), make("dd", text)]));
  fill($("releases"), [["when", ""], ["mechanisms", ""], ["loss", "number"], ["receipt", ""]],
    facts.releases.map((r) => [r.time.slice(0, 16).replace("T", " "), r.mechanisms.join(", "), r.epsilon === null ? `ρ ${r.rho.toPrecision(3)}` : `ε ${r.epsilon}`, r.receipt.slice(0, 12)]));
}

// Where we are

async function go() {
  const [asked, part] = location.hash.slice(1).split("/");
  for (const section of document.querySelectorAll("main > section")) section.hidden = true;
  let page = asked, who = null;
  if (asked !== "transparency" && asked !== "collect") {
    who = await signedIn(call);
    if (!who) { $("balance").textContent = ""; return; }
    page = pageFor(who.role, asked);
  }
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash && link.hash.slice(1) === page) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  if (page === "transparency") { await card(); $("transparency").hidden = false; return; }
  if (page === "collect") { $("collect").hidden = false; await showCollect({ call, make, told }); return; }
  await balance();
  if (page === "attacks") { $("attacks").hidden = false; await showAttacks({ call, make, told, fill }, part); return; }
  if (page === "budget") { $("budget").hidden = false; $("asked").hidden = who.role === "steward"; if (who.role !== "steward") await past(); return; }
  if (page === "books") { $("books").hidden = false; await showBooks({ call, fill, told }); return; }
  if (page === "owner") { $("owner").hidden = false; await editCatalog("GET", "/v1/catalog/source"); return; }
  catalog(await call("/v1/catalog"));
  $("ask").hidden = false;
  price();
}

offerSignIn(call, told, go);
$("sql").addEventListener("input", () => { dismissed = false; complete(); soon(); });
$("check").addEventListener("click", () => editCatalog("POST", "/v1/catalog/check"));
$("save").addEventListener("click", () => editCatalog("PUT", "/v1/catalog/source"));
$("epsilon").addEventListener("input", soon);
$("go").addEventListener("click", ask);
$("sql").addEventListener("keydown", (event) => {
  if (event.key === "Escape") { dismissed = true; complete(); }
  const take = event.key === "Tab" && !event.shiftKey ? complete() : null;
  if (take) { event.preventDefault(); take(); }
});
$("sql").addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); ask(); } });
addEventListener("hashchange", go);
go();
