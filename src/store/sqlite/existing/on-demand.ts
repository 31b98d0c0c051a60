import { text } from "../../../checking/members.ts";
import { requireArguments } from "../../../checking/options.ts";
import type { FoundExisting } from "../../sql/existing/found.ts";

/** Every table of a SQLite file that is not Latchkey's, by its name; nothing is changed. */
export async function inspectSQLite(path: string): Promise<ReadonlyMap<string, FoundExisting>> {
  requireArguments("inspectSQLite", arguments, { path: text });
  return (await import("./inspect.ts")).inspectFile(path);
}
