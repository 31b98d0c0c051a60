import type { Role } from "../../../core/identity.ts";
import type { Observer } from "../../../core/observation.ts";
import type { GateParts } from "../gate/parts.ts";
import type { IsBreached } from "../passwords/breached-passwords.ts";
import type { ServiceAccounts } from "../records/accounts.ts";
import type { Bindings } from "../records/bindings.ts";
import type { UsersMount } from "../records/users.ts";
import type { CreatingParts } from "../records/verifying.ts";
import type { LoginSource } from "./contracts/endings.ts";

/** The parts of one service that the endpoints of users and accounts need, in addition to those of its gate. */
export interface AccountsParts extends GateParts, CreatingParts {
  readonly observe: Observer;
  readonly accounts: ServiceAccounts;
  readonly bindings: Bindings;
  /** Checks for breached passwords. Null: no check. */
  readonly isBreached: IsBreached | null;
  /** The possible roles of a user. */
  readonly roles: readonly Role[];
  /** The lifetime of credentials from external logins. 0: none can be made. */
  readonly outsideCredentialsSeconds: number;
  /** The sources of logins that can be listed and ended. */
  readonly sources: readonly LoginSource[];
  /** True if another system decides who logs in. */
  takesOutsideLogins(): boolean;
  /** The mounted users. Not known before they are mounted. */
  readonly users: UsersMount;
}
