import { isObject } from "../../core/checking/members.ts";
import type { ServiceFacts, LoginLink } from "../../feature/feature.ts";
import type { Endpoint } from "../../http/declarations/endpoint.ts";
import type { Mount } from "../../http/declarations/mount.ts";
import { formType } from "../../http/formats/form.ts";

/** The page where users see who they are, log in and log out. */
export const SESSION_PATH = "/api/session/";

/** The path of a login that waits for another proof. A POST to it completes the login. */
export const LOGIN_PATH = "/api/login/";

/** The path that starts a login with a passkey. */
export const PASSKEY_PATH = "/api/login/passkey/";

/** The path that starts a login with a code by mail. */
export const MAIL_CODE_PATH = "/api/login/code/";

/** The path that sends a mail to a user who forgot the password, and the path that sets a new one. */
export const RESET_PATH = "/api/password/reset/";
export const RESET_CONFIRM_PATH = `${RESET_PATH}confirm/`;

/** The path that confirms an address. */
export const EMAIL_CONFIRM_PATH = "/api/email/confirm/";

/** The path that accepts an invitation to a group. */
export const INVITATION_PATH = "/api/invitations/accept/";

/** The path of the users, where newcomers sign up. */
export const USERS_PATH = "/users";

/** Returns the mount of the users. */
export function findUsers({ mounts }: ServiceFacts): Mount | undefined {
  return mounts.find(({ resource, older }) => resource.path === USERS_PATH && older === null);
}

/** The login methods on a page. */
export interface LoginMethods {
  /** The path that takes a form with a name and a password. Null if there is none. */
  readonly password: string | null;
  /** The path that starts a login with a passkey. Null if there is none. */
  readonly passkey: string | null;
  readonly others: readonly LoginLink[];
}

/** Returns the login methods on a page. */
export function resolveLoginMethods(facts: ServiceFacts): LoginMethods {
  const login = facts.endpoints.find(({ path, method }) => path === SESSION_PATH && method === "POST");
  const passkeys = facts.endpoints.some(({ path, method }) => path === PASSKEY_PATH && method === "POST");
  return {
    password: login !== undefined && takesPasswords(login) ? SESSION_PATH : null,
    passkey: login !== undefined && passkeys ? PASSKEY_PATH : null,
    others: facts.loginLinks,
  };
}

/** Returns true if people can log in on a page. */
export function hasLoginMethods(facts: ServiceFacts): boolean {
  const { password, passkey, others } = resolveLoginMethods(facts);
  return password !== null || passkey !== null || others.length > 0;
}

/**
 * Returns true if the login accepts a form with a username and a password. A feature may have replaced the built-in
 * login by another one.
 */
function takesPasswords(login: Endpoint): boolean {
  if (login.consumes?.includes(formType) !== true) return false;
  const fieldNames = fieldsAsked(login);
  return fieldNames === null || ["username", "password"].every((name) => fieldNames.includes(name));
}

/** Returns the names of the fields that a login declares. Returns null if it declares none. */
function fieldsAsked({ body, documentation }: Endpoint): readonly string[] | null {
  const shape = documentation?.request ?? body;
  if (!isObject(shape)) return null;
  const fields = shape["fields"] ?? shape["properties"];
  return isObject(fields) ? Object.keys(fields) : null;
}
