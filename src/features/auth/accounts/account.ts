import type { Eventually } from "../../../core/eventually.ts";
import type { Role } from "../../../core/identity.ts";
import { problem } from "../../../core/problem/problem.ts";
import { ifNoneMatch, notModified } from "../../../http/declarations/documentation.ts";
import { builtInEndpoint, type Endpoint, type EndpointDocumentation } from "../../../http/declarations/endpoint.ts";
import { type ServedMount, type Prepared, type Write, mount } from "../../../http/declarations/mount.ts";
import { storedOf } from "../../../http/declarations/table.ts";
import { readRecord, updateRecord } from "../../../http/mount/endpoints.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import { Flaw } from "../../../resource/declaration/field.ts";
import { boolean, dateTime, enumeration, text } from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";
import type { Change, StoredRecord } from "../../../store/store.ts";
import { weakLoginsEnd } from "../gate/ending-weak.ts";
import { requireMayChange } from "../people/fresh-proof.ts";
import { loginColumns, type LoginPart } from "../people/login-change.ts";
import type { AccountsParts } from "../people/parts.ts";
import { accountOf, accountsCollection } from "../records/accounts.ts";
import { timeText } from "../records/conditions.ts";
import { giveName } from "../records/given-names.ts";
import { changesAccount, ownOrAny } from "../requests/access.ts";
import { ownPassword } from "../requests/fresh-login.ts";
import { keepAdministrator } from "./last-administrator.ts";
import { requireFree, requireMayProbe } from "./taken.ts";
import { isOwnAddress, requireMayName, resolveUsernameOrigin } from "./usernames.ts";

/** The field `email_verified_at`, which only services with mail show. */
const verified = {
  email_verified_at: dateTime({
    readOnly: true,
    optional: true,
    description: "The time when the user first proved the e-mail address.",
  }),
};

/** The visible fields of an account. `roles` are the roles that a user may have. */
const accountResource = (roles: readonly Role[], sendsMail: boolean) =>
  defineResource({
    name: "account",
    description: "How a user logs in.",
    fields: {
      username: text({ maxLength: 254 }),
      role: enumeration(roles),
      active: boolean(),
      created_at: dateTime({ readOnly: true }),
      last_login_at: dateTime({ readOnly: true, optional: true }),
      ...(sendsMail ? verified : {}),
      current_password: text(ownPassword),
    },
  });

type Account = ReturnType<typeof accountResource>;

/** Returns the endpoints of `/users/{id}/account`: how a user logs in. */
export function accountEndpoints(parts: AccountsParts): readonly Endpoint[] {
  const path = "/users/{id}/account";
  // Mails of invitations and of verified sign-ups prove addresses. Whether the service sends other mails is known only
  // after all features are set up.
  const account = accountResource(parts.roles, parts.invitations || parts.registration === "verified");
  const plain = placeAccounts(parts, accountResource(parts.roles, false));
  const mailed = placeAccounts(parts, accountResource(parts.roles, true));
  const chooseMount = (): ServedMount => (parts.gate.mail.step === null ? plain : mailed);
  const documentation = buildDocumentation(account);
  return [
    builtInEndpoint({
      method: "GET",
      path,
      action: "read",
      access: ownOrAny,
      documentation: documentation.read,
      handle: (context) => readRecord(chooseMount(), context),
    }),
    builtInEndpoint({
      method: "PATCH",
      takesForms: true,
      repeatable: true,
      path,
      action: "update",
      access: changesAccount,
      preconditions: "handler",
      consumes: ["application/merge-patch+json", "application/json-patch+json", "application/json", "application/xml"],
      documentation: documentation.update,
      handle: (context) => updateRecord(chooseMount(), context),
    }),
  ];
}

