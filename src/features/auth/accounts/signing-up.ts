import type { Reply } from "../../../core/call/call.ts";
import { requireSameSite } from "../../../core/call/cross-site.ts";
import { requireSecureTransport } from "../../../core/call/transport.ts";
import { isObject } from "../../../core/checking/members.ts";
import { problem, type Issue } from "../../../core/problem/problem.ts";
import { prefersAny } from "../../../http/answer/choosing-format.ts";
import type { Deferral } from "../../../http/declarations/deferral.ts";
import { formType } from "../../../http/formats/form.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import { getExchange, invalid, type Context } from "../../../http/request/exchange.ts";
import type { JSONValue } from "../../../store/store.ts";
import type { AccountsParts } from "../people/parts.ts";
import type { Users } from "../records/users.ts";
import type { Newcomer } from "../records/verifying.ts";
import { requireGivenFields } from "./administered.ts";
import { requireMayProbe } from "./taken.ts";

/**
 * Returns the answer to `POST /users` without a credential if addresses are verified: a mail is sent, and the user is
 * created when the address is confirmed. The answer does not reveal whether there is an account with this address.
 */
export function deferSignUps(parts: AccountsParts, administered: readonly string[]): Deferral {
  return {
    description:
      "A mail was sent. The user is created when the address is confirmed. Callers without a credential get this answer.",
    problems: ["insecure_transport", "cross_site", "too_many_attempts"],
    guard: (context) => requireSafe(context),
    async handle(context, resource) {
      const { call, body } = context;
      if (call.header("idempotency-key") !== undefined)
        throw problem("malformed", {
          detail: "This address does not accept Idempotency-Key. Send the request without it.",
        });
      const isForm = body?.mediaType === formType;
      if (isForm) requireSameSite(call, parts.ownOrigins);
      // The fields of the view are a part of the declared ones.
      const address = await signUp(parts, context, resource as Users, administered);
      return accepted(parts, context, isForm, address);
    },
  };
}

/** A sign-up is refused over cleartext and from other sites, like a login. */
function requireSafe(context: Context): void {
  if (!getExchange(context).service.allowsCleartextLogins) requireSecureTransport(context.call);
  context.requireSameSite();
}

/** The next page of a form gets the address, so that it is typed once. */
function accepted({ verifyPage }: AccountsParts, context: Context, isForm: boolean, email: string): Reply {
  const page = `${context.at(verifyPage())}?${new URLSearchParams({ email }).toString()}`;
  if (isForm && prefersAny(context, ["text/html"]))
    return { status: 303, cache: "no-store", headers: [["Location", page]] };
  return { status: 202, cache: "no-store", body: { kind: "data", value: {}, element: "sign_up" } };
}

/** Sends the mail of a sign-up. Returns its address. */
async function signUp(
  parts: AccountsParts,
  context: Context,
  resource: Users,
  administered: readonly string[],
): Promise<string> {
  await requireMayProbe(parts, context);
  const { values, transient } = requireDraft(resource, context, { id: null, current: null });
  const later = (["password", "username"] as const).filter((name) => transient[name] !== undefined);
  if (later.length > 0) throw invalid(later.map(comesLater));
  if (transient.invite === true) throw invalid([onlyAdministratorsInvite]);
  requireGivenFields(administered, context, values, resource.fields);
  const { name, email } = values;
  await parts.throttle.probe(context.call, async () => {
    const newcomer: Newcomer = { name, email, fields: sentFields(context, values) };
    await parts.verifier.current!.signUp(context, newcomer);
    return { counts: true, result: undefined };
  });
  return email;
}

/**
 * Returns the values of the users' own fields that the caller sent. The others get their defaults when the user is
 * created.
 */
function sentFields({ body }: Context, values: Readonly<Record<string, unknown>>): Newcomer["fields"] {
  const sent = isObject(body?.value) ? Object.keys(body.value) : [];
  const own = sent.filter((name) => name !== "name" && name !== "email" && Object.hasOwn(values, name));
  // The values of a draft are JSON.
  return Object.fromEntries(own.map((name) => [name, values[name] as JSONValue]));
}

/** Returns the issue for a field that the owner of the mailbox chooses. */
const comesLater = (name: "password" | "username"): Issue => ({
  pointer: `/${name}`,
  code: "read_only",
  detail: `The ${name} is chosen when the address is confirmed. Leave it out.`,
});

export const onlyAdministratorsInvite: Issue = {
  pointer: "/invite",
  code: "read_only",
  detail: "Only administrators invite users.",
};
