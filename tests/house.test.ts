import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

/** The rooms of `src`, from the ground up: a room imports from its own folder and from the floors below it. */
const floors = [
  ["checking", "problem", "crypto", "eventually.ts", "node-version.ts"],
  ["headers", "identity.ts", "observation.ts", "measurement.ts"],
  ["resource", "http/call.ts", "store", "tracer.ts"],
  ["auth", "auth/<scheme>", "permission", "store/sql"],
  ["http", "store/<driver>"],
  ["feature"],
  ["login", "login/<name>", "openapi", "bindings/node", "bindings/web", "ops", "outbox", "console"],
  ["create-service.ts"],
  ["index.ts"],
  ["service", "testing"],
  ["cli"],
];

/** Rooms that live like a stranger's code: of all that is below them they see these doors alone. */
const doors = new Map([
  ["service", ["index.ts"]],
  ["cli", ["index.ts", "service"]],
]);

/** A plug-in and the contract that it fulfils stand on one floor. */
const contracts = new Map([
  ["auth/<scheme>", "auth"],
  ["login/<name>", "login"],
]);

const source = path.join(import.meta.dirname, "..", "src");
const files = globSync("**/*.ts", { cwd: source }).toSorted();
const code = files.filter((file) => !file.endsWith(".test.ts"));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

function importsOf(file: string): string[] {
  const text = readFileSync(path.join(source, file), "utf8");
  const specifiers = [...text.matchAll(/^(?:import|export)\b[^;]*?\bfrom "(\.[^"]+)"|\bimport\(?\s*"(\.[^"]+)"/gm)];
  const imported = specifiers.map(([, from, bare]) => path.posix.join(path.posix.dirname(file), from ?? bare ?? ""));
  return [...new Set(imported)];
}

function roomOf(file: string): string {
  const [first = "", second = "", third] = file.split("/");
  if (first === "auth" && third !== undefined) return "auth/<scheme>";
  if (first === "login" && third !== undefined) return "login/<name>";
  if (first === "store" && third !== undefined) return second === "sql" ? "store/sql" : "store/<driver>";
  if (first === "bindings" || file === "http/call.ts") return `${first}/${second}`;
  return first;
}

function floorOf(file: string): number {
  return floors.findIndex((rooms) => rooms.includes(roomOf(file)));
}

/** Files of one folder belong together; a scheme or a driver is such a folder, and so is any other room. */
function isSameRoom(one: string, other: string): boolean {
  if (roomOf(one) !== roomOf(other)) return false;
  return !roomOf(one).includes("<") || one.split("/")[1] === other.split("/")[1];
}

function mayImport(file: string, imported: string): boolean {
  if (isSameRoom(file, imported)) return true;
  if (contracts.get(roomOf(file)) === roomOf(imported)) return true;
  const seen = doors.get(roomOf(file));
  return seen === undefined ? floorOf(imported) < floorOf(file) : seen.includes(roomOf(imported));
}

test("every file stands in a room", () => {
  assert.deepEqual(
    files.filter((file) => floorOf(file) === -1),
    [],
  );
});

test("a room imports from the floors below it and leaves its neighbours alone", () => {
  const strays = code.flatMap((file) =>
    imports.get(file)!.flatMap((imported) => (mayImport(file, imported) ? [] : [`${file} imports ${imported}`])),
  );

  assert.deepEqual(strays, []);
});

test("the tests of a scheme and of a driver leave the neighbours alone too", () => {
  const strays = files
    .filter((file) => roomOf(file).includes("<"))
    .flatMap((file) => imports.get(file)!.filter((to) => roomOf(to) === roomOf(file) && !isSameRoom(file, to)));

  assert.deepEqual(strays, []);
});

test("imports go in no circle", () => {
  const done = new Set<string>();
  const circles: string[] = [];
  const walk = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(" → "));
    if (way.includes(file) || done.has(file)) return;
    for (const imported of imports.get(file) ?? []) walk(imported, [...way, file]);
    done.add(file);
  };

  for (const file of files) walk(file, []);

  assert.deepEqual(circles, []);
});

test("ARCHITECTURE.md shows the same floors", () => {
  const text = readFileSync(path.join(source, "..", "ARCHITECTURE.md"), "utf8");
  const rows = [...text.matchAll(/^\| *(\d+) *\| *([^|]+?) *\|/gm)];
  const shown = rows.map(([, , rooms = ""]) => [...rooms.matchAll(/`([^`]+)`/g)].map(([, room]) => room));

  assert.deepEqual(shown, floors);
});
