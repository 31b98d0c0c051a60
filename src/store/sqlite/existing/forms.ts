import {
  compared,
  converted,
  combineConditions,
  inMilliseconds,
  plain,
  same,
  wordsIn,
  type Form,
} from "../../sql/language/form.ts";
import type { Cell } from "../../sql/language/script.ts";
import type { Column, DateTimeShape, FoundColumnForm } from "../../store.ts";

/**
 * Returns the form in which an existing SQLite column stores values of the declared type. Returns the reason if it
 * cannot store them. SQLite accepts any value in any column, so each value is checked.
 */
export function chooseForm(column: Column, { storage, shape }: FoundColumnForm): Form | string {
  switch (column.type) {
    case "integer":
      return { ...plain, fits: isInteger };
    case "boolean":
      return { ...plain, fits: (x) => `typeof(${x}) = 'integer' AND ${x} IN (0, 1)` };
    case "double":
      return resolveAffinity(storage) === "text" || resolveAffinity(storage) === "blob"
        ? `is of type ${storage || "BLOB"}, which cannot hold numbers`
        : compared(
            (x) => `CAST(${x} AS REAL)`,
            (place) => place,
            { fits: isNumber },
          );
    case "decimal":
      return decimal(column.scale ?? 0, resolveAffinity(storage));
    case "date":
      return { ...plain, fits: isDay };
    case "date-time":
      return dateTime(shape);
    case "json":
      return json;
    case "text": {
      const words = wordsIn(column.rule);
      const byCodePoint = (x: string): string => `${x} COLLATE BINARY`;
      const isWord =
        words === undefined ? undefined : (x: string) => `${byCodePoint(x)} IN (${words.map(literal).join(", ")})`;
      const side = { of: byCodePoint, operand: same };
      return { ...plain, equal: side, order: side, fits: combineConditions((x) => `typeof(${x}) = 'text'`, isWord) };
    }
  }
}

/**
 * The form of JSON. It also accepts numbers, because SQLite converts a text that is a number into a number in a column
 * of the type `json`.
 */
const json: Form = {
  ...plain,
  mayRepeat: true,
  fits: (x) => `(typeof(${x}) = 'text' AND json_valid(${x}) OR ${isNumber(x)})`,
  convert: (x) => `(CASE typeof(${x}) WHEN 'text' THEN ${x} ELSE json_quote(${x}) END)`,
};

/**
 * Detects from one value how a column writes its date-times: like `toISOString`, or like Django, Rails, Python or
 * SQLite's own functions.
 */
export function detectShape(value: unknown): DateTimeShape {
  if (typeof value !== "string") return "spaced";
  if (/T.*Z$/.test(value)) return "zulu";
  const isInZone = value.endsWith("+00:00");
  if (value[10] === "T") return isInZone ? "T in zone" : "T";
  return isInZone ? "spaced in zone" : "spaced";
}

function dateTime(shape: DateTimeShape = "spaced"): Form {
  switch (shape) {
    case "mixed":
      return mixed;
    case "zulu":
      return { ...plain, fits: isZulu, convertCell: inMilliseconds };
    case "spaced":
      return spelled(" ", "");
    case "spaced in zone":
      return spelled(" ", "+00:00");
    case "T":
      return spelled("T", "");
    case "T in zone":
      return spelled("T", "+00:00");
  }
}

type Affinity = "integer" | "text" | "blob" | "real" | "numeric";

/** Returns the affinity of a column (sqlite.org/datatype3.html §3.1). */
export function resolveAffinity(storage: string): Affinity {
  const type = storage.toUpperCase();
  if (type.includes("INT")) return "integer";
  if (/CHAR|CLOB|TEXT/.test(type)) return "text";
  if (type === "" || type.includes("BLOB")) return "blob";
  return /REAL|FLOA|DOUB/.test(type) ? "real" : "numeric";
}

function isInteger(x: string): string {
  return `typeof(${x}) = 'integer' AND ${x} BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`;
}

/**
 * Returns a condition for valid numbers. It refuses integers that a double cannot represent, and infinity, which JSON
 * does not have.
 */
function isNumber(x: string): string {
  const whole = `typeof(${x}) = 'integer' AND ${x} BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`;
  return `(${whole} OR typeof(${x}) = 'real' AND abs(${x}) <= 1.7976931348623157e308)`;
}

const day = "[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]";
const time = "[0-2][0-9]:[0-5][0-9]:[0-5][0-9]";

function isDay(x: string): string {
  return `typeof(${x}) = 'text' AND ${x} GLOB '${day}' AND date(${x}) = ${x}`;
}

function isZulu(x: string): string {
  return `typeof(${x}) = 'text' AND ${x} GLOB '${day}T${time}.[0-9][0-9][0-9]Z' AND ${isMoment(x, "T")}`;
}

/**
 * Returns a condition for real dates. SQLite turns February 30 into March 1, so the text must be unchanged after
 * `strftime`.
 */
function isMoment(x: string, between: string): string {
  return `strftime('%Y-%m-%d${between}%H:%M:%S', substr(${x}, 1, 19)) = substr(${x}, 1, 19)`;
}

