import { isDeepStrictEqual } from "node:util";
import { problem } from "../../../core/problem/problem.ts";
import type { Write } from "../../../http/declarations/mount.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Fields } from "../../../resource/resource.ts";
import type { Users } from "../records/users.ts";
import { resolveDefault } from "./standard.ts";

/**
 * Ends the request (403) if a caller who is not an administrator changes a field that only administrators set. Such a
 * field must keep its stored value. In a new user, it must have its default.
 */
export function requireAsGiven(administered: readonly string[], write: Write<Users>, fields: Fields): void {
  const { kind, context } = write;
  if (kind === "delete" || context.identity?.role === "admin") return;
  if (kind === "create") return requireGivenFields(administered, context, write.draft.values, fields);
  requireUnchanged(administered, write.draft.values, write.current);
}

/**
 * Ends the request (403) if the draft of a new user sets a field that only administrators set. Called if the creator is
 * not an administrator. The default value is allowed.
 */
export function requireGivenFields(
  administered: readonly string[],
  context: Context,
  values: Readonly<Record<string, unknown>>,
  fields: Fields,
): void {
  requireUnchanged(administered, values, standards(administered, context, fields));
}

function requireUnchanged(
  administered: readonly string[],
  draft: Readonly<Record<string, unknown>>,
  before: Readonly<Record<string, unknown>>,
): void {
  const changed = administered.find((name) => !isDeepStrictEqual(draft[name] ?? null, before[name] ?? null));
  if (changed !== undefined)
    throw problem("permission_denied", { detail: `Only administrators can set the field ${changed}.` });
}

function standards(names: readonly string[], context: Context, fields: Fields): Readonly<Record<string, unknown>> {
  return Object.fromEntries(names.map((name) => [name, resolveDefault(fields[name]!, context)]));
}
