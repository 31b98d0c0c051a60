import { tooLate } from "../../core/checking/at-once.ts";
import { Flaw } from "../../resource/kinds/field.ts";
import type { Resource } from "../../resource/resource.ts";
import { isKeyOf } from "../../store/store.ts";

type RecordMembers = Readonly<Record<string, unknown>>;

/**
 * Returns a function that computes the computed fields of a record. Returns null if there are none. The function throws
 * a fault if a field cannot be computed.
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
          `${path}: the computed field ${name} gave what its kind does not take: ${read === null ? "nothing" : read.detail}`,
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

/** Shows a record before it is written, if a function computes a part of it. So an error of that function leaves nothing half done. */
export function requireShowable({ computed, older, show }: ShowingParts, record: RecordMembers): void {
  if (computed.length === 0 && older === null) return;
  // The database issues some keys of this record later. It cannot be shown yet.
  if (Object.values(record).some(isKeyOf)) return;
  show({ id: 1, ...record } as never);
}
