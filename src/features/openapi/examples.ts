import type { ExtensionMember } from "../../core/problem/extensions.ts";
import { Flaw, isInRecords, isRequired, isWritable, type Field } from "../../resource/declaration/field.ts";
import { compile } from "../../resource/json-schema/compile.ts";
import type { Fields, Resource } from "../../resource/resource.ts";
import type { JSONObject } from "./json.ts";

/** Returns an example of a record, without its id. Returns null if a field has no example and none can be generated. */
export function exampleRecord({ fields }: Resource): JSONObject | null {
  return findExample(fields, isInRecords);
}

/** Returns an example of a body to create or replace. Returns null if none can be generated. */
export function exampleDraft({ fields }: Resource): JSONObject | null {
  return findExample(
    fields,
    (field) => isWritable(field) && (isRequired(field) || declaredExample(field) !== undefined),
  );
}

/** Returns an example change of one field. Returns null if none can be generated. */
export function examplePatch(resource: Resource): JSONObject | null {
  const first = Object.entries(exampleDraft(resource) ?? {})[0];
  return first === undefined ? null : Object.fromEntries([first]);
}

function findExample(fields: Fields, isPart: (field: Field) => boolean): JSONObject | null {
  const parts = Object.entries(fields).filter(([, field]) => isPart(field));
  const values = parts.map(
    ([name, field]) => [name, declaredExample(field) ?? collectSamples(field.kind)[0] ?? null] as const,
  );
  const isWhole = values.every(([name, value]) => value !== null || fields[name]!.options.optional === true);
  return isWhole ? Object.fromEntries(values) : null;
}

/**
 * Returns the example of a member. If a required member has no example, returns a generated value. Otherwise returns
 * undefined.
 */
export function exampleValue({ kind, options }: ExtensionMember): unknown {
  return options.example ?? (options.optional === true ? undefined : collectSamples(kind)[0]);
}

function declaredExample({ options: { example, default: fallback } }: Field): unknown {
  return example ?? (typeof fallback === "function" ? undefined : fallback);
}

type Kind = ExtensionMember["kind"];

const sampleCache = new WeakMap<Kind, readonly unknown[]>();

/** Returns values that the field itself accepts. They are cached, because every operation of a resource shows them. */
function collectSamples(kind: Kind): readonly unknown[] {
  const samples = sampleCache.get(kind) ?? samplesOfKind(kind);
  sampleCache.set(kind, samples);
  return samples;
}

function samplesOfKind(kind: Kind): readonly unknown[] {
  const { type, enum: words, format, pattern, minimum, minLength, maxLength } = kind.schema;
  const text = "Example".padEnd(Number(minLength ?? 0), ".").slice(0, Number(maxLength ?? Infinity));
  const candidates = [
    ...(Array.isArray(words) ? (words as unknown[]) : []),
    "2026-01-31T09:30:00.000Z",
    "2026-01-31",
    "https://example.com/",
    "ann@example.com",
    "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
    "1",
    1,
    minimum,
    true,
    text,
    [],
  ];
  // A text accepts every candidate, a date only one of them.
  const isAnyText = type === "string" && words === undefined && format === undefined && pattern === undefined;
  const ordered = kind.example !== undefined ? [kind.example] : isAnyText ? [text, ...candidates] : candidates;
  // The schema may be stricter than the kind, for example if the kind accepts any value.
  const fits = compile(kind.schema, []);
  return ordered
    .filter((each) => each !== undefined)
    .flatMap((each) => {
      const read = tryToRead(kind, each);
      return read === undefined || read instanceof Flaw || fits(read).length > 0 ? [] : [read];
    });
}

/** Parses a value with the kind. A custom kind may throw for a sample that no caller would send. */
function tryToRead(kind: Kind, value: unknown): unknown {
  try {
    return kind.parse(value);
  } catch {
    return undefined;
  }
}
