// The transparency card: one page that a journalist understands and a printer prints.
import { $, call, capText, day, epsilonText, fill, make, many, mechanismWords, nameDataset, personOf, short } from "./dom.js";

const SECRET = {
  "add-remove": "whether a person is in the data at all",
  "replace-one": "what the data says about a person",
};

// How often somebody with even odds can guess right, rounded against ourselves.
const chance = ({ epsilon, delta }) => Math.min(100, Math.ceil((100 * (1 + delta * Math.exp(-epsilon))) / (1 + Math.exp(-epsilon))));

// What the budget means: fixed once and for all, or anew in each period, and then also what all of them come to.
function promise({ cap, in_words, renewal }) {
  const per = renewal ? `anew for each ${renewal.every}` : "beforehand";
  const fixed = `Every answer uses up some of a budget that is fixed ${per}, and when it is used up, answers stop`;
  if (!renewal) return [`${fixed}. All answers there can ever be stay below ε ${short(cap.epsilon)}: after all of them, ${in_words}.`];
  const { every, most_in_a_year: most, a_year: year } = renewal;
  return [
    `${fixed} until the next ${every} begins, on ${renewal.next} (UTC). All answers that are paid for in one ${every} stay below ε ${short(cap.epsilon)}: after them alone, ${in_words}.`,
    `The ${every}s add up. After k of them the promise is k × ε ${short(cap.epsilon)}, and no longer ε ${short(cap.epsilon)}: in a year, in which ${many(most, every)} can begin, up to ${epsilonText(year.epsilon)}, at which someone with even odds may guess right ${chance(year)} % of the time.`,
  ];
}

const lossText = ({ epsilon, delta }) => `${epsilonText(epsilon)}${delta ? `, δ ${delta.toPrecision(2)}` : ""}`;

function story(facts, answers) {
  const secret = SECRET[facts.neighbours] ?? "what the data says about one person";
  const who = facts.person.map(personOf).join(" or ");
  const used = facts.renewal?.lifetime_spent ?? facts.spent;
  const share = facts.renewal ? `in all ${facts.renewal.every}s together` : `${Math.ceil((100 * used.epsilon) / facts.cap.epsilon)} % of the budget`;
  return [
    `Answers about this data contain random noise: enough that no one can be sure from them ${secret}, and little enough that the numbers stay useful for many people together. One person is ${who}.`,
    ...promise(facts),
    answers
      ? `So far ${many(answers, "answer was", "answers were")} given, which used ε ${short(used.epsilon)}, ${share}: by now someone with even odds guesses right at most ${chance(used)} % of the time ${secret}, whatever else they know.`
      : "No answer was given so far.",
    ...facts.edges.map(
      ({ edges, cap, spent, renewal }) =>
        `Beside all this, answers about the edges in “${edges}” protect one of them at a time, and not a person: at most ε ${short(cap.epsilon)}${renewal ? ` each ${renewal.every}` : ""}, of which ε ${short(spent.epsilon)} is used${renewal ? `, and ε ${short(renewal.lifetime_spent.epsilon)} in all` : ""}. Somebody with k edges is protected k times less, at k × ε. It is no part of the budget above.`,
    ),
  ];
}

export async function showCard() {
  const facts = await call("/v1/transparency");
  const answers = facts.totals.reduce((sum, total) => sum + total.releases, 0),
    share = facts.spent.epsilon / facts.cap.epsilon;
  nameDataset(facts);
  $("card-title").textContent = `How the people in “${facts.dataset}” are protected`;
  $("card-says").replaceChildren(...story(facts, answers).map((text) => make("p", text)));
  $("card-gauge").firstElementChild.style.width = `${100 * Math.min(1, share)}%`;
  $("card-gauge").setAttribute("aria-valuenow", share.toFixed(2));
  $("card-whole").textContent = facts.renewal ? `the budget of this ${facts.renewal.every}` : "the whole budget";
  const lines = {
    protects: `${facts.person.map(personOf).join(" or ")} (${facts.neighbours})`,
    "at most": facts.renewal ? capText(facts) : `${capText(facts)} for all answers together`,
    ...(facts.renewal
      ? {
          renews: `on ${facts.renewal.next} (UTC)`,
          "in a year": `at most ${lossText(facts.renewal.a_year)}`,
          "used in all": lossText(facts.renewal.lifetime_spent),
        }
      : {}),
    [facts.renewal ? `used this ${facts.renewal.every}` : "used"]: lossText(facts.spent),
    answers: facts.totals.map((total) => `${total.releases} by ${mechanismWords(total.mechanisms)}`).join(", ") || "none",
    ...(facts.published.length ? { published: facts.published.map((one) => one.name).join(", ") } : {}),
    ...(facts.invariants.length ? { "exact, beside the promise": facts.invariants.join("; ") } : {}),
    ...Object.fromEntries(
      facts.edges.map((one) => [
        `for an edge of ${one.edges}`,
        `${lossText(one.spent)} of ${lossText(one.cap)}${one.renewal ? ` each ${one.renewal.every}, ${lossText(one.renewal.lifetime_spent)} in all` : ""}; k edges: k times that`,
      ]),
    ),
    "data version": String(facts.data_version),
    "head of the ledger": facts.head,
  };
  $("card").replaceChildren(...Object.entries(lines).flatMap(([name, text]) => [make("dt", name), make("dd", text)]));
  fill(
    $("releases"),
    [
      ["when", ""],
      ["by", ""],
      ["price", "number"],
      ["receipt", ""],
    ],
    facts.releases.map((one) => [
      day(one.time),
      mechanismWords(one.mechanisms),
      one.epsilon === null ? `ρ ${one.rho.toPrecision(3)}` : epsilonText(one.epsilon) + (one.unit === "edge" ? " for an edge" : ""),
      make("code", one.receipt.slice(0, 12)),
    ]),
  );
  $("releases-part").hidden = !facts.releases.length;
}

export const offerPrinting = () => $("card-print").addEventListener("click", () => print());
