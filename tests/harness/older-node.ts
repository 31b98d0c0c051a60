/** Runs before anything else: this Node says that it is 20, and has no module that one had not. */
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

/** The arguments with which this Node runs a script as a Node that is too old would. */
export function asOlderNode(script: string): readonly string[] {
  return ["--disable-warning=ExperimentalWarning", "--import", older, "--input-type=module", "-e", script];
}

/** What it says that tries to load a package. */
export const tooOld =
  "Latchkey needs Node 24.12 or newer, and this is 20.19.0. Get it from nodejs.org, or in a project with: npm install --save-dev node@26\n";

/** Loads a module and prints why that cannot be. */
export function importing(specifier: string): string {
  return `await import(${JSON.stringify(specifier)}).catch(({ message }) => console.error(message))`;
}
