import type { Role } from "../identity.ts";
import { problem } from "../problem/problem.ts";
import {
  OVERTAKEN,
  type Change,
  type Collection,
  type Feed,
  type Row,
  type Store,
  type Where,
} from "../store/store.ts";
import { accountsCollection, type Account } from "./accounts.ts";

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

/** What a revocation can hit in an access token. */
export interface RevocableClaims {
  readonly sub: number;
  /** The account's generation. */
  readonly gen: number;
  readonly role: Role;
  /** How often the account's role had been changed. */
  readonly roleChanges: number;
  /** The refresh family that the token came from. */
  readonly fam: string;
}

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
  /** Another role: every access token of before it ends for good. Stands behind the update of the account, whose lock orders two of them. */
  changeRole(account: Pick<Account, "id" | "generation" | "roleChanges">, role: Role, now: number): Change[];
  /** A logout, or a refresh token that was used twice. */
  endFamily(family: string, now: number): Change[];
  /** Removes what has become pointless, here and in the store. */
  prune(now: number): Change[];
}

/** Beyond this age of the view nobody can say whether a token still stands. */
const maxAgeMs = 5000;

/** Clocks of several machines may differ by this much: the leeway on `iat`. */
const slackMs = 60_000;

interface EndedUser {
  generation: number;
  /** The only role that still stands; null: any. */
  role: string | null;
  /** Fewer role changes than these are too few. */
  roleChanges: number;
  /** Of the generations that have ended, the one family that goes on. */
  keptFamily: string | null;
  expiresAt: number;
}

/** Makes the view of a store's revocations. */
export function makeRevocations({
  store,
  accessSeconds,
  endWithGeneration,
  endWithAccount,
}: RevocationsOptions): Revocations {
  // Both in the order in which their entries end, so that forgetting looks at the front only.
  const users = new Map<number, EndedUser>();
  const families = new Map<string, number>();
  let feed: Feed | null = null;

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
    const lifeMs = (typeof accessSeconds === "function" ? accessSeconds() : accessSeconds) * 1000;
    const expires_at = new Date(now + lifeMs + slackMs).toISOString();
    return { kind: "insert", collection: revocationsCollection, values: { ...none, ...values, expires_at } };
  }

  function take({ record }: Row): void {
    const expiresAt = Date.parse(record["expires_at"] as string);
    const family = record["family"] as string | null;
    if (family !== null) {
      families.delete(family);
      families.set(family, expiresAt);
    } else {
      takeUser(record["user_id"] as number, {
        generation: record["generation"] as number,
        role: record["role"] as string | null,
        roleChanges: (record["role_changes"] as number | null) ?? 0,
        keptFamily: record["kept_family"] as string | null,
        expiresAt,
      });
    }
  }

  function takeUser(userId: number, ended: EndedUser): void {
    const known = users.get(userId);
    users.delete(userId);
    if (known === undefined || ended.generation > known.generation) {
      // Tokens of a new generation were issued after the older roles were gone; only a family that was kept can have one of those.
      const before = ended.keptFamily === null ? undefined : known;
      const roleChanges = Math.max(ended.roleChanges, before?.roleChanges ?? 0);
      users.set(userId, { ...ended, role: ended.role ?? before?.role ?? null, roleChanges });
    } else {
      users.set(userId, {
        generation: known.generation,
        role: ended.role ?? known.role,
        roleChanges: Math.max(known.roleChanges, ended.roleChanges),
        keptFamily: known.keptFamily,
        expiresAt: Math.max(known.expiresAt, ended.expiresAt),
      });
    }
  }

  function isEnded(ended: EndedUser, { gen, role, roleChanges, fam }: RevocableClaims): boolean {
    if (gen < ended.generation && fam !== ended.keptFamily) return true;
    // An account that was made later under the same id has a role of its own.
    if (gen > ended.generation) return false;
    return roleChanges < ended.roleChanges || (ended.role !== null && ended.role !== role);
  }

  function forget(now: number): void {
    for (const [userId, ended] of users) {
      if (ended.expiresAt > now) break;
      users.delete(userId);
    }
    for (const [family, expiresAt] of families) {
      if (expiresAt > now) break;
      families.delete(family);
    }
  }

  return {
    async open() {
      feed = await store.follow(revocationsCollection, take);
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
      if (users.size === 0 && families.size === 0) return false;
      forget(now);
      const ended = users.get(claims.sub);
      return (ended !== undefined && isEnded(ended, claims)) || families.has(claims.fam);
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
        ...endWithGeneration.flatMap((collection): Change[] => {
          const [others, kept] = (["ne", "eq"] as const).map((operator): Where => {
            const ids = [family, sessionId].map((id): Where => ({ column: "id", operator, value: id ?? "" }));
            return { all: [ofUser(account.id), operator === "ne" ? { all: ids } : { any: ids }] };
          });
          const ended: Change = { kind: "deleteAll", collection, where: others! };
          return hasGeneration(collection)
            ? [ended, { kind: "updateAll", collection, where: kept!, values: { generation } }]
            : [ended];
        }),
        revoke({ user_id: account.id, generation, kept_family: family }, now),
      ];
    },
    endDeletedAccount({ id, generation }, now) {
      // Generations begin at the time of creation: this one is above all that were, and not above those of an account made under the same id later.
      return [revoke({ user_id: id, generation: Math.max(generation + 1, now) }, now)];
    },
    changeRole({ id, generation, roleChanges }, role, now) {
      const role_changes = roleChanges + 1;
      return [
        { kind: "update", collection: accountsCollection, key: id, values: { role_changes } },
        revoke({ user_id: id, generation, role, role_changes }, now),
      ];
    },
    endFamily: (family, now) => [revoke({ family }, now)],
    prune(now) {
      forget(now);
      const where = { column: "expires_at", operator: "lte", value: new Date(now).toISOString() } as const;
      return [{ kind: "deleteAll", collection: revocationsCollection, where }];
    },
  };
}

/** Two of these from one reading would leave alive what was issued between them. */
function nextGeneration({ id, generation }: Pick<Account, "id" | "generation">, kept_family: string | null): Change[] {
  const where: Where = {
    all: [
      { column: "id", operator: "eq", value: id },
      { column: "generation", operator: "eq", value: generation },
    ],
  };
  const values = { generation: generation + 1, kept_family };
  return [
    { kind: "require", collection: accountsCollection, where, atLeast: 1, name: OVERTAKEN },
    { kind: "update", collection: accountsCollection, key: id, values },
  ];
}

function hasGeneration({ columns }: Collection): boolean {
  return columns.some(({ name }) => name === "generation");
}

function ofUser(id: number): Where {
  return { column: "user_id", operator: "eq", value: id };
}

function stale() {
  return problem("unavailable", {
    detail: "Whether this token was revoked cannot be told at the moment.",
    headers: [["Retry-After", "1"]],
  });
}
