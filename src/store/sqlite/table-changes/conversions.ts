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

const power = (digits: number): string => `1${"0".repeat(digits)}`;

/** Returns the text of a decimal, which is stored as an integer in units of its last digit. */
function decimalText(x: string, scale: number): string {
  if (scale === 0) return `CAST(${x} AS TEXT)`;
  const unit = power(scale);
  return `(iif(${x} < 0, '-', '') || (abs(${x}) / ${unit}) || '.' || substr('${"0".repeat(scale)}' || (abs(${x}) % ${unit}), -${scale}))`;
}

/** Returns a JSON string without its quotation marks. */
const plain = (x: string): string => `iif(json_type(${x}) = 'text', json_extract(${x}, '$'), ${x})`;

function toInteger(x: string): Conversion {
  const value = `CAST(${x} AS INTEGER)`;
  return {
    fits: `(CAST(${value} AS TEXT) = ${x} AND ${value} BETWEEN -${largestInteger} AND ${largestInteger})`,
    value,
  };
}

const toBoolean = (x: string): Conversion => ({ fits: `${x} IN ('true', 'false')`, value: `(${x} = 'true')` });

/** Returns the conversion of a text of digits, with at most `scale` decimal places. */
function toDecimal(x: string, scale: number): Conversion {
  const point = `instr(${x}, '.')`;
  const whole = `iif(${point} = 0, ${x}, substr(${x}, 1, ${point} - 1))`;
  const fraction = `iif(${point} = 0, '', substr(${x}, ${point} + 1))`;
  const digits = `length(${fraction})`;
  const factors = Array.from({ length: scale + 1 }, (_, at) => `WHEN ${at} THEN ${power(scale - at)}`).join(" ");
  return {
    fits:
      // SQLite's text functions stop at a NUL character, so a text with one does not fit.
      `instr(${x}, char(0)) = 0 AND ` +
      `(CAST(CAST(${whole} AS INTEGER) AS TEXT) = ltrim(${whole}, '-') OR CAST(CAST(${whole} AS INTEGER) AS TEXT) = ${whole} OR ${whole} = '-0') ` +
      `AND ${whole} NOT GLOB '--*' AND length(ltrim(${whole}, '-')) <= ${decimalDigits - scale} ` +
      `AND ${fraction} NOT GLOB '*[^0-9]*' AND ${digits} <= ${scale} AND (${point} = 0 OR ${digits} > 0)`,
    value: `(CAST(replace(${x}, '.', '') AS INTEGER) * CASE ${digits} ${factors} END)`,
  };
}

// SQLite turns February 29 of a common year into March 1. So a day fits only if it is unchanged after the conversion to
// a day number and back.
const isDay = (x: string): string => `date(julianday(${x})) IS ${x}`;
const toDate = (x: string): Conversion => ({ fits: isDay(x), value: x });
const toInstant = (x: string): Conversion => ({
  fits: `${isDay(`substr(${x}, 1, 10)`)} AND strftime('%Y-%m-%dT%H:%M:%fZ', ${x}) IS ${x}`,
  value: x,
});

function rescale(x: string, from: number, to: number): Conversion {
  if (to < from) return { fits: `${x} % ${power(from - to)} = 0`, value: `(${x} / ${power(from - to)})` };
  const limit = power(decimalDigits - (to - from));
  return { fits: `${x} > -${limit} AND ${x} < ${limit}`, value: `(${x} * ${power(to - from)})` };
}

const conversions: Conversions = {
  "integer to text": (x) => always(`CAST(${x} AS TEXT)`),
  "boolean to text": (x) => always(`iif(${x}, 'true', 'false')`),
  "decimal to text": (x, scale) => always(decimalText(x, scale)),
  "date to text": always,
  "date-time to text": always,
  "json to text": always,
  "integer to json": (x) => always(`CAST(${x} AS TEXT)`),
  "boolean to json": (x) => always(`iif(${x}, 'true', 'false')`),
  "decimal to json": (x, scale) => always(`json_quote(${decimalText(x, scale)})`),
  "text to json": (x) => always(`json_quote(${x})`),
  "date to json": (x) => always(`json_quote(${x})`),
  "date-time to json": (x) => always(`json_quote(${x})`),
  "text to integer": toInteger,
  "json to integer": toInteger,
  "decimal to integer": (x, scale) => rescale(x, scale, 0),
  "boolean to integer": always,
  "integer to double": (x) => always(`CAST(${x} AS REAL)`),
  "double to integer": (x) => ({
    fits: `(${x} = round(${x}) AND abs(${x}) <= ${largestInteger})`,
    value: `CAST(${x} AS INTEGER)`,
  }),
  "decimal to double": (x, scale) => ({
    fits: `abs(${x}) < ${power(doubleDigits)}`,
    value: `(${x} / ${power(scale)}.0)`,
  }),
  "double to decimal": (x, _, scale) => ({
    fits: `(abs(${x} * ${power(scale)}) < ${power(doubleDigits)} AND round(${x} * ${power(scale)}) / ${power(scale)}.0 = ${x})`,
    value: `CAST(round(${x} * ${power(scale)}) AS INTEGER)`,
  }),
  "integer to boolean": (x) => ({ fits: `${x} IN (0, 1)`, value: x }),
  "text to boolean": toBoolean,
  "json to boolean": toBoolean,
  "integer to decimal": (x, _, scale) => rescale(x, 0, scale),
  "decimal to decimal": rescale,
  "text to decimal": (x, _, scale) => toDecimal(x, scale),
  "json to decimal": (x, _, scale) => toDecimal(plain(x), scale),
  "text to date": toDate,
  "json to date": (x) => toDate(plain(x)),
  "date-time to date": (x) => ({ fits: `substr(${x}, 11) = ${midnight}`, value: `substr(${x}, 1, 10)` }),
  "text to date-time": toInstant,
  "json to date-time": (x) => toInstant(plain(x)),
  "date to date-time": (x) => always(`(${x} || ${midnight})`),
};

/** The conversions between types in SQLite. */
export const convert = convertBy(conversions);

/** Returns the conversion as one expression that fails if a value does not fit. */
export function convertOrFail({ fits, value }: Conversion, x: string): string {
  if (fits === "TRUE") return `CASE WHEN ${x} IS NOT NULL THEN ${value} END`;
  return `CASE WHEN ${x} IS NULL THEN NULL WHEN ${fits} THEN ${value} ELSE json('does not fit: ' || ${x}) END`;
}
