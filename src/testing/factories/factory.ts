import { randomInt } from "node:crypto";
import { aWholeNumber, isText, optional } from "../../core/checking/members.ts";
import { requireArguments, requireOptions } from "../../core/checking/options.ts";
import { parseUUID } from "../../core/crypto/uuid.ts";
import type { Identity } from "../../core/identity.ts";
import {
  Flaw,
  isRequired,
  isShown,
  isStored,
  isWritable,
  type DraftContext,
  type Field,
  type Random,
} from "../../resource/declaration/field.ts";
import { createRandom } from "../../resource/drawing/random.ts";
import { drawValue } from "../../resource/drawing/values.ts";
import { aResource } from "../../resource/mistakes.ts";
import type { DraftOf, RecordOf, Resource } from "../../resource/resource.ts";

/** Generates valid records and drafts of a resource. */
export interface Factory<R extends Resource> {
  /**
   * Returns the body with which a caller creates a record. Fields with a default, and fields that the service sets, are
   * left out unless they are given.
   */
  draft(overrides?: Partial<DraftOf<R>>): DraftOf<R>;
  /** Returns this many drafts. */
  drafts(count: number, overrides?: Partial<DraftOf<R>>): readonly DraftOf<R>[];
  /** Returns a record in the form that a caller reads. It is not stored anywhere. Use it to test your own functions. */
  record(overrides?: Partial<RecordOf<R>>): RecordOf<R>;
  /** The seed of the random values. */
  readonly seed: string;
}

/** The options of a factory. */
export interface FactoryOptions {
  /**
   * The seed, for repeatable values. Default: the seed of the process, which `TEST_SEED` sets. A process with a failed
   * test prints it.
   */
  readonly seed?: string | number;
}

type FactoryValues = Readonly<Record<string, unknown>>;

/**
 * The maximum number of attempts to generate a record that the resource's `check` accepts, or a value that its kind
 * accepts and that no other record has.
 */
const TRIES = 200;

/**
 * The maximum number of attempts to generate a value of a field with an example. After that, the factory uses the
 * example.
 */
const TRIES_BESIDE_EXAMPLE = 5;

/** The share of null in fields that allow it. */
const NULLS = 0.25;

const made = new Map<string, number>();

/**
 * Creates a factory of random records and drafts. They are valid, because the factory reads the declaration: kinds,
 * lengths, ranges, unique fields and `check`. If it cannot generate a value, the error says what to do: a pattern, or a
 * custom kind, needs an `example`, and the id of another record must be given.
 *
 * @example
 * ```ts
 * import { defineResource, integer, text } from "latchkey";
 * import { factory } from "latchkey/testing";
 *
 * const fields = { title: text({ maxLength: 200 }), pages: integer({ minimum: 1 }) };
 * const books = defineResource({ name: "book", fields });
 * console.log(factory(books).draft({ pages: 96 })); // { title: 'cedar fjord', pages: 96 }
 * ```
 */
export function factory<R extends Resource>(resource: R, options: FactoryOptions = {}): Factory<R> {
  requireArguments("factory", [resource], { resource: aResource });
  requireOptions(options, { seed: optional((seed) => (isText(seed) ? null : aWholeNumber(seed))) }, { of: "factory" });
  const seed = String(options.seed ?? processSeed());
  // The seed contains the name of the resource and the number of its earlier factories. So two factories of one
  // resource generate different values, and factories of other resources do not change these values.
  const count = made.get(resource.name) ?? 0;
  if (options.seed === undefined) made.set(resource.name, count + 1);
  const random = createRandom(`${seed}/${resource.name}${options.seed === undefined ? `/${count}` : ""}`);
  const drawing: Drawing = { resource, random, taken: new Map(), takenSets: new Set() };
  const draft = (overrides: FactoryValues = {}): DraftOf<R> => drawDraft(drawing, overrides) as DraftOf<R>;
  return {
    draft,
    drafts: (number, overrides) => Array.from({ length: number }, () => draft(overrides)),
    record: (overrides: FactoryValues = {}) => drawRecord(drawing, overrides) as RecordOf<R>,
    seed,
  };
}

