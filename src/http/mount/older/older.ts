import {
  aFunction,
  isObject,
  isSnakeCase,
  isText,
  matching,
  membersMistakes,
  namedMembers,
  optional,
  shown,
} from "../../../core/checking/members.ts";
import { suggestion } from "../../../core/checking/nearest.ts";
import { made } from "../../../core/copy.ts";
import { aDeprecation, readDeprecation, type Deprecation } from "../../../core/deprecation.ts";
import { Flaw, isRequired, isShown, isWritable, type Field } from "../../../resource/declaration/field.ts";
import { shapeMistakes } from "../../../resource/kinds/field-mistakes.ts";
import { DeclarationError, type Operator, type RecordOf, type Resource } from "../../../resource/resource.ts";
import type { StoredRecord } from "../../../store/store.ts";
import type { Mount } from "../../declarations/mount.ts";
import type { Older, OlderMember } from "../../declarations/older-shape.ts";

/** A field of an older shape whose value is converted from a newer field. */
export interface ConvertedField<R extends Resource, K extends keyof RecordOf<R> & string = keyof RecordOf<R> & string> {
  /** The field of the newer shape. */
  readonly from: K;
  /** The old declaration of the field. Values that callers send are parsed with it. */
  readonly as: Field;
  /** Returns the old value for the current value. Not called for null, which stays null. */
  show(value: NonNullable<RecordOf<R>[K]>): unknown;
  /** Returns the new value for a value that a caller sends. Default: none, so the field is read-only. */
  read?(value: never): RecordOf<R>[K];
}

/**
 * The fields of an older shape, by their old names. Each is the name of the newer field, or a conversion from it. The
 * older shape does not have newer fields that are not named here.
 */
export type OlderFields<R extends Resource> = Readonly<
  Record<
    string,
    | (keyof R["fields"] & string)
    | { readonly [K in keyof RecordOf<R> & string]: ConvertedField<R, K> }[Exclude<keyof RecordOf<R> & string, "id">]
  >
>;

/** The options of an older shape. */
export interface OlderOptions<R extends Resource> {
  /** The prefix of its path: `/v1` serves `/v1/orders`. */
  readonly prefix: `/${string}`;
  readonly fields: OlderFields<R>;
  /** The values of newer fields that the older shape does not have, for records that are created in the older shape. */
  readonly defaults?: { readonly [K in keyof R["fields"]]?: unknown };
  /** The deprecation. Every response announces it in its headers. */
  readonly deprecated?: Deprecation;
}

/**
 * Serves an older shape of a mounted resource from the same table: under another path, with fields renamed, converted
 * or left out. Permissions, hooks, actions, ETags and repeats are those of the mount. Throws `DeclarationError` if the
 * options are wrong.
 *
 * @example
 * ```ts
 * import { anyone, defineResource, mount, text } from "latchkey";
 * import { olderShape } from "latchkey/resources";
 *
 * const book = defineResource({ name: "book", fields: { title: text(), note: text({ optional: true }) } });
 * const books = mount(book, { permission: anyone });
 * export const mounts = [books, olderShape(books, { prefix: "/v1", fields: { name: "title" } })];
 * ```
 */
export function olderShape<const R extends Resource>(newer: Mount<R>, options: OlderOptions<R>): Mount;
export function olderShape(newer: Mount, options: OlderOptions<Resource>): Mount {
  const mistakes = collectMistakes(newer, options);
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
  const { resource, collection } = newer;
  const { prefix, deprecated, defaults = {} } = options;
  const members = new Map(
    Object.entries(options.fields).map(([name, declared]) => [name, buildMember(name, declared, resource)]),
  );
  const old = olderResource(resource, prefix, members);
  const seen = [...members.values()].filter(({ field }) => isShown(field));
  const needed = new Set(seen.map(({ from }) => from));
  const isComputed = newer.computed.length > 0;
  return Object.freeze(
    made({
      ...newer,
      resource: old,
      invitations: null,
      deprecations: readDeprecation(`resource ${old.path}`, deprecated),
      expand: chooseRelations(newer, members),
      shown: ["id", ...seen.map(({ name }) => name)],
      sources: isComputed
        ? newer.sources
        : [
            "id",
            ...[...collection.columns, ...(collection.computed ?? [])]
              .map(({ name }) => name)
              .filter((name) => needed.has(name)),
          ],
      jsonMembers: seen.filter(({ field }) => field.kind.column.type === "json").map(({ name }) => name),
      show: (record: StoredRecord) => showOlder(seen, isComputed ? newer.show(record) : record) as RecordOf<Resource>,
      older: { prefix, newer, members, defaults },
    }),
  );
}

