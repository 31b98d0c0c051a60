import { insert, storedOf, table, type StoredIn } from "../../../http/declarations/table.ts";
import { dateTime, text } from "../../../resource/kinds/fields.ts";
import type { Change, KeyOf, Row, Store } from "../../../store/store.ts";
import { ofAccount } from "../records/accounts.ts";
import { ofUser, timeText } from "../records/conditions.ts";

/** The identities at providers that are linked to accounts, by issuer and `sub`. They are deleted with the account. */
export const identitiesCollection = table({
  name: "linked_identities",
  fields: {
    user_id: ofAccount,
    /** The issuer and the `sub` as JSON, compared exactly. */
    identity: text({ unique: true }),
    issuer: text(),
    subject: text(),
    created_at: dateTime(),
  },
  indexes: [["user_id", "id"]],
});

/** The maximum number of identities of an account. */
export const MOST_IDENTITIES = 20;

/** A user at a provider. */
export interface ProviderUser {
  readonly issuer: string;
  readonly subject: string;
}

/** A linked identity. */
export interface LinkedIdentity extends ProviderUser {
  readonly id: number;
  readonly userId: number;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly revision: number;
}

/** Returns the name of an identity in the proofs of its logins. */
export function nameOfProof({ id }: Pick<LinkedIdentity, "id">): string {
  return `identity-${id}`;
}

/** The linked identities of a store. */
export interface Identities {
  /** Returns the identities of a user, oldest first. */
  list(userId: number): Promise<readonly LinkedIdentity[]>;
  /** Returns the identity of this user with this id. Returns null if there is none. */
  find(userId: number, id: number): Promise<LinkedIdentity | null>;
  /** Returns the identity of a user at a provider, linked to any account. Returns null if it is not linked. */
  findLinked(identified: ProviderUser): Promise<LinkedIdentity | null>;
  /** Returns the change that links an identity. `user` is the id of the user, or a placeholder for it. */
  link(identified: ProviderUser, user: number | KeyOf, now: number): Change;
  /**
   * Returns the changes that link another identity to an existing account. The store refuses them if the account has
   * too many.
   */
  linkMore(identified: ProviderUser, userId: number, now: number): readonly Change[];
  unlink(identity: LinkedIdentity): Change;
}

/** Returns the linked identities of a store. */
export function makeIdentities(store: Store): Identities {
  const collection = identitiesCollection;
  const link: Identities["link"] = ({ issuer, subject }, user_id, now) => {
    const identity = formatIdentity({ issuer, subject });
    return insert(collection, { values: { user_id, identity, issuer, subject, created_at: timeText(now) } });
  };
  return {
    link,
    async list(userId) {
      const sort = [{ column: "id" }];
      return (await store.list({ collection, where: ofUser(userId), sort, limit: MOST_IDENTITIES })).map(read);
    },
    async find(userId, id) {
      const row = await store.find(collection, id);
      return row !== null && storedOf(row).user_id === userId ? read(row) : null;
    },
    async findLinked(identified) {
      const row = await store.findBy(collection, "identity", formatIdentity(identified));
      return row === null ? null : read(row);
    },
    linkMore: (identified, userId, now) => [
      { kind: "require", collection, where: ofUser(userId), atMost: MOST_IDENTITIES - 1, name: "too_many" },
      link(identified, userId, now),
    ],
    unlink: ({ id: key, revision }) => ({ kind: "delete", collection, key, revision }),
  };
}

function formatIdentity({ issuer, subject }: ProviderUser): string {
  return JSON.stringify([issuer, subject]);
}

function read(row: Row<StoredIn<typeof identitiesCollection>>): LinkedIdentity {
  const { id, user_id, issuer, subject, created_at } = storedOf(row);
  return { id, userId: user_id, issuer, subject, createdAt: created_at, revision: row.revision };
}
