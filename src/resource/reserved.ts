/**
 * Names that databases reserve: `true` and `false`, which SQLite does not find as columns of a subquery, and the system
 * columns that every table of PostgreSQL has. `defineResource` refuses a field with such a name.
 */
export const reservedNames: ReadonlySet<string> = new Set([
  "true",
  "false",
  "ctid",
  "xmin",
  "xmax",
  "cmin",
  "cmax",
  "tableoid",
]);

/** Returns a mistake if a database reserves the name of a field. */
export function reservedMistakes(name: string): readonly string[] {
  return reservedNames.has(name)
    ? [
        `${name} is a reserved name of databases; choose another name, with columns: { …: "${name}" } if an existing table has this column`,
      ]
    : [];
}
