import { aFunction, anObject } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import type { Observer } from "../../../core/observation.ts";
import { problem } from "../../../core/problem/problem.ts";
import { insert, storedOf, table, update } from "../../../http/declarations/table.ts";
import { dateTime } from "../../../resource/kinds/fields.ts";
import { keyOf, type Change, type KeyOf, type Outcome, type Row, type Store } from "../../../store/store.ts";
import { requireNewId } from "../../../store/written.ts";
import {
  accountOf,
  accountsCollection,
  ofAccount,
  type Account,
  type AccountRecord,
  type Accounts,
} from "./accounts.ts";
import { ofUser, timeText } from "./conditions.ts";
import { isTaken } from "./given-names.ts";

/** Maps identities from outside to accounts. The key is `[issuer, subject]` as JSON, compared exactly. */
export const bindingsCollection = table({
  name: "bindings",
  id: "text",
  fields: { user_id: ofAccount, created_at: dateTime() },
  indexes: [["user_id"]],
});

/** An identity that a proxy or an outside issuer vouches for. */
export interface ExternalIdentity {
  /** The party that vouches: the `iss` of a token. Empty for the reverse proxy. */
  readonly issuer: string;
  /** The name of the user at the issuer. It never changes. */
  readonly subject: string;
  /** The username that the user would have here. Used only when the identity is bound for the first time. */
  readonly username: string;
}

/** Finds the accounts of identities from outside. */
export interface Bindings {
  /**
   * Returns the account that an identity is bound to. A new identity is bound first. If an account has exactly the
   * username of the identity, the identity is bound to that account. This account must have no other identity, and its
   * user must not have chosen the username. If no account has the username, the identity is bound to the account that
   * `create` makes. Returns null if the account is inactive, or if `create` makes none. Throws 403 `identity_not_bound`
   * if the username or the e-mail belongs to another user. `now` in milliseconds since the epoch.
   */
  resolve(identity: ExternalIdentity, now: number, create?: MakeAccount): Eventually<Account | null>;
  /**
   * Binds an identity to a given user, without a comparison of usernames. The user may already have another identity.
   * Returns the id of the user that the identity is bound to now. If the identity was already bound to another user,
   * this is the id of that user. Returns null if the user does not exist.
   */
  bind(userId: number, identity: Pick<ExternalIdentity, "issuer" | "subject">, now: number): Promise<number | null>;
  /** Removes the binding of an identity. Returns false if the identity was not bound. */
  unbind(identity: Pick<ExternalIdentity, "issuer" | "subject">): Promise<boolean>;
}

/**
 * Returns the changes that make a user and the account. The id that the first change creates is the id of the account.
 * Returns null if there is not enough data to make one.
 */
export type MakeAccount = () => readonly Change[] | null;

/** Options of `storeBindings()`. */
export interface BindingsOptions {
  readonly store: Store;
  readonly accounts: Accounts;
  readonly observe: Observer;
}

/**
 * The maximum number of attempts to bind an identity. Two processes may see the same new identity at the same time. One
 * of them tries again and finds the binding that the other process made.
 */
const ATTEMPTS = 5;

const checks: ChecksOf<BindingsOptions> = { store: anObject, accounts: anObject, observe: aFunction };

