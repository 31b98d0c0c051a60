import {
  always,
  convertBy,
  decimalDigits,
  doubleDigits,
  largestInteger,
  midnight,
  type Conversion,
  type Conversions,
} from "../../sql/schema/conversion.ts";

/**
 * Returns a JSON string without its quotation marks. A string with a backslash keeps its quotation marks, because it
 * may contain a NUL, which no text in PostgreSQL can contain. Such a string is then neither a number nor a date.
 */
const plain = (x: string): string => `(CASE WHEN strpos(${x}::text, '\\') = 0 THEN ${x} #>> '{}' ELSE ${x}::text END)`;
const castToText = (x: string): string => `${x}::text`;

function toInteger(x: string): Conversion {
  return {
    fits: `CASE WHEN ${x} ~ '^(0|-?[1-9][0-9]{0,15})$' THEN abs(${x}::numeric) <= ${largestInteger} ELSE FALSE END`,
    value: `${x}::bigint`,
  };
}

const toBoolean = (x: string): Conversion => ({ fits: `${x} IN ('true', 'false')`, value: `(${x} = 'true')` });

function toDecimal(x: string, scale: number): Conversion {
  const fraction = scale === 0 ? "" : `(\\.[0-9]{1,${scale}})?`;
  return {
    fits: `${x} ~ '^-?(0|[1-9][0-9]{0,${decimalDigits - scale - 1}})${fraction}$'`,
    value: `${x}::numeric(19,${scale})`,
  };
}

/**
 * Returns SQL that is true if the day exists. Uses a year from 400 to 799: the calendar repeats every 400 years, and
 * PostgreSQL has no year 0.
 */
function isDay(x: string): string {
  const [year, month, day] = [`substr(${x}, 1, 4)::int`, `substr(${x}, 6, 2)::int`, `substr(${x}, 9, 2)::int`];
  const last = `extract(day FROM make_date(${year} % 400 + 400, ${month}, 1) + interval '1 month' - interval '1 day')`;
  return `CASE WHEN ${month} BETWEEN 1 AND 12 THEN ${day} BETWEEN 1 AND ${last} ELSE FALSE END`;
}

const day = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
const toDate = (x: string): Conversion => ({
  fits: `CASE WHEN ${x} ~ '^${day}$' THEN ${isDay(x)} ELSE FALSE END`,
  value: x,
});
const toInstant = (x: string): Conversion => ({
  fits: `CASE WHEN ${x} ~ '^${day}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\\.[0-9]{3}Z$' THEN ${isDay(x)} ELSE FALSE END`,
  value: x,
});

function rescale(x: string, to: number): Conversion {
  return {
    fits: `(${x} = round(${x}, ${to}) AND abs(${x}) < 1${"0".repeat(decimalDigits - to)})`,
    value: `${x}::numeric(19,${to})`,
  };
}

const conversions: Conversions = {
  "integer to text": (x) => always(castToText(x)),
  "boolean to text": (x) => always(castToText(x)),
  "decimal to text": (x) => always(castToText(x)),
  "date to text": always,
  "date-time to text": always,
  "json to text": (x) => always(castToText(x)),
  "integer to json": (x) => always(`to_json(${x})`),
  "boolean to json": (x) => always(`to_json(${x})`),
  "decimal to json": (x) => always(`to_json(${castToText(x)})`),
  "text to json": (x) => always(`to_json(${x})`),
  "date to json": (x) => always(`to_json(${x})`),
  "date-time to json": (x) => always(`to_json(${x})`),
  "text to integer": toInteger,
  "json to integer": (x) => toInteger(castToText(x)),
  "decimal to integer": (x) => ({
    fits: `(${x} = trunc(${x}) AND abs(${x}) <= ${largestInteger})`,
    value: `${x}::bigint`,
  }),
  "boolean to integer": (x) => always(`${x}::integer::bigint`),
  "integer to double": (x) => always(`${x}::double precision`),
  "double to integer": (x) => ({
    fits: `(${x} = trunc(${x}) AND abs(${x}) <= ${largestInteger})`,
    value: `${x}::bigint`,
  }),
  "decimal to double": (x, scale) => ({
    fits: `abs(${x}) < 1${"0".repeat(doubleDigits - scale)}`,
    value: `${x}::double precision`,
  }),
  "double to decimal": (x, _, scale) => ({
    fits: `CASE WHEN abs(${x}) < 1${"0".repeat(doubleDigits - scale)} THEN round(${x}::numeric, ${scale})::double precision = ${x} ELSE FALSE END`,
    value: `${x}::numeric(19,${scale})`,
  }),
  "integer to boolean": (x) => ({ fits: `${x} IN (0, 1)`, value: `(${x} = 1)` }),
  "text to boolean": toBoolean,
  "json to boolean": (x) => toBoolean(castToText(x)),
  "integer to decimal": (x, _, scale) => rescale(`${x}::numeric`, scale),
  "decimal to decimal": (x, _, scale) => rescale(x, scale),
  "text to decimal": (x, _, scale) => toDecimal(x, scale),
  "json to decimal": (x, _, scale) => toDecimal(plain(x), scale),
  "text to date": toDate,
  "json to date": (x) => toDate(plain(x)),
  "date-time to date": (x) => ({ fits: `substr(${x}, 11) = ${midnight}`, value: `substr(${x}, 1, 10)` }),
  "text to date-time": toInstant,
  "json to date-time": (x) => toInstant(plain(x)),
  "date to date-time": (x) => always(`(${x} || ${midnight})`),
};

/** The conversions between types in PostgreSQL. */
export const convert = convertBy(conversions);

/** Returns the conversion as one expression that fails if a value does not fit. */
export function convertOrFail({ fits, value }: Conversion, x: string): string {
  if (fits === "TRUE") return `CASE WHEN ${x} IS NOT NULL THEN ${value} END`;
  // This text is not a number, so the cast fails, and the error shows the value.
  return `CASE WHEN ${x} IS NULL THEN NULL WHEN ${fits} THEN ${value} WHEN ('does not fit: ' || ${x}::text)::integer IS NULL THEN NULL END`;
}
