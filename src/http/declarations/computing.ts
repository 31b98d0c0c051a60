import { tooLate } from "../../core/checking/at-once.ts";
import { Flaw } from "../../resource/declaration/field.ts";
import type { Resource } from "../../resource/resource.ts";
import { isKeyOf } from "../../store/store.ts";

type RecordMembers = Readonly<Record<string, unknown>>;

/**
 * Returns a function that computes the computed fields of a record. Returns null if the resource has none. The function
 * throws a fault if a computed value is invalid.
 */
export function compileComputer({ path, fields }: Resource): ((record: RecordMembers) => RecordMembers) | null {
  const computed = Object.entries(fields).flatMap(([name, field]) =>
    typeof field.computed !== "function"
      ? []
      : [{ name, compute: field.computed, kind: field.kind, options: field.options }],
  );
  if (computed.length === 0) return null;
  return (record) => {
    const made: Record<string, unknown> = {};
    for (const { name, compute, kind, options } of computed) {
      const value = compute(record) ?? null;
      if (value instanceof Promise) throw tooLate(value, `${path}: the computed field ${name}`);
      const read = value === null ? null : kind.parse(value);
      if (read instanceof Flaw || (read === null && options.optional !== true))
        throw new TypeError(
          `${path}: the computed field ${name} gave a value that its kind does not take: ${read === null ? "nothing" : read.detail}`,
        );
      made[name] = read;
    }
    return made;
  };
}

/** The parts of a mount that show records. */
interface ShowingParts {
  readonly computed: readonly string[];
  readonly older: unknown;
  readonly show: (record: never) => unknown;
}

/**
 * Calls `show` before the record is written, if a function computes a part of the output. If that function throws,
 * nothing has been written.
 */
export function requireShowable({ computed, older, show }: ShowingParts, record: RecordMembers): void {
  if (computed.length === 0 && older === null) return;
  // Some values of this record are keys that the database assigns later. The record cannot be shown yet.
  if (Object.values(record).some(isKeyOf)) return;
  show({ id: 1, ...record } as never);
}
