import { problem } from "../../../core/problem/problem.ts";
import { OVERTAKEN, type Change, type Where } from "../../../store/store.ts";
import { accountsCollection, type Account } from "../records/accounts.ts";
import { equals, ofUser } from "../records/conditions.ts";
import type { RemovedLoginMethod, OtherLogin, OutsideLogin } from "./contract.ts";
import { factorsCollection, makeFactors } from "./factors.ts";
import type { GateParts } from "./parts.ts";

/** The parts that decide how an account can log in. */
type Parts = Pick<GateParts, "store" | "gate" | "outsideLogins">;

/**
 * Returns the changes that refuse the transaction if the account loses its last login method: its password, a passkey,
 * or an outside party that vouches for it. Ends the request (409 `last_login`) if there is no other way now. `program`:
 * a credential of a program is removed, with which no person logs in.
 */
export async function keepOtherLogin(
  parts: Parts,
  account: Account,
  leaving: RemovedLoginMethod | "program",
): Promise<OtherLogin> {
  // No person logs in with the credential of a program.
  if (leaving === "program") return markOtherLogin(account, []);
  // This `require` locks the row of the account. If two requests remove different ways at the same time, the second one
  // is refused.
  const where = { all: [equals("id", account.id), equals("generation", account.generation)] };
  const same: Change = { kind: "require", collection: accountsCollection, where, atLeast: 1, name: "account" };
  if (account.passwordHash !== null) return markOtherLogin(account, [same]);
  const other = await findFurther(parts, account, leaving);
  if (other === null) throw problem("last_login");
  return markOtherLogin(account, [same, { kind: "require", ...other, atLeast: 1, name: "last_login" }]);
}

/** The changes of `keepOtherLogin`, with the ids of their users. */
const otherLogins = new WeakMap<readonly Change[], number>();

function markOtherLogin({ id }: Account, changes: readonly Change[]): OtherLogin {
  otherLogins.set(changes, id);
  return changes as OtherLogin;
}

/** Returns the changes of `keepOtherLogin` for this user. Throws a `TypeError` if it did not make them for this user. */
export function requireOtherLogin(changes: OtherLogin, userId: unknown): readonly Change[] {
  const guarded = otherLogins.get(changes);
  if (guarded === undefined)
    throw new TypeError("This removes a credential and needs the result of confirming.keepOtherLogin.");
  if (guarded !== userId)
    throw new TypeError("This removes a credential, and confirming.keepOtherLogin guarded another user.");
  return changes;
}

/**
 * Finds a passkey or an outside login with which the account can log in without a password. Returns the changes that
 * require it to stay: if another request removes it first, the transaction is refused as `OVERTAKEN`. Returns null if
 * the account has none.
 */
export async function findLoginMethod(parts: Parts, account: Account): Promise<readonly Change[] | null> {
  const found = await findFurther(parts, account, null);
  return found === null ? null : [{ kind: "require", ...found, atLeast: 1, name: OVERTAKEN }];
}

/** Returns a login method other than a password, and other than `leaving`. */
async function findFurther(
  parts: Parts,
  account: Account,
  leaving: RemovedLoginMethod | null,
): Promise<FurtherLoginRows | null> {
  return (await findOutsideLogin(parts, account, leaving)) ?? (await findPasskey(parts, account, leaving));
}

type FurtherLoginRows = Pick<OutsideLogin, "collection"> & { readonly where: Where };

async function findOutsideLogin({ store, outsideLogins }: Parts, { id }: Account, leaving: RemovedLoginMethod | null) {
  for (const { collection, where } of outsideLogins) {
    const isLeaving = leaving !== null && "collection" in leaving && leaving.collection === collection;
    const others: Where = {
      all: [
        ofUser(id),
        ...(where === undefined ? [] : [where]),
        ...(isLeaving ? [{ column: "id", operator: "ne", value: leaving.id } as const] : []),
      ],
    };
    if ((await store.list({ collection, where: others, sort: [], limit: 1 })).length > 0)
      return { collection, where: others } satisfies FurtherLoginRows;
  }
  return null;
}

async function findPasskey(
  { store, gate }: Parts,
  { id }: Account,
  leaving: RemovedLoginMethod | null,
): Promise<FurtherLoginRows | null> {
  const all = await makeFactors(store).list(id);
  const other = all.find(
    (each) =>
      gate.kinds.get(each.kind)?.logsInAlone?.(each) === true &&
      !(leaving !== null && "factor" in leaving && leaving.factor.id === each.id),
  );
  return other === undefined
    ? null
    : { collection: factorsCollection, where: { all: [equals("id", other.id), equals("active", true)] } };
}
