import type { Field } from "./declaration/field.ts";

/** Returns the mistakes in the rules of a field: rules that say nothing, or that a write would reveal. */
export function fieldRuleMistakes({ options }: Field): readonly string[] {
  const { read, write, unique = false } = options;
  const mistakes: string[] = [];
  if (unique !== false && read !== write)
    mistakes.push(
      "a write tells whether another record has the value of a unique field, so read and write have to be the same permission; give both, or none",
    );
  if (write !== undefined && (options.readOnly === true || options.generated !== undefined))
    mistakes.push("no caller sends this field, so a rule for write has no meaning; leave write out");
  if (read !== undefined && options.writeOnly === true)
    mistakes.push("the field is never shown, so a rule for read has no meaning; leave read out");
  return mistakes;
}
