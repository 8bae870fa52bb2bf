// Where we are: which part of the page is shown, and for whom. The page asks the same API as everybody else.
import { offerAsking, showAsk } from "./ask.js";
import { showAttacks } from "./attacks.js";
import { balance, showBudget } from "./budget.js";
import { offerPrinting, showCard } from "./card.js";
import { showCollect } from "./collect.js";
import { $ } from "./dom.js";
import { showBooks } from "./ledger_page.js";
import { offerOwner, showOwner } from "./owner.js";
import { offerPublishing, showPublish } from "./publish.js";
import { followLink, offerSignIn, pageFor, signedIn } from "./signin.js";

const PUBLIC = ["transparency", "collect"];
const TITLES = {
  ask: "Ask",
  budget: "Budget",
  collect: "Collect",
  attacks: "Attacks",
  publish: "Publish",
  transparency: "Transparency",
  books: "Books",
  owner: "Owner",
};

let turn = 0;

async function go() {
  const mine = ++turn,
    isGone = () => mine !== turn; // somebody has moved on meanwhile, and two pages would be shown
  await followLink();
  const [path, link] = location.hash.slice(1).split("?");
  const [first, part] = path.split("/"),
    saved = first === "saved" ? part : null,
    asked = saved ? "ask" : first;
  for (const section of document.querySelectorAll("main > section")) section.hidden = true;
  const who = await signedIn({ needed: !PUBLIC.includes(asked) });
  if (isGone()) return;
  if (!who && !PUBLIC.includes(asked)) {
    $("balance").replaceChildren();
    return;
  }
  const page = PUBLIC.includes(asked) ? asked : pageFor(who.role, asked);
  for (const tab of document.querySelectorAll("nav a")) {
    if (tab.hash.slice(1) === page) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  document.title = `${TITLES[page] ?? page} · Discreet`;
  const role = who && ["owner", "steward", "analyst", "auditor"].includes(who.role) ? await balance() : null;
  if (isGone()) return;
  if (page === "ask") {
    await showAsk(link, saved, isGone);
    return;
  }
  $(page).hidden = false;
  if (page === "budget") await showBudget(role);
  if (page === "collect") await showCollect();
  if (page === "attacks") await showAttacks(part);
  if (page === "publish") await showPublish(part, role);
  if (page === "transparency") await showCard();
  if (page === "books") await showBooks();
  if (page === "owner") await showOwner(part, role);
}

// A session that ends while a page is opened is asked for anew.
const arrive = () =>
  go().catch((error) => {
    if (error.status !== 401) throw error;
    return go();
  });

offerSignIn(arrive);
offerAsking();
offerOwner();
offerPublishing();
offerPrinting();
addEventListener("hashchange", arrive);
arrive();
