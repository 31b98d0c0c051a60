import { markHash } from "../../../core/crypto/password-hash.ts";
import type { Identity, Proof } from "../../../core/identity.ts";
import { problem } from "../../../core/problem/problem.ts";
import { update } from "../../../http/declarations/table.ts";
import type { Change } from "../../../store/store.ts";
import type { StoredFactor } from "../gate/contract.ts";
import { keepOtherLogin } from "../gate/login-methods.ts";
import type { GateParts } from "../gate/parts.ts";
import { mustHaveFactor } from "../gate/policy.ts";
import { accountsCollection, type Account } from "../records/accounts.ts";
import { equals } from "../records/conditions.ts";
import { dropCodes } from "./enrolling.ts";

/** The factor to delete, and the user who deletes it. */
export interface FactorRemoval {
  readonly account: Account;
  readonly factor: StoredFactor;
  /**
   * The user's own identity. Null if an administrator or the command line deletes the factor, which ends every login of
   * the user.
   */
  readonly own: Pick<Identity, "family" | "sessionId" | "proofs"> | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Deletes a factor. Ends the request if it is the last one of an account that must have one, or the last login method.
 */
export async function removeFactor(parts: GateParts, removal: FactorRemoval): Promise<void> {
  const { account, factor, own, now } = removal;
  const isOwn = own !== null;
  const count = account.factors ?? 0;
  const isLast = factor.active && count <= 1;
  if (isLast && isOwn && mustHaveFactor(account.role, parts.rule)) throw problem("last_factor");
  const removesLogin = factor.active && isOwn && parts.gate.kinds.get(factor.kind)?.logsInAlone?.(factor) === true;
  const conditions = removesLogin ? await keepOtherLogin(parts, account, { factor }) : [];
  const where = { all: [equals("id", account.id), equals("factors", count), equals("generation", account.generation)] };
  const { passwordHash } = account;
  const unmarked = isLast && passwordHash !== null ? { password_hash: markHash(passwordHash, 0) } : {};
  const counted: readonly Change[] = factor.active
    ? [
        { kind: "require", collection: accountsCollection, where, atLeast: 1, name: "factors" },
        update(accountsCollection, { key: account.id, values: { factors: count - 1, ...unmarked } }),
      ]
    : [];
  const { kind } = await parts.store.write({
    changes: [
      ...counted,
      ...conditions,
      parts.factors.delete(factor),
      ...(isLast ? [dropCodes(account.id)] : []),
      ...(await endBegunLogins(parts, removal)),
      ...(factor.active ? parts.notify("factor_removed", account, now) : []),
    ],
  });
  if (kind !== "written") throw problem("conflict", { detail: "The account was changed at the same time. Try again." });
}

/**
 * Returns the changes that end the logins of a deleted factor: a thief of a passkey is still logged in with it. The
 * login of the caller stays if it has another proof, because it was confirmed just now.
 */
async function endBegunLogins(parts: GateParts, removal: FactorRemoval): Promise<readonly Change[]> {
  const { account, factor, own, now } = removal;
  if (own === null) return parts.revocations.endAccount(account, now);
  if (!factor.active) return [];
  const id = String(factor.id);
  const isBegun = (proofs: readonly Proof[]) => proofs.some((proof) => proof.factor === id);
  const { proofs = [], family = null, sessionId = null } = own;
  const remains = proofs.some((proof) => proof.factor !== id);
  const remaining = remains ? { family, sessionId } : { family: null, sessionId: null };
  return parts.revocations.endLoginsBy(account, isBegun, remaining, now);
}
