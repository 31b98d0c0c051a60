import { isObject } from "../../core/checking/members.ts";
import { problem, type Problem } from "../../core/problem/problem.ts";
import { parsePointer, type Pointer } from "./pointer.ts";

/** One parsed operation of a JSON Patch (RFC 6902 §4). */
export type Operation =
  | { readonly op: "add" | "replace" | "test"; readonly path: Pointer; readonly value: unknown }
  | { readonly op: "remove"; readonly path: Pointer }
  | { readonly op: "move" | "copy"; readonly from: Pointer; readonly path: Pointer };

const MAX_OPERATIONS = 1000;

/** Parses a JSON Patch. Throws `invalid_patch` if it is invalid. The detail names the operation, counted from 0. */
export function parseJSONPatch(value: unknown): Operation[] {
  if (!Array.isArray(value)) throw problem("invalid_patch", { detail: "A JSON Patch is an array of operations." });
  if (value.length > MAX_OPERATIONS)
    throw problem("invalid_patch", { detail: `A JSON Patch has at most ${MAX_OPERATIONS} operations.` });
  return value.map(parseOperation);
}

function parseOperation(value: unknown, index: number): Operation {
  if (!isObject(value)) throw invalidOperation(index, "it is not an object");
  const op = ownMember(value, "op");
  switch (op) {
    case "add":
    case "replace":
    case "test":
      if (!Object.hasOwn(value, "value")) throw invalidOperation(index, "value is missing");
      return { op, path: readPointer(value, "path", index), value: value["value"] };
    case "remove":
      return { op, path: readPointer(value, "path", index) };
    case "move":
    case "copy": {
      const from = readPointer(value, "from", index);
      const path = readPointer(value, "path", index);
      if (op === "move" && isInside(path, from)) throw invalidOperation(index, "a value cannot be moved into itself");
      return { op, from, path };
    }
    default:
      throw invalidOperation(index, "op is not one of add, remove, replace, move, copy and test");
  }
}

function readPointer(operation: Record<string, unknown>, name: "path" | "from", index: number): Pointer {
  const text = ownMember(operation, name);
  if (text === undefined) throw invalidOperation(index, `${name} is missing`);
  const pointer = typeof text === "string" ? parsePointer(text) : null;
  if (pointer === null) throw invalidOperation(index, `${name} is not a JSON Pointer (RFC 6901)`);
  return pointer;
}

function ownMember(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function isInside(path: Pointer, from: Pointer): boolean {
  return path.length > from.length && from.every((token, at) => token === path[at]);
}

/** Returns the problem for an invalid operation. `what` is the mistake. */
export function invalidOperation(index: number, what: string): Problem {
  return problem("invalid_patch", { detail: `Operation ${index}: ${what}.` });
}
