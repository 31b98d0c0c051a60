import { atOnce } from "../../../core/checking/at-once.ts";
import type { Collection, Column, StoredRecord, Value } from "../../store.ts";
import { encode } from "../codec.ts";
import { quote } from "../names.ts";
import { typeOf } from "../schema/definition.ts";
import type { Found, Schema } from "../schema/schema.ts";
import { always, type Conversion } from "./conversion.ts";

/** Where the values of a column come from when its table is made to fit. */
export type Source =
  /** From a column as they are, by this name or another. */
  | { readonly kind: "same"; readonly from: string }
  /** There are none: rows that are there get the default, or null. */
  | { readonly kind: "new" }
  /** From a column by an expression. `fallback` is the SQL of what stands for null. */
  | { readonly kind: "sql"; readonly was: Column; readonly conversion: Conversion; readonly fallback: string | null }
  /** By a function of the row as it was; `was` is the column that it comes from, where there is one. */
  | { readonly kind: "program"; readonly was: Column | null; compute(row: StoredRecord): Value }
  /** Nobody knows: the message says what the declaration has to say. */
  | { readonly kind: "unknown"; readonly why: string };

/** Where each declared column comes from. */
export function sourcesOf(schema: Schema, collection: Collection, found: Found): ReadonlyMap<string, Source> {
  const taken = new Set<string>();
  return new Map(
    collection.columns.map((column) => {
      const source = leftInTheWay(collection, column, found) ?? sourceOf(schema, column, found);
      if (source.kind !== "same" || !taken.has(source.from)) {
        if (source.kind === "same") taken.add(source.from);
        return [column.name, source];
      }
      // One column becomes several: it can take one new name, and the others are copies.
      const conversion = always(quote(source.from));
      return [column.name, { kind: "sql", was: columnWas(schema, found, source.from), conversion, fallback: null }];
    }),
  );
}

/** A column that is declared no more has the new name of another: which of both is meant, nobody can know. */
function leftInTheWay({ name: table }: Collection, { name, origin }: Column, found: Found): Source | null {
  const before = origin?.renamedFrom;
  const areBothThere = before !== undefined && found.columns.has(name) && found.columns.has(before);
  const isDeclared = (column: string): boolean => found.declared?.columns.some((each) => each.name === column) === true;
  if (!areBothThere || isDeclared(name) || !isDeclared(before)) return null;
  return {
    kind: "unknown",
    why:
      `is to be ${before} under a new name, and a column of that name is left from before. Remove it first: with the declaration that has ${before}, run latchkey db migrate --allow-data-loss ${table}.${name}. ` +
      "To show what is in it, leave renamedFrom out",
  };
}

/** What a column was, as far as its type goes. */
export function columnWas(schema: Schema, found: Found, name: string): Column {
  const { storage, nullable } = found.columns.get(name)!;
  const match = /^([a-z-]+)(?:\((\d+)\))?$/.exec(found.types[name] ?? "");
  const type = (match?.[1] ?? typeOfStorage(schema, storage)) as Column["type"];
  const scale = match === null ? /,(\d+)\)$/.exec(storage)?.[1] : match[2];
  return { name, type, nullable, ...(scale === undefined ? {} : { scale: Number(scale) }) };
}

/** The name that a column has in a table as it is; null where it is not there. */
export function nameBefore({ name, origin }: Column, { columns }: Found): string | null {
  if (columns.has(name)) return name;
  const before = origin?.renamedFrom;
  return before !== undefined && columns.has(before) ? before : null;
}

/** Whether a column has another type than the values that are there. */
export function isOtherType(schema: Schema, column: Column, was: Column, found: Found): boolean {
  return found.columns.get(was.name)!.storage !== schema.storageOf(column) || typeOf(was) !== typeOf(column);
}

function sourceOf(schema: Schema, column: Column, found: Found): Source {
  const { origin = {} } = column;
  const before = nameBefore(column, found);
  if (before === null) return newSource(column);
  const was = columnWas(schema, found, before);
  const isOther = isOtherType(schema, column, was, found);
  const fills = column.nullable !== true && was.nullable === true && origin.backfill !== undefined;
  const { convert } = origin;
  if (typeof convert === "function" && (isOther || before !== column.name))
    return program(was, origin.backfill, fills, convert);
  if (typeof convert === "function" && isNarrower(column, found))
    return program(was, origin.backfill, fills, (old) => (column.fits?.(old) === false ? convert(old) : old));
  const conversion = conversionOf(schema, column, was, { isOther, isRenamed: before !== column.name });
  if (conversion === null)
    return {
      kind: "unknown",
      why: `was ${typeOf(was)} and is declared ${typeOf(column)}, and nothing says what its values become. Say so in its declaration: convert: (old) => …`,
    };
  const isSame = conversion.value === quote(before) && conversion.fits === "TRUE";
  if (typeof origin.backfill === "function" && fills)
    return isSame
      ? program(was, origin.backfill, true, (old) => old)
      : { kind: "unknown", why: "has a backfill that is a function; give it a convert that is a function too" };
  if (isSame && !fills) return { kind: "same", from: before };
  return { kind: "sql", was, conversion, fallback: fills ? literalOf(schema, column, origin.backfill as Value) : null };
}

