// SQLite alone, because `latchkey prove` starts its service on SQLite in memory.
import { proveDrawn } from "./drawn/prove-drawn.ts";

proveDrawn({ seed: 1, projects: 3 });
// Its records are nested twice, and a caller may change the record above, but not the one above that.
proveDrawn({ seed: 255_799, projects: 1 });
// A caller sends the stored value of a field that it may not write, and sends it again with the same key.
proveDrawn({ seed: 624_227, projects: 1 });
// An older shape has a filter by a field that it shows as a text, and the stored value is a number.
proveDrawn({ seed: 654_196, projects: 1 });
