import { atOnce } from "../../../core/checking/at-once.ts";
import type { Collection, Column, StoredRecord, Value } from "../../store.ts";
import { encode } from "../language/codec.ts";
import { quote } from "../language/names.ts";
import { always, type Conversion } from "../schema/conversion.ts";
import { formatType } from "../schema/definition.ts";
import type { FoundTable, SchemaDialect } from "../schema/schema.ts";

/** The source of the values of a column when its table is changed. */
export type Source =
  /** From an existing column, unchanged. The existing column may have another name. */
  | { readonly kind: "same"; readonly from: string }
  /** The column is new. Existing rows get the default, or null. */
  | { readonly kind: "new" }
  /**
   * From an existing column, converted by an SQL expression. `fallback` is the SQL of the value for rows that have
   * null.
   */
  | { readonly kind: "sql"; readonly was: Column; readonly conversion: Conversion; readonly fallback: string | null }
  /** From a function of the old row. `was` is the existing column, or null. */
  | { readonly kind: "program"; readonly was: Column | null; compute(row: StoredRecord): Value }
  /** Unknown. `why` gives the reason and the fix. */
  | { readonly kind: "unknown"; readonly why: string };

/** Returns the source of each declared column. */
export function resolveSources(
  schema: SchemaDialect,
  collection: Collection,
  found: FoundTable,
): ReadonlyMap<string, Source> {
  const taken = new Set<string>();
  return new Map(
    collection.columns.map((column) => {
      const source = leftInTheWay(collection, column, found) ?? resolveSource(schema, column, found);
      if (source.kind !== "same" || !taken.has(source.from)) {
        if (source.kind === "same") taken.add(source.from);
        return [column.name, source];
      }
      // Several new columns come from the same old one: the first is the renamed column, and the others are copies.
      const conversion = always(quote(source.from));
      return [column.name, { kind: "sql", was: columnWas(schema, found, source.from), conversion, fallback: null }];
    }),
  );
}

/**
 * Returns an `unknown` source if a column is renamed, but the table still has an older column with the new name. The
 * stored declaration does not contain that older column. It is unclear which of the two columns is meant. Returns null
 * otherwise.
 */
function leftInTheWay({ name: table }: Collection, { name, origin }: Column, found: FoundTable): Source | null {
  const before = origin?.renamedFrom;
  const areBothThere = before !== undefined && found.columns.has(name) && found.columns.has(before);
  const isDeclared = (column: string): boolean => found.declared?.columns.some((each) => each.name === column) === true;
  if (!areBothThere || isDeclared(name) || !isDeclared(before)) return null;
  return {
    kind: "unknown",
    why:
      `is the new name of ${before}, but an old column of that name is left. Remove it first: with the declaration that has ${before}, run latchkey db migrate --allow-data-loss ${table}.${name}. ` +
      "To use the old column, leave renamedFrom out",
  };
}

/** Returns the old column. If its declared type is not stored, the type follows from the SQL type. */
export function columnWas(schema: SchemaDialect, found: FoundTable, name: string): Column {
  const { storage, nullable } = found.columns.get(name)!;
  const match = /^([a-z-]+)(?:\((\d+)\))?$/.exec(found.types[name] ?? "");
  const type = (match?.[1] ?? typeOfStorage(schema, storage)) as Column["type"];
  const scale = match === null ? /,(\d+)\)$/.exec(storage)?.[1] : match[2];
  return { name, type, nullable, ...(scale === undefined ? {} : { scale: Number(scale) }) };
}

/**
 * Returns the name that a column has in a table: the declared name, or the earlier one. Returns null if the table has
 * neither.
 */
export function nameBefore({ name, origin }: Column, { columns }: FoundTable): string | null {
  if (columns.has(name)) return name;
  const before = origin?.renamedFrom;
  return before !== undefined && columns.has(before) ? before : null;
}

/** Returns true if the type of a column differs from the type of its existing values. */
export function isOtherType(schema: SchemaDialect, column: Column, was: Column, found: FoundTable): boolean {
  return (
    found.columns.get(was.name)!.storage !== schema.compileStorage(column) || formatType(was) !== formatType(column)
  );
}

function resolveSource(schema: SchemaDialect, column: Column, found: FoundTable): Source {
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
  const conversion = findConversion(schema, column, was, { isOther, isRenamed: before !== column.name });
  if (conversion === null)
    return {
      kind: "unknown",
      why: `was ${formatType(was)} but is declared ${formatType(column)}. Declare how to convert its values: convert: (old) => …`,
    };
  const isSame = conversion.value === quote(before) && conversion.fits === "TRUE";
  if (typeof origin.backfill === "function" && fills)
    return isSame
      ? program(was, origin.backfill, true, (old) => old)
      : { kind: "unknown", why: "has a backfill that is a function; its convert has to be a function too" };
  if (isSame && !fills) return { kind: "same", from: before };
  return {
    kind: "sql",
    was,
    conversion,
    fallback: fills ? compileLiteral(schema, column, origin.backfill as Value) : null,
  };
}

function newSource(column: Column): Source {
  const { backfill } = column.origin ?? {};
  if (typeof backfill === "function")
    return { kind: "program", was: null, compute: (row) => atOnce(backfill(row), "backfill") };
  if (backfill !== undefined) return { kind: "program", was: null, compute: () => backfill };
  if (column.nullable === true || column.default !== undefined) return { kind: "new" };
  return {
    kind: "unknown",
    why: "is new and must not be null, but there are rows already. Declare it optional, or with a default or a backfill",
  };
}

/**
 * Returns the conversion that the declaration has for this database. If the declaration has no SQL conversion at all,
 * returns the conversion between the two types. Returns null if neither exists.
 */
function findConversion(
  schema: SchemaDialect,
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

/** Returns true if the rule of a column may be stricter than before. Returns false if the old rule is unknown. */
export function isNarrower(column: Column, { declared }: FoundTable): boolean {
  const named = new Set([column.name, column.origin?.renamedFrom]);
  const before = declared?.columns.find(({ name }) => named.has(name))?.rule;
  const { fits, rule } = column;
  if (fits === undefined || rule === undefined || before === undefined) return false;
  const words = (before as Rule)["enum"];
  // If the old rule is an enumeration, checks each of its words against the new rule. The two rules cannot be compared,
  // because the field may have another kind now.
  if (Array.isArray(words)) return !words.every((word: Value) => fits(word));
  return !holdsAll(before as Rule, rule as Rule);
}

type Rule = Readonly<Record<string, unknown>>;
const lower = new Set(["minLength", "minimum", "minItems", "least"]);
const upper = new Set(["maxLength", "maximum", "maxItems", "most"]);
/**
 * Members of a rule that older versions did not store. If one is missing in the stored rule, it counts as unchanged.
 */
const since = new Set(["multiline", "trim", "of", "least", "most"]);

/**
 * Returns true if every value that fits the rule `before` also fits `now`. Returns false if this function cannot decide
 * it.
 */
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

function typeOfStorage({ engine }: SchemaDialect, storage: string): Column["type"] {
  if (storage === "REAL" || storage === "double precision") return "double";
  if (engine === "sqlite") return storage === "INTEGER" ? "integer" : "text";
  if (storage.startsWith("numeric")) return "decimal";
  return storage === "bigint" ? "integer" : storage === "boolean" || storage === "json" ? storage : "text";
}

function compileLiteral(schema: SchemaDialect, column: Column, value: Value): string {
  const cell = encode(schema, column, value);
  return typeof cell === "string" ? schema.literal(cell) : String(cell);
}
