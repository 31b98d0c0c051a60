import { parseUUID } from "../core/crypto/uuid.ts";
import { defineField, type Field, type Kind } from "./kinds/field.ts";
import { keyKind } from "./kinds/key.ts";
import { integer } from "./kinds/numbers.ts";
import { uuid } from "./kinds/uuid.ts";

/** What the ids of a resource are: whole numbers that the store hands out, UUIDs that the service makes (version 7), or texts that callers choose. */
export type IdKind = "integer" | "uuid" | "text";

const fields: Readonly<Record<IdKind, Field>> = {
  integer: integer({ readOnly: true, minimum: 1 }),
  uuid: uuid({ readOnly: true }),
  text: defineField(keyKind, { readOnly: true }),
};

interface Identified {
  readonly id: IdKind;
  readonly fields: Readonly<Record<string, Field>>;
}

/** What every record of a resource has, as if it were declared. */
export function idField({ id }: { readonly id: IdKind }): Field {
  return fields[id];
}

/** A field by its name, `id` among them. */
export function fieldOf(resource: Identified, name: string): Field {
  return name === "id" ? idField(resource) : resource.fields[name]!;
}

/** The kind of a field by its name, `id` among them. */
export function kindOf(resource: Identified, name: string): Kind<unknown> {
  return fieldOf(resource, name).kind;
}

/** An id as a path writes it, each in one spelling alone: a number from 1 to 2^53-1 without sign or leading zero, or a UUID in lower case. */
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
