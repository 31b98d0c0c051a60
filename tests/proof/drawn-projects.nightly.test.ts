// SQLite alone, because `latchkey prove` starts its service on SQLite in memory.
import { proveDrawn } from "./drawn/prove-drawn.ts";

const { PROVE_SEED, PROVE_PROJECTS } = process.env;

proveDrawn({
  seed: Number(PROVE_SEED ?? crypto.getRandomValues(new Uint32Array(1))[0]! % 1_000_000),
  projects: Number(PROVE_PROJECTS ?? 30),
});
