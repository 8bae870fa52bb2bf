// Parts of the Owner page: collections with their retention, and the audit log.

import { accountName, call, day, fill, make, many, scrolling } from "./dom.js";
import { chosen, field, form } from "./forms.js";
import { act, careful } from "./owner_actions.js";

export async function collections() {
  const { collections: all, unsound } = await call("/v1/collections");
  const about = make(
    "p",
    "Devices send randomized reports; this server counts them. A closed collection accepts no more reports; a deleted one keeps nothing.",
  );
  const begin = beginning();
  if (!all.length && !unsound.length) return [about, make("p", "No collections yet.", { class: "quiet" }), ...begin];
  const place = (name) => `/v1/tasks/${encodeURIComponent(name)}`;
  const remove = (name) =>
    careful("Delete", "Delete all collected reports?", () =>
      act(() => call(place(name), { method: "DELETE" }), `${name} is deleted, with all collected reports.`),
    );
  const close = (name) => careful("Close", "Accept no more reports?", () => act(() => call(`${place(name)}/closed`, { method: "PUT" }), `${name} is closed.`));
  const choices = (one) => {
    const box = make("span", "", { class: "choices" });
    box.append(...(one.state === "open" ? [close(one.name)] : []), remove(one.name));
    return box;
  };
  const table = make("table");
  fill(
    table,
    [
      ["collection", ""],
      ["of", ""],
      ["ε of a report", ""],
      ["state", ""],
      ["kept", ""],
      ["change", ""],
    ],
    [
      ...all.map((one) => [
        one.name,
        one.kind,
        `ε ${one.epsilon}`,
        one.state,
        one.expires ? `until ${day(new Date(1000 * one.expires).toISOString())}` : "until deleted",
        choices(one),
      ]),
      ...unsound.map((name) => [name, "—", "—", "invalid task", "—", remove(name)]),
    ],
  );
  return [about, scrolling(table), ...begin];
}

const ASKS = { "which of these": "values, with commas between", "a number": "lowest, highest" };

const BOUNDS = "\\s*-?[0-9]*[.]?[0-9]+\\s*,\\s*-?[0-9]*[.]?[0-9]+\\s*";

// The usual questions, randomized as it is best; `discreet collect new` writes all others.
function beginning() {
  const name = field("name", { required: "", maxlength: 200, size: 14 }),
    kind = chosen("asks for", Object.keys(ASKS)),
    among = field(ASKS["which of these"], { required: "", size: 24 }),
    epsilon = field("ε of a report", { inputmode: "decimal", required: "", size: 6, pattern: "[0-9]*[.]?[0-9]+" }),
    days = field("kept for days", { type: "number", min: 1, max: 36500, value: 90, required: "" });
  kind.input.addEventListener("input", () => {
    among.label.firstChild.data = ASKS[kind.input.value];
    among.input.pattern = kind.input.value === "a number" ? BOUNDS : ".*";
  });
  return form("New collection", [name, kind, among, epsilon, days], "Create collection", () => {
    const parts = among.input.value.split(",").map((part) => part.trim()),
      asked = kind.input.value === "a number" ? { between: parts.map(Number) } : { values: parts.filter(Boolean) };
    const asks = { name: name.input.value.trim(), epsilon: Number(epsilon.input.value), ...asked };
    act(
      () => call("/v1/tasks", { method: "POST", body: { asks, retention_days: Number(days.input.value) } }),
      `${asks.name} is open: devices find it on the page Collect, and at /v1/tasks.`,
    );
  });
}

// Entries of the books that somebody made, in words; questions have the Budget page.

const WORDS = {
  cap: (body) => `set the cap of ${accountName(body.account)} to ε ${amount(body.epsilon)}${body.renews ? `, ${body.renews}` : ""}`,
  freeze: (body) => `froze ${accountName(body.account)}`,
  thaw: (body) => `thawed ${accountName(body.account)}`,
  key: (body) => `created a key for ${body.name}, ${body.role}`,
  revoke: (body) => `revoked the key ${body.key}`,
  user: (body) => (body.role ? `gave the proxy user ${body.user} the role ${body.role}` : `removed the role of the proxy user ${body.user}`),
  refresh: (body) => `created data version ${body.version}`,
  catalog: (body) => `saved the catalog ${body.sha256.slice(0, 12)}`,
};
const amount = (fraction) => {
  const [above, below = 1] = String(fraction).split("/").map(Number);
  return Number((above / below).toPrecision(4));
};

export async function done() {
  const [{ entries }, { keys }] = [await call("/v1/ledger?last=500"), await call("/v1/keys")];
  const holders = new Map(keys.map((key) => [`key ${key.id}`, `${key.name}, ${key.role}`]));
  const told = entries.filter((entry) => WORDS[entry.kind] && entry.body.by).reverse();
  const table = make("table", "", { id: "done" });
  fill(
    table,
    [
      ["when", ""],
      ["who", ""],
      ["what", "text"],
    ],
    told.map((entry) => [day(entry.time), holders.get(entry.body.by) ?? entry.body.by, WORDS[entry.kind](entry.body)]),
  );
  const more = make("p", `${many(told.length, "act")} among the last ${many(entries.length, "entry", "entries")}; `, { class: "quiet" });
  more.append(make("a", "the ledger has all entries", { href: "#books" }), ".");
  return [scrolling(table), more];
}
