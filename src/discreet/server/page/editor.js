// The editor of questions: SQL in colours, names of the catalog completed, and the place of a refusal underlined.

import { quoted } from "./questions.js";
import {
  acceptCompletion,
  autocompletion,
  bracketMatching,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
  defaultKeymap,
  EditorView,
  HighlightStyle,
  history,
  historyKeymap,
  keymap,
  placeholder,
  SQLDialect,
  setDiagnostics,
  sql,
  syntaxHighlighting,
  tags,
} from "./vendor/codemirror.js";

const KEYWORDS = ["SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "JOIN", "USING", "ROLLUP", "CASE", "WHEN", "BETWEEN", "DISTINCT"];
const FUNCTIONS = ["COUNT(*)", "COUNT(DISTINCT ", "SUM(", "AVG(", "MEDIAN(", "STDDEV(", "MIN(", "MAX(", "DATE_TRUNC(", "WIDTH_BUCKET("];

// Only what questions use: in other dialects half of the usual column names, such as month or cost, are keywords.
const dialect = SQLDialect.define({
  keywords:
    "all and as asc between by case cross cube desc distinct else end except exists extract filter from full group grouping having in inner intersect interval is " +
    "join left like limit not null on or order outer over partition right rollup select semi anti sets then union using when where with within window differential_privacy options",
  types: "bigint boolean date double float int integer text timestamp varchar",
  builtin: "",
  doubleQuotedStrings: false,
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
]);

export class QuestionEditor {
  constructor(parent, { label, described, changed, ask }) {
    this.tables = [];
    const asked = (view) => {
      closeCompletion(view);
      ask();
      return true;
    };
    this.view = new EditorView({
      parent,
      extensions: [
        keymap.of([
          { key: "Mod-Enter", run: asked },
          { key: "Ctrl-Enter", run: asked },
          { key: "Tab", run: acceptCompletion },
        ]),
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        history(),
        closeBrackets(),
        bracketMatching(),
        EditorView.lineWrapping,
        syntaxHighlighting(colours),
        sql({ dialect }),
        autocompletion({ override: [(context) => this.#complete(context)], icons: false }),
        placeholder("Write a question in SQL, or take one from below."),
        EditorView.contentAttributes.of({ id: "sql", "aria-label": label, "aria-describedby": described, spellcheck: "false" }),
        EditorView.domEventHandlers({ beforeinput: typedOver }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) {
            this.mark(null);
            changed();
          }
        }),
      ],
    });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  set text(given) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: given } });
  }

  // A name into the text where the cursor is, with a space where one is needed.
  insert(name) {
    const { from, to } = this.view.state.selection.main,
      before = this.view.state.sliceDoc(from - 1, from);
    const text = `${/[\w"]/.test(before) ? " " : ""}${quoted(name)}`;
    this.view.dispatch({ changes: { from, to, insert: text }, selection: { anchor: from + text.length } });
    this.view.focus();
  }

  // Underline the place of a refusal; null takes it away. Places count characters, the editor counts UTF-16 units.
  mark(place, message = "") {
    const found = [];
    if (place) {
      const characters = [...this.text],
        units = (end) => characters.slice(0, end).join("").length;
      found.push({ from: units(place.start), to: Math.max(units(place.end), units(place.start)), severity: "error", message });
    }
    queueMicrotask(() => this.view.dispatch(setDiagnostics(this.view.state, found))); // not within another update
  }

  replace(place, name) {
    const characters = [...this.text],
      before = characters.slice(0, place.start).join(""),
      old = characters.slice(place.start, place.end).join("");
    this.view.dispatch({ changes: { from: before.length, to: before.length + old.length, insert: quoted(name) } });
    this.view.focus();
  }

  #complete(context) {
    const word = context.matchBefore(/"?[\w$]*/),
      dotted = context.matchBefore(/(\w+|"[^"]+")\."?\w*/);
    if (dotted) return { from: dotted.from + dotted.text.lastIndexOf(".") + 1, options: this.#columnsOf(dotted.text.slice(0, dotted.text.lastIndexOf("."))) };
    if (!word || (word.from === word.to && !context.explicit)) return null;
    const columns = new Map(this.tables.flatMap((table) => table.columns.map((column) => [column.name, option(column, table)])));
    const tables = this.tables.map((table) => ({ label: table.name, apply: quoted(table.name), detail: table.public ? "public table" : "table", boost: 2 }));
    const words = [...KEYWORDS, ...FUNCTIONS].map((label) => ({ label, boost: -1 }));
    return { from: word.from, options: [...tables, ...columns.values(), ...words], validFor: /^"?[\w$]*$/ };
  }

  #columnsOf(name) {
    const called = name.replaceAll('"', "").toLowerCase(),
      alias = this.text.match(new RegExp(`([\\w]+|"[^"]+")\\s+(?:AS\\s+)?${called.replace(/\W/g, "")}\\b`, "i"));
    const named = (text) => this.tables.find((table) => table.name.toLowerCase() === text?.replaceAll('"', "").toLowerCase());
    const table = named(called) ?? named(alias?.[1]);
    return table ? table.columns.map((column) => option(column, table)) : [];
  }
}

// Text typed over a selection, but for a bracket or a quote, which is put around it: left to the browser, it would keep the colours as an inline style, which our Content-Security-Policy forbids.
function typedOver(event, view) {
  if (event.inputType !== "insertText" || /^[([{'"`]?$/.test(event.data ?? "") || view.composing || view.state.selection.main.empty) return false;
  view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
  return true;
}

const option = (column, table) => ({ label: column.name, apply: quoted(column.name), detail: `${column.type}, ${table.name}`, boost: 1 });
