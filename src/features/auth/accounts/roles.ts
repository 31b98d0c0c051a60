import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import type { Role } from "../../../core/identity.ts";
import { storedOf } from "../../../http/declarations/table.ts";
import type { Store, Where } from "../../../store/store.ts";
import { accountsCollection } from "../records/accounts.ts";
import { equals } from "../records/conditions.ts";

/** Throws `DeclarationError` if a user has a role that is no longer declared, because its permissions are unknown. */
export async function requireDeclaredRoles(store: Store, roles: readonly Role[]): Promise<void> {
  const sorted = roles.toSorted((one, other) => (one < other ? -1 : 1));
  // Searches the ranges between the declared roles. So an index finds an undeclared role quickly, for any number of
  // accounts.
  const gaps = [null, ...sorted].map((role, at) => between(role, sorted[at] ?? null));
  for (const where of gaps) {
    const [row] = await store.list({ collection: accountsCollection, where, sort: [], limit: 1 });
    if (row === undefined) continue;
    const { role } = storedOf(row);
    throw new DeclarationError([
      `${await store.count(accountsCollection, equals("role", role))} accounts have the role ${role}, which is not declared. Declare it in roles and start, then give them another role and remove it`,
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
