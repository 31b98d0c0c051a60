import type { Identity, Level } from "../../../core/identity.ts";
import type { Account } from "../records/accounts.ts";
import type { SecondFactorRule } from "./contract.ts";

/** Returns true if an account with this role must have a second factor. */
export function mustHaveFactor(role: string, rule: SecondFactorRule): boolean {
  return rule === "everyone" || (rule === "admins" && role === "admin");
}

/** Returns the level that every login of the account needs. */
export function neededLevel(account: Pick<Account, "factors" | "role">, rule: SecondFactorRule): Level {
  return (account.factors ?? 0) > 0 || mustHaveFactor(account.role, rule) ? 2 : 1;
}

/**
 * Returns the level that a credential of this identity needs. `needs` is the level that its account needs without the
 * rule.
 */
export function neededByIdentity({ role }: Pick<Identity, "role">, needs: Level, rule: SecondFactorRule): Level {
  return needs === 2 || mustHaveFactor(role, rule) ? 2 : 1;
}