const buildDocumentation = (account: Account) =>
  ({
    read: {
      summary: "Read how a user logs in",
      tag: "users",
      parameters: [ifNoneMatch],
      responses: {
        200: { description: "The account.", schema: account, headers: { ETag: "The tag of the current state." } },
        304: notModified,
      },
    },
    update: {
      summary: "Change username, role or activity",
      tag: "users",
      parameters: [{ $ref: "#/components/parameters/IfMatch" }, { $ref: "#/components/parameters/IdempotencyKey" }],
      request: account,
      responses: {
        200: { description: "Changed.", schema: account, headers: { ETag: "The tag of the new state." } },
        204: {
          description: "Changed. The account is left out, as the caller prefers.",
          headers: { ETag: "The tag of the new state." },
        },
      },
      problems: [
        "conflict",
        "invalid_patch",
        "patch_conflict",
        "idempotency_mismatch",
        "too_many_repeats",
        "precondition_failed",
        "taken",
        "last_admin",
        "confirmation_required",
      ],
    },
  }) satisfies Record<string, EndpointDocumentation>;

/** Mounts accounts as a resource of the accounts table. Its secret columns are hidden. */
function placeAccounts(parts: AccountsParts, account: Account): ServedMount {
  const mounted = mount(account, {
    permission: { read: ownOrAny, update: changesAccount },
    personal: true,
    table: accountsCollection,
    beforeWrite: (write: Write<Account>): Eventually<Prepared> =>
      write.kind === "update" ? prepareChange(parts, write) : {},
  });
  const noted = ["last_login_at"];
  const place = { parent: null, newer: null, relations: [], listedBy: [], referrers: [] };
  const names = Object.keys(account.fields).filter((name) => name !== "current_password");
  // Without the id, because it is in the path.
  const show = (record: StoredRecord): Readonly<Record<string, unknown>> =>
    Object.fromEntries(names.map((name) => [name, record[name]]));
  return { ...mounted, ...place, show, noted };
}

/** Returns the columns that a change of an account sets in addition to the sent fields. */
async function prepareChange(
  parts: AccountsParts,
  { context, current, draft }: Write<Account, "update">,
): Promise<Prepared> {
  const before = accountOf({ revision: 0, record: current });
  const { username, role, active } = draft.values;
  if ((role !== before.role || active !== before.active) && context.requireIdentity().role !== "admin")
    throw problem("permission_denied");
  const { now } = context.call;
  const isRenamed = username !== before.username;
  const isPromoted = role !== before.role;
  const changed: readonly LoginPart[] = [
    ...(isPromoted ? (["role"] as const) : []),
    ...(isRenamed ? (["username"] as const) : []),
  ];
  if (isRenamed) await requireUsername(parts, context, { id: before.id, username });
  const change = await requireMayChange(parts, context, before, changed, draft.transient.current_password);
  const columns = loginColumns(change, before.id, {
    ...(isRenamed
      ? {
          username,
          username_follows_email: isOwnAddress(context, username),
          username_origin: resolveUsernameOrigin(context),
        }
      : {}),
    ...(isPromoted ? { role } : {}),
    ...(isPromoted && before.role === "admin" ? { was_administrator_at: timeText(now) } : {}),
  });
  const changes: Change[] = [];
  if (before.active && !active) changes.push(...parts.revocations.endAccount(before, now, true));
  if (isPromoted)
    changes.push(...parts.revocations.endAccess(before, now, role), ...parts.notify("role_changed", before, now));
  // A new administrator who must have a factor logs in again, with one.
  if (isPromoted && active) changes.push(...(await weakLoginsEnd(parts, { ...before, role }, now)));
  if (role !== "admin" || !active) changes.push(...(await keepAdministrator(parts, before, now)));
  if (!isRenamed) return { values: columns, changes };
  changes.push(...giveName(before.id, username));
  return {
    values: columns,
    changes,
    complete: () => requireFree(parts, context, { id: before.id, username }),
  };
}

/**
 * Checks a chosen username with the rules of `/users`. The field itself accepts longer usernames, because the default
 * username is the e-mail address.
 */
async function requireUsername(
  parts: AccountsParts,
  context: Context,
  { id, username }: { readonly id: number; readonly username: string },
): Promise<void> {
  const { store, users } = parts;
  const user = await store.find(users.collection, id);
  requireMayName(parts, context, { username, email: user === null ? "" : storedOf(user).email });
  const flaw = users.resource.fields.username.kind.parse(username);
  if (flaw instanceof Flaw) throw invalid([{ pointer: "/username", code: flaw.code, detail: flaw.detail }]);
  await requireMayProbe(parts, context);
}
