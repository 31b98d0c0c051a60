import encodeQR from "qr";
import { isObject } from "../../../core/checking/members.ts";
import { html, type PageContent, type Markup } from "../../../core/html/markup.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { View } from "../../../http/request/view.ts";
import { writeAttributes } from "../forms/form.ts";
import { writePasskeyForm } from "../forms/passkey-form.ts";
import { ACCOUNT_PATH } from "../frame.ts";
import { LOGIN_PATH } from "../login-methods.ts";
import { code } from "../parts.ts";
import { resolveAddress, type Drawing, type Drawn } from "../site.ts";
import { drawConfirmed, drawConfirming } from "./confirm-page.ts";
import { codeForm, drawWaiting } from "./factor-page.ts";
import { codeField, drawHead, isWaiting, readNext } from "./waiting-parts.ts";

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
  // The code field has no focus, because the browser would then scroll past the QR code.
  const form = isEnrolment(view) ? codeForm(view, [factor], "", false) : await confirmForm(view, factor);
  const uri = String(factor["uri"]);
  const main = html`${drawHead(title, "Scan this code with the app, then enter the six digits that the app shows.")}
    ${drawQRCode(uri, "QR code of the key")}
    <p><a class="btn" href="${uri}">Open in an app on this device</a></p>
    ${code("secret", "Or type this key", "the key", inGroups(String(factor["secret"])))}
    ${form}`;
  return { title, main, narrow: true };
}

/** Returns a key in groups of four characters. A copy of the key has no white space, because some apps refuse it. */
function inGroups(key: string): PageContent {
  return (key.match(/.{1,4}/g) ?? []).map((group) => html`<span class="group">${group}</span>`);
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

/** Draws the form of a new app again after a wrong code. Returns null for every other problem. */
export async function drawAppAgain(view: View, { errors = [] }: ProblemDocument): Promise<Drawn | null> {
  if (view.place?.path !== CONFIRM_PATH || !errors.some(({ pointer }) => pointer === "/code")) return null;
  const title = "Confirm the authenticator app";
  const main = html`${drawHead(title, "Enter the six digits that the app shows now.")}
    <div class="stack">
      <p class="wrong" id="code-error" role="alert">Wrong code.</p>
      ${await confirmForm(view, { id: view.place.params["factor_id"] }, "code-error")}
    </div>`;
  return { title, main, narrow: true };
}

/**
 * Returns the form that confirms an app, which the user adds on the account page. `error` is the id of the element with
 * the error.
 */
async function confirmForm(view: View, { id }: NewFactorValues, error = ""): Promise<PageContent> {
  const path = CONFIRM_PATH.replace("{id}", readUserId(view)).replace("{factor_id}", String(id));
  const offer = (await view.offers(path)).find(({ method }) => method === "POST");
  if (offer === undefined) return "";
  return html`<form class="panel form"${writeAttributes({ view, offer })} method="post" action="${resolveAddress(view, offer.path)}" aria-label="Confirm the app">
    ${codeField([{ kind: "totp" }], error, error !== "")}
    <div class="row"><button class="btn main">Confirm the app</button></div>
  </form>`;
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
