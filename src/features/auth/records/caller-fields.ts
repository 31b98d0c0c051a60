import { everyAction, type Permission } from "../../../access/permission/contract.ts";
import { stateFacts } from "../../../access/permission/facts.ts";
import { isObject, isText, shown, shownWithoutText } from "../../../core/checking/members.ts";
import { shownName, suggestion } from "../../../core/checking/nearest.ts";
import { made } from "../../../core/copy.ts";
import { usualRoles, type Identity, type IdentityFields } from "../../../core/identity.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { DraftContext } from "../../../resource/declaration/field.ts";
import { DeclarationError, type Fields, type RecordOf } from "../../../resource/resource.ts";
import { ownUserFieldsMistakes, type OwnUserFields } from "./users.ts";

/** The fields of users and their roles. The identity of every caller contains the fields that `identity` names. */
export interface DefinedUsers<
  F extends Fields = Fields,
  I extends keyof F & string = keyof F & string,
  R extends string = string,
> extends OwnUserFields<F> {
  readonly fields: F;
  readonly identity: readonly I[];
  readonly roles: readonly R[];
}

/** The declaration of users, before defaults. Each member is optional. */
export interface UsersDeclaration<
  F extends Fields,
  I extends keyof F & string,
  R extends string,
> extends OwnUserFields<F> {
  readonly identity?: readonly I[];
  readonly roles?: readonly R[];
}

/** The type of the value of a user's field. */
type UserFieldValue<F extends Fields, K> =
  RecordOf<{ readonly fields: F; readonly parentColumn: null }> extends infer R
    ? K extends keyof R
      ? R[K]
      : never
    : never;

/**
 * Defines the fields and the roles of users, with their types. Give the result to `accounts({ ...users })` or to the
 * member `users` of a config file. Give it also to `sameAs`, `callerField`, `callerFields` and `hasRole`, so that they
 * accept only declared fields and roles. Throws `DeclarationError` if the declaration is invalid.
 */
export function defineUsers<
  const F extends Fields = {},
  const I extends keyof F & string = never,
  const R extends string = "user" | "admin",
>(users: UsersDeclaration<F, I, R>): DefinedUsers<F, I, R>;
export function defineUsers(users: OwnUserFields): DefinedUsers {
  const mistakes = ownUserFieldsMistakes(users);
  if (mistakes.length > 0) throw new DeclarationError(mistakes.map((mistake) => `defineUsers: ${mistake}`));
  return Object.freeze({ fields: {}, identity: [], roles: usualRoles, ...users });
}

/**
 * Allows the rows whose `column` has the same value as the field `member` of the caller, for example the tenant.
 * `column` has the name of `member` by default. Other rows are hidden as if they did not exist. The caller can neither
 * create a row with another value nor change a row to another value. Denies callers who have no value in the field.
 */
export function sameAs<F extends Fields, I extends keyof F & string, const M extends I>(
  users: DefinedUsers<F, I>,
  member: M,
): Permission<M>;
export function sameAs<F extends Fields, I extends keyof F & string, const M extends I, const C extends string>(
  users: DefinedUsers<F, I>,
  member: M,
  column: C,
): Permission<C>;
export function sameAs(users: DefinedUsers, member: string, column = member): Permission<string> {
  requireMember("sameAs", users, member);
  const permission: Permission<string> = made({
    name: `same ${member}`,
    narrows: everyAction,
    columns: [column],
    identity: [member],
    decide({ identity }) {
      const value = valueIn(identity, member);
      return value === null ? "deny" : { only: { column, operator: "eq", value } };
    },
  });
  return stateFacts(permission, { kind: "same", field: member, column });
}

/**
 * Returns a `default` for a field of a resource: the value of the caller's field `member`. Ends the request with 401 if
 * the caller is unknown, and with 403 if the caller has no value in the field.
 */
export function callerField<F extends Fields, I extends keyof F & string, const M extends I>(
  users: DefinedUsers<F, I>,
  member: M,
): (context: Pick<DraftContext, "requireIdentity">) => NonNullable<UserFieldValue<F, M>>;
export function callerField(users: DefinedUsers, member: string) {
  requireMember("callerField", users, member);
  return ({ requireIdentity }: Pick<DraftContext, "requireIdentity">): unknown => {
    const value = valueIn(requireIdentity(), member);
    if (value === null) throw problem("permission_denied", { detail: `Your account has no ${member}.` });
    return value;
  };
}

