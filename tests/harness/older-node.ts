/**
 * Runs before the script. Makes this Node report version 20, and removes a module and a function that version 20 did
 * not have.
 */
const older = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === "node:sqlite") throw new Error("No such built-in module: node:sqlite");
      return next(specifier, context);
    },
  });
  Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.19.0" } });
  process.getBuiltinModule = () => undefined;
`)}`;

/** Returns the arguments with which this Node runs a script like an outdated Node. */
export function asOlderNode(script: string): readonly string[] {
  return ["--disable-warning=ExperimentalWarning", "--import", older, "--input-type=module", "-e", script];
}

/** The message when a package is loaded on an outdated Node. */
export const tooOld =
  "Latchkey needs Node 24.12 or newer, and this is 20.19.0. Get it from nodejs.org, or in a project with: npm install --save-dev node@26\n";

/** Returns a script that loads a module and prints the reason if it fails. */
export function importing(specifier: string): string {
  return `await import(${JSON.stringify(specifier)}).catch(({ message }) => console.error(message))`;
}
