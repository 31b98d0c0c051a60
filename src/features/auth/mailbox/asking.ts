import type { Call, Reply } from "../../../core/call/call.ts";
import { requireSameSite } from "../../../core/call/cross-site.ts";
import { findOwnPath } from "../../../core/html/link.ts";
import type { Host } from "../../../feature/feature.ts";
import { prefersRedirect } from "../../../http/answer/choosing-format.ts";
import { builtInEndpoint, type Endpoint } from "../../../http/declarations/endpoint.ts";
import { defineResponse, type ReplyTo } from "../../../http/declarations/response.ts";
import { storedOf } from "../../../http/declarations/table.ts";
import { formType } from "../../../http/formats/form.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import { email, text } from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";
import { loginTypes, MAX_LOGIN_BODY_BYTES } from "../people/credentials.ts";
import { accountOf, accountsCollection, type Account } from "../records/accounts.ts";
import type { UsersMount } from "../records/users.ts";
import { codeField } from "../requests/codes.ts";
import { wayBack } from "../requests/way-back.ts";
import type { GivenProof, Purpose } from "./contract.ts";

// The endpoints that send a mail or accept its proof. They accept JSON, or a form from a page of this service.

/** The field of forms that names the next page. */
export const nextField = text({ maxLength: 2048, optional: true, description: "The next page, for a form." });

/** The fields of a proof by mail: `token`, or `email` and `code`. */
export const proofFields = {
  token: text({ maxLength: 2048, optional: true, description: "The token from the link in the mail." }),
  email: text({ maxLength: 254, optional: true, description: "With `code`." }),
  code: codeField("The code from the mail, together with `email`."),
};

/** The body of a request for a mail. */
export const mailRequest = defineResource({
  name: "mail_request",
  plural: "mail_requests",
  fields: { email: email({ description: "The address of the account." }), next: nextField },
});

/** The members that the declarations of these endpoints share. The endpoints need no credential. */
export const openPost = {
  method: "POST",
  access: "open",
  logsIn: true,
  consumes: loginTypes,
  maxBodyBytes: MAX_LOGIN_BODY_BYTES,
  redirectsFor: ["text/html"],
  guard: (context: Context) => context.requireSameSite(),
} as const;

/** Ends the request if it is a form of another origin, because any site can make a browser send a form. */
export function requireOwnForm(context: Context, ownOrigins: readonly string[]): void {
  if (context.body?.mediaType === formType) requireSameSite(context.call, ownOrigins);
}

/** The declaration of an endpoint that sends a mail to the user of an address. */
export interface MailEndpoint {
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  readonly users: UsersMount;
  readonly purpose: Purpose;
  readonly host: Pick<Host, "store" | "ownOrigins">;
}

/** Returns an endpoint that accepts `{email}` and answers 202 `{}`, in the same time for every address. */
export function mailEndpoint({ path, summary, tag, users, purpose, host }: MailEndpoint): Endpoint {
  return builtInEndpoint({
    ...openPost,
    path,
    documentation: {
      summary,
      tag,
      request: mailRequest,
      responses: {
        202: {
          description: "A mail is on its way, if an account has this address and has not got too many mails.",
        },
        303: {
          description: "The same for a form of a page: redirects to the next page.",
          headers: { Location: "A path of this service." },
        },
      },
      problems: ["cross_site"],
    },
    responses: mailResponses,
    async handle(context) {
      requireOwnForm(context, host.ownOrigins);
      const { values } = requireDraft(mailRequest, context, { id: null, current: null });
      await purpose.send(context, await findRecipient(host, users, values.email));
      return accepted(context, values.next, values.email);
    },
  });
}

/** The recipient of a mail. */
export interface Recipient {
  /** The address of the account as it is stored, or the address of the request. */
  readonly address: string;
  /** Null if no active account has the address. */
  readonly user: Account | null;
  /** True if an account has the address, even if it is not active. */
  readonly isKnown: boolean;
}

/**
 * Finds the account of an address. Reads as many rows for an unknown address as for a known one, so both take the same
 * time. A deactivated account counts as unknown.
 */
export async function findRecipient(
  { store }: Pick<Host, "store">,
  users: UsersMount,
  address: string,
): Promise<Recipient> {
  const user = await store.findBy(users.collection, "email", address);
  const row = await store.find(accountsCollection, user === null ? UNUSED_ID : storedOf(user).id);
  const account = row === null ? null : accountOf(row);
  if (user === null || account === null || !account.active) return { address, user: null, isKnown: user !== null };
  // The mail goes to the stored address. Another spelling that is equal for the store may be another mailbox.
  return { address: storedOf(user).email, user: account, isKnown: true };
}

/** An id that no row has, because ids start at 1. */
const UNUSED_ID = 0;

const asked = defineResponse({ name: "mail_request", fields: {} });

/** The responses of an endpoint that sends a mail. */
export const mailResponses = { 202: asked, 303: null } as const;

/** Returns the answer to a request for a mail. The next page of a form gets the address, so that it is typed once. */
export function accepted(context: Context, next: string | null, address?: string): ReplyTo<typeof mailResponses> {
  if (prefersRedirect(context)) return redirect(withAddress(wayBack(context, next), address));
  return asked.reply(202, {}, { cache: "no-store" });
}

/** Returns a path of this service with the address that the form of the last page had. */
export function withAddress(path: string, address: string | undefined): string {
  if (address === undefined) return path;
  const [page = "", query = ""] = path.split("?", 2);
  const parameters = new URLSearchParams(query);
  parameters.set("email", address);
  return `${page}?${parameters.toString()}`;
}

/** Returns the answer to the form of a page. `next` is a path of the service. */
export function redirect(next: string): Reply & { readonly status: 303 } {
  return { status: 303, cache: "no-store", headers: [["Location", next]] };
}

/**
 * Returns the page after a proof by mail: `next`, or the start page. Never returns the page of the link, which would
 * show the token again.
 */
export function nextPage(context: Context, next: string | null): string {
  return findOwnPath(next, readOrigin(context.call)) ?? context.at("/");
}

function readOrigin({ client }: Call): string | null {
  return client.origin;
}

/** Returns the proof in a body. Ends the request (400) if there is none. */
export function requireGivenProof({
  token,
  email: address,
  code,
}: Record<keyof typeof proofFields, string | null>): GivenProof {
  if (token !== null) return { token };
  if (address !== null && code !== null) return { email: address, code };
  const missing = address === null && code === null ? ["token"] : address === null ? ["email"] : ["code"];
  throw invalid(
    missing.map((name) => ({ pointer: `/${name}`, code: "required", detail: "Send token, or email and code." })),
  );
}
