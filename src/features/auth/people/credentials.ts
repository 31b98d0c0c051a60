import { formType } from "../../../http/formats/form.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import type { Context } from "../../../http/request/exchange.ts";
import { json, text } from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";
import type { JSONValue } from "../../../store/store.ts";
import type { FirstStep } from "../gate/contract.ts";
import { codeField } from "../requests/codes.ts";
import type { LoginBody, LoginsContract } from "./contracts/logins.ts";

/** The media types that logins accept. Programs send JSON. Pages and old clients send a form. */
export const loginTypes = ["application/json", formType];

/** The largest body of a login, in bytes. It is small because any client may send one. */
export const MAX_LOGIN_BODY_BYTES = 16 * 1024;

/**
 * The fields of a login: a name and a password, or another first proof. Values are compared and never stored, so only
 * their length is limited.
 */
export const loginFields = {
  username: text({ maxLength: 254, optional: true, description: "With `password`." }),
  password: text({ maxLength: 4096, trim: false, optional: true, description: "With `username`." }),
  pending: text({
    maxLength: 200,
    optional: true,
    description: "The member `pending` from `POST /api/login/passkey/`. Send it with `credential`.",
  }),
  credential: json({ optional: true, description: "The answer of a passkey. Send it with `pending`." }),
  email: text({ maxLength: 254, optional: true, description: "Send it with the `code` from a mail." }),
  code: codeField("The code from a mail. Send it with `email`."),
  token: text({ maxLength: 2048, optional: true, description: "The token of the link in a mail." }),
};

/** The body of a login. */
export const credentials = defineResource({ name: "credentials", plural: "credentials", fields: loginFields });

/** Checks the first proof of a login, from its body. */
export function logInWith(prove: LoginsContract["prove"], context: Context): Promise<FirstStep> {
  const { values } = requireDraft(credentials, context, { id: null, current: null });
  return prove(context, loginBody(values));
}

/** Returns the body of a login in the form that a first proof reads. */
export function loginBody(values: Omit<LoginBody, "credential"> & { readonly credential: unknown }): LoginBody {
  const { username, password, pending, credential, email, code, token } = values;
  return { username, password, pending, credential: (credential ?? null) as JSONValue, email, code, token };
}
