// Saved queries: the user's own and those that colleagues share.
import { $, button, call, make, told } from "./dom.js";

export async function showSaved() {
  $("saved-list").replaceChildren();
  await showMore("/v1/saved");
  $("saved").hidden = !$("saved-list").children.length;
}

async function showMore(page) {
  const { saved, next } = await call(page);
  $("saved-list").append(
    ...saved.map((one) => {
      const item = make("li"),
        link = make("a", one.name, { href: `#saved/${one.number}` });
      item.append(link, " ", make("small", one.yours ? (one.shared ? "shared" : "") : `by ${one.by}`));
      if (one.yours)
        item.append(
          " ",
          button(
            "×",
            async () => {
              await call(`/v1/saved/${one.number}`, { method: "DELETE" });
              await showSaved();
            },
            { class: "cross", "aria-label": `delete ${one.name}` },
          ),
        );
      return item;
    }),
  );
  if (!next) return;
  const more = make("li");
  more.append(
    button("more", async () => {
      await showMore(`/v1/saved?after=${next}`);
      more.remove();
    }),
  );
  $("saved-list").append(more);
}

export function offerSaving(asked) {
  $("answer-save").addEventListener("click", () => {
    $("save-form").hidden = !$("save-form").hidden;
    if (!$("save-form").hidden) $("save-name").focus();
  });
  $("save-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const saved = await call("/v1/saved", { method: "POST", body: { name: $("save-name").value.trim(), shared: $("save-shared").checked, ...asked() } });
      $("save-form").hidden = true;
      const link = make("a", `“${saved.name}”`, { href: `#saved/${saved.number}` });
      $("answer-said").replaceChildren("Saved as ", link, saved.shared ? ". Colleagues with a key see it and its answer, free of charge." : ", for you alone.");
      await showSaved();
    } catch (error) {
      $("answer-said").textContent = told(error);
    }
  });
}
