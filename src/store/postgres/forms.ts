import {
  compared,
  converted,
  combineConditions,
  inMilliseconds,
  plain,
  same,
  wordsIn,
  type Form,
} from "../sql/language/form.ts";
import type { Column, FoundColumnForm } from "../store.ts";

/**
 * Returns how an existing column in PostgreSQL holds values of the declared kind. If the column cannot hold them,
 * returns a sentence with the reason.
 */
export function chooseForm(column: Column, found: FoundColumnForm): Form | string {
  const type = found.storage.replace(/\(\d+(,-?\d+)?\)/, "");
  switch (column.type) {
    case "integer":
      return integer(type) ?? refused(found, "integers");
    case "boolean":
      return boolean(type) ?? refused(found, "booleans");
    case "double":
      return double(type) ?? refused(found, "numbers");
    case "decimal":
      return decimal(type, column.scale ?? 0) ?? refused(found, "decimals");
    case "date":
      return date(type) ?? refused(found, "dates");
    case "date-time":
      return dateTime(type) ?? refused(found, "date-times");
    case "json":
      return json(found.storage) ?? refused(found, "JSON");
    case "text":
      return text(type, column, found);
  }
}

function refused({ storage }: FoundColumnForm, kind: string): string {
  return `is of type ${storage}, which cannot hold ${kind}`;
}

const [least, most] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];

function integer(type: string): Form | null {
  const asBigint = (x: string): string => `${x}::bigint`;
  const safe = (x: string): string => `${x} BETWEEN ${least} AND ${most}`;
  switch (type) {
    case "smallint":
    case "integer":
      return compared(asBigint, asBigint, { written: same });
    case "bigint":
      return compared(same, asBigint, { written: same, fits: safe });
    case "numeric":
      return compared(asBigint, (place) => `${place}::numeric`, { fits: (x) => `${safe(x)} AND ${x} = trunc(${x})` });
    default:
      return null;
  }
}

function boolean(type: string): Form | null {
  if (type === "boolean") return plain;
  if (type !== "smallint" && type !== "integer") return null;
  return converted((x) => `(${x} = 1)`, {
    fits: (x) => `${x} IN (0, 1)`,
    written: (place) => `(CASE WHEN ${place}::boolean THEN 1 ELSE 0 END)`,
  });
}

function decimal(type: string, scale: number): Form | null {
  const shown = (x: string): string => `${x}::numeric(19,${scale})`;
  const asNumeric = (x: string): string => `${x}::numeric`;
  // NaN and infinity are larger than any number.
  const fits = (x: string): string =>
    `abs(${asNumeric(x)}) < 1e${19 - scale} AND ${asNumeric(x)} = round(${asNumeric(x)}, ${scale})`;
  switch (type) {
    case "numeric":
    case "smallint":
    case "integer":
    case "bigint":
      return compared(shown, asNumeric, { fits });
    case "real":
    case "double precision":
      return converted((x) => shown(asNumeric(x)), {
        fits: (x) => `${x} BETWEEN -1e18 AND 1e18 AND ${fits(x)}`,
        written: asNumeric,
      });
    default:
      return null;
  }
}

/** Excludes NaN and infinity, which JSON does not have. NaN is larger than any number. */
function double(type: string): Form | null {
  const most = "1.7976931348623157e308::double precision";
  const isFinite = (x: string): string => `${x}::double precision BETWEEN -${most} AND ${most}`;
  // The shortest text of a `real` is the intended number: 0.1, and not 0.10000000149.
  if (type === "real")
    return converted((x) => `${x}::text::double precision`, {
      fits: isFinite,
      written: (place) => `${place}::double precision`,
    });
  if (type === "double precision") return compared(same, (place) => `${place}::double precision`, { fits: isFinite });
  return null;
}

/** Compares texts by code point, independent of the collation of the database. */
const byCodePoint = (x: string): string => `${x} COLLATE "C"`;
const asText = (x: string): string => `${x}::text`;

function date(type: string): Form | null {
  if (type === "date")
    return compared(
      (x) => `to_char(${x}, 'YYYY-MM-DD')`,
      (place) => `${place}::date`,
      {
        fits: (x) => `${x} BETWEEN '0001-01-01' AND '9999-12-31'`,
      },
    );
  return isTextual(type) ? writtenAs(`^${day}$`) : null;
}

const day = "(?!0000)\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])";

/** Writes microseconds only if there are some, so that a value with milliseconds is read as it was sent. */
const formatInstant = (x: string): string => `replace(to_char(${x}, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '000Z', 'Z')`;

function dateTime(type: string): Form | null {
  switch (type) {
    case "timestamp with time zone":
      return compared(
        (x) => formatInstant(`${x} AT TIME ZONE 'UTC'`),
        (place) => `${place}::timestamptz`,
        {
          fits: (x) => `${x} >= '0001-01-01T00:00Z' AND ${x} < '10000-01-01T00:00Z'`,
        },
      );
    case "timestamp without time zone":
      // A value without a time zone is read as UTC, which most programs mean. The cast ignores the Z of a given value.
      return compared(formatInstant, (place) => `${place}::timestamp`, {
        fits: (x) => `${x} >= '0001-01-01' AND ${x} <= '9999-12-31T23:59:59.999999'`,
      });
    default: {
      if (!isTextual(type)) return null;
      return { ...writtenAs(`^${day}T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$`), convertCell: inMilliseconds };
    }
  }
}