/**
 * Returns the relations that this shape can expand. It must show the field that refers to the related record, and have
 * no member with the relation's name.
 */
function chooseRelations({ expand }: Mount, members: Older["members"]): Mount["expand"] {
  const named = new Set([...members.values()].filter(({ isPlain }) => isPlain).map(({ from }) => from));
  const isTaken = (name: string): boolean => members.has(name) || members.has(`${name}_next`);
  return Object.fromEntries(
    Object.entries(expand).filter(([name, leads]) => !isTaken(name) && (!isText(leads) || named.has(leads))),
  );
}

/** Shows members of an older shape for a record of the newer shape. */
export function showOlder(
  seen: readonly OlderMember[],
  record: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const shape: Record<string, unknown> = { id: record["id"] };
  for (const { name, from, show } of seen) shape[name] = show(record[from]);
  return shape;
}

function buildMember(name: string, declared: OlderFields<Resource>[string], { fields }: Resource): OlderMember {
  if (isText(declared)) {
    const field = fields[declared]!;
    return {
      name,
      from: declared,
      field,
      isPlain: true,
      show: (value) => value,
      shownBy: null,
      read: (value) => value,
    };
  }
  const { from, as, show } = declared;
  const newer = fields[from]!;
  const read = declared.read as OlderMember["read"] | undefined;
  const isSent = read !== undefined && isWritable(newer);
  const { default: fallback, optional = false } = newer.options;
  const options = {
    ...as.options,
    optional,
    readOnly: !isSent,
    // The newer field has a default, so callers need not send this field.
    ...(fallback === undefined ? {} : { default: () => fallback }),
  };
  return {
    name,
    from,
    field: { kind: as.kind, options },
    isPlain: false,
    show: (value) => (value === null || value === undefined ? null : show(value)),
    shownBy: String(show),
    read: isSent ? read : null,
  };
}

/** Returns the resource of the old shape. It is only for requests and responses and has no table. */
function olderResource(newer: Resource, prefix: string, members: Older["members"]): Resource {
  const all = [...members.values()];
  const plain = all.filter(({ isPlain }) => isPlain);
  const named = new Set(plain.map(({ from }) => from));
  const filters = all.flatMap(({ name, from, isPlain, read }) => {
    const operators = (newer.filters.get(from) ?? []).filter(
      (each) => isPlain || (read !== null && EQUALITY_OPERATORS.has(each)),
    );
    return operators.length === 0 || RESERVED_PARAMETERS.has(name) ? [] : [[name, operators] as const];
  });
  const ofId = newer.filters.get("id");
  return Object.freeze({
    ...newer,
    path: prefix + newer.path,
    fields: Object.fromEntries(all.map(({ name, field }) => [name, field])),
    filters: new Map<string, readonly Operator[]>([...(ofId === undefined ? [] : [["id", ofId] as const]), ...filters]),
    sorts: ["id", ...plain.filter(({ from }) => newer.sorts.includes(from)).map(({ name }) => name)],
    defaultSort: newer.defaultSort.flatMap((each) => {
      if (each.field === "id") return [each];
      return plain.filter(({ from }) => from === each.field).map(({ name }) => ({ ...each, field: name }));
    }),
    // No search if this shape does not show all searched fields. A search would reveal the words of a field that is not
    // shown.
    search: newer.search.every((name) => named.has(name))
      ? plain.filter(({ from }) => newer.search.includes(from)).map(({ name }) => name)
      : [],
    labelField: plain.find(({ from }) => from === newer.labelField)?.name ?? null,
    deprecations: null,
    check: null,
  });
}

/**
 * The operators that work on converted values. A conversion may change the order of values, so only comparisons for
 * equality work.
 */
