import { Problem, readJSON } from "../../door/http.ts";
import { integer, text } from "../../door/index.ts";
import { Flaw, uuid, type Field, type ServedMount, type Resource } from "../../door/resources.ts";
import { listPathParameters } from "./resource-names.ts";

/** How the records of a file are read. */
export interface RecordReading {
  /** True if every value is text or null, as in CSV. Null means no value. */
  readonly isText: boolean;
  /** True to take ids and other values of the service from the file. Otherwise the service sets them again. */
  readonly withIds: boolean;
  /** The fields whose default comes from the caller, if the import has no caller. Empty otherwise. */
  readonly missing: readonly string[];
}

/** Returns the fields that are computed from the caller if the record has no value. */
export function fieldsOfCaller({ fields }: Resource): readonly string[] {
  return Object.entries(fields).flatMap(([name, { options }]) => (asksForCaller(options) ? [name] : []));
}

function asksForCaller({ default: fallback }: Field["options"]): boolean {
  if (typeof fallback !== "function") return false;
  const makeDefault = fallback as (context: object) => unknown;
  let isAsked = false;
  const requireIdentity = (): never => {
    isAsked = true;
    throw new Error("There is no caller.");
  };
  try {
    makeDefault({ identity: null, requireIdentity, now: 0 });
  } catch {
    // Ignores the error, because only `isAsked` counts.
  }
  return isAsked;
}

/** A record of a file, in the form of a request. */
export interface ReadRecord {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The id that the record must have. Null if the service assigns one. */
  readonly id: number | string | null;
  /** Further values of the record, by column, which no caller may send. */
  readonly serverValues: Readonly<Record<string, unknown>>;
}

/** Reads one record. Reports values that its fields refuse, with their names. */
export function readRecord(
  mount: ServedMount,
  record: Readonly<Record<string, unknown>>,
  { isText, withIds, missing }: RecordReading,
): ReadRecord | { readonly reasons: readonly string[] } {
  const { fields, path, id: idKind } = mount.resource;
  const reasons: string[] = [];
  // The object has no prototype, so that a member "__proto__" is an unknown member like any other.
  const body = Object.create(null) as Record<string, unknown>;
  const serverValues: Record<string, unknown> = {};
  const above = collectParents(mount);
  const places = new Map(
    listPathParameters(mount).map((name, at) => [name, parseId(record[name], above[at]!.resource.id)]),
  );
  const id = withIds ? parseId(record["id"], idKind) : null;
  for (const [name, found] of [...places, ["id", id] as const])
    if (found instanceof Flaw) reasons.push(`${name}: ${found.detail}`);
  for (const [name, sent] of Object.entries(record)) {
    if (name === "id" || places.has(name) || (isText && sent === null)) continue;
    const field = Object.hasOwn(fields, name) ? fields[name]! : null;
    // The service computes the value again.
    if (field?.computed !== undefined) continue;
    const isGiven = field !== null && (field.options.readOnly === true || field.options.generated !== undefined);
    if (isGiven && !withIds) continue;
    const value = field === null || !(isText || isGiven) ? sent : parseValue(field, sent, isText);
    if (value instanceof Flaw) reasons.push(`${name}: ${value.detail}`);
    else (isGiven ? serverValues : body)[name] = value;
  }
  for (const name of missing)
    if ((body[name] ?? serverValues[name] ?? null) === null && !reasons.some((each) => each.startsWith(`${name}:`)))
      reasons.push(`${name}: ${CALLER_REQUIRED}`);
  if (reasons.length > 0 || id instanceof Flaw) return { reasons };
  return {
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(places.get(name)))),
    body,
    id,
    serverValues,
  };
}

const CALLER_REQUIRED =
  "This field holds the user who sends the record, and an import has none. Add a column for it to the file, or name the user: --as USERNAME.";

/** Returns the parents, outermost first. */
function collectParents({ parent }: ServedMount): readonly ServedMount[] {
  return parent === null ? [] : [...collectParents(parent), parent];
}

const idKinds = { integer: integer({ minimum: 1 }).kind, uuid: uuid().kind, text: text().kind };

/** Reads an id in a file. In CSV each id is a text. */
export function parseId(value: unknown, kind: Resource["id"]): number | string | Flaw {
  const { parse, parseText } = idKinds[kind];
  const id = typeof value === "string" ? parseText(value) : parse(value);
  return id instanceof Flaw && kind === "integer" ? new Flaw("invalid", "A whole number from 1 is required.") : id;
}

/** Reads the value of a field in a file. */
export function parseValue({ kind, options }: Field, sent: unknown, isText: boolean): unknown {
  if (sent === null && options.optional === true) return null;
  if (!isText || typeof sent !== "string") return kind.parse(sent);
  if (kind.column.type !== "json") return kind.parseText(sent);
  try {
    return kind.parse(readJSON(Buffer.from(sent), { exactNumbers: true }));
  } catch (error) {
    const reason = error instanceof Problem ? ` ${error.detail}` : "";
    return new Flaw("invalid", `JSON text is required.${reason}`);
  }
}
