// The Owner page: accounts, keys, users, data, catalog, collections and the audit log. Changes take effect at once.

import { $, button, call, day, make, nameDataset, told, withWords } from "./dom.js";
import { act, careful, offerActing } from "./owner_actions.js";
import { analysts, keys, users } from "./people.js";
import { collections, done } from "./retention.js";

const PARTS = { analysts, keys, users, data, catalog, collections, done };
const EVERY = 5000; // milliseconds between two looks at what is served
const MINE = { owner: Object.keys(PARTS), steward: ["analysts", "keys", "users", "data"] };

let served = null;
let shown = { part: "analysts", role: "steward" };

export async function showOwner(part, role) {
  $("owner-part").replaceChildren(); // nobody types into what is about to be drawn anew
  await draw(part, role);
}

async function draw(part, role) {
  const mine = MINE[role] ?? [];
  const opening = { part: mine.includes(part) ? part : mine[0], role };
  shown = opening;
  for (const link of document.querySelectorAll("#owner-parts a")) {
    if (link.hash === `#owner/${shown.part}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  const serving = await call("/v1/serving");
  showServing(serving);
  const made = await PARTS[opening.part](serving, role);
  if (shown === opening) $("owner-part").replaceChildren(...made); // else another part was opened meanwhile, and may be filled in
}

export function offerOwner() {
  offerActing(() => draw(shown.part, shown.role));
  setInterval(async () => {
    if (!$("owner").hidden && !document.hidden) showServing(await call("/v1/serving").catch(() => served));
  }, EVERY);
}

// What is served

function showServing(facts) {
  if (JSON.stringify(facts) === JSON.stringify(served)) return; // who listens to the page hears news only
  served = facts;
  nameDataset(facts);
  const strip = [
    ["serves", facts.dataset],
    ["data version", `${facts.data_version}, since ${day(facts.since)} UTC`],
    ["catalog", facts.catalog || "given at the start"],
  ];
  $("serving").replaceChildren(
    ...strip.map(([name, value]) => {
      const pair = make("div");
      pair.append(make("dt", name), make("dd", value));
      return pair;
    }),
  );
  const notices = [];
  if (facts.problem)
    notices.push(["The new version cannot be served. The previous one still is.", `${facts.problem.message} ${facts.problem.next_step}`, "notice bad"]);
  else if (facts.catalog_changed) notices.push(["The catalog changed on disk.", "It will be served in a moment."]);
  if (facts.source_changed) notices.push(["The source changed on disk.", "Answers still come from the data version above, until you refresh it."]);
  $("serving-news").replaceChildren(
    ...notices.map(([head, rest, kind = "notice"]) => {
      const line = make("p", "", { class: kind });
      line.append(make("b", head), ` ${rest}`);
      return line;
    }),
  );
}

// Data

function data(serving) {
  const head = make("h3", "Refresh");
  if (!serving.source_changed && serving.newest_data_version === serving.data_version)
    return [head, make("p", "The source files have not changed, so there is nothing to refresh.")];
  const next = serving.newest_data_version + 1;
  const words = make("p", `A refresh reads the source again as data version ${next}. Budgets do not change; every query is new and is charged again.`);
  const order = make("p", "Running queries finish on the version that they started with. Later ones use the new version. No restart is needed.");
  const refresh = careful(
    "Refresh the data",
    `Create data version ${next}?`,
    () =>
      act(
        () => call("/v1/refresh", { method: "POST" }),
        ({ before, version }) => `Data version ${version} is served; before, it was ${before}.`,
        "Reading the source",
      ),
    {},
  );
  return [head, words, order, refresh];
}

// Catalog

async function catalog() {
  const facts = await call("/v1/catalog/source");
  const about = make("label", "discreet.toml: public facts about the data. Do not copy values from the protected rows.", { for: "toml" });
  const text = make("textarea", facts.text, { id: "toml", rows: 22, spellcheck: "false" });
  const state = make("p", facts.problem ? told(facts.problem) : "", { class: "told", role: "alert", id: "catalog-told" });
  const good = make("p", "", { role: "status", id: "catalog-said" });
  const warnings = make("ul", "", { id: "warnings" });
  const list = (given) => warnings.replaceChildren(...given.map((warning) => make("li", warning)));
  list(facts.warnings);
  const send = async (method, path) => {
    state.textContent = good.textContent = "";
    try {
      const answer = await withWords(good, "Reading the catalog", () => call(path, { method, body: { text: text.value } }));
      list(answer.warnings);
      if (answer.serving) showServing(answer.serving);
      good.textContent = !answer.serving ? "The catalog is valid." : answer.serving.problem ? "" : "Saved, and served.";
      state.textContent = answer.serving?.problem ? `Saved, but not served: ${told(answer.serving.problem)}` : "";
    } catch (error) {
      state.textContent = told(error);
    }
  };
  const choices = make("div", "", { class: "price" });
  choices.append(
    button("Check", () => send("POST", "/v1/catalog/check"), { id: "check", class: "plain" }),
    button("Save and serve", () => send("PUT", "/v1/catalog/source"), { id: "save" }),
  );
  return [about, text, choices, state, good, warnings];
}
