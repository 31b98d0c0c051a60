import type { LoginThrottle } from "../../../access/throttle/throttle.ts";
import type { Role } from "../../../core/identity.ts";
import type { Observer } from "../../../core/observation.ts";
import type { Store } from "../../../store/store.ts";
import type { Bindings } from "../bindings.ts";
import type { Notify, SecondFactorRule, StoredFactor } from "../gate/contract.ts";
import type { Gate } from "../gate/gate.ts";
import type { LoginSource } from "../login.ts";
import type { Revocations } from "../tokens/revocation.ts";
import type { UsersMount } from "../users.ts";
import type { IsBreached } from "./passwords/breached-passwords.ts";
import type { Passwords } from "./passwords/passwords.ts";
import type { Accounts } from "./stored-accounts.ts";

/** What the accounts of one service are made of. */
export interface AccountsParts {
  readonly store: Store;
  readonly observe: Observer;
  readonly accounts: Accounts;
  readonly bindings: Bindings;
  readonly throttle: LoginThrottle;
  readonly passwords: Passwords;
  /** Null: nobody is asked. */
  readonly isBreached: IsBreached | null;
  readonly revocations: Revocations;
  readonly gate: Gate;
  /** The active factor of a handle. */
  findFactor(handle: string): Promise<StoredFactor | null>;
  /** Which accounts must have a second factor. */
  readonly rule: SecondFactorRule;
  /** The changes that send a notice to the user. */
  readonly notify: Notify;
  /** What a user may be. */
  readonly roles: readonly Role[];
  readonly registration: "closed" | "open";
  /** What the service is called, and no password may be. */
  readonly serviceNames: readonly string[];
  /** 0: none are made. */
  readonly outsideCredentialsSeconds: number;
  /** Whoever has logins to list and to end. */
  readonly sources: readonly LoginSource[];
  /** Whether somebody else says who comes in. */
  takesOutsideLogins(): boolean;
  readonly users: UsersMount;
}

/** The same before users are served. */
export type UsersParts = Omit<AccountsParts, "users">;
