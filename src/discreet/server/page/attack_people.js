// Who the people of an attack's world are: the lab's own, or made up in the shape of this catalog; and the first rows of them.
import { state } from "./attack_state.js";
import { $, fill, make, many } from "./dom.js";

const isPossible = () => Boolean(state.attack.any_catalog && state.catalog?.table);
export const onCatalog = () => state.peopleOf === "catalog" && isPossible();

export function offerPeople() {
  $("attack-people-line").hidden = !state.attack.any_catalog;
  $("attack-people").disabled = !isPossible();
  $("attack-people").value = onCatalog() ? "catalog" : "lab";
  $("attack-people-says").textContent = state.catalog?.refused ?? "";
}

export function choosePeople() {
  state.peopleOf = $("attack-people").value;
  state.last = {};
}

export function showWorld() {
  const people = many(state.values.people, "person", "people");
  $("attack-world").textContent = onCatalog()
    ? `${people}, generated in the shape of your table ${state.catalog.table}; the secret is ${state.catalog.secret}`
    : `${people}, generated for each run`;
}

// The first rows of the world behind Discreet, table by table; the weak release is made from one like it.
export function showSample() {
  const tables = Object.entries(state.last.discreet?.result.sample ?? {}).filter(([, rows]) => rows.length);
  $("attack-data").hidden = !tables.length;
  $("attack-sample").replaceChildren(
    ...tables.map(([name, rows]) => {
      const shown = make("table", ""),
        box = make("div", "", { class: "scroll" });
      fill(
        shown,
        Object.keys(rows[0]).map((column) => [column, ""]),
        rows.map((row) => Object.values(row)),
      );
      shown.prepend(make("caption", `${name}, first rows`));
      box.append(shown);
      return box;
    }),
  );
}
