import "../../core/node-version.ts";
import type { DatabaseSync as Connection } from "node:sqlite";

// Not imported as a value: an older Node has no such module and would end there, before anything could say what is wrong.
export const { backup, DatabaseSync } = process.getBuiltinModule("node:sqlite");
export type DatabaseSync = Connection;