/** Returns the form of a text column that has the format of the store. */
function writtenAs(pattern: string): Form {
  return compared((x) => byCodePoint(asText(x)), same, {
    order: { of: (x) => byCodePoint(asText(x)), operand: same },
    equal: { of: (x) => byCodePoint(asText(x)), operand: same },
    inOrder: false,
    // The day must exist in its month. The cast would raise an error for a text that does not match the pattern, so it
    // runs only after the match.
    fits: (x) =>
      `CASE WHEN ${byCodePoint(x)} ~ '${pattern}' THEN substr(${x}, 9, 2)::integer <= ` +
      `extract(day FROM make_date(substr(${x}, 1, 4)::integer, substr(${x}, 6, 2)::integer, 1) + interval '1 month - 1 day') ELSE FALSE END`,
  });
}

function isTextual(type: string): boolean {
  return type === "text" || type === "character varying";
}

function json(storage: string): Form | null {
  if (storage === "json") return { ...plain, mayRepeat: true };
  if (storage === "jsonb") return converted((x) => `${x}::json`);
  if (!storage.endsWith("[]")) return null;
  const repeating = storage === "json[]" ? { mayRepeat: true } : {};
  return converted((x) => `to_json(${x})`, { written: asArray(storage), ...repeating });
}

/** Converts the elements one by one to their types. A value that is too long for the column is refused on write. */
function asArray(storage: string): (place: string) => string {
  const type = storage.replace(/\(\d+(,-?\d+)?\)/, "");
  const each = /^jsonb?\[/.test(type) ? "json_array_elements" : "json_array_elements_text";
  return (place) =>
    `CASE WHEN ${place}::json IS NOT NULL THEN ARRAY(SELECT e FROM ${each}(${place}::json) WITH ORDINALITY AS u(e, at) ORDER BY at)::${type} END`;
}

function text(
  type: string,
  column: Column,
  { storage, words, byCodePoint: isByCodePoint, isLoose }: FoundColumnForm,
): Form | string {
  const wanted = wordsIn(column.rule);
  const isKnown = words !== undefined && wanted !== undefined && words.every((word) => wanted.includes(word));
  const inOrder = { of: (x: string) => byCodePoint(asText(x)), operand: same };
  const isWord =
    wanted === undefined || isKnown
      ? undefined
      : (x: string) => `${inOrder.of(x)} IN (${wanted.map((word) => `'${word.replaceAll("'", "''")}'`).join(", ")})`;
  if (words !== undefined) {
    const strange = (wanted ?? []).filter((word) => !words.includes(word));
    if (strange.length > 0 && strange.length === wanted?.length)
      return `is of type ${storage}, which has none of the words ${strange.join(", ")}`;
    // A word that the type does not have would raise an error, so the condition uses the index only if the type has all
    // words.
    const isComparable = wanted !== undefined && strange.length === 0;
    const equal = isComparable ? { of: same, operand: (place: string) => `${place}::text::${storage}` } : inOrder;
    return { ...plain, convert: asText, equal, order: inOrder, inOrder: false, fits: combineConditions(isWord) };
  }
  // This collation compares different texts as equal, so every comparison uses the collation `C` instead.
  if (isLoose === true)
    return {
      ...plain,
      convert: inOrder.of,
      equal: inOrder,
      order: inOrder,
      inOrder: false,
      fits: combineConditions(isWord),
    };
  switch (type) {
    case "text":
    case "character varying":
      return isByCodePoint === true
        ? { ...plain, fits: combineConditions(isWord) }
        : { ...plain, order: { of: byCodePoint, operand: same }, inOrder: false, fits: combineConditions(isWord) };
    case "uuid":
      if (!isUUID(column)) return `is of type uuid; declare it with uuid()`;
      return compared(
        (x) => byCodePoint(asText(x)),
        (place) => `${place}::uuid`,
      );
    case "inet": {
      // PostgreSQL would write the address with a `/32` that the client did not send.
      const side = { of: (x: string) => byCodePoint(`abbrev(${x})`), operand: same };
      return { ...plain, convert: (x) => `abbrev(${x})`, equal: side, order: side, inOrder: false };
    }
    case "bytea":
      return `is of type bytea, and no kind of field has that type`;
    default:
      // Values of every other type can be compared as text.
      return {
        ...plain,
        convert: asText,
        equal: inOrder,
        order: inOrder,
        inOrder: false,
        fits: combineConditions(isWord),
      };
  }
}

/** True if the column is a UUID, or refers to a record, whose key may be a UUID. */
function isUUID({ rule, references }: Column): boolean {
  if (references !== undefined) return true;
  return typeof rule === "object" && rule !== null && "format" in rule && rule.format === "uuid";
}
