import type { Call } from "../../../core/call/call.ts";
import { add, storedOf, table, update, type ChangeOf } from "../../../http/declarations/table.ts";
import { dateTime, integer, text } from "../../../resource/kinds/fields.ts";
import type { Change, Store, Where } from "../../../store/store.ts";
import { ofAccount } from "../records/accounts.ts";
import { equals, later, ofUser, timeText, until } from "../records/conditions.ts";
import { listedLogin, loginPage, seenFrom, type ListedLogin, type LoginPage } from "../records/logins.ts";
import type { RefreshToken } from "./refresh-token.ts";

/**
 * The token families that were refreshed at least once. A family is all access and refresh tokens of one login. The key
 * is the id of the family. The first refresh writes the row, and the login writes none.
 */
export const familiesCollection = table({
  name: "families",
  id: "text",
  fields: {
    user_id: ofAccount,
    uses: integer(),
    created_at: dateTime(),
    last_seen_at: dateTime(),
    /** The latest end of the family. */
    expires_at: dateTime(),
    /** The end of its newest refresh token. */
    idle_until: dateTime(),
    address: text(),
    user_agent: text({ optional: true }),
  },
  indexes: [["user_id", "created_at"], ["idle_until"]],
});

export interface TokenFamiliesOptions {
  readonly store: Store;
  readonly familySeconds: number;
}

/** The changes that record a use. */
export interface FamilyUse {
  /** Counts the use. Its outcome has the row with the new number of uses. */
  readonly counted: ChangeOf<typeof familiesCollection>;
  readonly seen: Change;
}

/** The token logins that were refreshed at least once. Times in milliseconds. */
export interface TokenFamilies {
  /** Returns the changes that record the use of a refresh token of the family. */
  use(token: RefreshToken, call: Call, newestExpiresAt: number): FamilyUse;
  /** Returns the changes that delete the row of a family after its end. */
  forget(family: string): Change[];
  /** Lists the live families of a user. */
  list(userId: number, page: LoginPage, currentFamily: string | null): Promise<readonly ListedLogin[]>;
  /** Returns the live families of a user except the newest `count`. */
  beyond(userId: number, count: number, now: number): Promise<readonly string[]>;
  /** Returns the family with its latest end if it is a live one of this user. Otherwise returns null. */
  find(userId: number, family: string): Promise<Pick<RefreshToken, "userId" | "family" | "familyExp"> | null>;
  prune(now: number): Change[];
}

/** Returns the families in a store. */
export function tokenFamilies({ store, familySeconds }: TokenFamiliesOptions): TokenFamilies {
  const liveFamilies = (userId: number, now: number): Where => ({
    all: [ofUser(userId), later("idle_until", now)],
  });

  return {
    use({ userId, family, familyExp, authTime }, call, newestExpiresAt) {
      const seen = {
        last_seen_at: timeText(call.now),
        idle_until: timeText(newestExpiresAt),
        ...seenFrom(call),
      };
      const values = {
        user_id: userId,
        created_at: timeText((authTime ?? familyExp - familySeconds) * 1000),
        expires_at: timeText(familyExp * 1000),
        ...seen,
      };
      return {
        counted: add(familiesCollection, { key: family, column: "uses", by: 1, values }),
        seen: update(familiesCollection, { key: family, values: seen }),
      };
    },
    forget: (family) => [{ kind: "deleteAll", collection: familiesCollection, where: equals("id", family) }],
    async list(userId, page, currentFamily) {
      const query = loginPage(page, "id");
      const rows = await store.list({
        ...query,
        collection: familiesCollection,
        where: liveFamilies(userId, page.now),
      });
      return rows.map(storedOf).map((each) => listedLogin(each, "tokens", each.id, currentFamily));
    },
    async beyond(userId, count, now) {
      const query = loginPage({ after: null, backwards: false, limit: count * 2, now }, "id");
      const rows = await store.list({ ...query, collection: familiesCollection, where: liveFamilies(userId, now) });
      return rows.slice(count).map((row) => storedOf(row).id);
    },
    async find(userId, family) {
      const row = await store.find(familiesCollection, family);
      if (row === null || storedOf(row).user_id !== userId) return null;
      return { userId, family, familyExp: Math.ceil(Date.parse(storedOf(row).expires_at) / 1000) };
    },
    prune: (now) => [{ kind: "deleteAll", collection: familiesCollection, where: until("idle_until", now) }],
  };
}
