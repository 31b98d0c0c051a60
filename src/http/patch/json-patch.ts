import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../core/checking/members.ts";
import { isExactNumber } from "../../core/exact-numbers.ts";
import { problem, type Problem } from "../../core/problem/problem.ts";
import { setMember } from "../formats/member.ts";
import { MAX_LEVELS } from "../formats/text.ts";
import { takeTurnAgain } from "../scheduling/slices.ts";
import { invalidOperation, type Operation } from "./operation.ts";
import { findValue, parseIndex, type Pointer } from "./pointer.ts";

export { parseJSONPatch, type Operation } from "./operation.ts";

/**
 * Applies a JSON Patch, all or nothing. Does not change the document. Throws `patch_conflict` if a test fails or a
 * location does not exist. Throws `invalid_patch` if the patch adds too many values and characters, or if the result
 * has too many levels.
 */
export async function applyJSONPatch(document: unknown, operations: readonly Operation[]): Promise<unknown> {
  return new Patching(document).apply(operations);
}

/**
 * The maximum number of values and characters that a patch may add. Without a limit, copies of copies could fill the
 * memory.
 */
const MAX_ADDED = 2 ** 20;

/**
 * The amount of work after which other requests run. It takes a few milliseconds. Moving an array item is one unit of
 * work, and copying or comparing a value is ten.
 */
const WORK_OF_A_TURN = 2 ** 20;

class Patching {
  #document: unknown;
  #room = MAX_ADDED;
  #index = 0;
  #work = 0;
  /**
   * The objects and arrays that this patch has created. All other objects and arrays belong to the given document and
   * are copied before a change.
   */
  readonly #own = new WeakSet<object>();

  constructor(document: unknown) {
    this.#document = document;
  }

  async apply(operations: readonly Operation[]): Promise<unknown> {
    for (const [index, operation] of operations.entries()) {
      this.#index = index;
      this.#step(operation);
      // For example, a thousand moves in an array of half a million items take half a second.
      if (this.#work > WORK_OF_A_TURN) await this.#giveWay();
    }
    if (this.#work > WORK_OF_A_TURN / 8) await this.#giveWay();
    // A move adds nothing, but can make a document deeper.
    if (!isWithin(this.#document, MAX_LEVELS))
      throw problem("invalid_patch", { detail: `The result has more than ${MAX_LEVELS} levels.` });
    return this.#document;
  }

  async #giveWay(): Promise<void> {
    this.#work = 0;
    await takeTurnAgain();
  }

  #step(operation: Operation): void {
    switch (operation.op) {
      case "add":
        return this.#add(operation.path, this.#copyOf(operation.value, operation.path.length));
      case "remove":
        return this.#remove(operation.path, "path");
      case "replace":
        return this.#replace(operation.path, this.#copyOf(operation.value, operation.path.length));
      case "move": {
        const value = this.#require(operation.from, "from");
        // The whole document moves onto itself. The parser refuses a move into a child.
        if (operation.from.length === 0) return;
        this.#remove(operation.from, "from");
        return this.#add(operation.path, value);
      }
      case "copy":
        return this.#add(operation.path, this.#copyOf(this.#require(operation.from, "from"), operation.path.length));
      case "test": {
        const value = this.#require(operation.path, "path");
        this.#work += 10 * measureSize(value);
        if (!isDeepStrictEqual(value, operation.value)) throw this.#conflict("the value differs");
      }
    }
  }

  #add(path: Pointer, value: unknown): void {
    const last = path.at(-1);
    if (last === undefined) {
      this.#document = value;
      return;
    }
    const parent = this.#parentOf(path);
    if (isObject(parent)) return setMember(parent, last, value);
    if (!Array.isArray(parent)) throw this.#conflict("the parent of its path does not exist");
    const at = last === "-" ? parent.length : parseIndex(last, parent.length + 1);
    if (at === null) throw this.#conflict("its path is not an index of the array");
    parent.splice(at, 0, value);
  }

  #remove(path: Pointer, name: "path" | "from"): void {
    this.#require(path, name);
    const last = path.at(-1);
    if (last === undefined) throw this.#conflict("the whole document cannot be removed");
    const parent = this.#parentOf(path);
    if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else if (isObject(parent)) delete parent[last];
  }

  #replace(path: Pointer, value: unknown): void {
    this.#require(path, "path");
    const last = path.at(-1);
    if (last === undefined) {
      this.#document = value;
      return;
    }
    const parent = this.#parentOf(path);
    if (Array.isArray(parent)) parent[Number(last)] = value;
    else if (isObject(parent)) setMember(parent, last, value);
  }

  /**
   * Returns the parent of a path for a change. First copies the objects and arrays on the path that the patch did not
   * create.
   */
  #parentOf(path: Pointer): unknown {
    let parent = (this.#document = this.#owned(this.#document));
    for (const token of path.slice(0, -1)) {
      const child = findValue(parent, [token]);
      if (child === undefined) return undefined;
      const own = this.#owned(child);
      if (Array.isArray(parent)) parent[Number(token)] = own;
      else setMember(parent as Record<string, unknown>, token, own);
      parent = own;
    }
    if (Array.isArray(parent)) this.#work += parent.length;
    return parent;
  }

  #owned(value: unknown): unknown {
    if (typeof value !== "object" || value === null || isExactNumber(value) || this.#own.has(value)) return value;
    const copy: object = Array.isArray(value) ? [...(value as unknown[])] : { ...value };
    this.#work += 10 * measureSize(copy);
    this.#own.add(copy);
    return copy;
  }

  #require(pointer: Pointer, name: "path" | "from"): unknown {
    const value = findValue(this.#document, pointer);
    if (value === undefined) throw this.#conflict(`there is nothing at its ${name}`);
    return value;
  }

  /**
   * Returns a copy of a value for this level of the document. Throws `invalid_patch` if the patch then adds too much or
   * the result has too many levels.
   */
  #copyOf(value: unknown, level: number): unknown {
    this.#room -= typeof value === "string" ? value.length + 1 : 1;
    this.#work += 10;
    if (this.#room < 0) throw invalidOperation(this.#index, "the patch adds more than a body may hold");
    if (typeof value !== "object" || value === null || isExactNumber(value)) return value;
    if (level >= MAX_LEVELS)
      throw invalidOperation(this.#index, `the result would have more than ${MAX_LEVELS} levels`);
    if (Array.isArray(value)) return value.map((each) => this.#copyOf(each, level + 1));
    const copy: Record<string, unknown> = {};
    for (const [name, each] of Object.entries(value)) {
      this.#room -= name.length;
      setMember(copy, name, this.#copyOf(each, level + 1));
    }
    return copy;
  }

  #conflict(what: string): Problem {
    return problem("patch_conflict", { detail: `Operation ${this.#index}: ${what}.` });
  }
}

function measureSize(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null || isExactNumber(value)) return true;
  return levels > 0 && Object.values(value).every((each) => isWithin(each, levels - 1));
}
