import encodeQR from "qr";
import { isObject } from "../../../core/checking/members.ts";
import { html, type PageContent, type Markup } from "../../../core/html/markup.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { View } from "../../../http/request/view.ts";
import { drawCardHead, wideLink } from "../forms/card-parts.ts";
import { writePasskeyForm } from "../forms/passkey-form.ts";
import { ACCOUNT_PATH } from "../frame.ts";
import { LOGIN_PATH } from "../login-methods.ts";
import { resolveAddress, type Drawing, type Drawn, type Site } from "../site.ts";
import { drawConfirmed, drawConfirming } from "./confirm-page.ts";
import { codeForm, drawWaiting } from "./factor-page.ts";
import { codeField, isWaiting, readNext } from "./waiting-parts.ts";

type NewFactorValues = Readonly<Record<string, unknown>>;

/** Draws the response of a login or of a new factor. Returns null for any other response. */
export async function drawFactor({ site, view, body }: Drawing): Promise<Drawn | null> {
  const { value } = body;
  if (!isObject(value)) return null;
  const { recovery_codes: codes, secret, options } = value;
  if (Array.isArray(codes)) return drawCodes(site, view, codes.map(String));
  if (typeof secret === "string") return drawApp(site, view, value);
  if (isObject(options)) return drawPasskey(view, value, options);
  if (view.place?.path === CONFIRM_PATH && typeof value["kind"] === "string") return drawAdded(view, value);
  if (view.place?.path === LOGIN_PATH && view.call.method === "POST") return drawConfirmed(view);
  if (!isWaiting(value)) return null;
  return view.place?.path === `${LOGIN_PATH}confirm/` ? drawConfirming(view, value) : drawWaiting(site, view, value);
}

/** The path that makes new recovery codes. */
export const RECOVERY_PATH = "/users/{id}/factors/recovery";

/** The path that confirms a new factor. The factor counts only after that. */
export const CONFIRM_PATH = "/users/{id}/factors/{factor_id}/confirm";

async function drawApp({ title: service }: Site, view: View, factor: NewFactorValues): Promise<Drawn> {
  const title = "Set up your app";
  // The code field has no focus, because the browser would then scroll past the QR code.
  const does = "Turn on two-step login";
  const form = isEnrolment(view)
    ? codeForm(view, { kind: "totp", factors: [factor], hasFocus: false, does })
    : await confirmForm(view, factor, does);
  const uri = String(factor["uri"]);
  const main = html`${drawCardHead(title, "Scan this with an authenticator app on your phone. Then type the six digits that it shows.")}
${drawQRCode(uri, `QR code with the key of ${service} below`)}
<div class="stack near">
  <p class="small dim" id="key-name">Cannot scan? <a href="${uri}">Open it on this device</a>, or type this key into the app:</p>
  <p class="secret"><code id="key">${inGroups(String(factor["secret"]))}</code> <button class="btn low" type="button" data-js hidden data-copy="key">Copy<span class="vh"> the key</span></button></p>
</div>
${form}`;
  return { title, main, card: { foot: isEnrolment(view) ? undefined : notNow(view) } };
}

function notNow(view: View): Markup {
  return html`<p><a href="${resolveAccountAddress(view)}">Not now</a></p>`;
}

/** Returns a key in groups of four characters. A copy of the key has no white space, because some apps refuse it. */
function inGroups(key: string): PageContent {
  return (key.match(/.{1,4}/g) ?? []).map((group) => html`<span class="group">${group}</span>`);
}

/** Draws the page with the button that lets the browser create the passkey. */
function drawPasskey(view: View, { id }: NewFactorValues, options: NewFactorValues): Drawn {
  const title = "Add a passkey";
  const does = "Create the passkey";
  const factor = String(id);
  const form = isEnrolment(view)
    ? { path: LOGIN_PATH, fields: { factor, next: readNext(view) } }
    : { path: CONFIRM_PATH.replace("{id}", readUserId(view)).replace("{factor_id}", factor) };
  const main = html`${drawCardHead(title, "Your browser asks where to store it: on this device, on a phone, on a security key or in a password manager.")}
${writePasskeyForm(view, { ...form, does, isMain: true, asks: { options }, creates: true, label: does })}`;
  const foot = isEnrolment(view) ? undefined : notNow(view);
  return { title, main, card: { foot, scripts: ["script", "passkeys"] } };
}

