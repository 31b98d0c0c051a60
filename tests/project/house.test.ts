import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

/** The folders of `src`, from the lowest floor to the highest. A folder imports from itself and from the floors below it. */
const floors = [
  ["core"],
  ["resource", "store"],
  ["access"],
  ["http"],
  ["feature"],
  ["features"],
  ["composition"],
  ["door"],
  ["service"],
  ["cli", "testing"],
];

/** The folders that import like external code, and the only folders from which they import. */
const doors = new Map([
  ["service", ["service", "door"]],
  ["cli", ["cli", "service", "door"]],
]);

/** Plug-ins. Each of these folders can be deleted without a change to its neighbors. */
const neighbours = [
  ["features/auth", "features/console", "features/openapi", "features/ops", "features/outbox", "features/rate-limit"],
  ["store/sqlite", "store/postgres"],
  ["http/bindings/node", "http/bindings/web"],
  ["features/auth/basic", "features/auth/custom-header", "features/auth/remote-user", "features/auth/session"],
];

const source = path.join(import.meta.dirname, "../..", "src");
const files = globSync("**/*.ts", { cwd: source }).toSorted();
const imports = new Map(files.map((file) => [file, findImports(file)]));

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

test("imports nothing from a neighboring plug-in", () => {
  const strays = neighbours.flatMap((group) =>
    group.flatMap((folder) => {
      const others = group.filter((other) => other !== folder);
      return files
        .filter((file) => file.startsWith(`${folder}/`))
        .flatMap((file) =>
          imports
            .get(file)!
            .filter((imported) => others.some((other) => imported.startsWith(`${other}/`)))
            .map((imported) => `${file} imports ${imported}`),
        );
    }),
  );

  assert.deepEqual(strays, []);
});

/** The only files that make an `Admission`, the right to start a login: `vouch`, the gate, and the test kit. */
const makersOfAdmissions = [
  "features/auth/accounts/passwords/proof.ts",
  "features/auth/gate/gate.ts",
  "testing/testing.ts",
];

test("makes an Admission only in the gate, in vouch and in the test kit", () => {
  const makers = files
    .filter((file) => !file.endsWith(".test.ts"))
    .filter((file) => imports.get(file)!.includes("features/auth/gate/admission.ts"))
    .filter((file) => /\badmit(?:AsOperator)?\b/.test(readFileSync(path.join(source, file), "utf8")));

  assert.deepEqual(makers, makersOfAdmissions);
});

test("contains no circular imports", () => {
  const done = new Set<string>();
  const circles: string[] = [];
  const walk = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) circles.push([...trail.slice(trail.indexOf(file)), file].join(" → "));
    if (trail.includes(file) || done.has(file)) return;
    for (const imported of imports.get(file) ?? []) walk(imported, [...trail, file]);
    done.add(file);
  };

  for (const file of files) walk(file, []);

  assert.deepEqual(circles, []);
});

test("finds the same floors in ARCHITECTURE.md", () => {
  const text = readFileSync(path.join(source, "..", "ARCHITECTURE.md"), "utf8");
  const rows = [...text.matchAll(/^\| *(\d+) *\| *([^|]+?) *\|/gm)];
  const shown = rows.map(([, , folders = ""]) => [...folders.matchAll(/`([^`]+)`/g)].map(([, folder]) => folder));

  assert.deepEqual(shown, floors);
});
