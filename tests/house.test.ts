import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

/** The rooms of `src`, from the ground up: a room imports from its own folder and from the floors below it. */
const floors = [
  ["checking", "words", "eventually.ts", "node-version.ts", "operators.ts"],
  ["problem", "crypto", "html", "deprecation.ts"],
  ["headers", "identity.ts", "observation.ts", "measurement.ts"],
  ["call", "resource", "store", "tracer.ts"],
  ["throttle", "permission", "store/sql"],
  ["scheme"],
  ["auth", "auth/<scheme>", "http", "store/<driver>"],
  ["feature"],
  ["login", "login/<name>", "openapi", "bindings/<name>", "ops", "outbox", "rate-limit", "console"],
  ["create-service"],
  ["door"],
  ["service"],
  ["testing"],
  ["cli"],
];

/** Rooms that live like a stranger's code: of all that is below them they see these doors alone. */
const doors = new Map([
  ["service", ["door"]],
  ["cli", ["door", "service"]],
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

/** The room of the table in which a file stands: the innermost, and one that is named before one that is any (`<name>`). */
function roomOf(file: string): string | undefined {
  const inside = (room: string): boolean => {
    const parts = file.split("/");
    return room.split("/").every((part, at) => part === parts[at] || (part.startsWith("<") && at < parts.length - 1));
  };
  const place = (room: string): number => room.split("/").length - (room.includes("<") ? 0.5 : 0);
  return floors
    .flat()
    .filter(inside)
    .toSorted((one, other) => place(other) - place(one))[0];
}

function floorOf(file: string): number {
  const room = roomOf(file);
  return floors.findIndex((rooms) => rooms.some((each) => each === room));
}

/** Files of one room belong together; of a room that stands for many (`<name>`), those of one folder. */
function isSameRoom(one: string, other: string): boolean {
  const room = roomOf(one);
  if (room === undefined || room !== roomOf(other)) return false;
  return room.split("/").every((part, at) => !part.startsWith("<") || one.split("/")[at] === other.split("/")[at]);
}

/** A room within a room knows what stands around it: a scheme, `auth`; a login, `login`. */
function isAround(file: string, imported: string): boolean {
  return roomOf(file)!.startsWith(`${roomOf(imported)}/`);
}

function mayImport(file: string, imported: string): boolean {
  if (isSameRoom(file, imported) || isAround(file, imported)) return true;
  const seen = doors.get(roomOf(file)!);
  return seen === undefined ? floorOf(imported) < floorOf(file) : seen.includes(roomOf(imported)!);
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
    .filter((file) => roomOf(file)!.includes("<"))
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