interface Drawing {
  readonly resource: Resource;
  readonly random: Random;
  /** The values of unique fields so far, folded. */
  readonly taken: Map<string, Set<string>>;
  /** The values of unique sets so far. */
  readonly takenSets: Set<string>;
}

function drawDraft(drawing: Drawing, overrides: FactoryValues): FactoryValues {
  const wanted = collectFields(drawing).filter(
    ([name, field]) =>
      isWritable(field) && (isRequired(field) || field.options.default === undefined) && !(name in overrides),
  );
  return drawChecked(drawing, overrides, () => {
    const drawn = wanted.map(([name, field]) => [name, drawField(drawing, name, field)] as const);
    return inOrder(drawing, { ...Object.fromEntries(drawn), ...overrides });
  });
}

function drawRecord(drawing: Drawing, overrides: FactoryValues): FactoryValues {
  const { resource, random } = drawing;
  const wanted = collectFields(drawing).filter(([name, field]) => isShown(field) && !(name in overrides));
  return drawChecked(drawing, overrides, () => {
    const context = drawContext(random);
    const drawn = wanted.map(([name, field]) => [name, shownValue(drawing, name, field, context)] as const);
    const id = resource.id === "uuid" ? drawId(random) : random.whole(1, 1_000_000);
    return {
      id,
      ...inOrder(drawing, { ...Object.fromEntries(drawn), ...overrides }),
      ...("id" in overrides ? { id: overrides["id"] } : {}),
    };
  });
}

function collectFields({ resource }: Drawing): readonly (readonly [string, Field])[] {
  return Object.entries(resource.fields);
}

/** Sorts values in the order of the declaration, as the service does. Undeclared values come last. */
function inOrder(drawing: Drawing, values: FactoryValues): FactoryValues {
  const names = collectFields(drawing).flatMap(([name]) => (name in values ? [name] : []));
  return { ...Object.fromEntries(names.map((name) => [name, values[name]])), ...values };
}

/** Generates values until they differ from the earlier ones in every unique set. */
function drawChecked(drawing: Drawing, overrides: FactoryValues, draw: () => FactoryValues): FactoryValues {
  const { resource, takenSets } = drawing;
  let drawn = drawAccepted(resource, overrides, draw);
  // The fields that the draft leaves out, like the id of a parent, may still make a difference: so this is only tried.
  for (let tries = 1; tries < TRIES && formatSets(resource, drawn).some((set) => takenSets.has(set)); tries++)
    drawn = drawAccepted(resource, overrides, draw);
  for (const set of formatSets(resource, drawn)) takenSets.add(set);
  return drawn;
}

/** Returns the values of each unique set as text. Leaves out a set with null, which equals nothing. */
function formatSets({ unique }: Resource, drawn: FactoryValues): readonly string[] {
  return unique.flatMap((set) => {
    const values = set.map((name) => drawn[name]);
    return values.includes(null) ? [] : [`${set.join()} ${JSON.stringify(values)}`];
  });
}

/**
 * Generates values until `check` accepts them. If the test gives values, they may be wrong on purpose, so the last
 * attempt is returned.
 */
function drawAccepted(resource: Resource, overrides: FactoryValues, draw: () => FactoryValues): FactoryValues {
  let drawn = draw();
  if (resource.check === null) return drawn;
  for (let tries = 1; ; tries++) {
    const issues = resource.check(drawn);
    if (issues.length === 0) return drawn;
    if (tries === TRIES && Object.keys(overrides).length > 0) return drawn;
    if (tries === TRIES)
      throw new TypeError(
        `The factory generated no ${resource.name} that its check accepts: ${issues.map(({ pointer, detail }) => `${pointer} ${detail}`).join("; ")}. Give some of the fields yourself: draft({ … }).`,
      );
    drawn = draw();
  }
}

