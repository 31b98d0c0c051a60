import { isObject } from "../../../core/checking/members.ts";
import { html, type PageContent } from "../../../core/html/markup.ts";
import type { View } from "../../../http/request/view.ts";
import { drawCardHead } from "../forms/card-parts.ts";
import { writePlainForm, type PlainField } from "../forms/plain-form.ts";
import { ACCOUNT_PATH } from "../frame.ts";
import { resolveAddress, type Drawn, type Site } from "../site.ts";
import { email, readSentValues, type Refused } from "./mail-parts.ts";

/** Writes the form that changes the address of a user. */
export function emailForm(
  site: Site,
  view: View,
  user: string,
  { asksPassword, refused }: { readonly asksPassword: boolean; readonly refused?: Refused },
): PageContent {
  const proof: PlainField = {
    name: "current_password",
    label: "Current password",
    type: "password",
    autocomplete: "current-password",
    hint: "Not needed if you have none.",
    optional: true,
  };
  const address = {
    ...email,
    label: "New e-mail",
    hint: "We send a mail there. The old address stays until you confirm.",
  };
  const fields = asksPassword ? [address, proof] : [address];
  const hidden = { next: `${resolveAddress(view, site.pages.verify)}?change=1` };
  const again = refused === undefined ? {} : { values: readSentValues(view), mistakes: refused.errors ?? [] };
  const label = "Change e-mail";
  const form = { path: `${user}/email`, does: "Send the mail", fields, hidden, ...again, label, prefix: "email" };
  return writePlainForm(view, { ...form, isWide: refused !== undefined });
}

/** Draws the form that changes the address of a user again, with the reason why it was refused. */
export function drawEmailAgain(site: Site, view: View, refused: Refused): Drawn {
  const title = "Change your e-mail";
  const user = `/users/${String(view.place?.params["id"])}`;
  const account = resolveAddress(view, ACCOUNT_PATH.replace("{id}", String(view.place?.params["id"])));
  const asksPassword = isObject(view.sent) && view.sent["current_password"] !== undefined;
  const main = html`${drawCardHead(title, "")}${emailForm(site, view, user, { asksPassword, refused })}`;
  return { title, main, card: { foot: html`<p><a href="${account}">Do not change it</a></p>` } };
}
