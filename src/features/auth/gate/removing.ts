import { markHash } from "../../../core/crypto/password-hash.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Change } from "../../../store/store.ts";
import { accountsCollection, type Account } from "../accounts/stored-accounts.ts";
import { equals } from "../conditions.ts";
import type { StoredFactor } from "./contract.ts";
import { dropCodes } from "./enrolling.ts";
import type { GateEndpointsParts } from "./parts.ts";
import { mustHaveFactor } from "./policy.ts";
import { keepOtherLogin } from "./ways.ts";

/** The factor to delete, and the user who deletes it. */
export interface FactorRemoval {
  readonly account: Account;
  readonly factor: StoredFactor;
  /** False if an administrator or the command line deletes it, which ends every login of the user. */
  readonly isOwn: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Deletes a factor. Ends the request if it is the last one of an account that must have one, or the last way to log in. */
export async function removeFactor(parts: GateEndpointsParts, removal: FactorRemoval): Promise<void> {
  const { account, factor, isOwn, now } = removal;
  const count = account.factors ?? 0;
  const isLast = factor.active && count <= 1;
  if (isLast && isOwn && mustHaveFactor(account.role, parts.gate.rule)) throw problem("last_factor");
  const removesLogin = factor.active && isOwn && parts.gate.kinds.get(factor.kind)?.logsInAlone?.(factor) === true;
  const conditions = removesLogin ? await keepOtherLogin(parts, account, { factor }) : [];
  const where = { all: [equals("id", account.id), equals("factors", count), equals("generation", account.generation)] };
  const { passwordHash } = account;
  const unmarked = isLast && passwordHash !== null ? { password_hash: markHash(passwordHash, 0) } : {};
  const counted: readonly Change[] = factor.active
    ? [
        { kind: "require", collection: accountsCollection, where, atLeast: 1, name: "factors" },
        {
          kind: "update",
          collection: accountsCollection,
          key: account.id,
          values: { factors: count - 1, ...unmarked },
        },
      ]
    : [];
  const { kind } = await parts.store.write({
    changes: [
      ...counted,
      ...conditions,
      parts.factors.delete(factor),
      ...(isLast ? [dropCodes(account.id)] : []),
      ...(isOwn ? [] : parts.revocations.endAccount(account, now)),
      ...(factor.active ? parts.notify("factor_removed", account, now) : []),
    ],
  });
  if (kind !== "written") throw problem("conflict", { detail: "The account was changed at the same time. Try again." });
}
