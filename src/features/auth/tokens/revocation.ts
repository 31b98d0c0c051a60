import { aList, anObject, wholeFrom } from "../../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import type { Role } from "../../../core/identity.ts";
import { problem } from "../../../core/problem/problem.ts";
import {
  OVERTAKEN,
  type Change,
  type Collection,
  type Feed,
  type Store,
  type Where,
  type WrittenValues,
} from "../../../store/store.ts";
import { accountsCollection, type Account } from "../accounts/stored-accounts.ts";
import { equals, ofUser, timeText, until } from "../conditions.ts";
import { makeView, type RevocableClaims } from "./revoked.ts";

/** What a login of the caller is kept by. */
export interface KeptLogin {
  /** The refresh family that the caller's access token came from. */
  readonly family: string | null;
  /** The session that the caller came with, as it is stored. */
  readonly sessionId: string | null;
}

/** What ends access tokens before their time. Only ever added to; every process follows it and answers from memory. */
export const revocationsCollection: Collection = {
  name: "revocations",
  key: "integer",
  columns: [
    { name: "user_id", type: "integer", nullable: true },
    { name: "generation", type: "integer", nullable: true },
    { name: "role", type: "text", nullable: true },
    { name: "family", type: "text", nullable: true },
    /** The account's role changes: access tokens of before them have ended. */
    { name: "role_changes", type: "integer", nullable: true },
    /** The one family that goes on although its generation has ended. */
    { name: "kept_family", type: "text", nullable: true },
    /** From then on no access token is left that it could concern. */
    { name: "expires_at", type: "date-time" },
  ],
  indexes: [["expires_at"]],
};

export interface RevocationsOptions {
  readonly store: Pick<Store, "follow">;
  /** How long an access token lives; asked each time where it is a function. */
  readonly accessSeconds: number | (() => number);
  /** Collections with a `user_id` whose rows end with a changed password: sessions. */
  readonly endWithGeneration: readonly Collection[];
  /** Collections with a `user_id` whose rows end only when the account is deactivated: API tokens, keys. */
  readonly endWithAccount: readonly Collection[];
}

/** The view of what was revoked, and the changes that revoke; those belong into the transaction of what they follow from. */
export interface Revocations {
  /** Starts following. The store must have the collection open. */
  open(): Promise<void>;
  close(): void;
  /** How old the view may be, in milliseconds; null where nothing is followed. */
  ageMs(): number | null;
  /** Whether an access token has ended. Throws 503 where the view is too old to tell. `now` in milliseconds. */
  isRevoked(claims: RevocableClaims, now: number): boolean;
  /**
   * A changed password; with `deactivated` a deactivation. Ends sessions, refresh families and access tokens, and with
   * `deactivated` API tokens. Refused as `OVERTAKEN` where the account was read before somebody else ended it: read it again.
   */
  endAccount(account: Pick<Account, "id" | "generation">, now: number, deactivated?: boolean): Change[];
  /** Ends every session, refresh family and access token but the one that is kept. Refused as `OVERTAKEN` as `endAccount` is. */
  endLogins(account: Pick<Account, "id" | "generation">, kept: KeptLogin, now: number): Change[];
  /** A deletion; the rest goes with the account by cascade. */
  endDeletedAccount(account: Pick<Account, "id" | "generation">, now: number): Change[];
  /**
   * Another `role`, or another value of a field that stands in the identity: every access token of before it ends for good. Refused as
   * `OVERTAKEN` as `endAccount` is.
   */
  endAccess(account: Pick<Account, "id" | "generation" | "roleChanges">, now: number, role?: Role): Change[];
  /** A logout, or a refresh token that was used twice. */
  endFamily(family: string, now: number): Change[];
  /** Removes what has become pointless, here and in the store. */
  prune(now: number): Change[];
}

/** Beyond this age of the view nobody can say whether a token still stands. */
const maxAgeMs = 5000;

/** Clocks of several machines may differ by this much: the leeway on `iat`. */
const slackMs = 60_000;

const checks: ChecksOf<RevocationsOptions> = {
  store: anObject,
  accessSeconds: (value) => (typeof value === "function" ? null : wholeFrom(1)(value)),
  endWithGeneration: aList,
  endWithAccount: aList,
};

