import type { Identity } from "../../core/identity.ts";
import { findRow, type State } from "./state.ts";

/** A caller that `prove` plays. */
export interface Actor {
  /** Its name in commands and findings. */
  readonly name: string;
  /** The user. Null: a caller without a credential. */
  readonly userId: number | null;
  /** The kind of its credential. */
  readonly credential: "none" | "login" | "key" | "acting";
  /** The scopes of its key. Null: no limit. */
  readonly scopes: readonly string[] | null;
  /** The administrator who acts for the user. */
  readonly actingId: number | null;
  /** True if its login is too old for every permission that requires a confirmation. */
  readonly isOld?: boolean;
}

/** The age of an old login, in milliseconds: ten years. */
const AGE_MS = 315_360_000_000;

/** The header field that names the actor, by its kind of credential. */
export const actorHeaders = {
  login: "X-Prove-Actor",
  key: "X-Prove-Key",
  acting: "X-Prove-Acting",
} as const;

/** The facts that an identity needs in addition to the actor. */
export interface IdentityParts {
  readonly state: State;
  readonly now: number;
  readonly usersTable: string;
  readonly identityFields: readonly string[];
}

/** Returns the identity of an actor, from the rows of its user. Returns null for a caller without a credential. */
export function identityIn({ state, now, usersTable, identityFields }: IdentityParts, actor: Actor): Identity | null {
  const account = findRow(state, "accounts", actor.userId);
  const user = findRow(state, usersTable, actor.userId);
  if (actor.userId === null || account === null || user === null) return null;
  const fields = Object.fromEntries(
    identityFields.map((name) => [name, user[name] as string | number | boolean | null]),
  );
  return {
    id: actor.userId,
    username: String(account["username"]),
    role: String(account["role"]),
    scheme: "prove",
    scopes: actor.scopes,
    expiresAt: null,
    ...(identityFields.length === 0 ? {} : { fields }),
    ...credentialOf(actor, state, now),
  };
}

/** Returns the members of an identity that follow from its credential. */
export function credentialOf(actor: Actor, state: State | null, now: number): Partial<Identity> {
  switch (actor.credential) {
    case "key":
      return { keyId: "1" };
    case "acting": {
      const account = state === null ? null : findRow(state, "accounts", actor.actingId);
      return { actor: { id: actor.actingId!, username: String(account?.["username"] ?? "") } };
    }
    default: {
      const at = actor.isOld === true ? now - AGE_MS : now;
      return { authTime: at, proofs: [{ method: "operator", at }], level: 2 };
    }
  }
}