/**
 * Returns the form for `2026-01-31 09:30:00.123456` in UTC: with any number of digits or none, with ` ` or `T`, and
 * with nothing or `+00:00`, as in the column. Records show it with `T` and `Z`.
 */
function spelled(between: " " | "T", end: "" | "+00:00"): Form {
  const second = `${day}${between}${time}`;
  const digits = (x: string): string => `substr(${x}, 21, length(${x}) - ${20 + end.length})`;
  const own = (cell: Cell): string => String(cell).replace("T", between).replace(/Z$/, "");
  return compared(
    (x) => `replace(substr(${x}, 1, length(${x}) - ${end.length}), ' ', 'T') || 'Z'`,
    (place) => place,
    {
      fits: (x) =>
        `typeof(${x}) = 'text' AND (${x} GLOB '${second}${end}' OR (${x} GLOB '${second}.[0-9]*${end}' AND ${digits(x)} NOT GLOB '*[^0-9]*' AND length(${x}) <= ${29 + end.length})) AND ${isMoment(x, between)}`,
      convertCell: (cell) => (typeof cell === "string" ? own(cell) + end : cell),
      span(cell) {
        // The same instant can be written with more or fewer zeros at the end of its fraction. These texts sort
        // differently. The two returned texts are the first and the last of them.
        const first = own(cell)
          .replace(/(\.\d*?)0+$/, "$1")
          .replace(/\.$/, "");
        return [first + end, (first.includes(".") ? first : `${first}.`).padEnd(29, "0") + end];
      },
    },
  );
}

/**
 * The form of every usual text of a moment: with ` ` or `T`, up to nine digits after the seconds, and nothing, `Z` or
 * an offset at the end. The texts do not sort by time, so each comparison converts them, and no index serves it.
 */
const mixed: Form = mixedForm();

function mixedForm(): Form {
  const zone = (x: string): string =>
    `(CASE WHEN substr(${x}, -1) = 'Z' THEN 1 WHEN substr(${x}, -6, 1) IN ('+', '-') THEN 6 ELSE 0 END)`;
  const digits = (x: string): string => `substr(${x}, 21, length(${x}) - 20 - ${zone(x)})`;
  const second = (x: string): string =>
    `strftime('%Y-%m-%dT%H:%M:%S', substr(${x}, 1, 19) || substr(${x}, length(${x}) - ${zone(x)} + 1))`;
  const fraction = (x: string, part: string): string => `iif(substr(${x}, 20, 1) = '.', ${part}, '')`;
  const key = (x: string): string => `${second(x)} || ${fraction(x, `rtrim(rtrim('.' || ${digits(x)}, '0'), '.')`)}`;
  const side = { of: key, operand: (place: string) => `(SELECT ${key("x")} FROM (SELECT ${place} AS x))` };
  const isEnd = (x: string): string =>
    `(length(${x}) = 19 + ${zone(x)} OR (substr(${x}, 20, 1) = '.' AND length(${digits(x)}) BETWEEN 1 AND 9 AND ${digits(x)} NOT GLOB '*[^0-9]*'))`;
  const isMade = (x: string, between: string): string =>
    `(${x} GLOB '${day}${between}${time}*' AND ${isMoment(x, between)})`;
  return {
    ...plain,
    convert: (x) => `${second(x)} || ${fraction(x, `'.' || ${digits(x)}`)} || 'Z'`,
    equal: side,
    order: side,
    inOrder: false,
    fits: (x) =>
      `typeof(${x}) = 'text' AND (${isMade(x, " ")} OR ${isMade(x, "T")}) AND ${isEnd(x)} AND ${second(x)} GLOB '${day}*'`,
  };
}

/**
 * Returns the form of decimals. Values are converted to integers in units of the last digit, as Latchkey's own tables
 * store them.
 */
function decimal(scale: number, affinity: Affinity): Form {
  const unit = `1${"0".repeat(scale)}`;
  const most = `${Math.floor(Number.MAX_SAFE_INTEGER / 10 ** scale)}`;
  if (affinity === "text" || affinity === "blob") {
    const number = (x: string): string => `CAST(${x} AS REAL)`;
    return converted((x) => `CAST(round(${number(x)} * ${unit}) AS INTEGER)`, {
      fits: (x) =>
        `typeof(${x}) = 'text' AND ${x} GLOB '*[0-9]' AND ltrim(${x}, '-') NOT GLOB '*[^0-9.]*' AND ltrim(${x}, '-') NOT GLOB '*.*.*' AND ltrim(${x}, '-') NOT GLOB '.*' AND ${x} NOT GLOB '--*' ` +
        `AND length(${x}) <= 16 AND ${number(x)} = round(${number(x)} * ${unit}) / ${unit}.0`,
      written: (place) => `printf('%.${scale}f', ${place} / ${unit}.0)`,
    });
  }
  const operand = (place: string): string => (scale === 0 ? place : `(${place} / ${unit}.0)`);
  return compared((x) => `CAST(round(${x} * ${unit}) AS INTEGER)`, operand, {
    fits: (x) =>
      `typeof(${x}) IN ('integer', 'real') AND ${x} BETWEEN -${most} AND ${most} AND ${x} = round(${x} * ${unit}) / ${unit}.0`,
  });
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
