// SQLite alone, because `latchkey prove` starts its service on SQLite in memory.
import { proveDrawn } from "./drawn/prove-drawn.ts";

proveDrawn({ seed: 1, projects: 3 });
// Its records are nested twice, and a caller may change the record above, but not the one above that.
proveDrawn({ seed: 255_799, projects: 1 });
