import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { prepare } from "../connection/connection.ts";
import { findCode } from "../connection/errors.ts";
import { DatabaseSync } from "../connection/node-sqlite.ts";

/** The content of the database file, without its log. */
export interface Content {
  /** The last revision that a checkpoint wrote into the file. Later checkpoints only increase it. */
  readonly revision: number;
  /** In bytes. */
  readonly size: number;
}

/**
 * Reads the file without its log. Returns `knownContent` if the file cannot be read. Returns a text with the reason if
 * another program has written to the file, for example if the revision is lower than in `knownContent`, because no
 * checkpoint lowers the revision. While a checkpoint runs, the reason may be wrong.
 */
export function readContent(path: string, knownContent: Content | null): Content | string | null {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  try {
    const revision = withFileOnly(path, (file) => {
      return prepare(file, "SELECT revision FROM latchkey_revision").get()?.[0] as number;
    });
    return knownContent !== null && revision < knownContent.revision ? "its content is older" : { revision, size };
  } catch (error) {
    const why = knownContent === null ? undefined : whyForeign(findCode(error), size < knownContent.size);
    return why ?? knownContent;
  }
}

function whyForeign(code: number | null, isShorter: boolean): string | undefined {
  switch ((code ?? 0) & 0xff) {
    case 1: // SQLITE_ERROR: no such table
      return "its tables are missing";
    case 11: // SQLITE_CORRUPT
      return isShorter ? "it was cut off" : undefined;
    case 26: // SQLITE_NOTADB
      return "it is not a database";
    default:
      return undefined;
  }
}

/**
 * Calls a function with a connection that ignores the log. Only SQLite may open the file of a database that is in use:
 * closing any other descriptor would release the locks of the whole process (sqlite.org/howtocorrupt.html, 2.2).
 */
export function withFileOnly<T>(path: string, use: (file: DatabaseSync) => T): T {
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  const file = new DatabaseSync(url, { readOnly: true, returnArrays: true });
  try {
    return use(file);
  } finally {
    file.close();
  }
}
