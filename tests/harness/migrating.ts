import { Secret } from "../../src/core/crypto/secret.ts";
import { migratePostgres, migrateSQLite, tryPostgres, trySQLite, type Collection } from "../../src/door/stores.ts";

// A table that is migrated while other processes write, and a process that migrates it:
// `node tests/harness/migrating.ts sqlite:FILE`. With the further argument `try`, the process makes a dry run and kills
// itself during the first rows.

/** The old form of the table. */
export const before: Collection = {
  name: "things",
  key: "integer",
  columns: [
    { name: "title", type: "text" },
    { name: "price", type: "integer" },
    { name: "note", type: "text", nullable: true },
  ],
  indexes: [["price", "id"]],
};

/** The new form: one column has another name, one has another type, and a required one is new. */
export const now: Collection = {
  name: "things",
  key: "integer",
  columns: [
    { name: "name", type: "text", origin: { renamedFrom: "title" } },
    { name: "price", type: "decimal", scale: 2, origin: { convert: (euros) => `${Number(euros)}.50` } },
    { name: "note", type: "text", nullable: true },
    { name: "kind", type: "text", origin: { backfill: ({ price }) => (Number(price) % 2 === 0 ? "even" : "odd") } },
  ],
  indexes: [
    ["price", "id"],
    ["kind", "id"],
  ],
};

if (process.argv[1] === import.meta.filename) {
  const address = process.argv[2]!;
  const isKilled = process.argv[3] === "try";
  const options = { program: "0.1.0", ...(isKilled ? { report: () => process.kill(process.pid, "SIGKILL") } : {}) };
  const [migrateServer, migrateFile] = isKilled ? [tryPostgres, trySQLite] : [migratePostgres, migrateSQLite];
  const file = /^sqlite:(.*)$/.exec(address)?.[1];
  const done = await (file === undefined
    ? migrateServer(new Secret(address), [now], options)
    : migrateFile(file, [now], options));
  process.stdout.write(`${JSON.stringify(done)}\n`);
}
