import { isObject, shown, type ValueCheck } from "../../core/checking/members.ts";
import { shownName, suggestion } from "../../core/checking/nearest.ts";
import { MAX_ISSUES } from "../../core/problem/problem.ts";
import { pointerTo } from "../pointer.ts";
import { addFound, combineCheckers, found, NONE, type Checker, type LocatedMistake } from "./found.ts";
import { aNameList, annotations, keywords } from "./keywords.ts";
import type { JSONSchema } from "./types.ts";

/**
 * Compiles a JSON Schema (2020-12) to a check. Adds to `mistakes` each part of the schema that is wrong or not
 * supported, with its location. A check that ignored a keyword would accept values that the author of the schema wants
 * to refuse.
 */
export function compile(schema: unknown, mistakes: string[], place = ""): Checker {
  if (!isObject(schema)) {
    mistakes.push(
      `${at(place)}it is ${shown(schema)}; it has to be a JSON Schema, like { type: "object", properties: { … } }`,
    );
    return () => NONE;
  }
  const knownKeywords = [...Object.keys(keywords), ...structural.keys(), "type", "required", "additionalProperties"];
  for (const name of Object.keys(schema))
    if (!knownKeywords.includes(name) && !annotations.has(name))
      mistakes.push(
        `${at(place)}${shownName(name)} is not checked${suggestion(name, knownKeywords)}; leave it out, or use a Standard Schema`,
      );
  const checkers = [
    ...Object.entries(keywords).flatMap(([name, { operand, make }]) => {
      if (schema[name] === undefined) return [];
      const wrong = operand(schema[name]);
      if (wrong === null) return [make(schema[name] as never)];
      mistakes.push(`${at(place)}${name} is ${shown(schema[name])}; ${wrong}`);
      return [];
    }),
    ...[...structural].flatMap(([name, make]) => {
      const wanted = name === "properties" ? ["properties", "required", "additionalProperties"] : [name];
      return wanted.some((each) => schema[each] !== undefined) ? [make(schema, mistakes, place)] : [];
    }),
  ];
  return ofType(schema["type"], combineCheckers(checkers), mistakes, place);
}

function at(place: string): string {
  return place === "" ? "" : `${place}: `;
}

const types: Readonly<Record<string, readonly [is: (value: unknown) => boolean, what: string]>> = {
  object: [isObject, "An object"],
  array: [Array.isArray, "A list"],
  string: [(value) => typeof value === "string", "A text"],
  integer: [Number.isSafeInteger, "A whole number"],
  number: [Number.isFinite, "A number"],
  boolean: [(value) => typeof value === "boolean", "true or false"],
  null: [(value) => value === null, "null"],
};

const aType: ValueCheck = (value) => {
  const typeNames: readonly unknown[] = Array.isArray(value) ? value : [value];
  return typeNames.length > 0 && typeNames.every((each) => typeof each === "string" && Object.hasOwn(types, each))
    ? null
    : `it has to be one of ${Object.keys(types).join(", ")}, or a list of them`;
};

/**
 * Checks the type first, and the rest only if the type is right. More messages about a value of a wrong type would
 * confuse the caller.
 */
function ofType(type: unknown, rest: Checker, mistakes: string[], place: string): Checker {
  if (type === undefined) return rest;
  const wrong = aType(type);
  if (wrong !== null) mistakes.push(`${at(place)}type is ${shown(type)}; ${wrong}`);
  const allowed = [type].flat().flatMap((each) => (Object.hasOwn(types, String(each)) ? [types[String(each)]!] : []));
  const words = allowed.map(([, what]) => what).join(" or ");
  const wrongType = found(
    "invalid",
    `${words} ${allowed.length > 1 || !words.startsWith("A") ? "is expected" : "is required"}.`,
  );
  return (value) => (allowed.some(([is]) => is(value)) ? rest(value) : wrongType);
}

type Make = (schema: JSONSchema, mistakes: string[], place: string) => Checker;

