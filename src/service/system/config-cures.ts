import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** What else is to be said of a config file that cannot be run: where it is wrong, and the cure, as far as one is known. */
export async function cureOf(cause: unknown, file: string): Promise<string> {
  if (!(cause instanceof Error)) return "";
  const cure = takenForCommonJS(cause, file) ?? wrongEnd(cause) ?? (await wrongDoor(cause)) ?? "";
  return `${placeOf(cause)}${cure === "" ? "" : `. ${cure}`}`;
}

/** Node tells where a file cannot be read by the line before its message. */
function placeOf({ name, stack = "" }: Error): string {
  const found = /^(.+):(\d+)\n/.exec(stack);
  if (name !== "SyntaxError" || found === null) return "";
  return `, in ${path.basename(found[1]!)}, line ${found[2]}`;
}

/** A file that Node has taken for CommonJS, as `npm init` has it, fails with words that do not say so. */
function takenForCommonJS(cause: Error, file: string): string | null {
  const isTaken = cause instanceof SyntaxError && /import statement|Unexpected token 'export'/.test(cause.message);
  if (!isTaken || !/\.[tj]s$/.test(file)) return null;
  return `Node takes it for CommonJS, because of the nearest package.json: write "type": "module" there, or call the file ${file.replace(/(?=[tj]s$)/, "m")}.`;
}

/** Whoever builds their TypeScript imports `./shop.js`, or `./shop`; here it is run as it is. */
function wrongEnd(cause: Error & { readonly code?: unknown; readonly url?: unknown }): string | null {
  if (cause.code !== "ERR_MODULE_NOT_FOUND" || typeof cause.url !== "string") return null;
  const asked = fileURLToPath(cause.url);
  const meant = [asked.replace(/js$/, "ts"), `${asked}.ts`, path.join(asked, "index.ts")].find(
    (each) => each !== asked && existsSync(each),
  );
  if (meant === undefined) return null;
  return `Node runs TypeScript as it is, by the file's own name: import ${path.basename(meant)}.`;
}

/** A name of Latchkey that stands in another of its doors, or that is a type. */
async function wrongDoor({ message }: Error): Promise<string | null> {
  const [, asked, name] =
    /requested module '(latchkey(?:\/\w+)?)' does not provide an export named '(\w+)'/.exec(message) ?? [];
  if (asked === undefined || name === undefined) return null;
  const doors = await Promise.all(
    Object.entries(everyDoor).map(async ([door, load]) => ({ door, has: Object.hasOwn(await load(), name) })),
  );
  const found = doors.find(({ has }) => has)?.door ?? (ofService.includes(name) ? "latchkey/service" : null);
  return found === null
    ? `If it is a type, say so: import { type ${name} } from "${asked}".`
    : `It stands in another module: import { ${name} } from "${found}".`;
}

const everyDoor: Readonly<Record<string, () => Promise<object>>> = {
  latchkey: () => import("../../door/index.ts"),
  "latchkey/resources": () => import("../../door/resources.ts"),
  "latchkey/http": () => import("../../door/http.ts"),
  "latchkey/auth": () => import("../../door/auth.ts"),
  "latchkey/features": () => import("../../door/features.ts"),
  "latchkey/stores": () => import("../../door/stores.ts"),
  "latchkey/ops": () => import("../../door/ops.ts"),
};

/** What `latchkey/service` gives, which cannot be asked here: it needs this file. */
export const ofService: readonly string[] = [
  "ConfigError",
  "createLatchkey",
  "defineConfig",
  "loadConfigFile",
  "readSettings",
];
