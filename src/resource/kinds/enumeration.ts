import { DeclarationError } from "../../core/checking/declaration-error.ts";
import {
  anything,
  isObject,
  isText,
  membersMistakes,
  optional,
  shown,
  joinMistakes,
  type Only,
  type Mistake,
  type ThereIsNo,
  type ValueCheck,
} from "../../core/checking/members.ts";
import {
  aTone,
  defineField,
  Flaw,
  type Field,
  type FieldOptions,
  type OwnChecks,
  type OptionNames,
  type Tone,
} from "../declaration/field.ts";
import { aLabel } from "../declaration/label.ts";
import { declaresColumns } from "./column-kinds.ts";
import { optionMistakes, reportThroughResource } from "./field-mistakes.ts";

/** Options of `enumeration()`. */
export interface EnumerationOptions<V extends string = string> extends FieldOptions<V> {
  /** The tones in which pages show some of the words: `{ paid: "good", overdue: "bad" }`. Other words are plain. */
  readonly tones?: Readonly<Partial<Record<V, Tone>>>;
  /** The words for people, of at most 60 characters: `{ in_work: "In work" }`. Pages show them; JSON does not. */
  readonly labels?: Readonly<Partial<Record<V, string>>>;
}

/** The compiler's message for a word that the enumeration does not have, in one of these options. */
type OnlyWords<O, V extends string, Name extends "tones" | "labels"> = O extends {
  readonly [K in Name]: infer Given;
}
  ? { readonly [K in Name]: { readonly [M in Exclude<keyof Given, V>]: Mistake<ThereIsNo<M, V>> } }
  : unknown;

/**
 * Declares a field with one of a few words. Case matters. Another value is refused, and the problem lists the words.
 *
 * @example
 * ```ts
 * import { defineResource, enumeration } from "latchkey";
 *
 * const status = enumeration(["open", "paid"], {
 *   default: "open",
 *   tones: { paid: "good" },
 *   labels: { open: "To be paid", paid: "Paid" },
 * });
 * export const order = defineResource({ name: "order", fields: { status } });
 * ```
 */
export function enumeration<const V extends string, const O extends EnumerationOptions<NoInfer<V>> = {}>(
  values: readonly V[],
  options?: Only<O, EnumerationOptions<NoInfer<V>>> &
    OnlyWords<O, NoInfer<V>, "tones"> &
    OnlyWords<O, NoInfer<V>, "labels">,
): Field<V, OptionNames<O>["names"]>;
export function enumeration(values: readonly string[], options: EnumerationOptions = {}): Field<string> {
  return reportThroughResource(() => wordsField(values, options));
}

function wordsField(values: readonly string[], options: EnumerationOptions): Field<string> {
  const mistake = wordsMistake(values);
  // The tones and labels are not checked here, because their check needs valid words.
  if (mistake !== null)
    throw new DeclarationError([
      `enumeration: ${mistake}`,
      ...optionMistakes("enumeration", { ...options }, { tones: anything, labels: anything }),
    ]);
  const allowed = new Map<unknown, string>(values.map((each) => [each, each]));
  const flaw = new Flaw("invalid", `One of ${values.join(", ")} is required.`);
  const parse = (value: unknown): string | Flaw => allowed.get(value) ?? flaw;
  return defineField(
    {
      name: "enumeration",
      parse,
      parseText: parse,
      schema: { type: "string", enum: [...values] },
      column: { type: "text" },
      few: true,
      spelled: true,
      rule: {},
      tone: (word) => optionOf(options.tones, word),
      label: (word) => optionOf(options.labels, word),
      options: checksFor(values),
    },
    options,
  );
}

function optionOf<T>(options: Readonly<Record<string, T | undefined>> | undefined, word: string): T | null {
  return Object.hasOwn(options ?? {}, word) ? (options?.[word] ?? null) : null;
}

function checksFor(values: readonly string[]): OwnChecks<EnumerationOptions> {
  const byWord = (what: string, like: string, check: ValueCheck): ValueCheck => {
    const members = Object.fromEntries(values.map((value) => [value, optional(check)]));
    return optional((value) =>
      isObject(value)
        ? joinMistakes(membersMistakes(value, members))
        : `it has to be ${what} by word, like { ${values[0]}: "${like}" }`,
    );
  };
  return { tones: byWord("tones", "good", aTone), labels: byWord("labels", "In work", aLabel) };
}

function wordsMistake(values: unknown): string | null {
  const like = 'write enumeration(["open", "paid"])';
  if (!Array.isArray(values)) return `its words are ${shown(values)}, not a list; ${like}`;
  if (values.length === 0) return `it has no words; ${like}`;
  if (!values.every(isText)) return `its words have to be texts; ${like}`;
  const again = values.find((each, at) => values.indexOf(each) < at);
  return again === undefined ? null : `the word ${again} is there twice; keep one`;
}

declaresColumns("enumeration", { columns: "words", type: "text", arguments: ({ words }) => [words] });
