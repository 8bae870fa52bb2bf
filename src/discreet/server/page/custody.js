// Of the Owner page: what is collected and how long it is kept, and who did what.
import { act, careful } from "./acting.js";
import { accountName, call, day, fill, make, many, scrolling } from "./dom.js";

export async function collections() {
  const { collections: all, unsound } = await call("/v1/collections");
  const about = make("p", "Devices send randomized reports; this server counts them. A closed collection takes no more of them; a deleted one leaves nothing.");
  if (!all.length && !unsound.length)
    return [about, make("p", "Nothing is collected. `discreet collect new` writes a task, and `discreet collect publish` begins it.", { class: "quiet" })];
  const place = (name) => `/v1/tasks/${encodeURIComponent(name)}`;
  const remove = (name) =>
    careful("Delete", "With all that was collected?", () =>
      act(() => call(place(name), { method: "DELETE" }), `${name} is deleted, with all that was collected.`),
    );
  const close = (name) =>
    careful("Close", "Take no more reports?", () => act(() => call(`${place(name)}/closed`, { method: "PUT" }), `${name} takes no more reports.`));
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
      ["a report gives away", ""],
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
      ...unsound.map((name) => [name, "—", "—", "cannot be carried out", "—", remove(name)]),
    ],
  );
  return [about, scrolling(table)];
}

// Entries of the books that somebody made, in words; questions have the Budget page.

const WORDS = {
  cap: (body) => `set the cap of ${accountName(body.account)} to ε ${amount(body.epsilon)}${body.renews ? `, ${body.renews}` : ""}`,
  freeze: (body) => `froze ${accountName(body.account)}`,
  thaw: (body) => `thawed ${accountName(body.account)}`,
  key: (body) => `made a key for ${body.name}, ${body.role}`,
  revoke: (body) => `revoked the key ${body.key}`,
  user: (body) => (body.role ? `let the proxy's user ${body.user} in as ${body.role}` : `took the role of the proxy's user ${body.user} away`),
  refresh: (body) => `began data version ${body.version}`,
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
  more.append(make("a", "the books have all of them", { href: "#books" }), ".");
  return [scrolling(table), more];
}
