import path from "node:path";

/** A build of the package's own modules, which starts in half the time; `npm test` makes one. Without it everything runs from source. */
const build = process.env["TESTED_BUILD"];

/** A module of the package, by its path in `src` without the ending, as tests start it. */
export function moduleOf(name: string): string {
  return build === undefined
    ? path.join(import.meta.dirname, "../../src", `${name}.ts`)
    : path.join(build, "dist", `${name}.js`);
}

/** The command `latchkey`. */
export const command = moduleOf("cli/latchkey");
