import { problem } from "../../../core/problem/problem.ts";
import type { Change, Collection, Key, Store, Where } from "../../../store/store.ts";
import { accountsCollection, type Account } from "../accounts/stored-accounts.ts";
import { equals, ofUser } from "../conditions.ts";
import type { StoredFactor } from "./contract.ts";
import { factorsCollection, makeFactors } from "./factors.ts";
import type { Gate } from "./gate.ts";

/** Rows of a collection with a `user_id`, each of which lets its user log in because another party vouches for the user. */
export interface OutsideLogin {
  readonly collection: Collection;
  /** Only these rows. Default: all. */
  readonly where?: Where;
}

/** The way to log in that is being removed: a factor, or a row of an outside login. */
export type LeavingWay = { readonly factor: StoredFactor } | { readonly collection: Collection; readonly id: Key };

/** The parts that know how an account can log in. */
export interface WaysParts {
  readonly store: Store;
  readonly gate: Pick<Gate, "kinds">;
  readonly outsideLogins: readonly OutsideLogin[];
}

/**
 * Returns the changes that refuse the transaction if the account loses its last way to log in: its password, a passkey, or an outside
 * party that vouches for it. Ends the request (409 `last_login`) if there is no other way now.
 */
export async function keepOtherLogin(
  parts: WaysParts,
  account: Account,
  leaving: LeavingWay,
): Promise<readonly Change[]> {
  // Two requests that each remove one of two ways wait for each other at the account.
  const where = { all: [equals("id", account.id), equals("generation", account.generation)] };
  const same: Change = { kind: "require", collection: accountsCollection, where, atLeast: 1, name: "account" };
  if (account.passwordHash !== null) return [same];
  const other = (await findOutsideLogin(parts, account, leaving)) ?? (await findPasskey(parts, account, leaving));
  if (other === null) throw problem("last_login");
  return [same, { kind: "require", ...other, atLeast: 1, name: "last_login" }];
}

type Found = Pick<OutsideLogin, "collection"> & { readonly where: Where };

async function findOutsideLogin({ store, outsideLogins }: WaysParts, { id }: Account, leaving: LeavingWay) {
  for (const { collection, where } of outsideLogins) {
    const isLeaving = "collection" in leaving && leaving.collection === collection;
    const others: Where = {
      all: [
        ofUser(id),
        ...(where === undefined ? [] : [where]),
        ...(isLeaving ? [{ column: "id", operator: "ne", value: leaving.id } as const] : []),
      ],
    };
    if ((await store.list({ collection, where: others, sort: [], limit: 1 })).length > 0)
      return { collection, where: others } satisfies Found;
  }
  return null;
}

async function findPasskey({ store, gate }: WaysParts, { id }: Account, leaving: LeavingWay): Promise<Found | null> {
  const all = await makeFactors(store).list(id);
  const other = all.find(
    (each) =>
      each.active &&
      gate.kinds.get(each.kind)?.logsInAlone?.(each) === true &&
      !("factor" in leaving && leaving.factor.id === each.id),
  );
  return other === undefined
    ? null
    : { collection: factorsCollection, where: { all: [equals("id", other.id), equals("active", true)] } };
}
