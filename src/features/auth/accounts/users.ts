import {
  administrator,
  allOf,
  anyOf,
  anyone,
  unlimited,
  type Permission,
} from "../../../access/permission/permission.ts";
import { made } from "../../../core/copy.ts";
import type { Issue } from "../../../core/problem/problem.ts";
import { mount, type Prepared, type Write } from "../../../http/declarations/mount.ts";
import type { PermissionsOf } from "../../../http/declarations/permissions.ts";
import { insert, update } from "../../../http/declarations/table.ts";
import { requireStillKnown } from "../../../http/identifying/identifying.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import { keyOf } from "../../../store/store.ts";
import { requireMayChange, requireNotActing } from "../people/fresh-proof.ts";
import { loginColumns, type LoginPart } from "../people/login-change.ts";
import type { AccountsParts } from "../people/parts.ts";
import { accountOf, accountsCollection, firstGeneration } from "../records/accounts.ts";
import { giveName } from "../records/given-names.ts";
import { usersResource, type OwnUserFields, type Users, type UsersMount } from "../records/users.ts";
import type { Registration } from "../records/verifying.ts";
import { ownOrAnyUnlimited, ownRecord, ownRecordUnlimited, changingUsers, removingUsers } from "../requests/access.ts";
import { requireAsGiven } from "./administered.ts";
import { keepAdministrator } from "./last-administrator.ts";
import { requireGoodPassword } from "./passwords/good-password.ts";
import { deferSignUps, onlyAdministratorsInvite } from "./signing-up.ts";
import { isAdministrator, requireFree, requireMayProbe } from "./taken.ts";
import { followsEmail, isOwnAddress, requireMayName, resolveUsernameOrigin } from "./usernames.ts";
import { addressMoved } from "./verified.ts";

/** Serves users, with their `own` fields, to administrators. Each user can access only their own record. */
export function mountUsers(parts: AccountsParts, own: OwnUserFields): UsersMount {
  const administered = own.administered ?? [];
  const { registration, invitations } = parts;
  const { list, read, replace, update, delete: removal } = own.permissions ?? {};
  const plain: UsersMount = mount(usersResource(own, { invitations }), {
    permission: {
      list: list ?? ownRecord,
      create: allOf(unlimited, creators[registration]),
      read: read ?? ownRecord,
      replace: replace === undefined ? ownRecordUnlimited : changingUsers(replace),
      update: update === undefined ? ownRecordUnlimited : changingUsers(update),
      delete: removal === undefined ? ownOrAnyUnlimited : removingUsers(removal),
    } as PermissionsOf<Users>,
    problems: {
      replace: ["confirmation_required"],
      update: ["confirmation_required"],
      delete: ["last_admin"],
    },
    personal: true,
    beforeWrite(write) {
      requireAsGiven(administered, write, parts.users.resource.fields);
      return withAccount(parts, write, own.identity ?? []);
    },
  });
  const deferral = registration === "verified" ? deferSignUps(parts, administered) : null;
  return Object.freeze(made({ ...plain, deferral, signsUp: true as const }));
}

/** Allows callers without a credential. */
const unknownCaller: Permission = made({
  name: "unknown caller",
  description: "they are not logged in",
  decide: ({ identity }) => (identity === null ? "allow" : "deny"),
});

const creators: Readonly<Record<Registration, Permission>> = {
  closed: administrator,
  open: anyone,
  verified: anyOf(administrator, unknownCaller),
};

function withAccount(
  parts: AccountsParts,
  write: Write<Users>,
  identityFields: readonly string[],
): Promise<UserChanges> {
  switch (write.kind) {
    case "create":
      return createAccount(parts, write);
    case "delete":
      return deleteAccount(parts, write);
    default:
      return changeAccount(parts, write, identityFields);
  }
}

/** The changes of the account, which are written together with the user. The user's own values are not changed. */
type UserChanges = Omit<Prepared<Users>, "values">;

async function createAccount(
  parts: AccountsParts,
  { context, id, draft }: Write<Users, "create">,
): Promise<UserChanges> {
  await requireMayProbe(parts, context);
  const { email } = draft.values;
  const { username: chosen, password, invite = false } = draft.transient;
  const username = chosen ?? email;
  if (invite) requireMayInvite(context, password);
  if (chosen !== undefined) requireMayName(parts, context, { username, email });
  if (password !== undefined) await requireGoodPassword(parts, context, password, { username, email });
  const { call } = context;
  return {
    async complete() {
      // A create by an administrator without a password needs no hash, and its response may show that a name is taken.
      // So no check is needed here: the store reports a taken name.
      if (password !== undefined || !isAdministrator(context))
        await requireFree(parts, context, { id, email, username, isSignUp: true });
      const account = {
        username,
        username_follows_email: chosen === undefined || isOwnAddress(context, chosen),
        role: "user",
        active: true,
        password_hash: password === undefined ? null : await hashNew(parts, context, password, { factors: 0 }),
        generation: firstGeneration(call.now),
        created_at: new Date(call.now).toISOString(),
        last_login_at: null,
        username_origin: resolveUsernameOrigin(context),
        email_origin: isAdministrator(context) ? "vouched" : "chosen",
      } as const;
      const invitation = invite ? await parts.verifier.current!.invite(context, { email, user: keyOf(0) }) : [];
      return [
        insert(accountsCollection, { key: keyOf(0), values: account }),
        ...giveName(keyOf(0), username),
        ...invitation,
      ];
    },
  };
}

function requireMayInvite(context: Context, password: string | undefined): void {
  if (!isAdministrator(context)) throw invalid([onlyAdministratorsInvite]);
  if (password !== undefined) throw invalid([invitedSetPassword]);
}

