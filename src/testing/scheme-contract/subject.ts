import type { Scheme } from "../../access/scheme/scheme.ts";
import type { LoginThrottle } from "../../access/throttle/throttle.ts";
import type { Observer } from "../../core/observation.ts";
import type { Store } from "../../store/store.ts";

/** What a scheme may be made of, for one check. */
export interface SchemeTools {
  /** Empty, in memory, and open; `open` it with the collections that the scheme needs. */
  readonly store: Store;
  /** The service's own count of wrong credentials. */
  readonly throttle: LoginThrottle;
  readonly observe: Observer;
  /** The time at the start, in milliseconds since the epoch. */
  readonly now: number;
}

/** A scheme, with credentials to try it on. They are written as they stand in the carrier. */
export interface SchemeSubject {
  readonly scheme: Scheme;
  /** Is accepted. */
  readonly valid: string;
  /** Names something that is there, and does not prove it. */
  readonly wrong: string;
  /** Names something that is not there; left out where the two cannot be told apart. */
  readonly unknown?: string;
  /** Not even of the right form. */
  readonly malformed?: readonly string[];
  /** Header fields that have to come along, with their values. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent along, as JSON: where the scheme signs bodies, `valid` is the signature of this one. */
  readonly body?: string;
  /** When `valid` ends by itself, counted from the start; left out where it does not. */
  readonly lifetimeSeconds?: number;
  /** Ends `valid` before its time; left out where that cannot be. */
  revoke?(): Promise<unknown>;
  /** False where what is wrong does not count as a guess, because nobody could guess it. */
  readonly countsGuesses?: boolean;
  /** What must never be told; the credentials themselves where it is left out, of eight characters or more. */
  readonly secrets?: readonly string[];
}

/** Makes a scheme anew, with everything it needs. */
export type MakeSubject = (tools: SchemeTools) => SchemeSubject | Promise<SchemeSubject>;
