import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/**
 * A copy of this package. A process may load two copies by mistake. Their classes differ: for one copy, a `Flaw` of
 * another copy would look like a valid value. So each copy marks the values that it makes, and rejects the values of
 * other copies.
 */
export interface Copy {
  /** The URL of a module of the copy. */
  readonly url: string;
}

const thisCopy: Copy = Object.freeze({ url: import.meta.url });

/** The same symbol in every copy. */
const mark = Symbol.for("latchkey.copy");

/** Marks a value, or the prototype of a class, as made by this copy. Call it before the value is frozen. */
export function made<T extends object>(value: T): T {
  if (Object.isExtensible(value)) Object.defineProperty(value, mark, { value: thisCopy });
  return value;
}

/** Values whose parts all come from this copy. */
const checkedValues = new WeakSet();

/** Marks a value whose parts were already checked. `otherCopiesWithin` does not look into it. */
export function markWithParts<T extends object>(value: T): T {
  checkedValues.add(value);
  return made(value);
}

/** Returns the copy that made the value. Returns null if it is this one, or if the value has no mark. */
export function findOtherCopy(value: unknown): Copy | null {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return null;
  const copy = findMark(value);
  return copy === undefined || copy === thisCopy ? null : copy;
}

/** Returns the mark of a value. A proxy may throw on every access. */
function findMark(value: object): Copy | undefined {
  try {
    return (value as { readonly [mark]?: Copy })[mark];
  } catch {
    return undefined;
  }
}

/**
 * Returns the mistake of a value from another copy: the places of both copies and the fix. Returns null for all other
 * values.
 */
export function otherCopyMistake(value: unknown): string | null {
  const other = findOtherCopy(value);
  return other === null
    ? null
    : `another copy of the package made it: ${shownCopy(other)}. This one is ${shownCopy(thisCopy)}. Use only one copy: npm ls latchkey lists the copies of a project, and npx latchkey in the folder of a config file uses the copy of that project`;
}

/**
 * Finds the declarations of other copies within a value. Returns one sentence for each copy, with the place of its
 * first declaration. Looks into plain objects, lists, maps and sets.
 */
export function otherCopiesWithin(value: unknown, place: string): readonly string[] {
  const found = new Map<Copy, string>();
  const seen = new Set<unknown>();
  const left: (readonly [place: string, value: unknown])[] = [[place, value]];
  for (const [at, each] of left) {
    if (typeof each !== "object" || each === null || seen.has(each) || checkedValues.has(each)) continue;
    seen.add(each);
    const other = findOtherCopy(each);
    if (other === null) for (const [name, member] of collectMembers(each)) left.push([placeIn(each, at, name), member]);
    else if (!found.has(other)) found.set(other, `${at}: ${otherCopyMistake(each)}`);
  }
  return [...found.values()];
}

function placeIn(value: object, at: string, name: unknown): string {
  if (Array.isArray(value)) return `${at}[${String(name)}]`;
  return at === "" ? String(name) : `${at}.${String(name)}`;
}

/** Returns the members of a value. An object of a class contains no declarations. */
function collectMembers(value: object): Iterable<readonly [name: unknown, member: unknown]> {
  if (value instanceof Map || value instanceof Set || Array.isArray(value)) return value.entries();
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.entries(value) : [];
}

/**
 * Returns true if the value is of the class. Throws a TypeError if another copy made it, because the class of the same
 * name in another copy is a different class.
 */
export function isOfThisCopy(kind: object, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Function.prototype[Symbol.hasInstance].call(kind, value)) return true;
  const wrong = otherCopyMistake(value);
  if (wrong !== null) throw new TypeError(`A value cannot be used: ${wrong}.`);
  return false;
}

/** Returns the place of a copy, and its version if its package.json can be read. */
export function shownCopy({ url }: Copy): string {
  const file = url.startsWith("file:") ? fileURLToPath(url) : null;
  if (file === null) return url;
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const version = versionIn(folder);
    if (version !== null) return `${version} in ${folder}`;
    if (folder === path.dirname(folder)) return file;
  }
}

function versionIn(folder: string): string | null {
  try {
    const found = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Record<string, unknown>;
    return found["name"] === "latchkey" ? String(found["version"]) : null;
  } catch {
    return null;
  }
}
