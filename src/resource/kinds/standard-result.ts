import { types } from "node:util";
import { isObject, isText } from "../../core/checking/members.ts";
import { copyOfJSON } from "../../core/exact-numbers.ts";
import type { FlawPart } from "../../core/problem/flaw.ts";
import { MAX_ISSUES } from "../../core/problem/problem.ts";
import { pointerTo } from "../pointer.ts";

/**
 * A schema of any library: zod, valibot, arktype and others (Standard Schema, version 1; https://standardschema.dev).
 */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    /** Returns the JSON Schema of the schema (Standard JSON Schema). Only some libraries have it. */
    readonly jsonSchema?: StandardJSONSchema | undefined;
  };
}

interface StandardJSONSchema {
  readonly input: (options: { readonly target: "draft-2020-12" }) => Readonly<Record<string, unknown>>;
}

/** The vendor of schemas that `jsonSchema` makes. Their issues have Latchkey's codes. */
export const OUR_VENDOR = "latchkey";

const MAX_STEPS = 100;
const MAX_DETAIL = 500;

/** Returns true if the value is a Standard Schema. The schemas of some libraries are functions. */
export function isStandardSchema(schema: unknown): schema is StandardSchema {
  const carrier = typeof schema === "function" || isObject(schema) ? (schema as Partial<StandardSchema>) : {};
  const standard: unknown = carrier["~standard"];
  return isObject(standard) && standard["version"] === 1 && typeof standard["validate"] === "function";
}

/**
 * Returns the schema's own JSON Schema. Returns null if its library provides none, and `none` if the API's description
 * cannot contain it.
 */
export function findJSONSchema(schema: StandardSchema): Readonly<Record<string, unknown>> | "none" | null {
  const { jsonSchema } = schema["~standard"];
  if (jsonSchema === undefined) return null;
  try {
    const { $schema: _, ...own } = jsonSchema.input({ target: "draft-2020-12" });
    // Not usable: a reference starts at the root of the schema, but in the API's description it would start at the root
    // of the description.
    if (!JSON.stringify(own).includes('"$ref"')) return own;
  } catch {
    // Some schemas have no JSON Schema, for example dates and transformations.
  }
  return "none";
}

/** Returns true if the schema validates asynchronously. Rethrows the schema's errors. */
export function givesPromise(schema: StandardSchema, sample: unknown): boolean {
  return isPromise(schema["~standard"].validate(sample));
}

/** Reads a value with a schema of any library. Throws a TypeError if the schema returns a promise or no result. */
export function readBySchema(
  schema: StandardSchema,
  value: unknown,
): { readonly value: unknown } | { readonly parts: readonly FlawPart[] } {
  // Some schemas modify their input, so they get a copy.
  const result = schema["~standard"].validate(copyOfJSON(value));
  if (isPromise(result))
    throw new TypeError(`A schema of ${describeVendor(schema)} gave a promise, but values are read synchronously.`);
  if (!isResult(result)) throw new TypeError(`A schema of ${describeVendor(schema)} gave no result.`);
  const { issues } = result;
  if (issues === undefined) return { value: result.value };
  if (!Array.isArray(issues))
    throw new TypeError(`A schema of ${describeVendor(schema)} gave issues that are no list.`);
  const hasCodes = schema["~standard"].vendor === OUR_VENDOR;
  // Copied, because the lists of some libraries have a custom class whose slices have another type.
  return {
    parts: Array.from<unknown>(issues)
      .slice(0, MAX_ISSUES)
      .map((issue) => readPart(issue, hasCodes)),
  };
}

/**
 * Returns true for any object, also for a list: some libraries return a list of issues whose member `issues` is the
 * list itself.
 */
function isResult(result: unknown): result is { readonly issues?: unknown; readonly value?: unknown } {
  return typeof result === "object" && result !== null;
}

function isPromise(value: unknown): boolean {
  if (!types.isPromise(value)) return isObject(value) && typeof value["then"] === "function";
  // No code awaits the promise. Without this handler, its rejection would end the process.
  value.catch(() => undefined);
  return true;
}

export function describeVendor(schema: StandardSchema): string {
  return String(schema["~standard"].vendor).slice(0, 80);
}

function readPart(issue: unknown, hasCodes: boolean): FlawPart {
  const { message, path, code } = isObject(issue) ? issue : {};
  const steps: readonly unknown[] = Array.isArray(path) ? Array.from<unknown>(path).slice(0, MAX_STEPS) : [];
  const pointer = steps.map((step) => pointerTo(String(isObject(step) ? step["key"] : step))).join("");
  return {
    pointer,
    code: hasCodes && isText(code) ? code : "invalid",
    detail: isText(message) ? cleanMessage(message) : "The value is not valid.",
  };
}

/**
 * Shortens and cleans a message. It may repeat the sent value, which may be long or contain characters that some
 * formats cannot carry.
 */
function cleanMessage(message: string): string {
  const short = message.length > MAX_DETAIL ? `${message.slice(0, MAX_DETAIL)}…` : message;
  return short.toWellFormed().replaceAll(/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/g, " ");
}
