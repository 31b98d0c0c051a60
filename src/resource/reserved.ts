/**
 * Names that databases reserve: the ones that SQLite reads as a value in the rows of another query (`true`, `false`), and the columns that
 * every table of PostgreSQL has. A service with a field of such a name does not start.
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

/** Returns the mistake in the name of a field that a database reserves. Returns none otherwise. */
export function reservedMistakes(name: string): readonly string[] {
  return reservedNames.has(name)
    ? [
        `${name} is a reserved name of databases; choose another name, with columns: { …: "${name}" } if an existing table has this column`,
      ]
    : [];
}
