// Draws the OpenAPI document: every route, what it takes, an example, and what can come back.
import { HERE, make } from "./dom.js";

const document_ = await (await fetch(`${HERE}/openapi.json`)).json();
const named = (schema) => (schema?.$ref ? document_.components.schemas[schema.$ref.split("/").at(-1)] : schema);

for (const [path, methods] of Object.entries(document_.paths)) {
  for (const [method, route] of Object.entries(methods)) {
    const section = make("section");
    section.append(make("h2", `${method.toUpperCase()} ${path}`), make("p", route.description ?? route.summary));
    const body = named(route.requestBody?.content?.["application/json"]?.schema);
    if (body?.example)
      section.append(
        make(
          "pre",
          `curl -X ${method.toUpperCase()} ${HERE}${path} \\\n  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\\n  -d '${JSON.stringify(body.example)}'`,
          { tabindex: 0 }, // it scrolls on a phone
        ),
      );
    const list = make("dl");
    for (const [name, field] of Object.entries(body?.properties ?? {})) {
      const kinds = (field.anyOf ?? [field])
        .map((kind) => kind.type)
        .filter((kind) => kind && kind !== "null")
        .join(" or ");
      list.append(make("dt", name), make("dd", `${kinds}${(body.required ?? []).includes(name) ? ", needed" : ""}`));
    }
    for (const [status, response] of Object.entries(route.responses)) list.append(make("dt", status), make("dd", response.description));
    section.append(list);
    document.getElementById("routes").append(section);
  }
}
