import { isObject } from "../../../core/checking/members.ts";
import { html, type PageContent } from "../../../core/html/markup.ts";
import type { View } from "../../../http/formats/view.ts";
import { writeForm } from "../forms/form.ts";
import { writePasskeyForm } from "../forms/passkey-form.ts";
import { ACCOUNT_PATH } from "../frame.ts";
import { code } from "../parts.ts";
import { resolveAddress, type Drawing, type Drawn } from "../site.ts";
import { LOGIN_PATH } from "../ways-in.ts";
import { drawConfirmed, drawConfirming } from "./confirm-page.ts";
import { codeForm, drawWaiting } from "./factor-page.ts";
import { drawHead, isWaiting, readNext } from "./waiting-parts.ts";

type NewFactorValues = Readonly<Record<string, unknown>>;

/** Draws the response of a login or of a new factor. Returns null for any other response. */
export async function drawFactor({ site, view, body }: Drawing): Promise<Drawn | null> {
  const { value } = body;
  if (!isObject(value)) return null;
  const { recovery_codes: codes, secret, options } = value;
  if (Array.isArray(codes)) return drawCodes(view, codes.map(String));
  if (typeof secret === "string") return drawApp(view, value);
  if (isObject(options)) return drawPasskey(view, value, options);
  if (view.place?.path === CONFIRM_PATH && typeof value["kind"] === "string") return drawAdded(view, value);
  if (view.place?.path === LOGIN_PATH && view.call.method === "POST") return drawConfirmed(view);
  if (!isWaiting(value)) return null;
  return view.place?.path === `${LOGIN_PATH}confirm/` ? drawConfirming(view, value) : drawWaiting(site, view, value);
}

/** The path that confirms a new factor. The factor counts only after that. */
export const CONFIRM_PATH = "/users/{id}/factors/{factor_id}/confirm";

async function drawApp(view: View, factor: NewFactorValues): Promise<Drawn> {
  const title = "Set up the authenticator app";
  const form = isEnrolment(view) ? codeForm(view, [factor], "") : await confirmForm(view, factor);
  const main = html`${drawHead(title, "Add this key to the app, then enter the code that the app shows.")}
    ${code("secret", "Key", "the key", String(factor["secret"]))}
    <p><a class="btn" href="${String(factor["uri"])}">Open in an app on this device</a></p>
    ${form}`;
  return { title, main, narrow: true };
}

/** Draws the page with the button that lets the browser create the passkey. */
function drawPasskey(view: View, { id }: NewFactorValues, options: NewFactorValues): Drawn {
  const title = "Create the passkey";
  const does = "Create the passkey";
  const factor = String(id);
  const form = isEnrolment(view)
    ? { path: LOGIN_PATH, fields: { factor, next: readNext(view) } }
    : { path: CONFIRM_PATH.replace("{id}", readUserId(view)).replace("{factor_id}", factor) };
  const main = html`${drawHead(title, "Your browser asks where to store it: on this device, on a phone, on a security key or in a password manager.")}
    ${writePasskeyForm(view, { ...form, does, looks: "main", asks: { options }, creates: true, label: does })}`;
  return { title, main, narrow: true };
}

function drawAdded(view: View, { kind, label }: NewFactorValues): Drawn {
  const title = kind === "passkey" ? "The passkey is added" : "The factor is added";
  const main = html`${drawHead(title, `“${String(label ?? kind)}” is active now.`)}
    <p class="row"><a class="btn main" href="${resolveAccountAddress(view)}">To your account</a></p>`;
  return { title, main, narrow: true };
}

/** Returns the form that confirms an app, which the user adds on the account page. */
async function confirmForm(view: View, { id }: NewFactorValues): Promise<PageContent> {
  const path = CONFIRM_PATH.replace("{id}", readUserId(view)).replace("{factor_id}", String(id));
  const offer = (await view.offers(path)).find(({ method }) => method === "POST");
  return offer === undefined
    ? ""
    : writeForm({ view, offer, only: ["code"], does: "Confirm the app", prefix: "confirm", isPlain: true });
}

/** Draws the recovery codes. They are shown only once, so the user can print the page. */
function drawCodes(view: View, codes: readonly string[]): Drawn {
  const title = "Your recovery codes";
  const next = view.place?.params["id"] === undefined ? readNext(view) : resolveAccountAddress(view);
  const main = html`${drawHead(title, "Print these codes or write them down. Each one replaces your second factor once. This page shows them only now.")}
    ${code("codes", "Recovery codes", "the recovery codes", codes.join("\n"))}
    <p class="row"><a class="btn main" href="${next}">I have saved them</a></p>`;
  return { title, main, narrow: true };
}

/** Returns true if the factor is added during a login. */
function isEnrolment({ place }: View): boolean {
  return place?.path === `${LOGIN_PATH}factors/`;
}

function readUserId({ place }: View): string {
  return String(place?.params["id"]);
}

function resolveAccountAddress(view: View): string {
  return resolveAddress(view, ACCOUNT_PATH.replace("{id}", readUserId(view)));
}
