// Of the Owner page: analysts with their accounts, keys, and the users whom a proxy signs in.

import { amount, bar, left, renewing } from "./budget.js";
import { $, accountName, button, call, capText, day, fill, make, scrolling } from "./dom.js";
import { chosen, field, form } from "./forms.js";
import { act, careful } from "./owner_actions.js";

const ROLES = { owner: ["analyst", "steward", "auditor", "metrics", "shuffler", "owner"], steward: ["analyst", "auditor", "metrics"] };
const RENEWS = { all: null, "each day": "daily", "each week": "weekly", "each month": "monthly", "each quarter": "quarterly", "each year": "yearly" };
const small = { class: "plain small" };

const of = (name) => encodeURIComponent(name);
const readAccounts = async () => (await call("/v1/budget")).accounts;

const capField = (value = "") => field("may spend ε", { inputmode: "decimal", required: "", size: 6, value, pattern: "[0-9]*[.]?[0-9]+" });

// A new key is shown once, until another part of the page is opened.
async function showKey(work, name) {
  const facts = await act(work, `A key for ${name}. It is shown only once: copy it now.`);
  if (!facts) return;
  const box = make("div", "", { class: "new-key" }),
    key = make("code", facts.key, { id: "new-key", tabindex: 0 });
  const copy = button("Copy", async () => {
    await navigator.clipboard.writeText(facts.key);
    copy.textContent = "Copied";
  });
  box.append(key, copy);
  $("owner-part").prepend(box);
}

// Analysts

function account(one) {
  const line = make("div", "", { class: "account managed" }),
    choices = make("span", "", { class: "choices" });
  const isDeclared = one.account === "dataset" || one.unit === "edge";
  const limit = `of ${capText(one)}`;
  line.append(
    make("b", accountName(one.account)),
    bar(one),
    make("span", `${amount(left(one))} left`, { class: "amount" }),
    make("span", one.frozen ? `${limit}, frozen` : limit, { class: one.frozen ? "frozen" : "quiet" }),
    choices,
  );
  if (one.renewal) line.append(make("span", renewing(one), { class: "quiet renewing" }));
  if (isDeclared) choices.append(make("span", "its cap is in the catalog", { class: "quiet" }));
  else
    choices.append(
      button("Cap", () => change(), { ...small, "aria-label": `the cap of ${one.account}` }),
      freezing(one),
    );
  const change = () => {
    const cap = capField(one.cap.epsilon),
      time = chosen("in", Object.keys(RENEWS));
    time.input.value = one.renewal ? `each ${one.renewal.every}` : "all";
    const body = () => ({ epsilon: Number(cap.input.value), delta: one.cap.delta, renews: RENEWS[time.input.value] });
    const [edit] = form("", [cap, time], "Set the cap", () =>
      act(
        () => call(`/v1/analysts/${of(one.account)}`, { method: "PUT", body: body() }),
        `${one.account} may spend ε ${cap.input.value} in ${time.input.value}.`,
      ),
    );
    edit.append(button("Keep", () => edit.remove(), small));
    line.querySelector("form")?.remove();
    line.append(edit);
    cap.input.select();
  };
  return line;
}

function freezing(one) {
  const set = (frozen) => call(`/v1/analysts/${of(one.account)}/frozen?frozen=${frozen}`, { method: "PUT" });
  if (one.frozen) return button("Unfreeze", () => act(() => set(false), `${one.account} can run queries again.`), small);
  return button("Freeze", () => act(() => set(true), `${one.account} is frozen: its queries are refused until you unfreeze it.`), small);
}

export async function analysts() {
  const accounts = await readAccounts();
  const name = field("name", { required: "", maxlength: 200, size: 14 }),
    cap = capField();
  const add = form("Add an analyst", [name, cap], "Add and create a key", () =>
    showKey(
      () =>
        call("/v1/keys", { method: "POST", body: { name: name.input.value.trim(), cap: { epsilon: Number(cap.input.value), delta: accounts[0].cap.delta } } }),
      name.input.value.trim(),
    ),
  );
  return [make("h3", "Remaining budgets"), ...accounts.map(account), ...add];
}

