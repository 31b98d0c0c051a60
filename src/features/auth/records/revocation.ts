import { aFunction, aList, anObject, optional, wholeFrom } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import type { Proof, Role } from "../../../core/identity.ts";
import { problem } from "../../../core/problem/problem.ts";
import { insert, storedOf, update } from "../../../http/declarations/table.ts";
import { OVERTAKEN, type Change, type Collection, type Feed, type Store, type Where } from "../../../store/store.ts";
import { accountsCollection, type Account } from "./accounts.ts";
import { equals, ofUser, timeText, until } from "./conditions.ts";
import { parseProofs, passwordAt } from "./proofs.ts";
import { makeView, revocationsCollection, type RevocableClaims } from "./revoked.ts";

/** The login of the caller, which stays valid when all others end. */
export interface RemainingLogin {
  /** The token family of the caller's access token. */
  readonly family: string | null;
  /** The key of the caller's stored session. */
  readonly sessionId: string | null;
}

export interface RevocationsOptions {
  readonly store: Pick<Store, "follow" | "list">;
  /** The lifetime of an access token. A function is called each time the lifetime is needed. */
  readonly accessSeconds: number | (() => number);
  /** Collections with a `user_id` whose rows are deleted with a changed password: sessions. */
  readonly endWithGeneration: readonly Collection[];
  /** Collections with a `user_id` whose rows are deleted only if the account is deactivated: API tokens, keys. */
  readonly endWithAccount: readonly Collection[];
  /**
   * Returns the condition of the rows of a collection that end. Returns null, the default, if all rows of the user end.
   */
  readonly findEnded?: (collection: Collection) => Where | null;
}

/**
 * The revocations that this process knows, and the changes that add new ones. Write these changes in the transaction of
 * their cause, for example a changed password.
 */
export interface Revocations {
  /** Starts to follow the collection in the store. The store must have opened the collection. */
  open(): Promise<void>;
  close(): void;
  /**
   * Returns the largest possible delay of the known revocations, in milliseconds. Returns null before `open` and after
   * `close`.
   */
  ageMs(): number | null;
  /**
   * Returns true if an access token is revoked. Ends the request with 503 if the delay is too long. `now` in
   * milliseconds.
   */
  isRevoked(claims: RevocableClaims, now: number): boolean;
  /**
   * Returns the changes for a changed password, or with `deactivated` for a deactivation. They end sessions, token
   * families and access tokens, and with `deactivated` also API tokens and keys. The store refuses them as `OVERTAKEN`
   * if another request ended the logins of the account after it was read. Then read the account again.
   */
  endAccount(account: Pick<Account, "id" | "generation">, now: number, deactivated?: boolean): Change[];
  /**
   * Returns the changes that end every session, token family and access token except the kept one. Refused as
   * `OVERTAKEN` in the same case as `endAccount`.
   */
  endLogins(account: Pick<Account, "id" | "generation">, remainingLogin: RemainingLogin, now: number): Change[];
  /**
   * Returns the changes that end the stored logins with these proofs, for example the sessions that a deleted passkey
   * began. Also ends every token family except the kept one, because no row says what proved it. Refused as `OVERTAKEN`
   * in the same case as `endAccount`.
   */
  endLoginsBy(
    account: Pick<Account, "id" | "generation">,
    isEnded: (proofs: readonly Proof[]) => boolean,
    remainingLogin: RemainingLogin,
    now: number,
  ): Promise<readonly Change[]>;
  /** Returns the changes for a deletion. The other rows are deleted with the account by cascade. */
  endDeletedAccount(account: Pick<Account, "id" | "generation">, now: number): Change[];
  /**
   * Returns the changes for another `role`, or for another value of a field in the identity. Every earlier access token
   * becomes invalid permanently. Refused as `OVERTAKEN` in the same case as `endAccount`.
   */
  endAccess(account: Pick<Account, "id" | "generation" | "roleChanges">, now: number, role?: Role): Change[];
  /** Returns the changes for a logout, or for a refresh token that was used twice. */
  endFamily(family: string, now: number): Change[];
  /** Forgets expired revocations, and returns the changes that delete them from the store. */
  prune(now: number): Change[];
}

