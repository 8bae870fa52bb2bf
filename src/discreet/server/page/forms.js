// Forms in a line, as the Owner page has them.
import { make } from "./dom.js";

// A field with its label above it, for forms in a line.
export function field(words, attributes, tag = "input") {
  const label = make("label", words),
    input = make(tag, "", { autocomplete: "off", ...attributes });
  label.append(input);
  return { label, input };
}

export function chosen(words, choices) {
  const made = field(words, {}, "select");
  made.input.append(...choices.map((choice) => make("option", choice, { value: choice })));
  return made;
}

export function form(title, fields, name, send) {
  const made = make("form", "", { class: "line" });
  made.append(...fields.map((each) => each.label), make("button", name));
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  return title ? [make("h3", title), made] : [made];
}
