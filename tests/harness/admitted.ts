import { admitAsOperator, type Admission } from "../../src/features/auth/gate/admission.ts";
import { accountOf, accountsCollection, type Account } from "../../src/features/auth/records/accounts.ts";
import type { Store } from "../../src/store/store.ts";

/** Returns the right to start one login of an account, for tests. */
export function admitted(who: number | Account, now = 0): Admission {
  return admitAsOperator(typeof who === "number" ? { ...anAccount, id: who } : who, now);
}

/** Returns the right to start one login of an account of the store, in its present state. */
export async function admittedBy(store: Pick<Store, "find">, id: number, now = 0): Promise<Admission> {
  return admitted(accountOf((await store.find(accountsCollection, id))!), now);
}

const anAccount: Account = {
  id: 0,
  username: "ann",
  role: "user",
  active: true,
  passwordHash: null,
  passwordUntil: null,
  generation: 0,
  remainingFamily: null,
  roleChanges: 0,
  createdAt: "2026-01-01T00:00:00.000Z",
  lastLoginAt: null,
};