/**
 * The longest accepted delay of the known revocations. After a longer one, access tokens get 503, because a revocation
 * may be missing.
 */
const maxAgeMs = 5000;

/** More rows of one table than a user can have as logins. */
const MOST_ROWS = 1000;

/** The largest difference between the clocks of several machines: the leeway on `iat`. */
const slackMs = 60_000;

const checks: ChecksOf<RevocationsOptions> = {
  store: anObject,
  accessSeconds: (value) => (typeof value === "function" ? null : wholeFrom(1)(value)),
  endWithGeneration: aList,
  endWithAccount: aList,
  findEnded: optional(aFunction),
};

/** Makes the view of a store's revocations. */
export function makeRevocations(options: RevocationsOptions): Revocations {
  requireOptions(options, checks, { of: "makeRevocations" });
  const { store, accessSeconds, endWithGeneration, endWithAccount, findEnded = () => null } = options;
  const view = makeView();
  let feed: Feed | null = null;
  const lifeMs = (): number => (typeof accessSeconds === "function" ? accessSeconds() : accessSeconds) * 1000;
  /**
   * Returns the time by which a row must have expired so that it can be deleted. The process that wrote the row may use
   * shorter token lifetimes than this process, so the row's own expiry is not enough.
   */
  const endOfUse = (now: number): number => now - lifeMs();

  const revoke = (values: RevokedValues, now: number): Change => insertRevocation(values, now + lifeMs() + slackMs);

  const endOthersThan = (
    account: Pick<Account, "id" | "generation">,
    family: string | null,
    remaining: readonly (string | null)[],
    now: number,
  ): Change[] => {
    const generation = account.generation + 1;
    return [
      ...nextGeneration(account, family),
      ...endWithGeneration.flatMap((each) =>
        endOthers(each, matchEnded(findEnded(each), account.id), [family, ...remaining], generation),
      ),
      revoke({ user_id: account.id, generation, kept_family: family }, now),
    ];
  };

  return {
    async open() {
      feed = await store.follow(revocationsCollection, view.take);
    },
    close() {
      feed?.close();
      feed = null;
    },
    ageMs: () => feed?.ageMs() ?? null,
    isRevoked(claims, now) {
      if (feed === null) throw createUnavailable();
      feed.catchUp();
      if (feed.ageMs() > maxAgeMs) throw createUnavailable();
      return view.isEnded(claims, endOfUse(now));
    },
    endAccount(account, now, deactivated = false) {
      const ended = deactivated ? [...endWithGeneration, ...endWithAccount] : endWithGeneration;
      return [
        ...nextGeneration(account, null),
        ...ended.map((collection) => deleteRows(collection, matchEnded(findEnded(collection), account.id))),
        revoke({ user_id: account.id, generation: account.generation + 1 }, now),
      ];
    },
    endLogins: (account, { family, sessionId }, now) => endOthersThan(account, family, [sessionId], now),
    async endLoginsBy(account, isEnded, { family, sessionId }, now) {
      const remaining = [sessionId];
      for (const collection of endWithGeneration.filter(hasProofs))
        remaining.push(...(await findOthers(store, collection, account, isEnded)));
      return endOthersThan(account, family, remaining, now);
    },
    endDeletedAccount({ id, generation }, now) {
      // The first generation of an account is the time of its creation. So this generation is above all generations of
      // the deleted account, and not above those of a later account with the same id.
      return [revoke({ user_id: id, generation: Math.max(generation + 1, now) }, now)];
    },
    endAccess({ id, generation, roleChanges }, now, role) {
      const role_changes = roleChanges + 1;
      return [
        ...countUp(id, "role_changes", roleChanges, { role_changes }),
        revoke({ user_id: id, generation, role_changes, ...(role === undefined ? {} : { role }) }, now),
      ];
    },
    endFamily: (family, now) => [revoke({ family }, now)],
    prune(now) {
      view.forget(endOfUse(now));
      return [{ kind: "deleteAll", collection: revocationsCollection, where: until("expires_at", endOfUse(now)) }];
    },
  };
}