/** Returns the bindings of a store. */
export function storeBindings(options: BindingsOptions): Bindings {
  requireOptions(options, checks, { of: "storeBindings" });
  const { store, accounts, observe } = options;
  function findBound(key: string): Eventually<Account | null> {
    return after(store.find(bindingsCollection, key), (row) =>
      row === null ? null : accounts.find(storedOf(row).user_id),
    );
  }

  async function welcome(identity: ExternalIdentity, now: number, create?: MakeAccount): Promise<Account | null> {
    const key = keyFor(identity);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const account = (await findBound(key)) ?? (await settle(identity, key, now, create));
      if (account !== OVERTAKEN) return account;
    }
    throw problem("unavailable", { headers: [["Retry-After", "1"]] });
  }

  async function settle(identity: ExternalIdentity, key: string, now: number, create?: MakeAccount) {
    const row = await findNamed(store, identity);
    if (row !== null) return claim(row, identity, key, now);
    const changes = create?.() ?? null;
    return changes === null ? null : make(changes, identity, key, now);
  }

  async function claim(row: Row<AccountRecord>, identity: ExternalIdentity, key: string, now: number) {
    const { id, username, active } = accountOf(row);
    // An inactive account is bound later, when it is active.
    if (username === identity.username && !active) return null;
    if (username !== identity.username || !isClaimable(row)) throw notBound(observe, identity, id);
    const outcome = await store.write({
      changes: [
        // The revision ensures that the row still has the compared username. From now on, this username counts as
        // given.
        update(accountsCollection, { key: id, values: { username_origin: "given" }, revision: row.revision }),
        { kind: "require", collection: bindingsCollection, where: ofUser(id), atMost: 0, name: "bound" },
        insertBinding(key, id, now),
      ],
    });
    if (outcome.kind === "refused") {
      // Another request has bound the identity, or the account has another identity.
      if ((await store.find(bindingsCollection, key)) !== null) return OVERTAKEN;
      throw notBound(observe, identity, id);
    }
    if (outcome.kind !== "written") return OVERTAKEN;
    observe({ kind: "identity_bound", issuer: identity.issuer, subject: identity.subject, userId: id });
    return accounts.find(id);
  }

  async function make(changes: readonly Change[], identity: ExternalIdentity, key: string, now: number) {
    const outcome = await store.write({ changes: [...changes, insertBinding(key, keyOf(0), now)] });
    if (isTaken(outcome)) {
      if (await isOvertaken(store, outcome, identity)) return OVERTAKEN;
      throw notBound(observe, identity, null);
    }
    if (outcome.kind !== "written") throw new Error(`The store answered ${outcome.kind} to a user from outside.`);
    const userId = requireNewId(outcome);
    observe({ kind: "identity_bound", issuer: identity.issuer, subject: identity.subject, userId });
    return accounts.find(userId);
  }

  return {
    resolve(identity, now, create) {
      return after(findBound(keyFor(identity)), (bound) => bound ?? welcome(identity, now, create));
    },
    async bind(userId, { issuer, subject }, now) {
      const key = keyFor({ issuer, subject });
      const outcome = await store.write({ changes: [insertBinding(key, userId, now)] });
      if (outcome.kind === "dangling") return null;
      if (outcome.kind === "written") observe({ kind: "identity_bound", issuer, subject, userId });
      const row = await store.find(bindingsCollection, key);
      return row === null ? null : storedOf(row).user_id;
    },
    async unbind(identity) {
      const removed = { kind: "delete", collection: bindingsCollection, key: keyFor(identity) } as const;
      return (await store.write({ changes: [removed] })).kind === "written";
    },
  };
}

/**
 * Finds the account that an identity may claim. Never by case folding: the account of a name that only looks the same
 * is another user's.
 */
function findNamed(store: Store, { username }: ExternalIdentity): Eventually<Row | null> {
  return store.findBy(accountsCollection, "username", username);
}

/**
 * True if another request has bound the identity, or has made the account that it may claim. The next attempt finds
 * them.
 */
async function isOvertaken(store: Store, outcome: Outcome, identity: ExternalIdentity): Promise<boolean> {
  if ((await store.find(bindingsCollection, keyFor(identity))) !== null) return true;
  const isEmail = outcome.kind === "taken" && outcome.column === "email";
  return !isEmail && (await findNamed(store, identity)) !== null;
}

function notBound(observe: Observer, { issuer, subject, username }: ExternalIdentity, userId: number | null): Error {
  observe({ kind: "identity_not_bound", issuer, subject, username, userId });
  return problem("identity_not_bound");
}

const OVERTAKEN = Symbol("somebody was faster");

/**
 * Returns true if an identity may be bound to the account by its username: the user did not choose the username. Older
 * accounts have no stored `username_origin`. They are claimable only if they have no password.
 */
function isClaimable(row: Row<AccountRecord>): boolean {
  const { username_origin: origin, password_hash } = storedOf(row);
  return origin === "given" || (origin === null && password_hash === null);
}

function insertBinding(key: string, user_id: number | KeyOf, now: number): Change {
  return insert(bindingsCollection, { key, values: { user_id, created_at: timeText(now) } });
}

function keyFor({ issuer, subject }: Pick<ExternalIdentity, "issuer" | "subject">): string {
  return JSON.stringify([issuer, subject]);
}
