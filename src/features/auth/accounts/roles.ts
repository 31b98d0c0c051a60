import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import type { Role } from "../../../core/identity.ts";
import type { Store, Where } from "../../../store/store.ts";
import { equals } from "../conditions.ts";
import { accountsCollection } from "./stored-accounts.ts";

/** Throws `DeclarationError` where somebody has a role that is not declared any more: nobody could say what they may do. */
export async function requireDeclaredRoles(store: Store, roles: readonly Role[]): Promise<void> {
  const sorted = roles.toSorted((one, other) => (one < other ? -1 : 1));
  // Between two that are declared, so that an index answers however many accounts there are.
  const gaps = [null, ...sorted].map((role, at) => between(role, sorted[at] ?? null));
  for (const where of gaps) {
    const [row] = await store.list({ collection: accountsCollection, where, sort: [], limit: 1 });
    if (row === undefined) continue;
    const role = String(row.record["role"]);
    throw new DeclarationError([
      `${await store.count(accountsCollection, equals("role", role))} accounts have the role ${role}, which is not declared. Declare it in roles, start, give them another role, and take it out then`,
    ]);
  }
}

function between(least: Role | null, most: Role | null): Where {
  return {
    all: [
      ...(least === null ? [] : [{ column: "role", operator: "gt", value: least } as const]),
      ...(most === null ? [] : [{ column: "role", operator: "lt", value: most } as const]),
    ],
  };
}
