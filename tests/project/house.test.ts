import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

/**
 * The folders of `src`, from the lowest floor to the highest. A folder imports from itself and from the floors below
 * it.
 */
const floors = [
  ["core"],
  ["resource", "store"],
  ["access"],
  ["http"],
  ["feature"],
  ["features"],
  ["composition"],
  ["proof"],
  ["door"],
  ["service"],
  ["cli", "testing"],
];

/** The folders that import like external code, and the only folders from which they import. */
const doors = new Map([
  ["service", ["service", "door"]],
  ["cli", ["cli", "service", "door", "proof"]],
]);

const source = path.join(import.meta.dirname, "../..", "src");
const files = globSync("**/*.ts", { cwd: source }).toSorted();
const imports = new Map(files.map((file) => [file, findImports(file)]));

/** Plug-ins: a folder imports nothing from the others of its group, apart from those that it builds on. */
interface PlugIns {
  readonly parent: string;
  readonly folders: readonly string[];
  readonly buildsOn?: Readonly<Record<string, readonly string[]>>;
}

/** The parts of `features/auth` that logins share. */
const sharedByLogins = [
  "accounts",
  "factors",
  "gate",
  "mailbox",
  "notices",
  "passwords",
  "people",
  "records",
  "requests",
];

const plugIns: readonly PlugIns[] = [
  {
    parent: "features",
    folders: foldersIn("features"),
    buildsOn: { auth: ["mail/contract.ts"], mail: ["outbox/contract.ts"] },
  },
  {
    parent: "features/auth",
    folders: foldersIn("features/auth").filter((folder) => !sharedByLogins.includes(folder)),
    buildsOn: { keys: ["api-tokens/"], issuers: ["tokens/"], openid: ["issuers/"] },
  },
  { parent: "store", folders: ["sqlite", "postgres"] },
  { parent: "http/bindings", folders: ["node", "web"] },
];

function foldersIn(folder: string): string[] {
  const depth = folder.split("/").length;
  const inside = files.filter((file) => file.startsWith(`${folder}/`)).map((file) => file.split("/"));
  return [...new Set(inside.filter((parts) => parts.length > depth + 1).map((parts) => parts[depth]!))];
}

function findImports(file: string): string[] {
  const text = readFileSync(path.join(source, file), "utf8");
  const specifiers = [...text.matchAll(/^(?:import|export)\b[^;]*?\bfrom "(\.[^"]+)"|\bimport\(?\s*"(\.[^"]+)"/gm)];
  const imported = specifiers.map(([, from, bare]) => path.posix.join(path.posix.dirname(file), from ?? bare ?? ""));
  return [...new Set(imported)];
}

function findFolder(file: string): string {
  return file.split("/")[0]!;
}

function findFloor(file: string): number {
  return floors.findIndex((folders) => folders.includes(findFolder(file)));
}

function mayImport(file: string, imported: string): boolean {
  const from = findFolder(file);
  const to = findFolder(imported);
  const seen = doors.get(from);
  return seen === undefined ? from === to || findFloor(imported) < findFloor(file) : seen.includes(to);
}

test("puts every file of src into a folder that has a floor", () => {
  assert.deepEqual(
    files.filter((file) => findFloor(file) === -1),
    [],
  );
});

test("imports only from the same folder and from lower floors", () => {
  const upward = files
    .filter((file) => !file.endsWith(".test.ts"))
    .flatMap((file) =>
      imports.get(file)!.flatMap((imported) => (mayImport(file, imported) ? [] : [`${file} imports ${imported}`])),
    );

  assert.deepEqual(upward, []);
});

test("imports nothing from a neighboring plug-in that it does not build on", () => {
  const strays = plugIns.flatMap(({ parent, folders, buildsOn = {} }) =>
    folders.flatMap((folder) => {
      const others = folders.filter((other) => other !== folder).map((other) => `${parent}/${other}/`);
      const allowed = (buildsOn[folder] ?? []).map((each) => `${parent}/${each}`);
      const isStray = (imported: string): boolean =>
        others.some((other) => imported.startsWith(other)) && !allowed.some((each) => imported.startsWith(each));
      return files
        .filter((file) => file.startsWith(`${parent}/${folder}/`))
        .flatMap((file) =>
          imports
            .get(file)!
            .filter(isStray)
            .map((imported) => `${file} imports ${imported}`),
        );
    }),
  );

  assert.deepEqual(strays, []);
});

/** The only files that make an `Admission`, the right to start a login: `vouch`, the gate, and the test kit. */
const makersOfAdmissions = ["features/auth/gate/gate.ts", "features/auth/people/fresh-proof.ts", "testing/testing.ts"];

test("makes an Admission only in the gate, in vouch and in the test kit", () => {
  const makers = files
    .filter((file) => !file.endsWith(".test.ts"))
    .filter((file) => imports.get(file)!.includes("features/auth/gate/admission.ts"))
    .filter((file) => /\badmit(?:AsOperator)?\b/.test(readFileSync(path.join(source, file), "utf8")));

  assert.deepEqual(makers, makersOfAdmissions);
});

test("contains no circular imports", () => {
  assert.deepEqual(findCircles(imports), []);
});

test("contains no folder whose members import each other in a ring", () => {
  const rings = [...collectSiblings()].flatMap(([folder, siblings]) =>
    findCircles(siblings).map((ring) => `${folder === "" ? "src" : folder}: ${ring}`),
  );

  assert.deepEqual(rings, []);
});

/** Returns the imports between the files and folders of each folder. Imports of tests do not count. */
function collectSiblings(): ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>> {
  const folders = new Map<string, Map<string, Set<string>>>();
  for (const [file, imported] of imports) {
    if (file.endsWith(".test.ts")) continue;
    for (const other of imported) {
      const [from, to] = [file.split("/"), other.split("/")];
      const depth = from.findIndex((part, at) => part !== to[at]);
      const siblings = getOrSet(folders, from.slice(0, depth).join("/"), () => new Map<string, Set<string>>());
      getOrSet(siblings, from[depth]!, () => new Set<string>()).add(to[depth]!);
    }
  }
  return folders;
}

function getOrSet<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  if (!map.has(key)) map.set(key, make());
  return map.get(key)!;
}

/** Returns each circle of imports that a walk along the imports meets. */
function findCircles(graph: ReadonlyMap<string, Iterable<string>>): readonly string[] {
  const done = new Set<string>();
  const circles: string[] = [];
  const walk = (member: string, trail: readonly string[]): void => {
    if (trail.includes(member)) circles.push([...trail.slice(trail.indexOf(member)), member].join(" → "));
    if (trail.includes(member) || done.has(member)) return;
    for (const imported of graph.get(member) ?? []) walk(imported, [...trail, member]);
    done.add(member);
  };

  for (const member of graph.keys()) walk(member, []);
  return circles;
}

test("finds the same floors in ARCHITECTURE.md", () => {
  const text = readFileSync(path.join(source, "..", "ARCHITECTURE.md"), "utf8");
  const rows = [...text.matchAll(/^\| *(\d+) *\| *([^|]+?) *\|/gm)];
  const shown = rows.map(([, , folders = ""]) => [...folders.matchAll(/`([^`]+)`/g)].map(([, folder]) => folder));

  assert.deepEqual(shown, floors);
});
