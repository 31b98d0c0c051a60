import { defineResource, formType, problem, requireDraft, text, type Account, type Context } from "../index.ts";
import type { Parts } from "./parts.ts";

/** What logins read: programs send JSON, pages and old clients a form. */
export const loginTypes = ["application/json", formType];

/** The largest body of a login, in bytes: anybody may send one. */
export const MAX_LOGIN_BODY_BYTES = 16 * 1024;

/** What a login sends. Values are compared, never stored, so that only their length is limited. */
export const loginFields = {
  username: text({ maxLength: 254 }),
  password: text({ maxLength: 4096, trim: false }),
};

/** The body of a login. */
export const credentials = defineResource({ name: "credentials", plural: "credentials", fields: loginFields });

/** The account whose name and password are in the body. */
export function logInWith(parts: Parts, context: Context): Promise<Account> {
  const { username, password } = requireDraft(credentials, context, { id: null, current: null }).values;
  return requireLogin(parts, context, username, password);
}

/** The account with this name and password. One answer for every reason why there is none. */
export async function requireLogin(
  parts: Parts,
  { call }: Context,
  username: string,
  password: string,
): Promise<Account> {
  const account = await parts.passwords.login(call, username, password);
  if (account === null) throw problem("invalid_credentials", { headers: challengesOf(parts) });
  return account;
}

/** Of the schemes that are on. Not Basic's: a browser would lay its own window over the form. */
function challengesOf({ settings: { schemes } }: Parts): readonly (readonly [string, string])[] {
  if (schemes.includes("bearer")) return [["WWW-Authenticate", 'Bearer realm="latchkey"']];
  // RFC 9110 §15.5.2 asks for one with every 401, and a session has none that is registered.
  return [["WWW-Authenticate", schemes.includes("token") ? 'Token realm="latchkey"' : 'Session realm="latchkey"']];
}
