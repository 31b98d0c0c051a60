import { computeLevel } from "../../../core/levels.ts";
import { storedOf, update } from "../../../http/declarations/table.ts";
import type { Change, Where } from "../../../store/store.ts";
import { accountOf, accountsCollection, type Account } from "../records/accounts.ts";
import { equals } from "../records/conditions.ts";
import type { GateParts } from "./parts.ts";
import { mustHaveFactor } from "./policy.ts";

type Parts = Pick<GateParts, "store" | "revocations" | "rule">;

const PAGE = 200;

/** The largest number of attempts for one account, whose logins may end at the same time for another reason. */
const MOST_ATTEMPTS = 5;

/**
 * Ends, at the start, every login of level 1 of the accounts that must have a factor and have none. They stay ended if
 * the rule is taken away again. Each account is marked until its next login of level 1, so a start that was interrupted
 * goes on with the rest.
 */
export async function endWeakLogins(parts: Parts, now: number): Promise<void> {
  const { store, rule } = parts;
  if (rule === "optional") return;
  for (let last = 0; ;) {
    const conditions: Where[] = [
      { column: "id", operator: "gt", value: last },
      equals("factors", 0),
      { column: "last_login_at", operator: "null", value: false },
      { column: "weak_logins_ended", operator: "null", value: true },
      ...(rule === "admins" ? [equals("role", "admin")] : []),
    ];
    const where = { all: conditions };
    const rows = await store.list({ collection: accountsCollection, where, sort: [{ column: "id" }], limit: PAGE });
    for (const row of rows) await endWeakLoginsOf(parts, accountOf(row).id, now);
    if (rows.length < PAGE) return;
    last = storedOf(rows.at(-1)!).id;
  }
}

/** Ends every login of level 1 of an account that must have a factor and has none. */
export async function endWeakLoginsOf(parts: Parts, userId: number, now: number): Promise<void> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const row = await parts.store.find(accountsCollection, userId);
    const changes = row === null ? [] : await weakLoginsEnd(parts, accountOf(row), now);
    if (changes.length === 0 || (await parts.store.write({ changes })).kind === "written") return;
  }
}

/**
 * Returns the changes that end the logins of level 1 of an account, for example when its user becomes an administrator.
 */
export async function weakLoginsEnd(
  { revocations, rule }: Omit<Parts, "store">,
  account: Account,
  now: number,
): Promise<readonly Change[]> {
  if ((account.factors ?? 0) > 0 || !mustHaveFactor(account.role, rule)) return [];
  const nothing = { family: null, sessionId: null };
  return [
    ...(await revocations.endLoginsBy(account, (proofs) => computeLevel(proofs) < 2, nothing, now)),
    update(accountsCollection, { key: account.id, values: { weak_logins_ended: true } }),
  ];
}
