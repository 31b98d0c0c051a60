import { aFunction, buildObjectCheck, optional, texts } from "../../../core/checking/members.ts";
import { requireArguments, type ChecksOf } from "../../../core/checking/options.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { isIdentityFields, type Identity, type IdentityFields, type Role } from "../../../core/identity.ts";
import { storedOf, table, type StoredIn } from "../../../http/declarations/table.ts";
import { boolean, dateTime, enumeration, integer, reference, text } from "../../../resource/kinds/fields.ts";
import { aStore } from "../../../store/checking.ts";
import type { Change, Collection, Row, Store } from "../../../store/store.ts";
import { equals } from "./conditions.ts";
import { findByName } from "./names.ts";

/** The login data of a user, which responses never contain as a whole. Its id is the id of the user. */
export interface Account {
  readonly id: number;
  readonly username: string;
  readonly role: Role;
  readonly active: boolean;
  /** PHC string, or a format accepted on import. Null: cannot log in with a password. */
  readonly passwordHash: string | null;
  /** RFC 3339: the end of a generated password. Null: valid until it is changed. */
  readonly passwordUntil: string | null;
  /**
   * `unused`: the password is valid for one login. `used`: the password does not log in again, but the user can still
   * prove their identity with it, mainly to choose another one. Null, or left out: an ordinary password.
   */
  readonly passwordOnce?: "unused" | "used" | null;
  /**
   * Increases when all logins of the account end, for example after a changed password or a deactivation. Sessions,
   * token families and access tokens of an older generation are invalid.
   */
  readonly generation: number;
  /** The one token family of an older generation that stays valid. Null: none. */
  readonly remainingFamily: string | null;
  /**
   * The number of changes to the role, or to a field in the identity. Access tokens from before the last change are
   * invalid.
   */
  readonly roleChanges: number;
  /** RFC 3339 */
  readonly createdAt: string;
  /** RFC 3339. Null: never. */
  readonly lastLoginAt: string | null;
  /** RFC 3339: the first proof that the user reads the mailbox of the e-mail address. Null, or left out: never. */
  readonly emailVerifiedAt?: string | null;
  /**
   * The origin of an unproved e-mail address. Null, or left out: unknown, because an earlier version made the account.
   */
  readonly emailOrigin?: EmailOrigin | null;
  /** RFC 3339: the last time at which the role of administrator was taken from the user. Null, or left out: never. */
  readonly wasAdministratorAt?: string | null;
  /** The number of active second factors. Missing means none. */
  readonly factors?: number;
  /** The user's own fields in the identity. Left out if there are none. */
  readonly fields?: IdentityFields;
}

/** The table of accounts. */
export const accountsCollection = table({
  name: "accounts",
  fields: {
    username: text({ unique: "case-insensitive" }),
    /** True if the username was not chosen and follows the e-mail address. */
    username_follows_email: boolean(),
    role: text(),
    active: boolean(),
    password_hash: text({ optional: true }),
    generation: integer(),
    created_at: dateTime(),
    last_login_at: dateTime({ optional: true }),
    kept_family: text({ optional: true }),
    role_changes: integer({ default: 0 }),
    /** The origin of the username (`UsernameOrigin`). Null if the account is older than this column. */
    username_origin: enumeration(["given", "chosen"], { optional: true }),
    password_until: dateTime({ optional: true }),
    password_once: enumeration(["unused", "used"], { optional: true }),
    /**
     * The number of active second factors, written together with the factor. Each request checks whether its login
     * proves enough for this number.
     */
    factors: integer({ default: 0 }),
    /** True if all logins of level 1 have ended under a rule for factors. Null again after a login of level 1. */
    weak_logins_ended: boolean({ optional: true }),
    /** The first proof of the e-mail address. Null again after a change without a proof. */
    email_verified_at: dateTime({ optional: true }),
    /** The origin of the e-mail address (`EmailOrigin`). Null if the account is older than this column. */
    email_origin: enumeration(["vouched", "given", "chosen"], { optional: true }),
    /** The last time at which the role of administrator was taken from the user. */
    was_administrator_at: dateTime({ optional: true }),
  },
  // Finds the administrators, who are few, when a write checks that one remains.
  indexes: [["role", "active"]],
});

/** The columns of an account. */
export type AccountRecord = StoredIn<typeof accountsCollection>;

/** The field of a row that belongs to an account, and is deleted with it. */
export const ofAccount = reference("accounts", { onDelete: "cascade" });

/**
 * `given` by an administrator, an import or a proxy, or `chosen` by the user. A chosen name may be another person's
 * name in an external system, so an external login never claims it.
 */
export type UsernameOrigin = NonNullable<AccountRecord["username_origin"]>;

/**
 * `vouched` for by an administrator, an import, the command line or a trusted party, or `chosen` by the user or an
 * untrusted party. A user may choose the address of another person. So until the first proof of the address, the
 * account may be prepared (`mayBePrepared`). An earlier version stored `given` by an administrator, an import, the
 * command line or a proxy.
 */
export type EmailOrigin = NonNullable<AccountRecord["email_origin"]>;

const DAY_MS = 86_400_000;

/**
 * True if the account is an administrator's, or was one in the last 24 hours. Otherwise an administrator could take the
 * role from another one first, and then the account.
 */
export function isStillAdministrator({ role, wasAdministratorAt = null }: Account, now: number): boolean {
  return role === "admin" || (wasAdministratorAt !== null && Date.parse(wasAdministratorAt) > now - DAY_MS);
}

