// The transparency card: one page that a journalist understands and a printer prints.
import { $, call, day, epsilonText, fill, make, many, nameDataset, personOf, short } from "./dom.js";

const SECRET = {
  "add-remove": "whether somebody is in the data at all",
  "replace-one": "what the data says about somebody",
};

// How often somebody with even odds can guess right, rounded against ourselves.
const chance = ({ epsilon, delta }) => Math.min(100, Math.ceil((100 * (1 + delta * Math.exp(-epsilon))) / (1 + Math.exp(-epsilon))));

function story(facts, answers) {
  const secret = SECRET[facts.neighbours] ?? "what the data says about one person";
  const who = facts.person.map(personOf).join(" or ");
  const share = `${Math.ceil((100 * facts.spent.epsilon) / facts.cap.epsilon)} % of the budget`;
  return [
    `Whoever asks about this data gets numbers that were blurred on purpose: enough that nobody can be sure from them ${secret}, and little enough that the numbers stay useful for many people together. One person is ${who}.`,
    `Every answer uses up some of a budget that was fixed beforehand, and when it is used up, answers stop. All answers there can ever be stay below ε ${short(facts.cap.epsilon)}: after all of them, ${facts.in_words}.`,
    answers
      ? `So far ${many(answers, "answer was", "answers were")} given, which used ε ${short(facts.spent.epsilon)}, ${share}: by now someone with even odds guesses right at most ${chance(facts.spent)} % of the time ${secret}, whatever else they know.`
      : "No answer was given so far.",
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
  const lines = {
    protects: `${facts.person.map(personOf).join(" or ")} (${facts.neighbours})`,
    "at most": `ε ${facts.cap.epsilon}${facts.cap.delta ? `, δ ${facts.cap.delta}` : ""} for all answers together`,
    used: `${epsilonText(facts.spent.epsilon)}${facts.spent.delta ? `, δ ${facts.spent.delta.toPrecision(2)}` : ""}`,
    answers: facts.totals.map((total) => `${total.releases} by ${total.mechanisms.join(" and ")}`).join(", ") || "none",
    "data version": String(facts.data_version),
    "head of the books": facts.head,
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
      one.mechanisms.join(", "),
      one.epsilon === null ? `ρ ${one.rho.toPrecision(3)}` : epsilonText(one.epsilon),
      make("code", one.receipt.slice(0, 12)),
    ]),
  );
  $("releases-part").hidden = !facts.releases.length;
}

export const offerPrinting = () => $("card-print").addEventListener("click", () => print());