/** The values of a revocation. */
interface RevokedValues {
  readonly user_id?: number;
  readonly generation?: number;
  readonly role?: Role;
  readonly role_changes?: number;
  readonly family?: string;
  readonly kept_family?: string | null;
}

function insertRevocation(values: RevokedValues, expiresAt: number): Change {
  const none = { user_id: null, generation: null, role: null, role_changes: null, family: null, kept_family: null };
  const expires_at = timeText(expiresAt);
  return insert(revocationsCollection, { values: { ...none, ...values, expires_at } });
}

/** Returns the ids of the live logins of an account whose proofs are not ended. */
async function findOthers(
  store: RevocationsOptions["store"],
  collection: LoginsCollection,
  { id, generation }: Pick<Account, "id" | "generation">,
  isEnded: (proofs: readonly Proof[]) => boolean,
): Promise<readonly string[]> {
  const where = { all: [ofUser(id), equals("generation", generation)] };
  const rows = await store.list({ collection, where, sort: [{ column: "id" }], limit: MOST_ROWS });
  return rows.flatMap((row) => {
    const { id: key, proofs: stored } = storedOf(row);
    // A login that is older than the storage of proofs is one by password.
    const proofs = stored === null ? passwordAt(0) : parseProofs(stored);
    return proofs !== null && !isEnded(proofs) ? [key] : [];
  });
}

function matchEnded(ended: Where | null, userId: number): Where {
  return ended === null ? ofUser(userId) : { all: [ofUser(userId), ended] };
}

function deleteRows(collection: Collection, where: Where): Change {
  return { kind: "deleteAll", collection, where };
}

/**
 * Returns the changes that delete the ended rows of a user except the kept ones. The kept rows get the new generation.
 */
function endOthers(
  collection: Collection,
  ended: Where,
  remainingIds: readonly (string | null)[],
  generation: number,
): readonly Change[] {
  // The ids of kept logins are texts, so no row with an integer key is kept.
  if (collection.key === "integer") return [deleteRows(collection, ended)];
  const [others, remainingRows] = (["ne", "eq"] as const).map((operator): Where => {
    const ids = remainingIds.map((id): Where => ({ column: "id", operator, value: id ?? "" }));
    return { all: [ended, operator === "ne" ? { all: ids } : { any: ids }] };
  });
  const change = deleteRows(collection, others!);
  return hasGenerationColumn(collection)
    ? [change, { kind: "updateAll", collection, where: remainingRows!, values: { generation } }]
    : [change];
}

function nextGeneration({ id, generation }: Pick<Account, "id" | "generation">, kept_family: string | null): Change[] {
  return countUp(id, "generation", generation, { generation: generation + 1, kept_family });
}

/**
 * Returns the changes that count a column of the account up, if the column still has the value that was read. If two
 * requests counted up from the same value, tokens that were issued between their writes would stay valid.
 */
function countUp(
  id: number,
  column: "generation" | "role_changes",
  value: number,
  values: { readonly generation?: number; readonly role_changes?: number; readonly kept_family?: string | null },
): Change[] {
  const where = { all: [equals("id", id), equals(column, value)] };
  return [
    { kind: "require", collection: accountsCollection, where, atLeast: 1, name: OVERTAKEN },
    update(accountsCollection, { key: id, values }),
  ];
}

/** A collection of logins that are stored with their proofs. */
type LoginsCollection = Collection<{ readonly id: string; readonly proofs: unknown }>;

function hasProofs(collection: Collection): collection is LoginsCollection {
  return (
    collection.key === "text" &&
    hasGenerationColumn(collection) &&
    collection.columns.some(({ name, type }) => name === "proofs" && type === "json")
  );
}

function hasGenerationColumn({ columns }: Collection): boolean {
  return columns.some(({ name }) => name === "generation");
}

function createUnavailable() {
  return problem("unavailable", {
    detail: "The service cannot check at the moment if this token was revoked.",
    headers: [["Retry-After", "1"]],
  });
}
