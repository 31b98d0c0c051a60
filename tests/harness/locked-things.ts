import { Secret } from "../../src/core/crypto/secret.ts";
import { migratePostgres, type Collection } from "../../src/door/stores.ts";

// A table for tests that watch its locks, and a process that migrates it:
// `node tests/harness/locked-things.ts postgres://…`.

/** The table to which `things` refers. */
export const owners: Collection = { name: "owners", key: "integer", columns: [{ name: "name", type: "text" }] };
/** The old form of the table. */
export const old: Collection = {
  name: "things",
  key: "integer",
  columns: [
    { name: "title", type: "text" },
    { name: "email", type: "text" },
    { name: "price", type: "integer" },
    { name: "count", type: "integer" },
    { name: "note", type: "text", nullable: true },
    { name: "owner", type: "integer", nullable: true },
  ],
  indexes: [["price", "id"]],
};

/** The table after changes that a start of the service makes without a migration. */
export const added: Collection = {
  ...old,
  columns: [
    { name: "title", type: "text", folded: true },
    { name: "email", type: "text", unique: "folded" },
    { name: "price", type: "integer" },
    { name: "count", type: "integer", unique: true },
    { name: "note", type: "text" },
    { name: "owner", type: "integer", nullable: true, references: { collection: "owners", onDelete: "restrict" } },
    { name: "state", type: "text", default: "new" },
    { name: "remark", type: "text", nullable: true },
  ],
  indexes: [
    ["price", "id"],
    ["note", "id"],
    ["state", "id"],
  ],
};

/** The table after changes that need a migration. */
const changed: Collection = {
  ...old,
  columns: [
    { name: "name", type: "text", folded: true, origin: { renamedFrom: "title" } },
    { name: "email", type: "text", unique: "folded", origin: { renamedFrom: "email" } },
    { name: "price", type: "decimal", scale: 2, origin: { convert: (euros) => `${Number(euros)}.50` } },
    { name: "count", type: "text", unique: true },
    { name: "note", type: "text", origin: { backfill: "nothing" } },
    {
      name: "owner",
      type: "integer",
      references: { collection: "owners", onDelete: "restrict" },
      origin: { backfill: 1 },
    },
    { name: "kind", type: "text", origin: { backfill: ({ price }) => (Number(price) % 2 === 0 ? "even" : "odd") } },
  ],
  indexes: [
    ["price", "id"],
    ["kind", "id"],
    ["name", "id"],
  ],
};

if (process.argv[1] === import.meta.filename)
  await migratePostgres(new Secret(process.argv[2]!), [owners, changed], { program: "0.1.0" });
