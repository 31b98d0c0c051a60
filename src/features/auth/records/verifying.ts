import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import type { Host } from "../../../feature/feature.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Change, JSONValue, KeyOf } from "../../../store/store.ts";
import type { Account } from "./accounts.ts";

// The contract of verified addresses: the mails that `/users` sends.

/** The callers that may create a user: administrators, everyone, or everyone who proves an address. */
export type Registration = "closed" | "open" | "verified";

/** A caller who signs up. The user is created when the address is confirmed. */
export interface Newcomer {
  readonly name: string;
  readonly email: string;
  /** The sent values of the users' own fields. */
  readonly fields: Readonly<Record<string, JSONValue>>;
}

/**
 * Sends the mails of sign-ups and invitations. A feature registers it in `setUp` (`changing.registerAddressVerifier`).
 */
export interface AddressVerifier {
  /**
   * Queues the mail of a sign-up. If the address has an account, the mail says so. The written rows and the response
   * time must be the same in both cases.
   */
  signUp(context: Context, newcomer: Newcomer): Promise<void>;
  /**
   * Returns the changes that invite a user who is created in the same transaction. `user` is a placeholder for the id.
   */
  invite(context: Context, invited: { readonly email: string; readonly user: KeyOf }): Promise<readonly Change[]>;
  /**
   * Returns the changes that end the links and codes of an account whose address changes. `from` is the old address.
   */
  endLinks(account: Account, from: string): readonly Change[];
}

/** The verifier of one service, which a feature registers during setup. */
export interface VerifierPlace {
  /** Null if the service sends no mail. */
  readonly current: AddressVerifier | null;
  /** Throws `DeclarationError` if there is one already. */
  set(verifier: AddressVerifier): void;
  /** Returns the options that need mail, if no registered feature sends it. */
  mistakes(options: NeedsMail): readonly string[];
}

interface NeedsMail {
  readonly registration?: Registration;
  readonly invitations?: boolean;
}

/** The parts that decide how users are created. */
export interface CreatingParts {
  readonly registration: Registration;
  /** True if administrators may invite users (`POST /users` with `invite`). */
  readonly invitations: boolean;
  /** The feature that sends mails for `/users`. */
  readonly verifier: VerifierPlace;
  /** The exact origins of the service itself. */
  readonly ownOrigins: readonly string[];
  /** Returns the path of the page that confirms an address. */
  verifyPage(): string;
  /** The names of the service. No password may be equal to one. */
  readonly serviceNames: readonly string[];
}

/** Returns the parts that decide how users are created. */
export function creatingParts(
  { name, ownOrigins, service }: Pick<Host, "name" | "ownOrigins" | "service">,
  { registration = "closed", invitations = false }: NeedsMail,
  issuer: string,
  verifier: VerifierPlace,
): CreatingParts {
  const serviceNames = [name, issuer, ...ownOrigins.map((origin) => new URL(origin).hostname)];
  const verifyPage = (): string => service().pages?.verify ?? "/verify";
  return { registration, invitations, verifier, ownOrigins, verifyPage, serviceNames };
}

/** Creates the place for the verifier of a service. */
export function makeVerifierPlace(): VerifierPlace {
  let current: AddressVerifier | null = null;
  return {
    get current() {
      return current;
    },
    set(verifier) {
      if (current !== null) throw new DeclarationError(["two features verify addresses; keep one"]);
      current = verifier;
    },
    mistakes({ registration, invitations }) {
      if (current !== null) return [];
      const needing = [
        ...(registration === "verified" ? ["registration is verified"] : []),
        ...(invitations === true ? ["invitations is true"] : []),
      ];
      return needing.map((what) => `${what}, which needs mail, and no feature sends it; add verifiedEmail(people, …)`);
    },
  };
}
