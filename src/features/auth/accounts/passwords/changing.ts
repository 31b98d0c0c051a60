import { problem } from "../../../../core/problem/problem.ts";
import { storedOf, updateAll } from "../../../../http/declarations/table.ts";
import type { Context } from "../../../../http/request/exchange.ts";
import type { Change } from "../../../../store/store.ts";
import type { NewPassword } from "../../people/contracts/changing.ts";
import { allowChange, loginColumns } from "../../people/login-change.ts";
import type { AccountsParts } from "../../people/parts.ts";
import { endPreparedLogins, mayBePrepared, verifyEmail } from "../../people/proved-address.ts";
import { accountsCollection } from "../../records/accounts.ts";
import { equals } from "../../records/conditions.ts";
import { requireGoodPassword } from "./good-password.ts";

/**
 * Returns the changes that set a password: its hash, the end of every login, pending login, link and code, and a
 * notice. Ends the request (400 at `/password`) if the password is not acceptable. `context` is the request that
 * changes the password. Null if the service itself sets it.
 */
export async function passwordChanges(
  parts: AccountsParts,
  context: Context | null,
  { account, password, endKeys = false, provesAddress = false }: NewPassword,
  now: number,
): Promise<readonly Change[]> {
  const { id, username } = account;
  const user = await parts.store.find(parts.users.collection, id);
  const email = user === null ? null : storedOf(user).email;
  await requireGoodPassword(parts, context, password, { username, email });
  const endsPrepared = provesAddress && (await mayBePrepared(parts, account));
  const owner = endsPrepared ? { factors: 0 } : account;
  const values = loginColumns(allowChange(id, ["password"]), id, {
    password_hash: await parts.passwords.hashFor(owner, context?.call ?? null, password, String(id)),
    password_until: null,
    password_once: null,
  });
  return [
    ...parts.revocations.endAccount(account, now, endKeys || endsPrepared),
    ...(endsPrepared ? endPreparedLogins(parts, account, now) : []),
    ...(provesAddress && !endsPrepared ? verifyEmail(account, now) : []),
    updateAll(accountsCollection, { where: equals("id", id), values }),
    ...parts.notify("password_changed", account, now),
  ];
}

/** Sets a password in its own transaction. Ends the request with 409 if the account has changed since it was read. */
export async function changePassword(parts: AccountsParts, newPassword: NewPassword, now: number): Promise<void> {
  const changes = await passwordChanges(parts, null, newPassword, now);
  const { kind } = await parts.store.write({ changes });
  if (kind !== "written") throw problem("conflict", { detail: "The account was changed at the same time. Try again." });
}