/**
 * Returns the caller's values of the fields that `identity` names. Throws a TypeError if the caller's identity lacks
 * one of them, for example because a custom scheme made it.
 */
export function callerFields<F extends Fields, I extends keyof F & string>(
  users: DefinedUsers<F, I>,
  identity: Identity,
): { readonly [K in I]: UserFieldValue<F, K> };
export function callerFields({ identity: names }: DefinedUsers, { fields = {}, scheme }: Identity): IdentityFields {
  const missing = names.find((name) => !Object.hasOwn(fields, name));
  if (missing === undefined) return fields;
  throw new TypeError(
    `The identity from ${scheme} has no ${missing}. Give accounts() these users. A custom scheme makes identities with identityOf, or gives them fields: { ${missing}: … }.`,
  );
}

/**
 * Allows callers who have one of these roles. Administrators get no access unless their role is named. With users, the
 * compiler and `DeclarationError` refuse a role that they do not declare. Without users, the start of the service
 * refuses a role that its users do not have.
 *
 * @example
 * ```ts
 * import { hasRole } from "latchkey/auth";
 *
 * export const finance = hasRole("finance");
 * ```
 */
export function hasRole<R extends string>(
  users: { readonly roles: readonly R[] },
  ...roles: readonly NoInfer<R>[]
): Permission;
export function hasRole(...roles: readonly [string, ...(readonly string[])]): Permission;
export function hasRole(
  users: { readonly roles: readonly string[] } | string,
  ...others: readonly string[]
): Permission {
  if (typeof users === "string") return anyOfRoles([users, ...others]);
  const roles = others;
  const input: unknown = users;
  const declared: unknown = isObject(input) ? input["roles"] : null;
  if (!Array.isArray(declared) || !declared.every(isText))
    throw new DeclarationError([
      `hasRole: the users are ${shownWithoutText(input)}; make them with defineUsers({ roles })`,
    ]);
  if (roles.length === 0)
    throw new DeclarationError([
      `hasRole: it names no role, so it would refuse every caller; name some of ${declared.join(", ")}`,
    ]);
  const unknown = roles.filter((role) => !declared.includes(role));
  if (unknown.length > 0)
    throw new DeclarationError(
      unknown.map(
        (role) => `hasRole: there is no role ${shownName(String(role))}${suggestion(String(role), declared)}`,
      ),
    );
  return anyOfRoles(roles);
}

function anyOfRoles(roles: readonly string[]): Permission {
  const wrong = roles.find((role) => !isText(role) || role === "");
  if (wrong !== undefined)
    throw new DeclarationError([`hasRole: it names ${shown(wrong)}, and that is no role; write hasRole("editor")`]);
  const key = JSON.stringify(roles);
  const known = permissionsOfRoles.get(key);
  if (known !== undefined) return known;
  const permission: Permission = made({
    name: `role ${roles.join(" or ")}`,
    roles,
    decide: ({ identity }) => (identity !== null && roles.includes(identity.role) ? "allow" : "deny"),
  });
  permissionsOfRoles.set(key, Object.freeze(permission));
  return stateFacts(permission, { kind: "roles", roles });
}

/**
 * The permissions of `hasRole`, by their roles. The same roles give the same permission, because a unique field must
 * have one permission for `read` and `write`, and the number of different rules is limited.
 */
const permissionsOfRoles = new Map<string, Permission>();

/** Throws `DeclarationError` if `users.identity` does not name `member`. */
function requireMember(of: string, users: unknown, member: unknown): void {
  const identityNames: unknown = isObject(users) ? users["identity"] : null;
  if (!Array.isArray(identityNames))
    throw new DeclarationError([
      `${of}: the users are ${shown(users)}; make them with defineUsers({ fields, identity })`,
    ]);
  if (identityNames.includes(member)) return;
  const name = String(member);
  throw new DeclarationError([
    `${of}: identity names no ${shownName(name)}${suggestion(name, identityNames as string[])}`,
  ]);
}

function valueIn(identity: Identity | null, member: string): NonNullable<IdentityFields[string]> | null {
  const { fields = {} } = identity ?? {};
  return Object.hasOwn(fields, member) ? (fields[member] ?? null) : null;
}
