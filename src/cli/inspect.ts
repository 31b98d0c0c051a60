import { writeFileSync } from "node:fs";
import path from "node:path";
import { inspectPostgres, inspectSQLite, type FoundExisting } from "../door/stores.ts";
import { formatDeclarations } from "../service/inspecting/inspect.ts";
import { readErrorCode } from "../service/settings/error.ts";
import type { Database } from "../service/settings/values.ts";
import { assembleFor } from "../service/system/migrate.ts";
import { CommandFailed, describeError, show } from "./output.ts";
import { requirePlace } from "./settings.ts";

/** The options of `latchkey db inspect`. */
export interface InspectOptions {
  readonly table?: readonly string[];
  readonly out?: string;
}

/** `latchkey db inspect` */
export async function inspect({ table = [], out }: InspectOptions): Promise<void> {
  const { database } = await requirePlace(false);
  const all = await readTables(database);
  // Includes the collections of mail, which may have been turned on before.
  const own = database.tablePrefix === undefined ? (await assembleFor(database, {}, true)).collections : [];
  const unknown = table.filter((name) => !all.has(name));
  if (unknown.length > 0)
    throw new CommandFailed(
      `No other program's table is called ${unknown.join(", nor ")}. There are: ${[...all.keys()].join(", ") || "none"}.`,
      "not_found",
    );
  const tables = table.length === 0 ? all : new Map([...all].filter(([name]) => table.includes(name)));
  const text = formatDeclarations(
    tables,
    own.map(({ name }) => name),
  );
  if (out === undefined) return show(false, null, text.trimEnd());
  write(out, text);
  show(
    false,
    null,
    `${out} has declarations of ${tables.size} tables. Review it, and start the service with it as latchkey.config.ts.`,
  );
}

/** Writes a new file. Never replaces an existing one. */
function write(out: string, text: string): void {
  try {
    writeFileSync(out, text, { flag: "wx" });
  } catch (error) {
    if (readErrorCode(error) === "EEXIST")
      throw new CommandFailed(`${out} exists already. Name another file.`, "not_empty");
    throw new CommandFailed(`${out} cannot be written: ${describeError(error)}`);
  }
}

async function readTables(database: Database): Promise<ReadonlyMap<string, FoundExisting>> {
  return database.kind === "sqlite" ? inspectSQLite(path.resolve(database.path)) : inspectPostgres(database.url);
}