function drawAdded(view: View, { kind, label }: NewFactorValues): Drawn {
  const title = kind === "passkey" ? "The passkey is added" : "The app is added";
  const name = typeof label === "string" ? html`“<bdi>${label}</bdi>” works from now on.` : "It works from now on.";
  const main = html`${drawCardHead(title, name)}
<div class="buttons">${wideLink(resolveAccountAddress(view), "To your account", "main")}</div>`;
  return { title, main, card: {} };
}

/** Draws the form of a new app again after a wrong code. Returns null for every other problem. */
export async function drawAppAgain(view: View, { errors = [] }: ProblemDocument): Promise<Drawn | null> {
  if (view.place?.path !== CONFIRM_PATH || !errors.some(({ pointer }) => pointer === "/code")) return null;
  const title = "Enter your code";
  const factor = { id: view.place.params["factor_id"] };
  const main = html`${drawCardHead(title, "Type the six digits that the app shows now.")}
${await confirmForm(view, factor, "Turn on two-step login", "Wrong code.")}`;
  return { title, main, card: { foot: notNow(view) } };
}

/** Returns the form that confirms an app, which the user adds on the account page. */
async function confirmForm(view: View, { id }: NewFactorValues, does: string, error?: string): Promise<PageContent> {
  const path = CONFIRM_PATH.replace("{id}", readUserId(view)).replace("{factor_id}", String(id));
  const offer = (await view.offers(path)).find(({ method }) => method === "POST");
  if (offer === undefined) return "";
  return html`<form class="form" method="post" action="${resolveAddress(view, offer.path)}" aria-label="Confirm the app">
  ${codeField("totp", error, error !== undefined)}
  <button class="btn main wide">${does}</button>
</form>`;
}

/** Draws the recovery codes. They are shown only once, so the user can copy, download and print them. */
function drawCodes({ title: service }: Site, view: View, codes: readonly string[]): Drawn {
  const title = "Your recovery codes";
  const next = view.place?.params["id"] === undefined ? readNext(view) : resolveAccountAddress(view);
  const isNew = view.place?.path !== RECOVERY_PATH;
  const lead = isNew
    ? "Two-step login is on. If you lose your phone, each code lets you in once. We show them only now."
    : "The old ones no longer work. If you lose your phone, each code lets you in once. We show them only now.";
  const file = `${service} recovery codes\n${codes.map((each) => `${each}\n`).join("")}`;
  const name = `${
    service
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "") || "my"
  }-recovery-codes.txt`;
  const main = html`${drawCardHead(title, lead)}
<ul class="codes" id="codes">
${codes.map(
  (each) => html`<li>${each}</li>
`,
)}</ul>
<div class="row">
  <button class="btn low" type="button" data-js hidden data-copy="codes">Copy</button>
  <a class="btn low" download="${name}" href="data:text/plain;charset=utf-8,${encodeURIComponent(file)}">Download</a>
  <button class="btn low" type="button" data-js hidden data-print>Print</button>
</div>
<a class="btn main wide no-print" href="${next}">I have stored them</a>`;
  return { title, main, card: {} };
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

/** The width of the white margin around a QR code, in modules (ISO/IEC 18004). */
const MARGIN = 4;

/**
 * Returns a QR code as an image in the page. It is dark on white in every color scheme, because some apps read no other
 * code.
 */
function drawQRCode(text: string, label: string): Markup {
  const rows = encodeQR(text, "raw", { border: MARGIN, ecc: "medium" });
  const path = rows.map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")).join("")).join("");
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${rows.length} ${rows.length}" shape-rendering="crispEdges">
    <path fill="#fff" d="M0 0h${rows.length}v${rows.length}H0z" />
    <path fill="#000" d="${path}" />
  </svg>`;
}
