import "../../../core/node-version.ts";
import type { DatabaseSync as Connection } from "node:sqlite";

// `node:sqlite` is not imported as a value. An older Node does not have this module, and an import would end the
// process before `node-version.ts` could report the reason.
export const { backup, DatabaseSync } = process.getBuiltinModule("node:sqlite");
export type DatabaseSync = Connection;
