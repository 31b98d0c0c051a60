import {
  isSnakeCase,
  isText,
  matching,
  optional,
  text,
  type Only,
  type ValueCheck,
} from "../../core/checking/members.ts";
import { requireOptions } from "../../core/checking/options.ts";
import { defineField, Flaw, type Field, type FieldOptions, type OwnChecks } from "../declaration/field.ts";
import { reportThroughResource } from "./field-mistakes.ts";

/** Options of `shownOnce()`. */
export interface ShownOnceOptions extends Pick<FieldOptions<string>, "description"> {
  /**
   * The column with the owner of the record: `user_id`, or the column of the parent. The digest depends on the owner,
   * so a row that is moved to another owner proves nothing.
   */
  readonly owner: string;
  /** The beginning of each value, before `_`: 1 to 16 lower-case letters and digits. Default: `key`. */
  readonly prefix?: string;
  /** The column with the digest. Default: `digest`. */
  readonly column?: string;
  /**
   * The purpose for which keys are derived from the service's secret. Default: the name of the table. Name the former
   * table here after it was renamed, so that its values stay valid.
   */
  readonly purpose?: string;
}

/**
 * Declares a token that the service makes with the record, for example a key of a program. Only the response that
 * creates the record shows it: no other response, list, export, event or log has it, and the database has only a digest
 * that needs the service's secret. The resource has `id: "text"`, and the service makes the ids. Its mount offers
 * `list`, `read`, `create` and `delete` only, and refuses `Idempotency-Key` (400).
 *
 * @example
 * ```ts
 * import { caller, defineResource, integer, text } from "latchkey";
 * import { shownOnce } from "latchkey/resources";
 *
 * export const hook = defineResource({
 *   name: "hook",
 *   id: "text",
 *   fields: {
 *     label: text({ maxLength: 100 }),
 *     user_id: integer({ generated: caller }),
 *     secret: shownOnce({ owner: "user_id", prefix: "hook" }),
 *   },
 * });
 * ```
 */
export function shownOnce<const O extends ShownOnceOptions>(
  options: Only<O, ShownOnceOptions>,
): Field<string, "readOnly" | "writeOnly" | "transient">;
export function shownOnce(options: ShownOnceOptions): Field {
  return reportThroughResource(() => onceField(options));
}

function onceField(options: ShownOnceOptions): Field {
  requireOptions(options, { ...onceOptions, description: optional(text) }, { of: "shownOnce" });
  const { owner, prefix = "key", column = "digest", purpose = null } = options;
  const flaw = new Flaw("read_only", "The service makes this value.");
  return defineField(
    {
      name: "shown-once",
      parse: () => flaw,
      parseText: () => flaw,
      schema: { type: "string" },
      column: { type: "text" },
      once: { owner, prefix, column, purpose },
      options: onceOptions,
    },
    { ...options, readOnly: true, writeOnly: true, transient: true },
  );
}

const aColumn: ValueCheck = (value) =>
  isText(value) && isSnakeCase(value) ? null : "it has to be the name of a column, like user_id";

const onceOptions: OwnChecks<ShownOnceOptions> = {
  owner: aColumn,
  prefix: optional(matching(/^[a-z][a-z0-9]{0,15}$/, "it has to be 1 to 16 lower-case letters and digits, like key")),
  column: optional(aColumn),
  purpose: optional(text),
};