/**
 * Returns the generation of a new account: the time of its creation (milliseconds). So the tokens of a deleted account
 * are not valid for a later one with the same id.
 */
export function firstGeneration(now: number): number {
  return now;
}

/**
 * Returns a change that refuses the transaction if the account is no longer active, or if its logins were revoked since
 * it was read. Put it after the other changes: an earlier check could miss a revocation, and a revoked login must
 * create nothing.
 */
export function requireActive({ id, generation }: Pick<Account, "id" | "generation">): Change {
  const where = { all: [equals("id", id), equals("active", true), equals("generation", generation)] };
  return { kind: "require", collection: accountsCollection, where, atLeast: 1, name: NOT_ACTIVE };
}

/** The name of the refusal by `requireActive`. */
export const NOT_ACTIVE = "not_active";

/** The detail of the 409 for a refusal by `requireActive`. */
export const notActive = "The account is not active, or its logins were revoked during this request.";

/** Finds accounts, for the schemes. */
export interface Accounts {
  find(id: number): Eventually<Account | null>;
  findByUsername(username: string): Eventually<Account | null>;
}

/**
 * The accounts of a service. Here, `findByUsername` compares by the simple case folding of Unicode, and takes the same
 * time for every name.
 */
export interface ServiceAccounts extends Accounts {
  /**
   * Returns the account whose username is equal by lower case. For a name from the configuration: if this account is
   * deleted, the name never stands for a user who takes a similar one.
   */
  findByConfiguredName(username: string): Eventually<Account | null>;
}

/**
 * Returns true if the text can be a username. Other texts need no lookup, and a store refuses some of them (U+0000).
 */
export function isPossibleName(name: unknown): name is string {
  if (typeof name !== "string" || name === "" || name.length > 300) return false;
  return name.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f]/.test(name);
}

/** The fields of a user in the identity, and the collection of users. */
export interface OwnFields {
  readonly names: readonly string[];
  collection(): Collection;
}

const ownFields: ChecksOf<OwnFields> = { names: texts, collection: aFunction };

/**
 * Returns the accounts of a store, each with the fields of its user that `own` names. Usernames are compared by lower
 * case, with the table of accounts alone.
 */
export function storeAccounts(store: Store, own: OwnFields = { names: [], collection: noUsers }): Accounts {
  requireArguments("storeAccounts", arguments, {
    store: aStore,
    own: optional(buildObjectCheck(ownFields, "it has to be an object, like { names: [], collection }")),
  });
  const { find, findByConfiguredName } = serviceAccounts(store, own);
  return { find, findByUsername: findByConfiguredName };
}

/**
 * Returns the accounts of a service, each with the fields of its user that `own` names. The store needs
 * `namesCollection` too.
 */
export function serviceAccounts(store: Store, own: OwnFields): ServiceAccounts {
  const { names } = own;
  const complete = (row: Row<AccountRecord> | null): Eventually<Account | null> => {
    const account = row === null ? null : accountOf(row);
    if (account === null || names.length === 0) return account;
    // The user is read after the account. So the `roleChanges` in a token are never newer than its fields, and a later
    // change of these fields makes the token invalid.
    return after(store.find(own.collection(), account.id), (user) =>
      user === null ? null : { ...account, fields: readFields(user, names) },
    );
  };
  const named = { store, accounts: accountsCollection };
  return {
    find: (id) => after(store.find(accountsCollection, id), complete),
    findByUsername: (username) => after(findByName(named, username), complete),
    findByConfiguredName: (username) => after(store.findBy(accountsCollection, "username", username), complete),
  };
}

function noUsers(): never {
  throw new TypeError("The accounts have no store of users.");
}

function readFields({ record }: Row, names: readonly string[]): IdentityFields {
  const fields = Object.fromEntries(names.map((name) => [name, record[name]]));
  if (!isIdentityFields(fields)) throw new TypeError(`The fields ${names.join(", ")} of a user are not plain values.`);
  return Object.freeze(fields);
}

/** Returns the account in a row. */
export function accountOf(row: Row<AccountRecord>): Account {
  const stored = storedOf(row);
  return {
    id: stored.id,
    username: stored.username,
    role: stored.role,
    active: stored.active,
    passwordHash: stored.password_hash,
    passwordUntil: stored.password_until,
    passwordOnce: stored.password_once,
    generation: stored.generation,
    remainingFamily: stored.kept_family,
    roleChanges: stored.role_changes,
    factors: stored.factors,
    emailVerifiedAt: stored.email_verified_at,
    // Before the column existed, users changed their address without a proof. So it is unknown who chose it.
    emailOrigin: stored.email_origin,
    wasAdministratorAt: stored.was_administrator_at,
    createdAt: stored.created_at,
    lastLoginAt: stored.last_login_at,
  };
}

/** Returns the identity of an account that a scheme has accepted. */
export function identityOf(
  account: Account,
  scheme: string,
  more: Partial<Omit<Identity, "id" | "username" | "role" | "scheme">> = {},
): Identity {
  return {
    id: account.id,
    username: account.username,
    role: account.role,
    scheme,
    scopes: null,
    expiresAt: null,
    needs: (account.factors ?? 0) > 0 ? 2 : 1,
    ...(account.fields === undefined ? {} : { fields: account.fields }),
    ...more,
  };
}