/** Makes the view of a store's revocations. */
export function makeRevocations(options: RevocationsOptions): Revocations {
  requireOptions(options, checks, { of: "makeRevocations" });
  const { store, accessSeconds, endWithGeneration, endWithAccount } = options;
  const view = makeView();
  let feed: Feed | null = null;
  const lifeMs = (): number => (typeof accessSeconds === "function" ? accessSeconds() : accessSeconds) * 1000;
  /** What had ended by then is on no token that lives here: a row says how long they live where it was written, which may be shorter. */
  const pointless = (now: number): number => now - lifeMs();

  function revoke(
    values: {
      user_id?: number;
      generation?: number;
      role?: Role;
      role_changes?: number;
      family?: string;
      kept_family?: string | null;
    },
    now: number,
  ): Change {
    const none = { user_id: null, generation: null, role: null, role_changes: null, family: null, kept_family: null };
    const expires_at = timeText(now + lifeMs() + slackMs);
    return { kind: "insert", collection: revocationsCollection, values: { ...none, ...values, expires_at } };
  }

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
      if (feed === null) throw stale();
      feed.catchUp();
      if (feed.ageMs() > maxAgeMs) throw stale();
      return view.isEnded(claims, pointless(now));
    },
    endAccount(account, now, deactivated = false) {
      const ended = deactivated ? [...endWithGeneration, ...endWithAccount] : endWithGeneration;
      return [
        ...nextGeneration(account, null),
        ...ended.map((collection): Change => ({ kind: "deleteAll", collection, where: ofUser(account.id) })),
        revoke({ user_id: account.id, generation: account.generation + 1 }, now),
      ];
    },
    endLogins(account, { family, sessionId }, now) {
      const generation = account.generation + 1;
      return [
        ...nextGeneration(account, family),
        ...endWithGeneration.flatMap((collection) =>
          endOthers(collection, account.id, [family, sessionId], generation),
        ),
        revoke({ user_id: account.id, generation, kept_family: family }, now),
      ];
    },
    endDeletedAccount({ id, generation }, now) {
      // Generations begin at the time of creation: this one is above all that were, and not above those of an account made under the same id later.
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
      view.forget(pointless(now));
      return [{ kind: "deleteAll", collection: revocationsCollection, where: until("expires_at", pointless(now)) }];
    },
  };
}

/** Ends the rows of a user but those that are kept, which go on with the new generation. */
function endOthers(
  collection: Collection,
  userId: number,
  keptIds: readonly (string | null)[],
  generation: number,
): readonly Change[] {
  // Logins have texts as keys.
  if (collection.key === "integer") return [{ kind: "deleteAll", collection, where: ofUser(userId) }];
  const [others, kept] = (["ne", "eq"] as const).map((operator): Where => {
    const ids = keptIds.map((id): Where => ({ column: "id", operator, value: id ?? "" }));
    return { all: [ofUser(userId), operator === "ne" ? { all: ids } : { any: ids }] };
  });
  const ended: Change = { kind: "deleteAll", collection, where: others! };
  return hasGeneration(collection)
    ? [ended, { kind: "updateAll", collection, where: kept!, values: { generation } }]
    : [ended];
}

function nextGeneration({ id, generation }: Pick<Account, "id" | "generation">, kept_family: string | null): Change[] {
  return countUp(id, "generation", generation, { generation: generation + 1, kept_family });
}

/** Two of these from one reading would leave alive what was issued between them. */
function countUp(id: number, column: string, value: number, values: WrittenValues): Change[] {
  const where = { all: [equals("id", id), equals(column, value)] };
  return [
    { kind: "require", collection: accountsCollection, where, atLeast: 1, name: OVERTAKEN },
    { kind: "update", collection: accountsCollection, key: id, values },
  ];
}

function hasGeneration({ columns }: Collection): boolean {
  return columns.some(({ name }) => name === "generation");
}

function stale() {
  return problem("unavailable", {
    detail: "Whether this token was revoked cannot be told at the moment.",
    headers: [["Retry-After", "1"]],
  });
}
