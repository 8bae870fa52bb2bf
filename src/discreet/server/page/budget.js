// Budget: remaining and spent, by query and analyst, and what repeated queries saved.
import { drawBurn, redrawn } from "./chart.js";
import { $, accountName, call, capText, day, epsilonText, fill, make, many } from "./dom.js";
import { linkOf } from "./questions.js";

const PAGE = 100,
  LONG = 160;
let accounts = [];

export const left = ({ cap, spent }) => Math.max(0, cap.epsilon - spent.epsilon);
const own = (role) => (role === "analyst" ? accounts.at(-1) : accounts[0]);
export const amount = (value) => (value >= 0.005 || value === 0 ? value.toFixed(2) : value.toPrecision(1));

export async function balance() {
  const facts = await call("/v1/budget");
  accounts = facts.accounts;
  const mine = own(facts.role);
  $("balance").replaceChildren(bar(mine), make("span", mine.frozen ? "frozen" : `${amount(left(mine))} left`, { title: `of ${capText(mine)}` }));
  return facts.role;
}

export function bar(account) {
  const track = make("span", "", {
    class: "gauge",
    role: "meter",
    "aria-label": `left of ${account.account}`,
    "aria-valuemin": 0,
    "aria-valuemax": account.cap.epsilon,
    "aria-valuenow": left(account),
  });
  const rest = make("i");
  rest.style.width = `${(100 * left(account)) / account.cap.epsilon}%`;
  track.append(rest);
  return track;
}

export async function showBudget(role) {
  $("accounts").replaceChildren(
    ...accounts.map((account) => {
      const line = make("div", "", { class: "account" });
      const words = `${amount(left(account))} left`,
        of = `of ${capText(account)}${account.unit === "edge" ? ", about one edge and not a person" : ""}${account.frozen ? ", frozen" : ""}`;
      line.append(make("b", accountName(account.account)), bar(account), make("span", words, { class: "amount" }), make("span", of, { class: "quiet" }));
      if (account.renewal) line.append(make("span", renewing(account), { class: "quiet renewing" }));
      return line;
    }),
  );
  $("asked").hidden = role === "steward";
  if (role !== "steward") await past(own(role), role !== "analyst");
}

export const renewing = ({ renewal }) =>
  `renews on ${renewal.next} (UTC) · ε ${amount(renewal.lifetime_spent.epsilon)} spent in all so far · a year allows ${epsilonText(renewal.a_year.epsilon)}`;

async function past(account, named, known = []) {
  const earlier = known.length ? `&before=${known.at(-1).number}` : "";
  const page = (await call(`/v1/history?limit=${PAGE}${earlier}`)).queries,
    questions = [...known, ...page];
  $("earlier").hidden = page.length < PAGE;
  $("earlier").onclick = () => past(account, named, questions);
  const free = questions.filter((one) => one.replayed),
    saved = free.filter((one) => one.unit !== "edge").reduce((sum, one) => sum + (one.epsilon ?? 0), 0);
  $("asked-says").textContent = questions.length
    ? `${many(questions.length - free.length, "query", "queries")} charged, ${free.length ? `${free.length} repeated for free, which saved ε ${amount(saved)}` : "none repeated yet"}.`
    : "No queries yet. They appear here with their cost.";
  const columns = [["when", ""], ...(named ? [["who", ""]] : []), ["query", "text"], ["cost", "number"]];
  fill(
    $("history"),
    columns,
    questions.map((one) => [day(one.time), ...(named ? [one.analyst ?? "owner"] : []), what(one), price(one)]),
  );
  redrawn($("burn"), () => burn(questions, account));
}

const price = (one) =>
  one.replayed ? "free" : one.epsilon === null ? `ρ\u00a0${one.rho.toPrecision(3)}` : epsilonText(one.epsilon) + (one.unit === "edge" ? " for an edge" : "");

// The text, as a link to the question; a long one is folded. What the system asked has a name, which is no SQL.
function what(one) {
  if (!/^\s*(select|with|\()/i.test(one.sql ?? "")) return make("span", one.sql || "a query without text", { class: "named" });
  const text = one.sql.replace(/\s+/g, " ").trim();
  const link = (words) => make("a", words, { href: linkOf({ sql: one.sql, epsilon: one.epsilon ?? 0.5 }), class: "sql" });
  if (text.length <= LONG) return link(text);
  const folded = make("details"),
    head = make("summary", `${text.slice(0, LONG)} …`, { class: "sql" });
  folded.append(head, link(text));
  return folded;
}

// Backwards from what is left now, charge by charge, added up plainly; of this period, where the cap renews.
function burn(newestFirst, account) {
  const steps = [{ at: Date.now(), left: left(account), label: "now" }],
    begun = account.renewal?.begun ?? "";
  for (const one of newestFirst.filter((each) => each.paid_by.includes(account.account) && each.time >= begun)) {
    const now = steps[0].left,
      cost = one.epsilon ?? Math.sqrt(2 * one.rho),
      at = Date.parse(one.time);
    steps.unshift({ at, left: now, label: day(one.time) });
    steps.unshift({ at, left: Math.min(account.cap.epsilon, now + cost), label: day(one.time) });
  }
  if (steps.length > 1) drawBurn($("burn"), { steps, cap: account.cap.epsilon });
}
