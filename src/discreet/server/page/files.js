// Files to take away: a button for each, which asks for it when it is pressed.
import { button, make, told, withWords } from "./dom.js";

// file: what it is called on disk; ask: the response that it comes in. `said` hears that it takes time, `refused` a refusal.
export function download(file, name, about, ask, { said = make("span"), refused }) {
  const line = make("li");
  const fetched = async () => {
    refused.textContent = "";
    try {
      const url = URL.createObjectURL(await withWords(said, `Making ${file}`, async () => (await ask()).blob()));
      make("a", "", { download: file, href: url }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    } catch (error) {
      refused.textContent = told(error);
    }
  };
  line.append(button(name, fetched, { class: "plain" }), " ", make("span", about, { class: "quiet" }));
  return line;
}
