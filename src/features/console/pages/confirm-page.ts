import { isUnsafe } from "../../../core/call/cross-site.ts";
import { isObject } from "../../../core/checking/members.ts";
import { parseJSON } from "../../../core/exact-numbers.ts";
import { findOwnPath } from "../../../core/html/link.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import { belowBasePath } from "../../../http/base-path.ts";
import { formType } from "../../../http/formats/form.ts";
import type { View } from "../../../http/request/view.ts";
import { readTarget } from "../addresses.ts";
import { drawCardHead, drawOtherWays, drawRefusal, writePasswordInput } from "../forms/card-parts.ts";
import { collectInputs } from "../forms/inputs.ts";
import { writePasskeyForm } from "../forms/passkey-form.ts";
import { writeUsernameField } from "../forms/username-field.ts";
import { LOGIN_PATH } from "../login-methods.ts";
import { askedPath, isServed } from "../paths.ts";
import { resolveAddress, type Drawn, type Site } from "../site.ts";
import { drawFactorChoice, codeField, readNext, type WaitingLoginReply } from "./waiting-parts.ts";

// The pages for a request that needs a recent proof of identity. A hidden input carries the values of the sent form,
// without passwords, from page to page.

const CONFIRM_LOGIN_PATH = `${LOGIN_PATH}confirm/`;

/** The maximum length of the carried form, in URL-encoded characters. The login endpoints accept only short bodies. */
const MOST_CARRIED = 12_000;

