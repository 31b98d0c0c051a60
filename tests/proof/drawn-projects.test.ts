// SQLite alone, because `latchkey prove` starts its service on SQLite in memory.
import { proveDrawn } from "./drawn/prove-drawn.ts";

proveDrawn({ seed: 1, projects: 3 });
// Its callers create books that they may not read afterwards.
proveDrawn({ seed: 216, projects: 1 });
