import {
  accountOf,
  accountsCollection,
  administrator,
  allOf,
  anyone,
  boolean,
  defineResource,
  email,
  firstGeneration,
  invalid,
  keyOf,
  mount,
  text,
  unlimited,
  type Account,
  type Call,
  type Change,
  type Context,
  type Mount,
  type Prepared,
  type Write,
  type WrittenValues,
} from "../index.ts";
import { ownOrAny, ownOrAnyUnlimited } from "./access.ts";
import { requireGoodPassword } from "./good-password.ts";
import type { LoginParts } from "./parts.ts";
import { requireFree, requireMayProbe } from "./taken.ts";
import { requireMayName, takesOutsideLogins, usernameOriginOf } from "./usernames.ts";

/** Users: what the specification shows. How a user logs in is written here and kept apart, in the account of the same id. */
export const users = defineResource({
  name: "user",
  description: "Someone who may use the service.",
  fields: {
    name: text({ max: 200, description: "The name that is shown.", example: "Ann Example" }),
    email: email({
      unique: "ignoring case",
      description: "Unique without regard to case, kept as written.",
      example: "ann@example.com",
    }),
    username: text({
      max: 150,
      pattern: { matches: /^[^:]*$/, detail: "A colon is not allowed, because Basic could not carry it." },
      optional: true,
      writeOnly: true,
      transient: true,
      description: "What the user logs in with; the e-mail address where it is left out.",
    }),
    password: text({
      min: 8,
      max: 256,
      trim: false,
      optional: true,
      writeOnly: true,
      transient: true,
      description: "A user without one cannot log in with a password.",
    }),
    current_password: text({
      max: 256,
      trim: false,
      optional: true,
      writeOnly: true,
      transient: true,
      description: "Needed to change one's own password, username or e-mail.",
    }),
    end_keys: boolean({
      optional: true,
      writeOnly: true,
      transient: true,
      description: "With a new password: the API token and the keys end too.",
    }),
  },
  filters: {
    id: ["eq", "in", "lt", "lte", "gt", "gte"],
    name: ["eq", "starts", "contains"],
    email: ["eq", "starts"],
  },
  sorts: ["name", "email"],
});

/** Serves users to administrators, and to each user that user. */
export function mountUsers(parts: LoginParts): Mount {
  const mounted: Mount = mount(users, {
    permission: {
      list: ownOrAny,
      create: allOf(unlimited, parts.settings.registration === "open" ? anyone : administrator),
      read: ownOrAny,
      replace: ownOrAnyUnlimited,
      update: ownOrAnyUnlimited,
      delete: ownOrAnyUnlimited,
    },
    problems: { delete: ["last_admin"] },
    personal: true,
    beforeWrite: (write) => withAccount(parts, mounted, write),
  });
  return mounted;
}

function withAccount(parts: LoginParts, mounted: Mount, write: Write): Promise<Prepared> | Prepared {
  switch (write.kind) {
    case "create":
      return createAccount(parts, mounted, write);
    case "delete":
      return deleteAccount(parts, mounted, write);
    default:
      return changeAccount(parts, mounted, write);
  }
}

interface LoginFields {
  readonly username?: string;
  readonly password?: string;
  readonly current_password?: string;
  readonly end_keys?: boolean;
}

async function createAccount(parts: LoginParts, mounted: Mount, { context, id, draft }: Write): Promise<Prepared> {
  await requireMayProbe(parts, context);
  const email = draft!.values["email"] as string;
  const { username: chosen, password } = draft!.transient as LoginFields;
  const username = chosen ?? email;
  if (chosen !== undefined) requireMayName(parts, context);
  if (password !== undefined) await requireGoodPassword(parts, password, { username, email });
  const { call } = context;
  return {
    async complete() {
      await requireFree(parts, mounted, context, { id, email, username, isSignUp: true });
      const account: WrittenValues = {
        username,
        username_follows_email: chosen === undefined,
        role: "user",
        active: true,
        password_hash: password === undefined ? null : await parts.passwords.hash(call, password, askerOf(context)),
        generation: firstGeneration(call.now),
        created_at: new Date(call.now).toISOString(),
        last_login_at: null,
        username_origin: usernameOriginOf(context),
      };
      return [{ kind: "insert", collection: accountsCollection, key: keyOf(0), values: account }];
    },
  };
}