/** A sent form that the pages carry in a hidden input while the user confirms who they are. */
interface Carried {
  readonly method: string;
  /** With the base path and the query. */
  readonly path: string;
  /** True if the script sent it as JSON. */
  readonly typed: boolean;
  /** The `If-Match` header of the request. Null if it has none. */
  readonly match: string | null;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Draws the problem of a request that needs a recent proof of identity. Returns null if the caller cannot confirm on a
 * page. The script sends the form of this page at once.
 */
export async function drawConfirmFirst(site: Site, view: View): Promise<Drawn | null> {
  if (view.identity?.scheme !== "session" || !isServed(site, CONFIRM_LOGIN_PATH, "POST")) return null;
  const { call } = view;
  const again = isUnsafe(call.method) ? await carry(view) : null;
  const next = isUnsafe(call.method)
    ? (findOwnPath(call.header("referer"), call.client.origin) ?? resolveAddress(view, "/"))
    : readTarget(view);
  const action = resolveAddress(view, CONFIRM_LOGIN_PATH);
  const reassurance = again === null ? "" : " Nothing was saved yet. What you typed is kept, except for passwords.";
  const main = html`${drawCardHead(TITLE, `${describePurpose(view, { method: call.method, path: call.path })}${reassurance}`)}
<form class="form" method="post" action="${action}" data-method="POST" data-path="${action}" data-stay data-confirm aria-label="${TITLE}">
  <input type="hidden" name="next" value="${next}">${hiddenForm(again)}
  <button class="btn main wide">Confirm</button>
</form>`;
  return { title: TITLE, main, card: { foot: turnBack(next), scripts: ["script", "forms"] } };
}

const TITLE = "Confirm that it is you";

/** The requests that need a recent proof, and the words for them. */
const purposes: readonly (readonly [path: RegExp, words: string])[] = [
  [/^\/users\/\d+\/email$/, "Before you change your e-mail."],
  [/^\/users\/\d+\/factors/, "Before you change two-step login."],
  [/^\/users\/\d+\/identities/, "Before you change your company logins."],
  [/^\/users\/\d+\/(?:keys|token)/, "Before you change keys for programs."],
  [/^\/users\/\d+\/sessions/, "Before you end a login."],
  [/^\/users\/\d+(?:\/account)?$/, "Before you change your account."],
];

/** Returns before what the user confirms. */
function describePurpose({ basePath }: View, { method, path }: Pick<Carried, "method" | "path">): string {
  const target = (belowBasePath(path, basePath) ?? path).replace(/\?.*$/s, "");
  const words = purposes.find(([pattern]) => pattern.test(target))?.[1];
  return words ?? (isUnsafe(method) ? "Before your change is saved." : "Before you see this page.");
}

function turnBack(next: string): Markup {
  return html`<p><a href="${next}" data-back>Do not change it</a></p>`;
}

/** Returns the sent form as text, without passwords. Returns null if it is too long. */
async function carry(view: View): Promise<string | null> {
  const { call } = view;
  const offers = await view.offers();
  const offer = offers.find(({ method, path }) => method === call.method && path === askedPath(view));
  const secret =
    offer === undefined ? [] : collectInputs(offer).flatMap(({ name, isSecret }) => (isSecret ? [name] : []));
  const values = sentValues(view).filter(([name]) => !secret.includes(name) && !/password|secret|token/i.test(name));
  const isForm = view.sentForm !== null || call.header("content-type")?.startsWith(formType) === true;
  const carried: Carried = {
    // A form names its method among its values.
    method: isForm ? "POST" : call.method,
    path: readTarget(view),
    typed: !isForm,
    match: isForm ? null : (call.header("if-match") ?? null),
    values: Object.fromEntries(values),
  };
  const text = JSON.stringify(carried);
  return encodeURIComponent(text).length > MOST_CARRIED ? null : text;
}

/**
 * Returns what was sent, by name. The form of a page keeps its texts, and the names that stand for its header fields.
 */
function sentValues({ sent, sentForm, call }: View): readonly (readonly [name: string, value: unknown])[] {
  if (sentForm === null) return Object.entries(isObject(sent) ? sent : {});
  const { match, key, typed } = sentForm;
  const named = { _method: call.method === "POST" ? null : call.method, _match: match, _key: key };
  return [...Object.entries(named).filter(([, value]) => value !== null), ...typed];
}

function hiddenForm(again: unknown): PageContent {
  return typeof again === "string" ? html`<input type="hidden" name="again" value="${again}" />` : "";
}

/**
 * Returns true if a login that waits is a confirmation: only a confirmation accepts a password as a factor, or carries
 * a form.
 */
export function isConfirmation({ sent }: View, { factors }: WaitingLoginReply): boolean {
  if (isObject(sent) && sent["again"] !== undefined) return true;
  return factors.some((each) => isObject(each) && each["kind"] === "password");
}

/** Draws the ways to confirm: a password, a code or a passkey. The first one is open, the others are below "or". */
export function drawConfirming(view: View, { factors }: WaitingLoginReply, wrong?: string): Drawn {
  const all = factors.filter(isObject);
  const ofKind = (kind: string): readonly Readonly<Record<string, unknown>>[] =>
    all.filter((each) => each["kind"] === kind);
  const [apps, [passkey], [recovery]] = [ofKind("totp"), ofKind("passkey"), ofKind("recovery")];
  const sent = isObject(view.sent) ? view.sent : {};
  const again = typeof sent["again"] === "string" ? sent["again"] : undefined;
  const carried = parseCarried(again);
  const next = readNext(view);
  const fields = { next, ...(again === undefined ? {} : { again }) };
  const isCode = wrong === "Wrong code.";
  const inField = (isHere: boolean): string | undefined => (isHere ? wrong : undefined);
  const byPassword = ofKind("password").length > 0;
  const isRecovery = sent["factor"] === "recovery";
  const forms: readonly (readonly [name: string, form: Markup | null])[] = [
    [
      "Use your password",
      byPassword
        ? confirmForm(
            view,
            fields,
            html`${writeUsernameField(view)}${passwordField(inField(wrong === "Wrong password."))}`,
          )
        : null,
    ],
    [
      "Use the code from your app",
      apps.length === 0
        ? null
        : confirmForm(
            view,
            fields,
            html`${drawFactorChoice(apps)}${codeField("totp", inField(isCode && !isRecovery))}`,
          ),
    ],
    [
      "Use a recovery code",
      recovery === undefined
        ? null
        : confirmForm(
            view,
            fields,
            html`${drawFactorChoice([recovery])}${codeField("recovery", inField(isCode && isRecovery))}`,
          ),
    ],
  ];
  const ways = forms.flatMap(([name, form]) => (form === null ? [] : [[name, form] as const]));
  // After a mistake, the way that the user chose comes first.
  const chosen = isRecovery ? ways.at(-1) : ways[0];
  const does = "Use a passkey";
  const isMain = chosen === undefined;
  const form = { path: LOGIN_PATH, does, isMain, asks: { options: passkey?.["ask"] }, label: does, restores: true };
  const after = again === undefined ? { next } : {};
  const byPasskey =
    passkey === undefined
      ? ""
      : writePasskeyForm(view, { ...form, ...after, fields: { ...fields, factor: String(passkey["id"]) } }, next);
  const others = ways.filter((each) => each !== chosen);
  const folded = others.map(
    ([name, content]) => html`<details class="more small"><summary>${name}</summary>${content}</details>`,
  );
  const lead = carried === null ? "Before you go on." : describePurpose(view, carried);
  const isShown = wrong !== undefined && (isCode || wrong === "Wrong password.");
  const main = html`${drawCardHead(TITLE, `${lead} We ask again after 10 minutes.`)}
${drawRefusal("confirm-error", isShown ? undefined : wrong)}${chosen === undefined ? "" : chosen[1]}${isMain ? byPasskey : drawOtherWays([byPasskey])}${folded}
${all.length === 0 ? html`<p>Your account has nothing to confirm with. Log out, then log in again.</p>` : ""}`;
  return { title: TITLE, main, card: { foot: turnBack(next), scripts: ["script", "forms", "passkeys"] } };
}

function confirmForm(view: View, fields: Readonly<Record<string, string>>, content: Markup): Markup {
  const action = resolveAddress(view, LOGIN_PATH);
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}"> `,
  );
  return html`<form class="form" method="post" action="${action}" data-method="POST" data-path="${action}" data-then="${fields["next"] ?? ""}" data-leave data-restore aria-label="${TITLE}">
  ${hidden}${content}
  <button class="btn main wide">Confirm</button>
</form>`;
}

