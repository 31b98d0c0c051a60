import { isKnownFormat } from "../../../core/crypto/password-hash.ts";
import { OVERTAKEN, type Change, type Row } from "../../../store/store.ts";
import { findLoginMethod } from "../gate/login-methods.ts";
import type { GateParts } from "../gate/parts.ts";
import { accountOf, accountsCollection, type Account } from "../records/accounts.ts";
import { equals } from "../records/conditions.ts";

// A service that has an administrator who can log in must always have one. `LAST_ADMIN` is the code of the refusal.

const LAST_ADMIN = "last_admin";
const activeAdministrator = { all: [equals("role", "admin"), equals("active", true)] };

/** Requires that an active administrator remains. */
export const requireAdministrator: Change = {
  kind: "require",
  collection: accountsCollection,
  where: activeAdministrator,
  atLeast: 1,
  name: LAST_ADMIN,
};

/** The number of administrators that one query reads. */
const PAGE = 100;

/**
 * Returns the changes that refuse the transaction (409 `last_admin`) if it removes the last active administrator who
 * can log in. `leaving` is the account before it is deleted, demoted or deactivated. Only an administrator with a
 * usable password, a passkey or an outside login counts. `now` in milliseconds since the epoch.
 */
export async function keepAdministrator(parts: GateParts, leaving: Account, now: number): Promise<readonly Change[]> {
  if (leaving.role !== "admin" || !leaving.active) return [];
  // This administrator cannot log in anyway. So it is enough that another active administrator remains.
  if ((await findLogin(parts, leaving, now)) === null) return [requireAdministrator];
  for await (const { id, generation, ...account } of administrators(parts)) {
    const login = id === leaving.id ? null : await findLogin(parts, { ...account, id, generation }, now);
    if (login === null) continue;
    const where = { all: [...activeAdministrator.all, equals("id", id), equals("generation", generation)] };
    // Another request may remove the other administrator at the same time. The store then refuses the transaction as
    // `OVERTAKEN`, and the rule is checked again.
    const stays: Change = { kind: "require", collection: accountsCollection, where, atLeast: 1, name: OVERTAKEN };
    return [requireAdministrator, stays, ...login];
  }
  const none = { all: [...activeAdministrator.all, equals("id", 0)] };
  return [{ kind: "require", collection: accountsCollection, where: none, atLeast: 1, name: LAST_ADMIN }];
}

/** Returns the changes that require that an account can still log in. Returns null if it cannot. */
async function findLogin(parts: GateParts, account: Account, now: number): Promise<readonly Change[] | null> {
  return hasUsablePassword(account, now) ? [] : findLoginMethod(parts, account);
}

/** True if the account can log in with its password. A one-time password that was used does not log in again. */
function hasUsablePassword({ passwordHash, passwordUntil, passwordOnce = null }: Account, now: number): boolean {
  if (passwordHash === null || !isKnownFormat(passwordHash) || passwordOnce === "used") return false;
  return passwordUntil === null || Date.parse(passwordUntil) > now;
}

async function* administrators({ store }: GateParts): AsyncGenerator<Account> {
  let last = 0;
  for (;;) {
    const where = { all: [...activeAdministrator.all, { column: "id", operator: "gt", value: last } as const] };
    const sort = [{ column: "id", descending: false }];
    const rows: readonly Row[] = await store.list({ collection: accountsCollection, where, sort, limit: PAGE });
    for (const row of rows) yield accountOf(row);
    if (rows.length < PAGE) return;
    last = accountOf(rows.at(-1)!).id;
  }
}