const invitedSetPassword: Issue = {
  pointer: "/password",
  code: "read_only",
  detail: "The invited user sets the password. Leave it out, or leave out invite.",
};

const notInvited: Issue = {
  pointer: "/invite",
  code: "read_only",
  detail: "Only a new user can be created with invite. Invite this user with POST /users/{id}/invitation.",
};

async function changeAccount(
  parts: AccountsParts,
  { context, id, current, draft }: Write<Users, "replace" | "update">,
  identityFields: readonly string[],
): Promise<UserChanges> {
  const { username, password, current_password: proof, end_keys: endKeys = false, invite } = draft.transient;
  const address = draft.values.email;
  const isMoved = address !== current.email;
  if (isMoved || username !== undefined || password !== undefined) requireNotActing(context);
  if (invite === true) throw invalid([notInvited]);
  // Otherwise the caller would believe that the keys are revoked.
  if (endKeys && password === undefined) throw invalid([endsNoKeys]);
  const row = await parts.store.find(accountsCollection, id);
  if (row === null) return {};
  const account = accountOf(row);
  const { call } = context;
  const isOther = isChanged(identityFields, current, draft.values);
  if (isMoved && parts.verifier.current !== null && context.identity?.id === id) throw invalid([notMovedHere(id)]);
  const name = username ?? (isMoved && followsEmail(parts, row, current.email) ? address : account.username);
  const names = {
    ...(isMoved ? { email: address } : {}),
    ...(name === account.username ? {} : { username: name }),
  };
  if (Object.keys(names).length > 0) await requireMayProbe(parts, context);
  // A sent username that stays the same is no change. With another address, it decides that the username does not
  // follow.
  const isNamed = username !== undefined && (isMoved || username !== account.username);
  const changed: readonly LoginPart[] = [
    ...(isMoved ? (["email"] as const) : []),
    ...(isNamed || name !== account.username ? (["username"] as const) : []),
    ...(password === undefined ? [] : (["password"] as const)),
  ];
  if (isNamed) requireMayName(parts, context, { username, email: address });
  const change = await requireMayChange(parts, context, account, changed, proof);
  if (password !== undefined) await requireGoodPassword(parts, context, password, { username: name, email: address });
  return {
    async complete() {
      if (Object.keys(names).length > 0) await requireFree(parts, context, { id, ...names });
      const values = loginColumns(change, id, {
        ...("username" in names ? { username: names.username, username_origin: resolveUsernameOrigin(context) } : {}),
        ...(isNamed ? { username_follows_email: isOwnAddress(context, username) } : {}),
        ...(isMoved ? unprovedAddress(context) : {}),
        ...(password === undefined
          ? {}
          : {
              password_hash: await hashNew(parts, context, password, account),
              password_until: null,
              password_once: null,
            }),
      });
      const ended = isOther ? parts.revocations.endAccess(account, call.now) : [];
      if (Object.keys(values).length === 0) return ended;
      return [
        update(accountsCollection, { key: id, values, revision: row.revision }),
        ...("username" in names ? giveName(id, names.username) : []),
        ...ended,
        ...addressMoved(parts, account, { from: current.email, to: address }, call.now),
        ...(password === undefined
          ? []
          : [
              ...parts.revocations.endAccount(account, call.now, endKeys),
              ...parts.notify("password_changed", account, call.now),
            ]),
      ];
    },
  };
}

/**
 * Returns the columns of an account whose address was changed: the new address is not proved. If the user chose it, the
 * account may be prepared for the owner of the mailbox.
 */
function unprovedAddress(context: Context) {
  return { email_verified_at: null, ...(isAdministrator(context) ? {} : { email_origin: "chosen" as const }) };
}

/** The issue for users who send a new address with their own record. The new address must be proved first. */
const notMovedHere = (id: number): Issue => ({
  pointer: "/email",
  code: "read_only",
  detail: `A new address must be confirmed by a mail first. The form for the e-mail address on the account page sends it, and so does POST /users/${id}/email.`,
});

const endsNoKeys: Issue = {
  pointer: "/end_keys",
  code: "invalid",
  detail: "This field needs a new password. Send password too, or leave this field out.",
};

/** True if a field in the identity changes. Fields that the draft leaves out stay the same. */
function isChanged(
  names: readonly string[],
  before: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, unknown>>,
): boolean {
  return names.some((name) => values[name] !== undefined && values[name] !== before[name]);
}

async function deleteAccount(parts: AccountsParts, { context, id }: Write<Users, "delete">): Promise<UserChanges> {
  const account = await parts.accounts.find(id);
  if (account === null) return {};
  return {
    changes: [
      { kind: "delete", collection: accountsCollection, key: id },
      // The idempotency records of a deleted user are erased.
      { kind: "forget", collection: parts.users.collection, key: id, caller: String(id) },
      { kind: "forget", collection: accountsCollection, key: id, caller: "" },
      ...parts.revocations.endDeletedAccount(account, context.call.now),
      ...(await keepAdministrator(parts, account, context.call.now)),
    ],
  };
}

/**
 * Hashes a password. The hashes of one caller wait for each other. Ends the request if the caller's login was revoked
 * during the wait.
 */
async function hashNew(
  { passwords }: AccountsParts,
  context: Context,
  password: string,
  owner: { readonly factors?: number },
): Promise<string> {
  const { call, identity } = context;
  const hash = await passwords.hashFor(owner, call, password, identity === null ? "" : String(identity.id));
  await requireStillKnown(context);
  return hash;
}
