import type { ServedEndpoint } from "../../http/declarations/endpoint.ts";
import type { Field } from "../../resource/declaration/field.ts";
import { createRandom } from "../../resource/drawing/random.ts";
import { drawValue } from "../../resource/drawing/values.ts";
import type { World } from "../world/world.ts";
import { namedIds } from "./naming.ts";

/** The bodies that one endpoint gets, and the words of one member. */
const MOST_BODIES = 20;
const MOST_WORDS = 6;

type Schema = Readonly<Record<string, unknown>>;

/** A member of a body that may hold an id, or that has a few values: its place, and the values. */
interface Choice {
  readonly place: readonly (string | number)[];
  readonly values: readonly unknown[];
}

/** A body. `isGuessed`: its schema does not name every member. */
interface SchemaBody {
  readonly body: unknown;
  readonly isGuessed?: boolean;
}

/**
 * Returns the bodies that fit the schema of an endpoint, each with all its members: one for each record that a member
 * may name, one for each word, and one for each column of rights that the schema does not forbid.
 */
export function* schemaBodies(world: World, { reading, consumes, path }: ServedEndpoint): Generator<SchemaBody> {
  const schema = reading?.schema ?? null;
  if (schema === null) {
    yield { body: consumes === undefined ? null : {} };
    return;
  }
  const choices: Choice[] = [];
  const whole = drawWhole(world, schema, path, [], choices);
  const ids = choices.filter(({ values }) => values.length > 0);
  const base = ids.reduce((body, { place, values }) => withValue(body, place, values[0]), whole);
  const bodies: readonly SchemaBody[] = [
    { body: base },
    ...ids.flatMap(({ place, values }) => values.slice(1).map((value) => ({ body: withValue(base, place, value) }))),
    ...furtherMembers(world, schema).map(([name, value]) => ({
      body: { ...(base as object), [name]: value },
      isGuessed: true,
    })),
  ];
  yield* bodies.slice(0, MOST_BODIES);
}

/** Returns a value that fits a schema, with every member. Collects the places of ids and words. */
function drawWhole(
  world: World,
  schema: Schema,
  path: string,
  place: readonly (string | number)[],
  choices: Choice[],
): unknown {
  const { properties, items, enum: words, const: constant, anyOf, oneOf, type } = schema;
  if (constant !== undefined) return constant;
  if (Array.isArray(words)) {
    choices.push({ place, values: words.slice(0, MOST_WORDS) });
    return words[0] as unknown;
  }
  const parts = (Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : []) as readonly Schema[];
  if (parts[0] !== undefined) return drawWhole(world, parts[0], path, place, choices);
  if (isSchema(properties))
    return Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [
        name,
        drawWhole(world, each as Schema, path, [...place, name], choices),
      ]),
    );
  if (isSchema(items)) {
    const { minItems } = schema as { readonly minItems?: number };
    return Array.from({ length: Math.max(1, minItems ?? 1) }, (_, at) =>
      drawWhole(world, items, path, [...place, at], choices),
    );
  }
  if (type === "boolean") {
    choices.push({ place, values: [true, false] });
    return true;
  }
  const name = place.findLast((part) => typeof part === "string") ?? "";
  const kinds = [type].flat();
  const ids = namedIds(world, name, path).filter(
    (id) =>
      kinds.includes(typeof id === "number" ? "integer" : "string") ||
      (kinds.includes("number") && typeof id === "number"),
  );
  if (ids.length > 0) choices.push({ place, values: ids });
  return drawLeaf(world, schema);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a value that an answer shows to be sent, if the schema takes one. */
function drawLeaf(world: World, schema: Schema): unknown {
  const type = columnTypeOf(schema);
  const parse = (value: unknown): unknown => {
    if (typeof value === "string" && type === "text" && !fits(schema, value)) throw new TypeError("It does not fit.");
    return value;
  };
  const field = { kind: { schema, column: { type }, parse }, options: {} } as unknown as Field;
  return world.values.draw(field, 0)?.value ?? drawValue(field, createRandom("body"));
}

function columnTypeOf({ type, format }: Schema): string {
  if (type === "integer" || type === "number") return "integer";
  if (type !== "string") return "json";
  return format === "date" || format === "date-time" ? format : "text";
}

const forms: Readonly<Record<string, RegExp>> = { email: /@/, uri: /^https:/, uuid: /^[\da-f]{8}-[\da-f-]{27}$/ };

function fits({ format, pattern, minLength, maxLength }: Schema, text: string): boolean {
  return (
    text.length >= Number(minLength ?? 0) &&
    text.length <= Number(maxLength ?? Infinity) &&
    (typeof format === "string" ? (forms[format]?.test(text) ?? true) : !/[@:]/.test(text)) &&
    (typeof pattern !== "string" || new RegExp(pattern, "u").test(text))
  );
}

/** Returns a body with another value at a place. */
function withValue(body: unknown, [first, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (first === undefined) return value;
  if (Array.isArray(body)) return body.map((each: unknown, at) => (at === first ? withValue(each, rest, value) : each));
  const members = body as Readonly<Record<string, unknown>>;
  return { ...members, [first]: withValue(members[first], rest, value) };
}

/** Returns the columns of rights that a body may name although its schema has no such member, each with values. */
function furtherMembers(world: World, schema: Schema): readonly (readonly [string, unknown])[] {
  const { properties, additionalProperties } = schema;
  if (additionalProperties === false || (!isSchema(properties) && schema["type"] !== "object")) return [];
  const users = [...(world.state().get(world.usersTable)?.values() ?? [])];
  return world.identityFields
    .filter((name) => !Object.hasOwn(properties ?? {}, name))
    .flatMap((name) => {
      const values = [...new Set(users.map((row) => row[name]))].filter((value) => value !== null);
      return [values[0], values.at(-1)].map((value) => [name, value] as const);
    });
}
