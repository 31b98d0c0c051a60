import { DeclarationError } from "../../core/checking/declaration-error.ts";
import { aLevel, isText, optional, shown, text, wholeFrom } from "../../core/checking/members.ts";
import { requireArguments, requireOptions } from "../../core/checking/options.ts";
import { made, otherCopyMistake } from "../../core/copy.ts";
import { confirmedLevel } from "../../core/levels.ts";
import { aPermission } from "./checking.ts";
import { decideTogether, names, joinDeclarations } from "./combining.ts";
import { everyAction, type Permission, type PermissionRequest } from "./contract.ts";
import { requireDecision } from "./decision.ts";
import { stateFacts } from "./facts.ts";
import { remember } from "./implying.ts";

export type {
  Action,
  AllowedRows,
  Confirmation,
  Decision,
  MemberRows,
  Permission,
  PermissionRequest,
  SettledDecision,
} from "./contract.ts";

/** Allows every caller, known or not. */
export const anyone: Permission = stateFacts(made({ name: "anyone", decide: () => "allow" }), { kind: "anyone" });

/** Denies every caller. */
export const nobody: Permission = stateFacts(made({ name: "nobody", decide: () => "deny" }), { kind: "nobody" });

/** Allows every caller who is logged in. */
export const authenticated: Permission = stateFacts(
  made({
    name: "authenticated",
    decide: ({ identity }) => (identity === null ? "deny" : "allow"),
  }),
  { kind: "authenticated" },
);

/** Allows administrators. */
export const administrator: Permission = stateFacts(
  made({
    name: "administrator",
    decide: ({ identity }) => (identity?.role === "admin" ? "allow" : "deny"),
  }),
  { kind: "administrator" },
);

/**
 * Allows the user in the path: `/users/7` for user 7. A list is narrowed to that user, so a mounted resource needs a
 * column with the parameter's name. A custom endpoint needs no column.
 *
 * @example
 * ```ts
 * import { administrator, anyOf, self } from "latchkey";
 *
 * export const ownProfile = anyOf(administrator, self("user_id"));
 * ```
 */
export function self(parameter?: string): Permission;
export function self(parameter = "id"): Permission<string> {
  requireName("self", parameter, "a parameter of the path", 'self("id")');
  requireArguments("self", arguments, { parameter: optional(text) });
  const permission: Permission<string> = made({
    name: "self",
    narrows: ["list"],
    columns: [parameter],
    userIds: [parameter],
    decide({ identity, action, params }) {
      if (identity === null) return "deny";
      if (action === "list") return { only: { column: parameter, operator: "eq", value: identity.id } };
      return params[parameter] === identity.id ? "allow" : "deny";
    },
  });
  return stateFacts(permission, { kind: "self", parameter });
}

/**
 * Allows the user whose id is in a column of the record. Other users get 404 for the record.
 *
 * @example
 * ```ts
 * import { administrator, anyOf, owner } from "latchkey";
 *
 * export const ours = anyOf(owner("owner_id"), administrator);
 * ```
 */
export function owner<const C extends string>(column: C): Permission<C, C> {
  requireName("owner", column, "a column", 'owner("owner_id")');
  requireArguments("owner", arguments, { column: text });
  const permission: Permission<C, C> = made<Permission<C, C>>({
    name: "owner",
    narrows: everyAction,
    columns: [column],
    userIds: [column],
    decide: ({ identity }) => (identity === null ? "deny" : { only: { column, operator: "eq", value: identity.id } }),
  });
  return stateFacts(permission, { kind: "owner", column });
}

/**
 * Allows callers whose credential has this scope, or is not limited to scopes.
 *
 * @example
 * ```ts
 * import { scope } from "latchkey";
 *
 * export const readers = scope("notes:read");
 * ```
 */
export function scope(name: string): Permission {
  requireName("scope", name, "a scope", 'scope("notes:read")');
  requireArguments("scope", arguments, { name: text });
  const permission: Permission = made({
    name: `scope ${name}`,
    decide: ({ identity }) =>
      identity !== null && (identity.scopes === null || identity.scopes.includes(name)) ? "allow" : "deny",
  });
  return stateFacts(permission, { kind: "scope", scope: name });
}

/**
 * Allows callers without a credential, and callers whose credential is not limited to scopes. For actions that would
 * give a limited credential more rights than its scopes.
 */
export const unlimited: Permission = stateFacts(
  made({
    name: "unlimited",
    decide: ({ identity }) => (identity === null || identity.scopes === null ? "allow" : "deny"),
  }),
  { kind: "unlimited" },
);

/** Allows only the actions `list` and `read`, which change nothing. */
export const readOnly: Permission = stateFacts(
  made({
    name: "read only",
    decide: ({ action }) => (action === "list" || action === "read" ? "allow" : "deny"),
  }),
  { kind: "read only" },
);

/**
 * Allows callers who have confirmed their identity recently (RFC 9470). If the proofs of their login are too old or too
 * weak, the request is refused with 401 `confirmation_required`, and a client confirms at `POST /api/login/confirm/`.
 * API tokens, keys and tokens that act for a user cannot confirm (403). Throws `DeclarationError` if an option is
 * wrong.
 *
 * @param options.within How old the proofs may be, in seconds.
 * @param options.level 2: a second factor is asked for. Default: 1.
 *
 * @example
 * ```ts
 * import { administrator, allOf, confirmed } from "latchkey";
 *
 * export const dangerous = allOf(administrator, confirmed({ within: 300, level: 2 }));
 * ```
 */
