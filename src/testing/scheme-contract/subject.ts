import type { Scheme } from "../../access/scheme/scheme.ts";
import type { LoginThrottle } from "../../access/throttle/throttle.ts";
import type { Observer } from "../../core/observation.ts";
import type { Store } from "../../store/store.ts";

/** The tools for making a scheme, for one check. */
export interface SchemeTools {
  /** An empty, open store in memory. `open` it with the collections that the scheme needs. */
  readonly store: Store;
  /** The service's count of wrong credentials. */
  readonly throttle: LoginThrottle;
  readonly observe: Observer;
  /** The time at the start, in milliseconds since the epoch. */
  readonly now: number;
}

/** A scheme with credentials to test it. The credentials are written as they occur in the carrier. */
export interface SchemeSubject {
  readonly scheme: Scheme;
  /** A credential that is accepted. */
  readonly valid: string;
  /** A credential that names an existing account or key, but does not prove it. */
  readonly wrong: string;
  /** A credential that names a missing account or key. Left out if it cannot be distinguished from a wrong one. */
  readonly unknown?: string;
  /** Credentials of an invalid form. */
  readonly malformed?: readonly string[];
  /** Header fields that must be sent with the credential, with their values. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, sent as JSON. If the scheme signs bodies, `valid` is the signature of this body. */
  readonly body?: string;
  /** The lifetime of `valid`, counted from the start. Left out if it does not expire. */
  readonly lifetimeSeconds?: number;
  /** Revokes `valid`. Left out if it cannot be revoked. */
  revoke?(): Promise<unknown>;
  /** False if wrong credentials do not count as guesses, because the credential is too long to guess. */
  readonly countsGuesses?: boolean;
  /** The texts that must never be shown. Default: the credentials of eight characters or more. */
  readonly secrets?: readonly string[];
}

/** Makes a new scheme, with everything it needs. */
export type MakeSubject = (tools: SchemeTools) => SchemeSubject | Promise<SchemeSubject>;
