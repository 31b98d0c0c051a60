// SQLite alone, because `latchkey prove` starts its service on SQLite in memory.
import { proveDrawn } from "./drawn/prove-drawn.ts";

proveDrawn({ seed: 1, projects: 3 });
