import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { LinkUser } from "../../../feature/feature.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { View } from "../../../http/request/view.ts";
import { findParameter } from "../addresses.ts";
import { drawCardHead, drawRefusal } from "../forms/card-parts.ts";
import { writePlainForm, type PlainField, type PlainForm } from "../forms/plain-form.ts";
import type { Drawn, Site } from "../site.ts";
import { describeWait } from "./login-page.ts";

// Parts of the pages of sign-up, of forgotten passwords and of the links of mails.

/** A refused attempt, which the page shows with its form again. */
export type Refused = ProblemDocument;

/** The field for an address. */
export const email: PlainField = { name: "email", label: "E-mail", type: "email", autocomplete: "email" };
/** The field for a password that the user chooses. */
export const newPassword: PlainField = {
  name: "password",
  label: "New password",
  type: "password",
  autocomplete: "new-password",
  hint: "At least 8 characters. A few words are good.",
};

/** A page with one form. */
export interface MailPage {
  readonly title: PageContent;
  readonly lead: PageContent;
  readonly form: Omit<PlainForm, "label">;
  readonly refused?: Refused | undefined;
  readonly below?: PageContent;
  readonly foot?: PageContent;
}

/** Draws a page with one form. A refused form shows the sent values and the mistakes. */
export function drawPage(view: View, { title, lead, form, refused, below, foot }: MailPage): Drawn {
  const errors = refused?.errors ?? [];
  const mistakes = errors.filter(({ pointer }) => form.fields.some(({ name }) => pointer === `/${name}`));
  // The mistake may be in a field of the sign-up that this form does not have. Its reason is then shown above the form.
  const reason = mistakes.length > 0 ? undefined : describeRefusal(view, refused);
  const again = refused === undefined ? {} : { values: { ...form.values, ...readSentValues(view) }, mistakes };
  const named = typeof title === "string" ? title : "Welcome";
  const main: Markup = html`${drawCardHead(title, lead)}
${drawRefusal("page-error", reason)}${writePlainForm(view, { ...form, ...again, label: named, isSubject: true, isWide: true })}${below ?? ""}`;
  return { title: named, main, card: foot === undefined ? {} : { foot } };
}

/** Returns the values of the form that was sent. */
export function readSentValues({ sent }: View): Readonly<Record<string, unknown>> {
  return isObject(sent) ? sent : {};
}

/** Returns the address and the code of a mail: from the form, or the address from the page before. */
export function readMailed(view: View): { readonly email?: string; readonly code?: string } {
  const { email: sent, code } = readSentValues(view);
  const address = typeof sent === "string" ? sent : findParameter(view, "email");
  return {
    ...(address === undefined ? {} : { email: address }),
    ...(typeof code === "string" && code !== "" ? { code } : {}),
  };
}

/** Returns the user of a link, without using the link up. Returns null if the link is wrong, used or expired. */
export function findLinkUser(
  site: Site,
  view: View,
  page: "reset" | "verify",
  token: string,
): Promise<LinkUser | null> {
  return site.facts().findLinkUser({ page, token, call: view.call });
}

/** Returns the token of the link: from the address of the page, or from its form. */
export function findToken(view: View): string | undefined {
  const sent = readSentValues(view)["token"];
  return typeof sent === "string" ? sent : findParameter(view, "token");
}

/** Returns true if the service has not found the code right yet, so that the page asks for the code alone. */
export function needsCode(view: View, refused: Refused | undefined): boolean {
  if (readMailed(view).code === undefined || refused?.code === "invalid_link") return true;
  return readSentValues(view)["password"] === undefined && !isFirstAsk(view, refused);
}

/**
 * Returns true if the page before asked for the code alone. The service has checked the code and asks for the password,
 * which is no mistake of the user.
 */
export function isFirstAsk({ sent }: View, refused: Refused | undefined): boolean {
  const isMissing = refused?.errors?.every(({ pointer, code }) => pointer === "/password" && code === "required");
  return isMissing === true && isObject(sent) && sent["password"] === undefined;
}

/** Returns the reason for a refused attempt, for the user. */
export function describeRefusal(view: View, refused: Refused | undefined): string | undefined {
  if (refused === undefined) return undefined;
  if (refused.status === 429) return describeWait(view);
  return refused.code === "invalid_link"
    ? "This code is wrong, used or expired."
    : (refused.errors?.[0]?.detail ?? refused.detail);
}
