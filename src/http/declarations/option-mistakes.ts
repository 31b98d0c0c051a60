import { isObject } from "../../core/checking/members.ts";
import { suggestion } from "../../core/checking/nearest.ts";
import { actions, aProblemList } from "./checking.ts";

/** Returns the mistake in the option `problems`. Returns null if there is none. */
export function problemsMistake(value: unknown): string | null {
  if (!isObject(value)) return 'it has to be codes by action, like { delete: ["conflict"] }';
  for (const [action, codes] of Object.entries(value)) {
    if (!Object.hasOwn(actions, action))
      return `there is no action ${action}${suggestion(action, Object.keys(actions))}`;
    const wrong = aProblemList(codes);
    if (wrong !== null) return `of ${action}: ${wrong}`;
  }
  return null;
}

/** Returns the reasons why records cannot be written as arrays. */
export function arraysMistakes(
  { fields }: Readonly<Record<string, unknown>>,
  options: Readonly<Record<string, unknown>>,
): readonly string[] {
  if (options["arrays"] !== true) return [];
  return [
    ...(options["personal"] === true
      ? [
          "arrays and personal exclude each other, because the stored outcome of an array does not belong to one record; keep one",
        ]
      : []),
    ...(isObject(fields) && Object.hasOwn(fields, "if_match")
      ? ["the records of an array give their ETag in a member if_match; rename the field, or leave arrays out"]
      : []),
  ];
}

/** Returns the mistakes in the option `writers`. */
export function writersMistakes(
  { within }: Readonly<Record<string, unknown>>,
  { writers }: Readonly<Record<string, unknown>>,
): readonly string[] {
  return writers === undefined || within !== null
    ? []
    : ["writers is for nested resources, and this is not one; leave it out"];
}
