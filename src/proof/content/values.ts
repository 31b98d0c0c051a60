import { Flaw, type Field } from "../../resource/declaration/field.ts";
import { createRandom } from "../../resource/drawing/random.ts";
import { drawValue } from "../../resource/drawing/values.ts";
import type { Value } from "../../store/store.ts";

/** A drawn value, and the mark by which an answer with it is recognized. Null: other values are equal to it. */
export interface DrawnValue {
  readonly value: Value;
  readonly mark: string | null;
}

/** Draws values that no other field of the world has. */
export interface ValueSource {
  /** Draws a value of a field. `turn` chooses among few values. Returns null if the kind refuses every value. */
  draw(field: Field, turn: number): DrawnValue | null;
}

const LETTERS = "bcdfghjklmnpqrstvwxz";
const TEXT_MARK = /zq[bcdfghjklmnpqrstvwxz]{5}/gi;
const NUMBER_MARK = /(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])/g;
const UUID_START = "7a710000-0000-4000-8000-";
const UUID_MARK = new RegExp(`${UUID_START}[0-9a-f]{12}`, "gi");
const DATE_MARK = /(?<!\d)19[1-9]\d-\d\d-\d\d/g;

/** Smaller numbers, and years, are in many answers by chance. */
const LEAST_NUMBER = 2200;
const TRIES = 40;

/**
 * Makes a source of values. `descending`: the values come in the opposite order, and differ from those of another
 * source.
 */
export function makeValues(seed: string, { descending = false } = {}): ValueSource {
  const random = createRandom(seed);
  const used = new Set<string>();
  let count = 0;
  const next = (): number => (descending ? 3_000_000 - ++count : ++count);

  const drawCandidate = (field: Field, turn: number): unknown => {
    const { schema, column } = field.kind;
    const few = fewValues(field);
    if (few !== null) return few[turn % few.length];
    switch (column.type) {
      case "integer":
      case "double":
        return drawNumber(schema, next());
      case "decimal":
        return drawDecimal(field, next());
      case "date":
        return drawDay(next());
      case "date-time":
        return `${drawDay(next())}T05:06:07.000Z`;
      default:
        return undefined;
    }
  };

  return {
    draw(field, turn) {
      const text = formatText(next());
      const first = drawCandidate(field, turn);
      const fitted = column(field) === "text" ? fitTexts(text) : [];
      const drawn = Array.from({ length: TRIES }, () => () => withMark(drawValue(field, random), text));
      for (const make of [
        ...(first === undefined ? [] : [() => first]),
        ...fitted.map((each) => () => each),
        ...drawn,
      ]) {
        const parsed = parseQuietly(field, make());
        if (parsed instanceof Flaw || parsed === undefined || parsed === null) continue;
        const mark = isFew(field) ? null : markOf(parsed);
        if (mark !== null && used.has(mark)) continue;
        if (mark !== null) used.add(mark);
        return { value: parsed as Value, mark };
      }
      return null;
    },
  };
}

function column({ kind }: Field): string {
  return kind.column.type;
}

function parseQuietly(field: Field, value: unknown): unknown {
  try {
    return field.kind.parse(value);
  } catch {
    return undefined;
  }
}

/** Returns the values of a kind that has only a few. Returns null for any other kind. */
export function fewValues({
  kind: {
    schema,
    column: { type },
  },
}: Field): readonly unknown[] | null {
  if (type === "boolean") return [true, false];
  const { enum: words, minimum, maximum } = schema;
  if (Array.isArray(words)) return words as readonly unknown[];
  if (type === "integer" && typeof minimum === "number" && typeof maximum === "number" && maximum < LEAST_NUMBER + 200)
    return Array.from({ length: Math.min(maximum - minimum + 1, 50) }, (_, at) => minimum + at);
  return null;
}

/** Returns true if many rows have the same value of a field. */
export function isFew(field: Field): boolean {
  return fewValues(field) !== null;
}

function fitTexts(text: string): readonly string[] {
  return [text, `${text}@example.com`, `https://example.com/${text}`, text.toUpperCase(), formatUUID(text)];
}

/** Returns a UUID that only this text has. */
function formatUUID(text: string): string {
  return `${UUID_START}${Buffer.from(text.slice(1)).toString("hex")}`;
}

/** Puts the mark into every text of a JSON value, so that its source is known. */
function withMark(value: unknown, text: string): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => withMark(each, text));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withMark(each, text)]));
  return typeof value === "string" && value.length > 8 ? text : value;
}

function formatText(count: number): string {
  let text = "";
  for (let left = count; text.length < 5; left = Math.floor(left / LETTERS.length))
    text = LETTERS[left % LETTERS.length]! + text;
  return `zq${text}`;
}

function drawNumber({ minimum, maximum }: Readonly<Record<string, unknown>>, count: number): number {
  const least = typeof minimum === "number" ? Math.ceil(minimum) : 0;
  const most = typeof maximum === "number" ? Math.floor(maximum) : Number.MAX_SAFE_INTEGER;
  const start = Math.max(least, LEAST_NUMBER + 100);
  const span = Math.max(1, Math.min(most - start + 1, 90_000_000));
  return start + ((count * 17 + 300_000) % span);
}

function drawDecimal(
  {
    kind: {
      schema,
      column: { scale = 2, number },
    },
  }: Field,
  count: number,
): string | number {
  const { minimum, maximum } = schema as { minimum?: unknown; maximum?: unknown };
  const whole = drawNumber(
    { minimum: Number(minimum ?? 0), maximum: maximum === undefined ? 9_000_000 : Number(maximum) - 1 },
    count % 500_000,
  );
  const text =
    scale === 0
      ? String(whole)
      : `${whole}.${String((count % 89) + 10).slice(0, Math.min(scale, 2))}${"0".repeat(Math.max(0, scale - 2))}`;
  return number === true ? Number(text) : text;
}

function drawDay(count: number): string {
  return new Date(Date.UTC(1911, 0, 1) + (count % 31_000) * 86_400_000).toISOString().slice(0, 10);
}

/** Returns the mark of a value. Returns null if it has none. */
export function markOf(value: unknown): string | null {
  const text = typeof value === "string" ? value : typeof value === "number" ? String(value) : JSON.stringify(value);
  return collectMarks(text ?? "")[0] ?? null;
}

/** Returns the marks in a text: those of texts, UUIDs, numbers and dates. */
export function collectMarks(text: string): readonly string[] {
  const found = new Set<string>();
  for (const [mark] of text.matchAll(TEXT_MARK)) found.add(mark.toLowerCase());
  for (const [mark] of text.matchAll(UUID_MARK)) found.add(mark.toLowerCase());
  for (const [mark] of text.matchAll(DATE_MARK)) found.add(mark);
  for (const [mark] of text.matchAll(NUMBER_MARK)) {
    const number = Math.abs(Number(mark));
    if (number >= LEAST_NUMBER) found.add(`n${number}`);
  }
  return [...found];
}