function newSource(column: Column): Source {
  const { backfill } = column.origin ?? {};
  if (typeof backfill === "function")
    return { kind: "program", was: null, compute: (row) => atOnce(backfill(row), "backfill") };
  if (backfill !== undefined) return { kind: "program", was: null, compute: () => backfill };
  if (column.nullable === true || column.default !== undefined) return { kind: "new" };
  return {
    kind: "unknown",
    why: "is new and must not be null, and there are rows already. Declare it optional, or with a default or a backfill",
  };
}

/** As the declaration says it for this database, or as the types do. */
function conversionOf(
  schema: Schema,
  column: Column,
  was: Column,
  { isOther, isRenamed }: { readonly isOther: boolean; readonly isRenamed: boolean },
): Conversion | null {
  const { convert } = column.origin ?? {};
  if (typeof convert === "object" && (isOther || isRenamed)) {
    const sql = convert[schema.engine];
    return sql === undefined ? null : always(`(${sql})`);
  }
  return isOther ? schema.convert(was, column, quote(was.name)) : always(quote(was.name));
}

function program(
  was: Column,
  backfill: unknown,
  fills: boolean,
  convert: (old: Value) => Value,
): Extract<Source, { kind: "program" }> {
  return {
    kind: "program",
    was,
    compute(row) {
      const old = row[was.name] ?? null;
      if (old !== null) return atOnce(convert(old), "convert");
      if (!fills) return null;
      return typeof backfill === "function"
        ? atOnce((backfill as (row: StoredRecord) => Value)(row), "backfill")
        : (backfill as Value);
    },
  };
}

/** Whether the rule of a column asks for something that it did not ask for before. Where nobody knows the rule of before, nothing is said of it. */
export function isNarrower(column: Column, { declared }: Found): boolean {
  const named = new Set([column.name, column.origin?.renamedFrom]);
  const before = declared?.columns.find(({ name }) => named.has(name))?.rule;
  const { fits, rule } = column;
  if (fits === undefined || rule === undefined || before === undefined) return false;
  const words = (before as Rule)["enum"];
  // Of one of some words it is known what each is taken for, whatever kind of text it is now.
  if (Array.isArray(words)) return !words.every((word: Value) => fits(word));
  return !holdsAll(before as Rule, rule as Rule);
}

type Rule = Readonly<Record<string, unknown>>;
const lower = new Set(["minLength", "minimum", "minItems", "least"]);
const upper = new Set(["maxLength", "maximum", "maxItems", "most"]);
/** What older versions did not remember: where it is not there, nobody knows what it was. */
const since = new Set(["multiline", "trim", "of", "least", "most"]);

/** Whether whatever keeps the rule `before` keeps `now`, as far as that is plain to see. */
function holdsAll(before: Rule, now: Rule): boolean {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].every((name) => {
    const [was, is] = [before[name], now[name]];
    if (JSON.stringify(was) === JSON.stringify(is) || is === undefined) return name !== "kind" || was === is;
    if (since.has(name) && was === undefined) return true;
    if (name === "multiline") return was === false;
    if (name === "trim") return was === true;
    if (name === "of" || name === "items") return isRule(was) && isRule(is) && holdsAll(was, is);
    if (lower.has(name)) return typeof was === "number" && typeof is === "number" && is <= was;
    if (upper.has(name)) return typeof was === "number" && typeof is === "number" && is >= was;
    return name === "enum" && Array.isArray(was) && Array.isArray(is) && was.every((word) => is.includes(word));
  });
}

function isRule(value: unknown): value is Rule {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeOfStorage({ engine }: Schema, storage: string): Column["type"] {
  if (storage === "REAL" || storage === "double precision") return "double";
  if (engine === "sqlite") return storage === "INTEGER" ? "integer" : "text";
  if (storage.startsWith("numeric")) return "decimal";
  return storage === "bigint" ? "integer" : storage === "boolean" || storage === "json" ? storage : "text";
}

function literalOf(schema: Schema, column: Column, value: Value): string {
  const cell = encode(schema, column, value);
  return typeof cell === "string" ? schema.literal(cell) : String(cell);
}
