// Actions of the Owner page: run one, show its result, and refresh the page.
import { $, button, make, told, withWords } from "./dom.js";

let showAgain = async () => {};

// `show` is called after everything that was done.
export function offerActing(show) {
  showAgain = show;
  addEventListener("hashchange", clear);
}

function clear() {
  $("owner-told").textContent = "";
  $("owner-said").textContent = "";
}

// What was done, or null after a refusal, which stays until the next thing is done. `said` is told afterwards, `words` meanwhile.
export async function act(work, said, words = "Working") {
  clear();
  try {
    const facts = await withWords($("owner-said"), words, work);
    await showAgain();
    $("owner-said").textContent = typeof said === "function" ? said(facts) : said;
    return facts;
  } catch (error) {
    $("owner-told").textContent = told(error);
    return null;
  }
}

// A button for what cannot be undone: it asks once more, in its place.
export function careful(text, question, work, attributes = { class: "plain small" }) {
  const place = make("span", "", { class: "careful" });
  const rest = () => place.replaceChildren(button(text, ask, attributes));
  const ask = () => {
    const keep = button("Not now", rest, { class: "plain small" });
    place.replaceChildren(make("span", question), button(text, work, { class: "small bad" }), keep);
    keep.focus();
  };
  rest();
  return place;
}
