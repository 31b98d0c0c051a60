import { DeclarationError } from "../../core/checking/declaration-error.ts";
import {
  anything,
  isObject,
  isText,
  membersMistakes,
  oneOf,
  optional,
  shown,
  together,
  type Only,
} from "../../core/checking/members.ts";
import { optionMistakes, toldByResource } from "./field-mistakes.ts";
import { defineField, Flaw, type Field, type FieldOptions, type OwnChecks, type Told } from "./field.ts";

const tones = ["good", "warn", "bad", "accent"] as const;

/** What a word tells at first sight, on pages: in the colour of this name. */
export type Tone = (typeof tones)[number];

/** Options of `enumeration()`. */
export interface EnumerationOptions<V extends string = string> extends FieldOptions<V> {
  /** How pages show some of the words: `{ paid: "good", overdue: "bad" }`. Those that are left out are plain. */
  readonly tones?: Readonly<Partial<Record<V, Tone>>>;
}

/**
 * One of a few words. Regards case; what is none of them is refused, and the words are told.
 *
 * @example
 * ```ts
 * import { defineResource, enumeration } from "latchkey";
 *
 * const status = enumeration(["open", "paid"], { default: "open", tones: { paid: "good" } });
 * export const order = defineResource({ name: "order", fields: { status } });
 * ```
 */
export function enumeration<const V extends string, const O extends EnumerationOptions<NoInfer<V>> = {}>(
  values: readonly V[],
  options?: Only<O, EnumerationOptions<NoInfer<V>>>,
): Field<V, Told<O>["names"]>;
export function enumeration(values: readonly string[], options: EnumerationOptions = {}): Field<string> {
  return toldByResource(() => wordsField(values, options));
}

function wordsField(values: readonly string[], options: EnumerationOptions): Field<string> {
  const mistake = wordsMistake(values);
  // Tones are of words, of which there are none.
  if (mistake !== null)
    throw new DeclarationError([
      `enumeration: ${mistake}`,
      ...optionMistakes("enumeration", { ...options }, { tones: anything }),
    ]);
  const known = new Map<unknown, string>(values.map((each) => [each, each]));
  const flaw = new Flaw("invalid", `One of ${values.join(", ")} is required.`);
  const parse = (value: unknown): string | Flaw => known.get(value) ?? flaw;
  return defineField(
    {
      name: "enumeration",
      parse,
      parseText: parse,
      schema: { type: "string", enum: [...values] },
      column: { type: "text" },
      options: checksFor(values),
    },
    options,
  );
}

function checksFor(values: readonly string[]): OwnChecks<EnumerationOptions> {
  const members = Object.fromEntries(values.map((value) => [value, optional(oneOf(...tones))]));
  return {
    tones: optional((value) =>
      isObject(value)
        ? together(membersMistakes(value, members))
        : `it has to be tones by word, like { ${values[0]}: "good" }`,
    ),
  };
}

/** The tone of a word; null where it is plain. */
export function toneOf({ options }: Field, value: unknown): Tone | null {
  const { tones: declared = {} } = options as EnumerationOptions;
  return typeof value === "string" && Object.hasOwn(declared, value) ? (declared[value] ?? null) : null;
}

function wordsMistake(values: unknown): string | null {
  const like = 'write enumeration(["open", "paid"])';
  if (!Array.isArray(values)) return `its words are ${shown(values)}, and no list; ${like}`;
  if (values.length === 0) return `there is no word that it could be; ${like}`;
  if (!values.every(isText)) return `its words have to be texts; ${like}`;
  const again = values.find((each, at) => values.indexOf(each) < at);
  return again === undefined ? null : `the word ${again} is there twice; keep one`;
}
