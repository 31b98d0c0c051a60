import { allOf, unlimited } from "../../../access/permission/permission.ts";
import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import { aFunction, anObject, optional, wholeFrom } from "../../../core/checking/members.ts";
import { requireArguments, requireOptions, type ChecksOf } from "../../../core/checking/options.ts";
import { made } from "../../../core/copy.ts";
import type { Eventually } from "../../../core/eventually.ts";
import { problem } from "../../../core/problem/problem.ts";
import { mount, type Mount, type PermissionFor, type Write } from "../../../http/declarations/mount.ts";
import { aTable } from "../../../http/declarations/records.ts";
import type { PreparedValues } from "../../../http/declarations/write.ts";
import type { Context } from "../../../http/request/exchange.ts";
import { aResource } from "../../../resource/mistakes.ts";
import type { Resource } from "../../../resource/resource.ts";
import type { Collection } from "../../../store/store.ts";
import { Admission } from "../gate/admission.ts";
import type { OtherLogin } from "../gate/contract.ts";
import { requireOtherLogin } from "../gate/login-methods.ts";
import type { EndingsContract } from "../people/contracts/endings.ts";
import { requireActive } from "../records/accounts.ts";
import { notActing } from "../requests/access.ts";
import { withoutKey } from "../requests/fresh-login.ts";

/** The right to a new credential, and the values that its record gets in addition to the sent ones. */
export interface Admitted<R extends Resource = Resource> {
  /** From `logins.vouch`. Its user becomes the owner of the credential. */
  readonly admission: Admission;
  readonly values?: PreparedValues<R>;
}

/** Options of `mountCredentials()`. */
export interface CredentialOptions<R extends Resource = Resource> {
  /**
   * The permission for each action. Tokens that act for a user are denied in addition, and credentials with limited
   * scopes cannot create or delete.
   */
  readonly permission: Readonly<Partial<Record<"list" | "read" | "create" | "delete", PermissionFor<R>>>>;
  /** The largest number of credentials of one user. One more is 409 `too_many`. */
  readonly maximum: number;
  /** The table of the records, if it was declared before and keeps its name. */
  readonly table?: Collection;
  /** Checks the request for a new credential, and returns the right to it. */
  requireAdmission(write: Write<R, "create">): Eventually<Admitted<R>>;
  /** Checks the request to delete a credential, and returns the result of `confirming.keepOtherLogin`. */
  requireOtherLogin(write: Write<R, "delete">): Eventually<OtherLogin>;
}

/**
 * Mounts credentials of users: a resource with a field `shownOnce()`, whose owner is a user. It has `list`, `read`,
 * `create` and `delete` and no other action. Its owner is the column `user_id`, a reference to `users` whose records
 * are deleted with the user. Without an `Admission` nothing is created, and without the result of the guard that keeps
 * another way to log in nothing is deleted. A login at an outside party creates nothing, because the credential would
 * not end with it. A deactivation or a deletion of the user deletes the credentials. Call it in `setUp`.
 */
export function mountCredentials<const R extends Resource>(
  people: { readonly endings: Pick<EndingsContract, "registerTable" | "outsideEnd"> },
  resource: R,
  options: CredentialOptions<R>,
): Mount<R>;
export function mountCredentials(
  people: { readonly endings: Pick<EndingsContract, "registerTable" | "outsideEnd"> },
  resource: Resource,
  options: CredentialOptions,
): Mount {
  requireArguments("mountCredentials", arguments, { people: anObject, resource: aResource, options: anObject });
  requireOptions(options, checks, { of: "mountCredentials" });
  const { permission, maximum, table } = options;
  const owner = Object.values(resource.fields).find(({ kind }) => kind.once !== undefined)?.kind.once?.owner;
  if (owner === undefined)
    throw new DeclarationError([`mountCredentials(${resource.path}): it has no field shownOnce(); declare one`]);
  if (owner !== OWNER)
    throw new DeclarationError([
      `mountCredentials(${resource.path}): the owner is in ${owner}, and credentials end by their ${OWNER}; write shownOnce({ owner: "${OWNER}" })`,
    ]);
  const mounted = mount(resource, {
    permission: Object.fromEntries(
      Object.entries(permission).map(([action, own]) => [
        action,
        action === "create" || action === "delete" ? allOf(unlimited, notActing, own) : allOf(notActing, own),
      ]),
    ),
    maximum: { per: owner, records: maximum },
    ...(table === undefined ? {} : { table }),
    personal: true,
    async beforeWrite(write: Write) {
      if (write.kind === "delete") {
        const { [owner]: userId } = write.current as Readonly<Record<string, unknown>>;
        return { changes: requireOtherLogin(await options.requireOtherLogin(write), userId) };
      }
      if (write.kind !== "create") throw new TypeError(`${resource.path}: credentials are not changed.`);
      const { admission, values = {} } = await options.requireAdmission(write);
      const account = Admission.spend(admission);
      const { [owner]: inPath = account.id } = write.context.params as Readonly<Record<string, unknown>>;
      if (inPath !== account.id) throw new TypeError(`${resource.path}: the admission is for another user.`);
      const changes = [requireActive(account), ...admission.notices];
      return { values: { ...values, [owner]: account.id }, changes };
    },
  });
  requireCascade(mounted, owner);
  people.endings.registerTable("account", mounted.collection);
  const guard = (context: Context): void => {
    withoutKey(context);
    requireOwnLogin(people.endings, context);
  };
  return Object.freeze(made({ ...mounted, guard }));
}

/** Ends the request if the caller's login is at an outside party. The credential would not end with such a login. */
function requireOwnLogin({ outsideEnd }: Pick<EndingsContract, "outsideEnd">, context: Context): void {
  if (outsideEnd(context) !== null)
    throw problem("permission_denied", {
      detail: "A login through a proxy or another issuer cannot create a credential without an end.",
    });
}

/** The column by which credentials end with their user (`endings.registerTable`). */
const OWNER = "user_id";

const checks: ChecksOf<CredentialOptions> = {
  permission: anObject,
  maximum: wholeFrom(1),
  table: optional(aTable),
  requireAdmission: aFunction,
  requireOtherLogin: aFunction,
};

/** Throws if the credentials of a deleted user would stay. A later user with the same id would own them. */
function requireCascade({ resource, collection }: Mount, owner: string): void {
  const { references } = collection.columns.find(({ name }) => name === owner) ?? {};
  if (references?.onDelete === "cascade" && ["users", "accounts"].includes(references.collection)) return;
  throw new DeclarationError([
    `mountCredentials(${resource.path}): the credentials of a deleted user would stay; declare ${owner}: reference("users", { readOnly: true, onDelete: "cascade" })`,
  ]);
}
