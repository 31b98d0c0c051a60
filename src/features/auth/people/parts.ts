import type { LoginThrottle } from "../../../access/throttle/throttle.ts";
import type { Role } from "../../../core/identity.ts";
import type { Observer } from "../../../core/observation.ts";
import type { Store } from "../../../store/store.ts";
import type { Notify, SecondFactorRule, StoredFactor } from "../gate/contract.ts";
import type { Gate } from "../gate/gate.ts";
import type { OutsideLogin } from "../gate/ways.ts";
import type { IsBreached } from "../passwords/breached-passwords.ts";
import type { Passwords } from "../passwords/passwords.ts";
import type { ServiceAccounts } from "../records/accounts.ts";
import type { Bindings } from "../records/bindings.ts";
import type { Revocations } from "../records/revocation.ts";
import type { UsersMount } from "../records/users.ts";
import type { CreatingParts } from "../records/verifying.ts";
import type { LoginSource } from "./contracts/endings.ts";

/** The parts of the accounts of one service. */
export interface AccountsParts extends CreatingParts {
  readonly store: Store;
  readonly observe: Observer;
  readonly accounts: ServiceAccounts;
  readonly bindings: Bindings;
  readonly throttle: LoginThrottle;
  readonly passwords: Passwords;
  /** Checks for breached passwords. Null: no check. */
  readonly isBreached: IsBreached | null;
  readonly revocations: Revocations;
  readonly gate: Gate;
  /** Returns the active factor with a handle, for example the id of a passkey. Returns null if there is none. */
  findFactor(handle: string): Promise<StoredFactor | null>;
  /** The accounts that must have a second factor. */
  readonly rule: SecondFactorRule;
  /** Returns the changes that send a notice to the user. */
  readonly notify: Notify;
  /** The possible roles of a user. */
  readonly roles: readonly Role[];
  /** The lifetime of credentials from external logins. 0: none can be made. */
  readonly outsideCredentialsSeconds: number;
  /** The rows by which another party vouches for accounts. Features add theirs. */
  readonly outsideLogins: OutsideLogin[];
  /** The sources of logins that can be listed and ended. */
  readonly sources: readonly LoginSource[];
  /** True if mails prove addresses. */
  provesAddresses(): boolean;
  /** True if another system decides who logs in. */
  takesOutsideLogins(): boolean;
  readonly users: UsersMount;
}

/** The parts that exist before the users are mounted. */
export type UsersParts = Omit<AccountsParts, "users">;
