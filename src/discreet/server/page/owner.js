// The owner's catalog: its text, checked before it is saved.
import { $, call, make, told } from "./dom.js";

async function edit(method, path) {
  $("catalog-told").textContent = "";
  try {
    const facts = await call(path, { method, body: method === "GET" ? undefined : { text: $("toml").value } });
    if (facts.text !== undefined) $("toml").value = facts.text;
    $("catalog-told").textContent = facts.note ?? (method === "POST" ? "It can be read." : "");
    $("warnings").replaceChildren(...facts.warnings.map((warning) => make("li", warning)));
  } catch (error) {
    $("catalog-told").textContent = told(error);
  }
}

export const showOwner = () => edit("GET", "/v1/catalog/source");

export function offerOwner() {
  $("check").addEventListener("click", () => edit("POST", "/v1/catalog/check"));
  $("save").addEventListener("click", () => edit("PUT", "/v1/catalog/source"));
}
