// Questions as texts: names quoted where they must be, first questions made from a catalog, and links to a question.

const RESERVED = new Set(
  (
    "all and any as asc between by case cast check column constraint create cross current_date default desc distinct else end except exists false " +
    "for foreign from full grant group having in inner intersect into is join lateral left like limit natural not null offset on or order outer primary qualify " +
    "references right select semi anti some table then to true union unique user using values when where window with"
  ).split(" "),
);

export const quoted = (name) => (/^[a-z_][a-z0-9_]*$/i.test(name) && !RESERVED.has(name.toLowerCase()) ? name : `"${name.replaceAll('"', '""')}"`);

const isKey = (column, table) => column.name !== table.person && ((column.values?.length >= 2 && column.values.length <= 24) || column.type === "boolean");
const isMeasured = (column, table) => column.name !== table.person && ["integer", "real"].includes(column.type) && column.lower !== null && !column.values;
const isDay = (column) => ["date", "timestamp"].includes(column.type) && column.lower !== null && column.upper !== null;

// A few questions that this catalog can answer, the best first: { about, sql }.
export function firstQuestions(tables) {
  const asked = [];
  for (const table of tables.filter((other) => !other.public)) {
    const key = table.columns.find((column) => isKey(column, table)),
      measured = table.columns.find((column) => isMeasured(column, table));
    const day = table.columns.find(isDay),
      from = `FROM ${quoted(table.name)}`;
    const count = `COUNT(*) AS ${quoted(table.columns.some((column) => column.name === table.name) ? "n" : table.name)}`;
    const mean = measured ? `, AVG(${quoted(measured.name)}) AS ${quoted(`mean_${measured.name}`)}` : "";
    if (key)
      asked.push({
        rank: measured ? 0 : 1,
        about: `${table.name} by ${key.name}`,
        sql: `SELECT ${quoted(key.name)}, ${count}${mean}\n${from}\nGROUP BY ${quoted(key.name)}`,
      });
    if (day)
      asked.push({
        rank: 2,
        about: `${table.name} by month`,
        sql: `SELECT DATE_TRUNC('month', ${quoted(day.name)}) AS month, ${count}\n${from}\nGROUP BY month\nORDER BY month`,
      });
    asked.push({ rank: 3, about: `how many ${table.name}`, sql: `SELECT ${count}${mean}\n${from}` });
  }
  return asked.sort((one, other) => one.rank - other.rank);
}

// Links: the question is behind the #, so that no server log has it.

export function linkOf({ sql, epsilon, within }) {
  const price = within ? { within } : { epsilon };
  return `#ask?${new URLSearchParams({ sql, ...price })}`;
}

export function fromLink(text) {
  const given = new URLSearchParams(text),
    positive = (name) => (Number(given.get(name)) > 0 ? Number(given.get(name)) : null);
  return given.get("sql") ? { sql: given.get("sql"), epsilon: positive("epsilon"), within: positive("within") } : null;
}

export function pythonOf({ sql, epsilon, within }, origin) {
  const price = within ? `within=${within}, confidence=0.95` : `epsilon=${epsilon}`;
  return `import discreet\n\ncurator = discreet.connect("${origin}", key="dk_…")\nanswer = curator.ask(\n    """\n${sql.replaceAll("\\", "\\\\").replaceAll('"""', '\\"\\"\\"').replace(/^/gm, "    ")}\n    """,\n    ${price},\n)\nanswer.to_pandas()`;
}
