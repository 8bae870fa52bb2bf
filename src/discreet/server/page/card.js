// The transparency card: one page that a journalist understands and a printer prints.
import { $, call, day, epsilonText, fill, make, many, short } from "./dom.js";

const NEIGHBOURS = {
  "add-remove": "whether somebody is in the data at all",
  "change-one": "what the data says about somebody",
};
const odds = (epsilon) => Math.exp(epsilon) / (1 + Math.exp(epsilon));

export async function showCard() {
  const facts = await call("/v1/transparency");
  $("dataset").textContent = facts.dataset;
  const releases = facts.totals.reduce((sum, total) => sum + total.releases, 0),
    share = facts.spent.epsilon / facts.cap.epsilon;
  $("card-title").textContent = `What is known about the people in “${facts.dataset}”`;
  $("card-says").replaceChildren(
    make(
      "p",
      `Questions about this data are answered with numbers that were blurred on purpose, so that nobody can tell ${NEIGHBOURS[facts.neighbours] ?? "what one person's rows say"}. One person is all rows of one ${facts.person.join(" or ")}.`,
    ),
    make(
      "p",
      `Every answer uses up some of a budget that was fixed beforehand. All answers together stay below ε ${short(facts.cap.epsilon)}: ${facts.in_words}.`,
    ),
    make(
      "p",
      releases
        ? `So far ${many(releases, "answer")} left, and ε ${short(facts.spent.epsilon)} is used, ${(100 * share).toFixed(0)} % of the budget: whoever gave even odds that a person is in the data can be at most ${(100 * odds(facts.spent.epsilon)).toFixed(0)} % sure by now, whatever else they know.`
        : "No answer has left so far.",
    ),
  );
  $("card-gauge").firstElementChild.style.width = `${100 * Math.min(1, share)}%`;
  $("card-gauge").setAttribute("aria-valuenow", share.toFixed(2));
  const lines = {
    protects: `all rows of one ${facts.person.join(" or ")} (${facts.neighbours})`,
    "at most": `ε ${facts.cap.epsilon}${facts.cap.delta ? `, δ ${facts.cap.delta}` : ""} for all answers together`,
    used: `ε ${facts.spent.epsilon.toFixed(3)}${facts.spent.delta ? `, δ ${facts.spent.delta.toPrecision(2)}` : ""}`,
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
