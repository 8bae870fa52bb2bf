// The ledger, for the owner and auditors: its entries, with actors, and its verification.
import { $, accountName, call, day, fill, mechanismWords, told, withWords } from "./dom.js";

// For machines, not for people: where it came from stands in a column of its own, and proofs and salts say nothing.
const HIDDEN = new Set(["by", "proof", "salt", "format", "prices", "request", "question", "sha256"]);
const NAMES = { accounts: "charged to", analyst: "asked by", releases: "by", label: "", of: "repeats entry" };
const cut = (text) => (text.length > 200 ? `${text.slice(0, 200)} …` : text);

function shown(name, value) {
  if (name === "accounts") return value.map(accountName).join(" and ") || "no account: asked before";
  if (name === "releases") return mechanismWords(value.map((release) => release.mechanism));
  if (name === "analyst") return value ?? "the owner";
  if (value !== null && typeof value === "object") return facts(value);
  const text = String(value ?? "nothing").replace(/[0-9a-f]{40,}/g, (hash) => `${hash.slice(0, 12)}…`);
  return cut(/^\d{4}-\d\d-\d\dT/.test(text) ? day(text) : text);
}

const facts = (body) =>
  Object.entries(body)
    .filter(([name, value]) => !HIDDEN.has(name) && value !== "" && value !== false && !(Array.isArray(value) && name !== "accounts" && !value.length))
    .map(([name, value]) => `${NAMES[name] ?? name.replaceAll("_", " ")} ${shown(name, value)}`.trim())
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
    $("books-told").textContent = "Verifying the ledger …";
    try {
      const found = await withWords($("books-told"), "Verifying the ledger", () => call("/v1/ledger/verification"));
      $("books-told").textContent = found.sound ? `Valid: ${found.entries} entries, head ${found.head.slice(0, 16)}` : found.problems.join("\n");
    } catch (error) {
      $("books-told").textContent = told(error);
    }
  };
}
