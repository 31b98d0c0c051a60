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
} from "../../resource/kinds/field.ts";
import { aResource } from "../../resource/mistakes.ts";
import type { DraftOf, RecordOf, Resource } from "../../resource/resource.ts";
import { processSeed, randomOf, type Random } from "./random.ts";
import { drawValue } from "./values.ts";

/** Draws valid records and drafts of a resource. */
export interface Factory<R extends Resource> {
  /** What a caller sends to create one. Fields that have a default are left out unless they are given; so is what the service gives itself. */
  draft(given?: Partial<DraftOf<R>>): DraftOf<R>;
  /** As many drafts. */
  drafts(count: number, given?: Partial<DraftOf<R>>): readonly DraftOf<R>[];
  /** What a caller reads: a record that stands in no database, for the tests of one's own functions. */
  record(given?: Partial<RecordOf<R>>): RecordOf<R>;
  /** What these are drawn from. */
  readonly seed: string;
}

/** What a factory can be told. */
export interface FactoryOptions {
  /** Draws the same each time; that of the process where it is left out, which a test that fails prints and `TEST_SEED` sets. */
  readonly seed?: string | number;
}

type Values = Readonly<Record<string, unknown>>;

/** So often a record is drawn again that its `check` does not take, and a value that its kind does not take or another record has. */
const TRIES = 200;

/** So often a value, where an example is declared instead. */
const TRIES_BESIDE_EXAMPLE = 5;

/** How often a field that may be null is. */
const NULLS = 0.25;

const made = new Map<string, number>();

/**
 * A factory of valid random records and drafts, from the declaration alone: kinds, lengths, ranges, unique fields and `check` hold. What
 * cannot be drawn it says with the cure: a pattern, or a kind of one's own, needs an `example`; an id of another record has to be given.
 *
 * @example
 * ```ts
 * import { defineResource, integer, text } from "latchkey";
 * import { factory } from "latchkey/testing";
 *
 * const books = defineResource({ name: "book", fields: { title: text({ maxLength: 200 }), pages: integer({ minimum: 1 }) } });
 * console.log(factory(books).draft({ pages: 96 })); // { title: 'cedar fjord', pages: 96 }
 * ```
 */
export function factory<R extends Resource>(resource: R, options: FactoryOptions = {}): Factory<R> {
  requireArguments("factory", [resource], { resource: aResource });
  requireOptions(options, { seed: optional((seed) => (isText(seed) ? null : aWholeNumber(seed))) }, { of: "factory" });
  const seed = String(options.seed ?? processSeed());
  // Two factories of one resource draw different things, and what another resource draws changes neither.
  const count = made.get(resource.name) ?? 0;
  if (options.seed === undefined) made.set(resource.name, count + 1);
  const random = randomOf(`${seed}/${resource.name}${options.seed === undefined ? `/${count}` : ""}`);
  const drawing: Drawing = { resource, random, taken: new Map() };
  const draft = (given: Values = {}): DraftOf<R> => drawDraft(drawing, given) as DraftOf<R>;
  return {
    draft,
    drafts: (number, given) => Array.from({ length: number }, () => draft(given)),
    record: (given: Values = {}) => drawRecord(drawing, given) as RecordOf<R>,
    seed,
  };
}

interface Drawing {
  readonly resource: Resource;
  readonly random: Random;
  /** What unique fields were given, folded. */
  readonly taken: Map<string, Set<string>>;
}

function drawDraft(drawing: Drawing, given: Values): Values {
  const wanted = fieldsOf(drawing).filter(
    ([name, field]) =>
      isWritable(field) && (isRequired(field) || field.options.default === undefined) && !(name in given),
  );
  return drawChecked(drawing, given, () => {
    const drawn = wanted.map(([name, field]) => [name, drawField(drawing, name, field)] as const);
    return inOrder(drawing, { ...Object.fromEntries(drawn), ...given });
  });
}

function drawRecord(drawing: Drawing, given: Values): Values {
  const { resource, random } = drawing;
  const wanted = fieldsOf(drawing).filter(([name, field]) => isShown(field) && !(name in given));
  return drawChecked(drawing, given, () => {
    const context = contextOf(random);
    const drawn = wanted.map(([name, field]) => [name, shownValue(drawing, name, field, context)] as const);
    const id = resource.id === "uuid" ? drawId(random) : random.whole(1, 1_000_000);
    return {
      id,
      ...inOrder(drawing, { ...Object.fromEntries(drawn), ...given }),
      ...("id" in given ? { id: given["id"] } : {}),
    };
  });
}

function fieldsOf({ resource }: Drawing): readonly (readonly [string, Field])[] {
  return Object.entries(resource.fields);
}

/** In the order of the declaration, as the service shows them; what is not declared comes last. */
function inOrder(drawing: Drawing, values: Values): Values {
  const names = fieldsOf(drawing).flatMap(([name]) => (name in values ? [name] : []));
  return { ...Object.fromEntries(names.map((name) => [name, values[name]])), ...values };
}

/** Draws until `check` finds nothing. What a test gives itself may be wrong on purpose, and is then left as it is. */
function drawChecked({ resource }: Drawing, given: Values, draw: () => Values): Values {
  let drawn = draw();
  if (resource.check === null) return drawn;
  for (let tries = 1; ; tries++) {
    const issues = resource.check(drawn);
    if (issues.length === 0) return drawn;
    if (tries === TRIES && Object.keys(given).length > 0) return drawn;
    if (tries === TRIES)
      throw new TypeError(
        `No ${resource.name} was drawn that its check takes: ${issues.map(({ pointer, detail }) => `${pointer} ${detail}`).join("; ")}. Give some of the fields yourself: draft({ … }).`,
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
    throw new TypeError(`${place} is the id of one of ${of}. Give one that is there: draft({ ${name}: … }).`);
  }
  if (mayBeNull && random.next() < NULLS) return null;
  const { example } = field.options;
  const most = example === undefined ? TRIES : TRIES_BESIDE_EXAMPLE;
  for (let tries = 0; tries < most; tries++) {
    const value = field.kind.parse(drawValue(field, random));
    if (!(value instanceof Flaw) && isFree(drawing, name, field, value)) return value;
  }
  if (example !== undefined && isFree(drawing, name, field, example)) return example;
  const given = `draft({ ${name}: … })`;
  throw new TypeError(
    example === undefined
      ? `No value of ${place} was drawn that its kind (${field.kind.name}) takes${field.options.unique === undefined ? "" : " and nobody has"}. Declare an example, or give one: ${given}.`
      : `${place} is unique, and a record has its example already. Give the next ones a value each: ${given}.`,
  );
}

/** Whether no other record of this factory has it, where it is unique; it is taken then. */
function isFree({ taken }: Drawing, name: string, { options }: Field, value: unknown): boolean {
  if (options.unique === undefined || options.unique === false) return true;
  const values = taken.get(name) ?? new Set<string>();
  const folded = JSON.stringify(value).toLowerCase();
  if (values.has(folded)) return false;
  taken.set(name, values.add(folded));
  return true;
}

/** For defaults and generated values of a record that nobody has made. */
function contextOf(random: Random): DraftContext {
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
