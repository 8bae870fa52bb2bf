// The books, for the owner and auditors: what happened, who did it, and whether it adds up.
import { $, call, day, fill, told, withWords } from "./dom.js";

// For machines, not for people: where it came from stands in a column of its own, and proofs and salts say nothing.
const HIDDEN = new Set(["by", "proof", "salt"]);
const shown = (value) => (typeof value === "object" ? JSON.stringify(value) : /^[0-9a-f]{64}$/.test(value) ? `${value.slice(0, 12)}…` : value);
const facts = (body) =>
  Object.entries(body)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) => `${name} ${shown(value)}`)
    .join(" · ");

export async function showBooks() {
  $("books-told").textContent = "";
  const { entries, head } = await call("/v1/ledger");
  $("books-head").textContent = `the last ${entries.length} of ${head} entries`;
  fill(
    $("books-entries"),
    [
      ["entry", "number"],
      ["when", ""],
      ["what", ""],
      ["by", ""],
      ["about", "text"],
    ],
    entries.reverse().map((entry) => [entry.seq, day(entry.time), entry.kind, entry.body.by ?? "", facts(entry.body)]),
  );
  $("books-verify").onclick = async () => {
    $("books-told").textContent = "Reading all of it …";
    try {
      const found = await withWords($("books-told"), "Reading all of it", () => call("/v1/ledger/verification"));
      $("books-told").textContent = found.sound ? `Sound: ${found.entries} entries, head ${found.head.slice(0, 16)}` : found.problems.join("\n");
    } catch (error) {
      $("books-told").textContent = told(error);
    }
  };
}
