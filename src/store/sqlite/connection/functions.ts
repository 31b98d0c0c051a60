import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { caseFold, fold } from "../../fold.ts";
import type { Column } from "../../store.ts";

/** The maximum number of arguments of a function. */
const mostValues = 100;

/**
 * Returns the SQL of a digest of these columns, a number of 52 bits. Another state of the columns almost never has the
 * same digest: the probability is 1 in 4 million billion.
 */
export function compileDigest(columns: readonly string[]): string {
  if (columns.length <= mostValues) return `latchkey_digest(${columns.join(", ")})`;
  const first = columns.slice(0, mostValues);
  return compileDigest([`latchkey_digest(${first.join(", ")})`, ...columns.slice(mostValues)]);
}

/** Returns the SQL that folds a text in the form that the folded copy of this column has. */
export function compileFold({ unique }: Pick<Column, "unique">, sql: string): string {
  return unique === "folded" ? `latchkey_fold(${sql})` : `latchkey_case_fold(${sql})`;
}

/**
 * Adds the functions that Latchkey's SQL calls. `latchkey_digest` computes the revision of a row of an existing table.
 * `latchkey_fail` ends a statement with an error. `latchkey_double` writes a number as JSON. `latchkey_fold` and
 * `latchkey_case_fold` remove differences of case from a text (`compileFold`).
 */
export function addFunctions(database: DatabaseSync): void {
  database.function(
    "latchkey_digest",
    { varargs: true, deterministic: true, useBigIntArguments: true },
    (...values) => {
      const text = JSON.stringify(values, (_, value: unknown) =>
        typeof value === "bigint"
          ? `${value} `
          : value instanceof Uint8Array
            ? Buffer.from(value).toString("base64")
            : value,
      );
      return Number.parseInt(createHash("sha256").update(text).digest("hex").slice(0, 13), 16);
    },
  );
  database.function("latchkey_double", { deterministic: true }, (value) =>
    typeof value === "number" ? JSON.stringify(value) : null,
  );
  database.function("latchkey_fold", { deterministic: true }, (text) => (typeof text === "string" ? fold(text) : null));
  database.function("latchkey_case_fold", { deterministic: true }, (text) =>
    typeof text === "string" ? caseFold(text) : null,
  );
  database.function("latchkey_fail", (message) => {
    throw new TypeError(String(message));
  });
}
