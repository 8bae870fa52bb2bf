// The books, for the owner and auditors: what happened, who did it, and whether it adds up.
const $ = (id) => document.getElementById(id);

// For machines, not for people: where it came from stands in a column of its own, and proofs and salts say nothing.
const HIDDEN = new Set(["by", "proof", "salt"]);
const shown = (value) => (typeof value === "object" ? JSON.stringify(value) : /^[0-9a-f]{64}$/.test(value) ? `${value.slice(0, 12)}…` : value);
const facts = (body) => Object.entries(body).filter(([name]) => !HIDDEN.has(name)).map(([name, value]) => `${name} ${shown(value)}`).join(" · ");

export async function showBooks({ call, fill, told }) {
  $("books-told").textContent = "";
  const { entries, head } = await call("/v1/ledger");
  $("books-head").textContent = `the last ${entries.length} of ${head} entries`;
  fill($("books-entries"), [["entry", "number"], ["when", ""], ["what", ""], ["by", ""], ["about", "text"]],
    entries.reverse().map((entry) => [entry.seq, entry.time.slice(0, 16).replace("T", " "), entry.kind, entry.body.by ?? "", facts(entry.body)]));
  $("books-verify").onclick = async () => {
    $("books-told").textContent = "Reading all of it …";
    try {
      const found = await call("/v1/ledger/verification");
      $("books-told").textContent = found.sound ? `Sound: ${found.entries} entries, head ${found.head.slice(0, 16)}` : found.problems.join("\n");
    } catch (error) {
      $("books-told").textContent = told(error);
    }
  };
}