export function confirmed(options: { readonly within: number; readonly level?: 1 | 2 }): Permission {
  requireOptions(options, { within: wholeFrom(1), level: optional(aLevel) }, { of: "confirmed" });
  const { within, level = 1 } = options;
  return made({
    name: `confirmed within ${within} s at level ${level}`,
    description: `they confirmed within ${within} s${level === 2 ? " with a second factor" : ""}`,
    problems: ["confirmation_required"],
    decide({ identity, now }) {
      if (identity?.proofs === undefined || identity.actor !== undefined) return "deny";
      return confirmedLevel(identity.proofs, now - within * 1000) >= level ? "allow" : { confirm: { within, level } };
    },
  });
}

/**
 * Allows what at least one of the permissions allows, and the rows that at least one of them allows.
 *
 * @example
 * ```ts
 * import { administrator, anyOf, readOnly } from "latchkey";
 *
 * export const editors = anyOf(administrator, readOnly);
 * ```
 */
export function anyOf<const C extends string = never, const U extends string = never>(
  ...permissions: readonly Permission<C, U>[]
): Permission<C, U>;
export function anyOf(...permissions: readonly Permission<string>[]): Permission<string> {
  requirePermissions("anyOf", permissions);
  const permission = made({
    name: `any of (${names(permissions)})`,
    ...joinDeclarations(permissions),
    decide: (request: PermissionRequest) => decideTogether(permissions, request, "allow"),
  });
  return remember(permission, "any", permissions);
}

/**
 * Allows a request, or a row, if all of the permissions allow it.
 *
 * @example
 * ```ts
 * import { allOf, authenticated, readOnly } from "latchkey";
 *
 * export const readers = allOf(authenticated, readOnly);
 * ```
 */
export function allOf<const C extends string = never, const U extends string = never>(
  ...permissions: readonly Permission<C, U>[]
): Permission<C, U>;
export function allOf(...permissions: readonly Permission<string>[]): Permission<string> {
  requirePermissions("allOf", permissions);
  const permission = made({
    name: `all of (${names(permissions)})`,
    ...joinDeclarations(permissions),
    decide: (request: PermissionRequest) => decideTogether(permissions, request, "deny"),
  });
  return remember(permission, "all", permissions);
}

/**
 * Allows the requests that the other permission denies. Throws `DeclarationError` if the other permission narrows to
 * rows, because the opposite rows need a separate condition.
 *
 * @example
 * ```ts
 * import { allOf, authenticated, not, scope } from "latchkey";
 *
 * export const withoutImports = allOf(authenticated, not(scope("import")));
 * ```
 */
export function not<const C extends string = never>(permission: Permission<C, C> & Negated<C>): Permission;
export function not(permission: Permission<string>): Permission {
  requirePermissions("not", [permission]);
  requireArguments("not", arguments, { permission: aPermission });
  const { name, narrows = [], identity = [], roles = [] } = permission;
  if (narrows.length > 0)
    throw new DeclarationError([
      `not(${name}): the permission narrows to rows, and ${CANNOT_NEGATE}. Write the opposite condition as a separate permission.`,
    ]);
  const negated = made<Permission>({
    name: `not ${name}`,
    identity,
    roles,
    decide(request) {
      const decision = requireDecision(permission, request);
      if (typeof decision === "string") return decision === "allow" ? "deny" : "allow";
      if ("confirm" in decision)
        throw new TypeError(`not(${name}): the permission asks for a confirmation, which cannot be negated.`);
      throw new TypeError(`not(${name}): the permission gave rows, and ${CANNOT_NEGATE}. Name the actions in narrows.`);
    },
  });
  return stateFacts(negated, { kind: "not", part: permission });
}

const CANNOT_NEGATE = "a permission that narrows to rows cannot be negated";

/** The compiler error for the negation of a permission that narrows by a column. */
type Negated<C extends string> = [C] extends [never] ? unknown : "a permission that narrows to rows cannot be negated";

/**
 * Throws `DeclarationError` if the name is invalid. Without this check, the permission would never match, and no error
 * would show the mistake.
 */
function requireName(of: string, name: unknown, what: string, like: string): void {
  if (isText(name) && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(name)) return;
  throw new DeclarationError([`${of}: it names ${shown(name)}, and that is not ${what}; write ${like}`]);
}

/**
 * Throws `DeclarationError` if an argument is not a permission, or if there are no arguments. An empty `allOf` would
 * allow everything.
 */
function requirePermissions(of: string, permissions: readonly unknown[]): void {
  const mistakes = permissions.flatMap((each, at) => {
    const wrong = otherCopyMistake(each) ?? aPermission(each);
    return wrong === null ? [] : [`${of}: argument ${at + 1} is ${shown(each)}; ${wrong}`];
  });
  if (permissions.length === 0) mistakes.push(`${of}: it has no permissions; write ${of}(administrator, readOnly)`);
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
}
