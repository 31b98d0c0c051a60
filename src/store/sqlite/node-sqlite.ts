import "../../core/node-version.ts";
import type { DatabaseSync as Connection } from "node:sqlite";

// Not imported as a value: an older Node does not have this module, and would stop before it could report the reason.
export const { backup, DatabaseSync } = process.getBuiltinModule("node:sqlite");
export type DatabaseSync = Connection;
