import { parseUUID } from "../core/crypto/uuid.ts";
import { defineField, type Field, type Kind } from "./declaration/field.ts";
import type { IdKind } from "./declaration/types.ts";
import { keyKind } from "./kinds/key.ts";
import { integer } from "./kinds/numbers.ts";
import { uuid } from "./kinds/uuid.ts";

const fields: Readonly<Record<IdKind, Field>> = {
  integer: integer({ readOnly: true, minimum: 1 }),
  uuid: uuid({ readOnly: true }),
  text: defineField(keyKind, { readOnly: true }),
};

interface ResourceWithId {
  readonly id: IdKind;
  readonly fields: Readonly<Record<string, Field>>;
}

/** Returns the field `id`, which every record of a resource has, as if it were declared. */
export function idField({ id }: { readonly id: IdKind }): Field {
  return fields[id];
}

/** Returns a field by its name, including `id`. */
export function getField(resource: ResourceWithId, name: string): Field {
  return name === "id" ? idField(resource) : resource.fields[name]!;
}

/** Returns the kind of a field by its name, including `id`. */
export function getKind(resource: ResourceWithId, name: string): Kind<unknown> {
  return getField(resource, name).kind;
}

/**
 * Parses an id in a path. Each id has one spelling: a number from 1 to 2^53-1 without sign or leading zero, a UUID in
 * lower case, or a text key. Returns null for any other text.
 */
export function parseId(text: string, kind: IdKind): number | string | null {
  if (kind === "uuid") return parseUUID(text);
  if (kind === "text") return keyKind.parseText(text) === text ? text : null;
  if (text.length === 0 || text.length > 16) return null;
  let id = 0;
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9 || (at === 0 && digit === 0)) return null;
    id = id * 10 + digit;
  }
  return id <= Number.MAX_SAFE_INTEGER ? id : null;
}
