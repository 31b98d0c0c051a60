import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The folder of the clone of the repository that this command runs in. Null for an installed package, which has no
 * sources.
 */
const clone = findClone();

function findClone(): string | null {
  const root = path.resolve(import.meta.dirname, "../../../..");
  return existsSync(path.join(root, "src", "cli", "latchkey.ts")) ? root : null;
}

/**
 * Returns an explanation of an error in a config file that cannot be run: the location of the mistake and its fix, if
 * known.
 */
export async function describeCure(cause: unknown, file: string): Promise<string> {
  if (!(cause instanceof Error)) return "";
  const foundCure =
    takenForCommonJS(cause, file) ?? notRun(cause) ?? notInstalled(cause) ?? notBuilt(cause) ?? wrongEnd(cause);
  const cure = foundCure ?? (await wrongDoor(cause)) ?? "";
  return `${describePlace(cause)}${cure === "" ? "" : `. ${cure}`}`;
}

/**
 * Returns the file and the line of the mistake, if they are known. Node writes both before the message of a syntax
 * error. For an import that is not found, Node names only the file with the import, so the line is searched in that
 * file.
 */
function describePlace({ name, stack = "", message }: Error): string {
  const found = /^(.+):(\d+)\n/.exec(stack);
  if (name === "SyntaxError" && found !== null) return `, in ${path.basename(found[1]!)}, line ${found[2]}`;
  const [, moduleName, by] = /^Cannot find (?:module|package) '(.+)' imported from (.+)$/.exec(message) ?? [];
  const line = moduleName === undefined ? null : lineOfImport(path.basename(moduleName), by!);
  return line === null ? "" : `, line ${line}`;
}

/**
 * Returns the number of the first line of a file with an import that contains this name. Returns null if there is none.
 */
function lineOfImport(name: string, file: string): number | null {
  try {
    const lines = readFileSync(file, "utf8").split("\n");
    const at = lines.findIndex((line) => /\b(?:from|import)\b/.test(line) && line.includes(name));
    return at === -1 ? null : at + 1;
  } catch {
    return null;
  }
}

/**
 * Explains the error of a file that Node has treated as CommonJS, as after `npm init`. Its own message does not say so.
 */
function takenForCommonJS(cause: Error, file: string): string | null {
  const isTaken = cause instanceof SyntaxError && /import statement|Unexpected token 'export'/.test(cause.message);
  if (!isTaken || !/\.[tj]s$/.test(file)) return null;
  return `Node loads it as CommonJS, because of the nearest package.json: write "type": "module" there, or rename the file to ${file.replace(/(?=[tj]s$)/, "m")}.`;
}

/** Explains that Node only removes types from TypeScript. It does not run syntax that is more than a type. */
function notRun({ message }: Error): string | null {
  const [, syntax] = /^TypeScript (.+) is not supported in strip-only mode/.exec(message) ?? [];
  if (syntax === undefined) return null;
  return syntax === "enum"
    ? 'Write a union, like type State = "open" | "lent", or an object with as const.'
    : `Node only removes types; write the ${syntax} in JavaScript.`;
}

/** Explains that Node looks for a package next to the file, even if the command is installed globally. */
function notInstalled({ message }: Error): string | null {
  if (!message.startsWith("Cannot find package 'latchkey'")) return null;
  const own = /^(.+[\\/]node_modules)[\\/]latchkey[\\/]/.exec(fileURLToPath(import.meta.url))?.[1];
  const link = own === undefined ? "" : ` Or link the packages of this command: ln -s ${own} node_modules.`;
  return `Node looks for it in the folder node_modules beside the file: npm install ${clone ?? "latchkey"}, and start with npx latchkey.${link}`;
}

/** Explains that a clone of the repository has no compiled files. The package exports only these. */
function notBuilt({ message }: Error): string | null {
  if (clone === null || !message.startsWith(`Cannot find module '${path.join(clone, "dist")}`)) return null;
  return `The clone is not built: npm run build, in ${clone}.`;
}

/**
 * Explains a wrong extension in an import. Compiled TypeScript imports `./shop.js` or `./shop`, but here the source is
 * run directly.
 */
function wrongEnd(cause: Error & { readonly code?: unknown; readonly url?: unknown }): string | null {
  if (cause.code !== "ERR_MODULE_NOT_FOUND" || typeof cause.url !== "string") return null;
  const importedFile = fileURLToPath(cause.url);
  const meant = [importedFile.replace(/js$/, "ts"), `${importedFile}.ts`, path.join(importedFile, "index.ts")].find(
    (each) => each !== importedFile && existsSync(each),
  );
  if (meant === undefined) return null;
  return `Node runs TypeScript without renaming files: import ${path.basename(meant)}.`;
}

/** Explains an import of a name that another module of Latchkey exports, or that is a type. */
async function wrongDoor({ message }: Error): Promise<string | null> {
  const [, moduleName, name] =
    /requested module '(latchkey(?:\/\w+)?)' does not provide an export named '(\w+)'/.exec(message) ?? [];
  if (moduleName === undefined || name === undefined) return null;
  const doors = await Promise.all(
    Object.entries(everyDoor).map(async ([door, load]) => ({ door, has: Object.hasOwn(await load(), name) })),
  );
  const found = doors.find(({ has }) => has)?.door ?? (ofService.includes(name) ? "latchkey/service" : null);
  return found === null
    ? `If it is a type, say so: import { type ${name} } from "${moduleName}".`
    : `It is in another module: import { ${name} } from "${found}".`;
}

const everyDoor: Readonly<Record<string, () => Promise<object>>> = {
  latchkey: () => import("../../../door/index.ts"),
  "latchkey/resources": () => import("../../../door/resources.ts"),
  "latchkey/http": () => import("../../../door/http.ts"),
  "latchkey/auth": () => import("../../../door/auth.ts"),
  "latchkey/features": () => import("../../../door/features.ts"),
  "latchkey/stores": () => import("../../../door/stores.ts"),
  "latchkey/ops": () => import("../../../door/ops.ts"),
};

/** The exports of `latchkey/service`, which cannot be imported here, because that module imports this file. */
export const ofService: readonly string[] = [
  "ConfigError",
  "createLatchkey",
  "defineConfig",
  "loadConfigFile",
  "readSettings",
];