async function changeAccount(
  parts: LoginParts,
  mounted: Mount,
  { context, id, current, draft }: Write,
): Promise<Prepared> {
  const { username, password, current_password: proof, end_keys: endKeys = false } = draft!.transient as LoginFields;
  const address = draft!.values["email"] as string;
  const row = await parts.store.find(accountsCollection, id!);
  if (row === null) return {};
  const account = accountOf(row);
  const { call } = context;
  const isMoved = address !== current!["email"];
  const mayFollow = row.record["username_follows_email"] === true && !takesOutsideLogins(parts.settings);
  const name = username ?? (isMoved && mayFollow ? address : account.username);
  const names = {
    ...(isMoved ? { email: address } : {}),
    ...(name === account.username ? {} : { username: name }),
  };
  if (Object.keys(names).length > 0) await requireMayProbe(parts, context);
  const isRenamed = username !== undefined && username !== account.username;
  if (isRenamed) requireMayName(parts, context);
  if (isRenamed || isMoved || password !== undefined) await requireProof(parts, context, account, proof);
  if (password !== undefined) await requireGoodPassword(parts, password, { username: name, email: address });
  return {
    async complete() {
      if (Object.keys(names).length > 0) await requireFree(parts, mounted, context, { id, ...names });
      const values: WrittenValues = {
        ...("username" in names ? { username: names.username, username_origin: usernameOriginOf(context) } : {}),
        ...(username === undefined ? {} : { username_follows_email: false }),
        ...(password === undefined
          ? {}
          : { password_hash: await parts.passwords.hash(call, password, askerOf(context)), password_until: null }),
      };
      if (Object.keys(values).length === 0) return [];
      return [
        { kind: "update", collection: accountsCollection, key: id!, values, revision: row.revision },
        ...(password === undefined ? [] : parts.revocations.endAccount(account, call.now, endKeys)),
      ];
    },
  };
}

async function deleteAccount(parts: LoginParts, mounted: Mount, { context, id }: Write): Promise<Prepared> {
  const account = await parts.accounts.find(id!);
  if (account === null) return {};
  return {
    also: [
      { kind: "delete", collection: accountsCollection, key: id! },
      // What is kept for repeats holds nothing of a user who is gone.
      { kind: "forget", collection: mounted.collection, key: id!, caller: String(id) },
      { kind: "forget", collection: accountsCollection, key: id!, caller: "" },
      ...parts.revocations.endDeletedAccount(account, context.call.now),
      requireAdministrator,
    ],
  };
}

/** Somebody who can administer is left. */
export const requireAdministrator: Change = {
  kind: "require",
  collection: accountsCollection,
  where: {
    all: [
      { column: "role", operator: "eq", value: "admin" },
      { column: "active", operator: "eq", value: true },
    ],
  },
  atLeast: 1,
  name: "last_admin",
};

/** Whose turn a new hash is computed in. */
function askerOf({ identity }: Context): string {
  return identity === null ? "" : String(identity.id);
}

/** Whoever changes their own login shows that they know it: a session left open must not be enough. */
export async function requireProof(
  parts: LoginParts,
  { call, identity }: Context,
  account: Account,
  proof: string | undefined,
): Promise<void> {
  if (identity === null || identity.id !== account.id) return;
  if (proof === undefined) throw wrongProof("required", "The current password is needed for this change.");
  await requirePassword(parts, call, account, proof);
}

/** Ends the request where it is not the account's password, which counts as a guess. */
export async function requirePassword(
  parts: LoginParts,
  call: Call,
  account: Account | null,
  password: string,
): Promise<void> {
  const hasPassword = account !== null && account.passwordHash !== null;
  const verified = hasPassword ? await parts.passwords.verify(call, account.username, password) : null;
  if (verified === null) throw wrongProof("invalid", "The current password is wrong.");
}

function wrongProof(code: string, detail: string): Error {
  return invalid([{ pointer: "/current_password", code, detail }]);
}