function passwordField(error: string | undefined): Markup {
  const marks: PageContent = error === undefined ? "" : html` aria-invalid="true" aria-describedby="confirm-wrong"`;
  return html`<input type="hidden" name="factor" value="password">
  <div class="field">
    <label for="password">Password</label>
    ${error === undefined ? "" : html`<p class="wrong" id="confirm-wrong" role="alert">${error}</p>`}
    ${writePasswordInput("password", html` name="password" autocomplete="current-password" required autofocus${marks}`)}
  </div>`;
}

/**
 * Draws the carried form after the user has confirmed. The user sends it with the button. Returns null if there is no
 * valid form.
 */
export function drawConfirmed(view: View): Drawn | null {
  const carried = parseCarried(isObject(view.sent) ? view.sent["again"] : undefined);
  if (carried === null) return null;
  const { method, path, typed, match, values } = carried;
  const inputs = Object.entries(values).flatMap(([name, value]) => {
    // Checkboxes of one name give several texts.
    const texts = !typed && Array.isArray(value) ? value.filter((each) => typeof each === "string") : [value];
    return texts.map((each) =>
      typeof each === "string"
        ? html`<input type="hidden" name="${name}" value="${each}" /> `
        : html`<input type="hidden" name="${name}" data-type="json" value="${JSON.stringify(each)}" /> `,
    );
  });
  const target: Markup = typed
    ? html` data-method="${method}" data-path="${path}"${match === null ? "" : html` data-match="${match}"`}`
    : html` method="post" action="${path}"`;
  const title = "You have confirmed";
  const main = html`${drawCardHead(title, `${describePurpose(view, carried)} It is not saved yet.`)}
<form class="form"${target} aria-label="Your request">
  ${inputs}
  <button class="btn main wide">Go on</button>
</form>`;
  return { title, main, card: { foot: turnBack(readNext(view)), scripts: ["script", "forms"] } };
}

/** Parses the carried form. Returns null if it is invalid, because the browser can send any text. */
function parseCarried(text: unknown): Carried | null {
  if (typeof text !== "string") return null;
  let value: unknown;
  try {
    value = parseJSON(text);
  } catch {
    return null;
  }
  if (!isObject(value) || !isObject(value["values"])) return null;
  const { method, path, typed, match, values } = value;
  const target = typeof path === "string" ? findOwnPath(path) : null;
  if (typeof method !== "string" || !["POST", "PUT", "PATCH", "DELETE"].includes(method) || target === null)
    return null;
  if (typed !== true && method !== "POST") return null;
  return { method, path: target, typed: typed === true, match: typeof match === "string" ? match : null, values };
}
