import type { Only } from "../../core/checking/members.ts";
import { parseUUID } from "../../core/crypto/uuid.ts";
import { defineField, Flaw, type Field, type FieldOptions, type Kind, type OptionNames } from "../declaration/field.ts";
import { declaresColumns } from "./column-kinds.ts";

const flaw = new Flaw("invalid", "A UUID is required, like 0198c5d8-7a4c-7b1f-9d0e-3f2a61c4b7e5 (RFC 9562).");

function parse(value: unknown): string | Flaw {
  return typeof value === "string" ? (parseUUID(value.toLowerCase()) ?? flaw) : flaw;
}

/** Reads UUIDs in any case, and stores and shows them in lower case (RFC 9562 §4). */
export const uuidKind: Kind<string> = {
  name: "uuid",
  parse,
  parseText: parse,
  schema: { type: "string", format: "uuid" },
  spelled: true,
  column: { type: "text" },
};

/** Declares a UUID of any version (RFC 9562), in lower case. */
export function uuid<const O extends FieldOptions<string> = {}>(
  options?: Only<O, FieldOptions<string>>,
): Field<string, OptionNames<O>["names"]>;
export function uuid(options: FieldOptions<string> = {}): Field<string> {
  return defineField({ ...uuidKind, rule: {} }, options);
}

declaresColumns("uuid", { columns: /^uuid$/, type: "text", id: "uuid" });
