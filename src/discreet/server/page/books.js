// The books, for the owner and auditors: what happened, who did it, and whether it adds up.
const $ = (id) => document.getElementById(id);

const facts = (body) => Object.entries(body).filter(([name]) => name !== "by" && name !== "proof").map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(" · ");

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