const EQUALITY_OPERATORS = new Set<Operator>(["eq", "ne", "in", "null"]);
const RESERVED_PARAMETERS = new Set(["limit", "cursor", "sort", "fields", "expand", "search"]);

function collectMistakes(newer: unknown, options: unknown): readonly string[] {
  if (!isObject(newer) || !isObject(newer["collection"]) || !isObject(newer["resource"]))
    return [`olderShape: the first argument is ${shown(newer)}, not a mount; write olderShape(mount(…), { … })`];
  const { resource, older, once } = newer as unknown as Mount;
  const place = `olderShape(${resource.path})`;
  if (!isObject(options)) return [`${place}: it needs { prefix: "/v1", fields: { … } }`];
  const wrong = membersMistakes(options, optionMembers);
  const found = [
    ...(older === null ? [] : ["it is an older shape already; give it the mount that this one was made of"]),
    ...(once === null
      ? []
      : ["a record with shownOnce() has no older shape, because it shows a value in one response"]),
    ...(wrong.length > 0 ? wrong : fieldsMistakes(resource, options as unknown as OlderOptions<Resource>)),
  ];
  return found.map((mistake) => `${place}: ${mistake}`);
}

const optionMembers = {
  prefix: matching(/^(\/[a-z0-9]([a-z0-9._-]*[a-z0-9])?)+$/, 'it has to be a path, like "/v1"'),
  fields: namedMembers,
  defaults: optional(namedMembers),
  deprecated: optional(aDeprecation),
};

function* fieldsMistakes(
  { fields }: Resource,
  { fields: declared, defaults = {} }: OlderOptions<Resource>,
): Generator<string> {
  const sent = new Set<string>();
  for (const [name, each] of Object.entries(declared)) {
    if (!isSnakeCase(name)) yield `field ${name}: the name must be lower-case words joined by underscores`;
    if (name === "id") yield "field id: every record has its id already; leave it out";
    const wrong = isText(each) ? nameMistake(each, fields) : conversionMistake(each, fields);
    if (wrong !== null) {
      yield `field ${name}: ${wrong}`;
      continue;
    }
    const from = isText(each) ? each : each.from;
    const isSent = isWritable(fields[from]!) && (isText(each) || each.read !== undefined);
    if (isSent && sent.has(from))
      yield `field ${name}: another field already sets ${from}; leave read out of one of them`;
    if (isSent) sent.add(from);
  }
  for (const name of Object.keys(defaults)) {
    if (!Object.hasOwn(fields, name))
      yield `defaults: there is no field ${name}${suggestion(name, Object.keys(fields))}`;
    else if (sent.has(name)) yield `defaults: callers send ${name}; leave it out of defaults`;
    else if (fields[name]!.kind.parse(defaults[name]) instanceof Flaw) yield `defaults: ${name} cannot have this value`;
  }
  for (const [name, field] of Object.entries(fields))
    if (isRequired(field) && !sent.has(name) && !Object.hasOwn(defaults, name))
      yield `${name} is required and cannot be sent in this shape; name it in fields, or give it a value in defaults`;
}

const RULES_OF_NEWER = "read and write of the newer field hold here too; leave them out";

function hasRules({ options: { read, write } }: Field): boolean {
  return (read ?? write) !== undefined;
}

function nameMistake(from: string, fields: Resource["fields"]): string | null {
  return Object.hasOwn(fields, from) ? null : `there is no field ${from}${suggestion(from, Object.keys(fields))}`;
}

function conversionMistake(declared: unknown, fields: Resource["fields"]): string | null {
  if (!isObject(declared))
    return `it is ${shown(declared)}; it has to be the name of a field, or { from, as, show, read }`;
  const wrong = membersMistakes(declared, {
    from: (value) => (isText(value) ? nameMistake(value, fields) : "it has to be the name of a field"),
    as: (value) => shapeMistakes(value)[0] ?? (hasRules(value as Field) ? RULES_OF_NEWER : null),
    show: aFunction,
    read: optional(aFunction),
  });
  if (wrong.length > 0) return wrong.join("; ");
  const from = fields[String(declared["from"])]!;
  return isShown(from) ? null : `${String(declared["from"])} is never shown, so no field can be read from it`;
}
