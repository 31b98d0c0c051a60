import type { Context } from "../../http/exchange.ts";
import { formType } from "../../http/formats/form.ts";
import { requireDraft } from "../../http/mount/writes/drafting.ts";
import { text } from "../../resource/kinds/fields.ts";
import { defineResource } from "../../resource/resource.ts";
import type { ProvedPassword } from "./accounts/passwords/passwords.ts";
import type { People } from "./login.ts";

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

/** The first proof of a login whose name and password are in the body. */
export function logInWith(people: People, context: Context): Promise<ProvedPassword> {
  const { username, password } = requireDraft(credentials, context, { id: null, current: null }).values;
  return people.requireLogin(context, username, password);
}