function shownValue(drawing: Drawing, name: string, field: Field, context: DraftContext): unknown {
  const { generated, default: fallback } = field.options;
  if (generated !== undefined) return generated(context);
  if (typeof fallback === "function") return (fallback as (context: DraftContext) => unknown)(context);
  return drawField(drawing, name, field, { referencesAreDrawn: true });
}

function drawField(
  drawing: Drawing,
  name: string,
  field: Field,
  { referencesAreDrawn = false }: { readonly referencesAreDrawn?: boolean } = {},
): unknown {
  const { resource, random } = drawing;
  const { optional, default: fallback } = field.options;
  const place = `${resource.name}.${name}`;
  const mayBeNull = optional === true && isStored(field) && fallback === undefined;
  if (field.kind.references !== undefined && !referencesAreDrawn) {
    if (mayBeNull) return null;
    const of = field.kind.references.resource;
    throw new TypeError(`${place} is the id of one of ${of}. Give an existing one: draft({ ${name}: … }).`);
  }
  if (mayBeNull && random.next() < NULLS) return null;
  const { example } = field.options;
  const most = example === undefined ? TRIES : TRIES_BESIDE_EXAMPLE;
  for (let tries = 0; tries < most; tries++) {
    const value = field.kind.parse(drawValue(field, random));
    if (!(value instanceof Flaw) && isFree(drawing, name, field, value)) return value;
  }
  if (example !== undefined && isFree(drawing, name, field, example)) return example;
  const hint = `draft({ ${name}: … })`;
  throw new TypeError(
    example === undefined
      ? `The factory generated no value of ${place} that its kind (${field.kind.name}) accepts${field.options.unique === undefined ? "" : " and that no other record has"}. Declare an example, or give one: ${hint}.`
      : `${place} is unique, and another record already has its example. Give each further record a value: ${hint}.`,
  );
}

/**
 * Returns true if the field is not unique, or if no other record of this factory has the value. Marks the value of a
 * unique field as taken.
 */
function isFree({ taken }: Drawing, name: string, { options }: Field, value: unknown): boolean {
  if (options.unique === undefined || options.unique === false) return true;
  const values = taken.get(name) ?? new Set<string>();
  const folded = JSON.stringify(value).toLowerCase();
  if (values.has(folded)) return false;
  taken.set(name, values.add(folded));
  return true;
}

/** Returns a random context for defaults and generated values, because no request creates the record. */
function drawContext(random: Random): DraftContext {
  const id = random.whole(1, 1_000_000);
  const identity: Identity = {
    id,
    username: `user ${id}`,
    role: "user",
    scheme: "test",
    scopes: null,
    expiresAt: null,
  };
  return { identity, requireIdentity: () => identity, now: random.whole(Date.UTC(2000, 0, 1), Date.UTC(2040, 0, 1)) };
}

function drawId(random: Random): string {
  const digits = Array.from({ length: 32 }, () => random.whole(0, 15).toString(16)).join("");
  const drawn = `${digits.slice(0, 8)}-${digits.slice(8, 12)}-7${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20)}`;
  return parseUUID(drawn) ?? drawn;
}

let ofProcess: string | null = null;

/**
 * Returns the seed of this process: the value of `TEST_SEED`, or a random text. If the process fails, prints how to
 * repeat the same values.
 */
function processSeed(): string {
  if (ofProcess !== null) return ofProcess;
  const presetSeed = process.env["TEST_SEED"] ?? "";
  const seed = (ofProcess = presetSeed === "" ? String(randomInt(1, 1_000_000_000)) : presetSeed);
  process.once("exit", (status) => {
    if (status !== 0) process.stderr.write(`The records of this test are random. To repeat them: TEST_SEED=${seed}\n`);
  });
  return seed;
}