/** The keywords that contain schemas. `properties` also reads `required` and `additionalProperties`. */
const structural: ReadonlyMap<string, Make> = new Map<string, Make>([
  ["properties", ofMembers],
  ["items", ofItems],
  ["allOf", (schema, mistakes, place) => combineCheckers(alternatives(schema, "allOf", mistakes, place))],
  ["anyOf", (schema, mistakes, place) => ofAlternatives(schema, "anyOf", mistakes, place)],
  ["oneOf", (schema, mistakes, place) => ofAlternatives(schema, "oneOf", mistakes, place)],
]);

function ofMembers(schema: JSONSchema, mistakes: string[], place: string): Checker {
  const { properties = {}, required, additionalProperties = true } = schema;
  const wrong = aNameList(required);
  if (wrong !== null) mistakes.push(`${at(place)}required is ${shown(required)}; ${wrong}`);
  if (!isObject(properties))
    mistakes.push(`${at(place)}properties is ${shown(properties)}; it has to be an object of schemas`);
  const members = new Map(
    Object.entries(isObject(properties) ? properties : {}).map(([name, each]) => [
      name,
      compile(each, mistakes, `${place}/properties${pointerTo(name)}`),
    ]),
  );
  const needed: readonly string[] = wrong === null ? ((required ?? []) as readonly string[]) : [];
  const others =
    typeof additionalProperties === "boolean"
      ? () => (additionalProperties ? NONE : found("unknown_field", "There is no member of this name."))
      : compile(additionalProperties, mistakes, `${place}/additionalProperties`);
  return (value) => {
    if (!isObject(value)) return NONE;
    const all: LocatedMistake[] = [];
    for (const name of needed)
      if (!Object.hasOwn(value, name)) addFound(all, name, found("required", "This member is required."));
    for (const name of Object.keys(value)) {
      if (all.length >= MAX_ISSUES) break;
      addFound(all, name, (members.get(name) ?? others)(value[name]));
    }
    return all;
  };
}

function ofItems({ items }: JSONSchema, mistakes: string[], place: string): Checker {
  const check = compile(items, mistakes, `${place}/items`);
  return (value) => {
    if (!Array.isArray(value)) return NONE;
    const all: LocatedMistake[] = [];
    for (let index = 0; index < value.length && all.length < MAX_ISSUES; index++)
      addFound(all, index, check(value[index]));
    return all;
  };
}

function alternatives(schema: JSONSchema, name: string, mistakes: string[], place: string): readonly Checker[] {
  const schemas = schema[name];
  if (Array.isArray(schemas) && schemas.length > 0)
    return schemas.map((each, index) => compile(each, mistakes, `${place}/${name}/${index}`));
  mistakes.push(`${at(place)}${name} is ${shown(schemas)}; it has to be a list of one or more schemas`);
  return [() => NONE];
}

/**
 * Checks alternatives. If none matches, reports the mistakes of the alternative that the caller meant: the only one
 * whose constants (`const` or `enum` of its members) match the value.
 */
function ofAlternatives(schema: JSONSchema, name: "anyOf" | "oneOf", mistakes: string[], place: string): Checker {
  const checkers = alternatives(schema, name, mistakes, place);
  const meant = ((schema[name] ?? []) as readonly unknown[]).map((each) => collectConstants(each));
  return (value) => {
    const results = checkers.map((check) => check(value));
    const matching = results.filter((each) => each.length === 0).length;
    if (matching === 1 || (matching > 1 && name === "anyOf")) return NONE;
    if (matching > 1) return found("invalid", "It matches several alternatives, and only one may match.");
    const candidates = results.filter((_, index) => isMeant(value, meant[index] ?? []));
    return candidates.length === 1 ? candidates[0]! : found("invalid", "It matches none of the alternatives.");
  };
}

type Constant = readonly [name: string, check: Checker];

function collectConstants(schema: unknown): readonly Constant[] {
  const properties = isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {};
  return Object.entries(properties).flatMap(([name, each]) =>
    isObject(each) && (each["const"] !== undefined || Array.isArray(each["enum"]))
      ? [[name, compile({ const: each["const"], enum: each["enum"] }, [])] as const]
      : [],
  );
}

function isMeant(value: unknown, constants: readonly Constant[]): boolean {
  return (
    isObject(value) &&
    constants.length > 0 &&
    constants.every(([name, check]) => Object.hasOwn(value, name) && check(value[name]).length === 0)
  );
}
