import type { Identity } from "../../../core/identity.ts";
import { problem } from "../../../core/problem/problem.ts";
import { showTo } from "../../../http/mount/seen-by.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { GateParts } from "../gate/parts.ts";
import type { Account } from "../records/accounts.ts";
import type { ShownUser } from "../records/users.ts";
import type { AccountsParts } from "./parts.ts";

/** Returns the account whose id is in the path. Ends the request with 404 if there is none. */
export async function requireAccount({ accounts }: GateParts, context: Context): Promise<Account> {
  const found = await accounts.find(context.id());
  if (found === null) throw problem("not_found");
  return found;
}

/**
 * Returns a user in the form that this user sees. `identity` is the caller, or the login that begins. `now` is in
 * milliseconds since the epoch. Ends the request with 404 if there is no such user.
 */
export async function requireUser(
  { store, users }: AccountsParts,
  now: number,
  id: number,
  identity: Identity | null,
): Promise<ShownUser> {
  const row = await store.find(users.collection, id);
  if (row === null) throw problem("not_found");
  return showTo(users, row.record, { identity, now, isOwn: true }) as ShownUser;
}
