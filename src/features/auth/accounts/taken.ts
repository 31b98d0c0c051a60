import { problem } from "../../../core/problem/problem.ts";
import { storedOf } from "../../../http/declarations/table.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Change } from "../../../store/store.ts";
import type { AccountsParts } from "../people/parts.ts";
import { accountsCollection } from "../records/accounts.ts";
import { isNameTaken } from "../records/names.ts";

/** The new names of a user. */
export interface NewNames {
  /** The user's own id. Null if there is none yet. */
  readonly id: number | null;
  readonly email?: string;
  readonly username?: string;
  /** True if a caller creates an account for themselves. */
  readonly isSignUp?: boolean;
}

/** Ends the request (429) if the client's address has checked too many names. Called before any hash is computed. */
export async function requireMayProbe({ throttle }: AccountsParts, context: Context): Promise<void> {
  if (!isAdministrator(context)) await throttle.checkProbes(context.call);
}

/**
 * Ends the request (409) if another user has one of the names, before a hash is computed. Callers who are not
 * administrators have a limit on such checks. Always returns an empty list of changes, so that it can be the last step
 * of a write (`complete`).
 */
export async function requireFree(parts: AccountsParts, context: Context, names: NewNames): Promise<readonly Change[]> {
  const look = () => findTaken(parts, names);
  const taken = isAdministrator(context)
    ? await look()
    : await parts.throttle.probe(context.call, async () => {
        const result = await look();
        return { counts: result !== null || names.isSignUp === true, result };
      });
  if (taken === null) return [];
  throw problem("taken", {
    issues: [{ pointer: `/${taken}`, code: "taken", detail: "This value is already taken." }],
  });
}

async function findTaken(
  { store, users }: AccountsParts,
  { id, email, username }: NewNames,
): Promise<"email" | "username" | null> {
  const sameEmail = email === undefined ? null : await store.findBy(users.collection, "email", email);
  if (sameEmail !== null && storedOf(sameEmail).id !== id) return "email";
  if (username === undefined) return null;
  return (await isNameTaken({ store, accounts: accountsCollection }, username, id)) ? "username" : null;
}

export function isAdministrator({ identity }: Context): boolean {
  return identity?.role === "admin";
}
