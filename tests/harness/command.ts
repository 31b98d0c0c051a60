import path from "node:path";

/**
 * The folder of a built package, which starts in half the time. `npm test` makes one. Without it, everything runs from
 * source.
 */
const build = process.env["TESTED_BUILD"];

/** Returns the path of a module of the package, given its path in `src` without the ending. */
export function resolveModule(name: string): string {
  return build === undefined
    ? path.join(import.meta.dirname, "../../src", `${name}.ts`)
    : path.join(build, "dist", `${name}.js`);
}

/** The command `latchkey`. */
export const command = resolveModule("cli/latchkey");
