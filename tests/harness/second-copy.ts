import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const root = path.join(import.meta.dirname, "../..");
const build = process.env["TESTED_BUILD"];
const { exports: doors } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, { readonly default: string } | string>>;
};

/** A project with a second copy of the package, in version 0.0.1. */
export interface SecondCopy extends Disposable {
  /** The folder of the project. `import "latchkey"` in it loads the copy. */
  readonly project: string;
  /** The folder of the copy. */
  readonly place: string;
  /** Returns a module of the copy by its path: `door/index`. */
  resolveModule(name: string): string;
}

/** Copies the tested modules: those of the build if `npm test` made one, otherwise the source. */
export function makeSecondCopy(): SecondCopy {
  const project = realpathSync(mkdtempSync(path.join(tmpdir(), "latchkey-copies-")));
  // Outside of node_modules, because Node runs no TypeScript there.
  const place = path.join(project, "copy");
  const [folder, ending] = build === undefined ? ["src", "ts"] : ["dist", "js"];
  cpSync(path.join(build ?? root, folder), path.join(place, folder), { recursive: true });
  const formatModulePath = (name: string): string => `./${folder}/${name}.${ending}`;
  const exported = Object.entries(doors).flatMap(([door, target]) =>
    typeof target === "string" ? [] : [[door, formatModulePath(target.default.replace(/^\.\/dist\/|\.js$/g, ""))]],
  );
  const manifest = { name: "latchkey", version: "0.0.1", type: "module", exports: Object.fromEntries(exported) };
  writeFileSync(path.join(place, "package.json"), JSON.stringify(manifest));
  symlinkSync(path.join(root, "node_modules"), path.join(place, "node_modules"));
  mkdirSync(path.join(project, "node_modules"));
  symlinkSync(place, path.join(project, "node_modules/latchkey"));
  writeFileSync(path.join(project, "package.json"), '{ "type": "module" }');
  return {
    project,
    place,
    resolveModule: (name) => path.join(place, formatModulePath(name)),
    [Symbol.dispose]: () => rmSync(project, { recursive: true, force: true }),
  };
}
