import type { Feature } from "../../../feature/feature.ts";
import type { AccountsContract } from "./contracts/accounts.ts";
import type { ChangingContract } from "./contracts/changing.ts";
import type { ConfirmingContract } from "./contracts/confirming.ts";
import type { EndingsContract } from "./contracts/endings.ts";
import type { FactorsContract } from "./contracts/factors.ts";
import type { LoginsContract } from "./contracts/logins.ts";

/**
 * The offer of the feature `accounts()`: a contract for each subject. A login takes the contracts that it uses, for
 * example `const { accounts, logins } = host.use(people)`.
 */
export interface People {
  readonly accounts: AccountsContract;
  readonly logins: LoginsContract;
  readonly factors: FactorsContract;
  readonly confirming: ConfirmingContract;
  readonly endings: EndingsContract;
  readonly changing: ChangingContract;
}

/** The feature that every login feature needs. */
export type AccountsFeature = Feature<People>;

/** The options of every login feature. */
export interface LoginOptions {
  /**
   * Default: true. If false, the service refuses the credentials of this feature, and no login creates new ones. A
   * changed password still ends existing credentials, they still expire, and users still see them. So a credential that
   * ended in the meantime stays invalid when the option is turned on again.
   */
  readonly enabled?: boolean;
}