// Keys

const isUsed = (key) => !key.revoked && new Date(key.expires) > new Date();

function keyTable(keys, role) {
  const table = make("table");
  const choices = (key) => {
    const box = make("span", "", { class: "choices" });
    if (isUsed(key) && ROLES[role].includes(key.role))
      box.append(
        careful("Rotate", "The old key stops working.", () => showKey(() => call(`/v1/keys/${key.id}/rotation`, { method: "POST", body: {} }), key.name)),
        careful("Revoke", "It stops working.", () =>
          act(() => call(`/v1/keys/${key.id}`, { method: "DELETE" }), `The key ${key.id} of ${key.name} is revoked.`),
        ),
      );
    return box;
  };
  const state = (key) => (key.revoked ? "revoked" : isUsed(key) ? `until ${key.expires.slice(0, 10)}` : `expired ${key.expires.slice(0, 10)}`);
  fill(
    table,
    [
      ["holder", ""],
      ["role", ""],
      ["number", ""],
      ["made", ""],
      ["good", ""],
      ["change", ""],
    ],
    keys.map((key) => [key.name, key.role, make("code", key.id), day(key.created), state(key), choices(key)]),
  );
  return scrolling(table);
}

export async function keys(_, role) {
  const [{ keys: all }, accounts] = [await call("/v1/keys"), await readAccounts()];
  const used = all.filter(isUsed).reverse(),
    ended = all.filter((key) => !isUsed(key)).reverse();
  const name = field("for", { required: "", maxlength: 200, size: 14 }),
    kind = chosen("role", ROLES[role]),
    days = field("days", { type: "number", min: 1, max: 3650, value: 90, required: "" }),
    cap = capField();
  const needsCap = () => kind.input.value === "analyst" && !accounts.some((one) => one.account === name.input.value.trim());
  const adjust = () => {
    cap.label.hidden = cap.input.disabled = !needsCap();
  };
  for (const input of [name.input, kind.input]) input.addEventListener("input", adjust);
  adjust();
  const create = form("New key", [name, kind, days, cap], "Create key", () => {
    const body = { name: name.input.value.trim(), role: kind.input.value, days: Number(days.input.value) };
    if (needsCap()) body.cap = { epsilon: Number(cap.input.value), delta: accounts[0].cap.delta };
    showKey(() => call("/v1/keys", { method: "POST", body }), body.name);
  });
  const made = [make("h3", "Keys in use"), keyTable(used, role), ...create];
  if (ended.length) {
    const folded = make("details");
    folded.append(make("summary", `${ended.length} revoked or expired`), keyTable(ended, role));
    made.push(folded);
  }
  return made;
}

// Users of the proxy

export async function users(_, role) {
  const { users: all } = await call("/v1/users");
  const about = make("p", "Users whom the proxy signs in and their roles. Other users of the proxy have no role.");
  const table = make("table");
  const remove = ({ name, role: has }) =>
    ROLES[role].includes(has)
      ? careful("Remove", "Remove the role?", () => act(() => call(`/v1/users/${of(name)}`, { method: "DELETE" }), `${name} has no role any more.`))
      : "";
  fill(
    table,
    [
      ["user", ""],
      ["role", ""],
      ["change", ""],
    ],
    all.map((one) => [one.name, one.role, remove(one)]),
  );
  const name = field("name, as the proxy sends it", { required: "", maxlength: 200, size: 20 }),
    kind = chosen("role", ROLES[role]);
  const add = form("Add a user", [name, kind], "Give the role", () => {
    const who = name.input.value.trim();
    act(() => call(`/v1/users/${of(who)}`, { method: "PUT", body: { role: kind.input.value } }), `${who} has the role ${kind.input.value}.`);
  });
  return [about, all.length ? scrolling(table) : make("p", "Nobody comes in through a proxy yet.", { class: "quiet" }), ...add];
}
