import { isObject } from "../../../core/checking/members.ts";
import { pathHere } from "../../../core/html/link.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { ProblemDocument } from "../../../http/formats/format.ts";
import type { View } from "../../../http/formats/view.ts";
import { parameterOf } from "../addresses.ts";
import { writeForm } from "../forms/form.ts";
import { code } from "../parts.ts";
import { addressOf, type Drawing, type Drawn } from "../site.ts";
import { LOGIN_PATH } from "../ways-in.ts";
import { recordOf } from "./rows.ts";

// The second step of a login, without JavaScript. A passkey needs JavaScript, so these pages offer the other factors.

type Values = Readonly<Record<string, unknown>>;

/** Draws the answers of a login and of a new factor. Returns null if the answer is none of them. */
export async function drawFactor(drawing: Drawing): Promise<Drawn | null> {
  const { view, body } = drawing;
  const { value } = body;
  if (!isObject(value)) return null;
  const { recovery_codes: codes, secret } = value;
  if (Array.isArray(codes)) return drawCodes(view, codes.map(String));
  if (typeof secret === "string")
    return drawNewFactor(
      value,
      view.place?.path === `${LOGIN_PATH}factors/` ? codeForm(view, [value], null) : await confirmForm(view, value),
    );
  return isWaiting(value) ? drawWaiting(view, value, null) : null;
}

/** Draws the page for the second factor of the login that the cookie of this browser names. */
export async function drawWaitingLogin({ site, view }: Drawing): Promise<Drawn> {
  const waiting = recordOf(await view.ask(LOGIN_PATH));
  if (isWaiting(waiting)) return drawWaiting(view, waiting, null);
  const next = new URLSearchParams({ next: nextOf(view) }).toString();
  const title = "Log in again";
  const main = html`${headOf(title, "This login has expired, or it is complete. A login waits five minutes for its second factor.")}
    <p class="row"><a class="btn main" href="${addressOf(view, site.pages.login)}?${next}">Log in</a></p>`;
  return { title, main, narrow: true };
}

/** Draws the problem of a login that waits for a factor, or of a wrong code. Returns null for every other problem. */
export async function drawFactorProblem(view: View, document: ProblemDocument): Promise<Drawn | null> {
  const { login, code: problemCode } = document;
  if (problemCode === "factor_required" && isWaiting(login)) return drawWaiting(view, login, null);
  if (problemCode !== "invalid_credentials" || view.place?.path !== LOGIN_PATH) return null;
  const waiting = recordOf(await view.ask(LOGIN_PATH));
  return isWaiting(waiting) ? drawWaiting(view, waiting, "Wrong code.") : null;
}

function isWaiting(value: unknown): value is Values & { readonly factors: readonly unknown[] } {
  return isObject(value) && typeof value["needs"] === "string" && Array.isArray(value["factors"]);
}

function drawWaiting(
  view: View,
  login: Values & { readonly factors: readonly unknown[] },
  wrong: string | null,
): Drawn {
  const isEnrolment = login["needs"] === "enrolment";
  const title = isEnrolment ? "Add a second factor" : "Enter your code";
  const factors = login.factors.filter(isObject).filter(({ kind }) => kind === "totp" || kind === "recovery");
  const main = html`${headOf(title, isEnrolment ? "Your account must have a second factor. Add one to log in." : "Your password is correct. Your account also needs a second factor.")}
    ${isEnrolment ? enrolmentForm(view) : codeForm(view, factors, wrong)}`;
  return { title, main, narrow: true };
}

function headOf(title: string, text: string): Markup {
  return html`<div class="head">
    <div>
      <h1 tabindex="-1">${title}</h1>
      <p>${text}</p>
    </div>
  </div>`;
}

function codeForm(view: View, factors: readonly Values[], wrong: string | null): Markup {
  const [first] = factors;
  if (first === undefined)
    return html`<p>The factors of this account need a program or JavaScript. <a href="${addressOf(view, "/")}">To the start page</a></p>`;
  const choices = factors.map(
    ({ id, label, kind }) => html`<option value="${String(id)}">${String(label ?? kind)}</option>`,
  );
  const which =
    factors.length === 1
      ? html`<input type="hidden" name="factor" value="${String(first["id"])}" />`
      : html`<p class="field">
          <label for="factor">Factor</label>
          <select id="factor" name="factor">
            ${choices}
          </select>
        </p>`;
  return html`<form class="panel form" method="post" action="${addressOf(view, LOGIN_PATH)}" aria-label="Complete the login">
    <input type="hidden" name="next" value="${nextOf(view)}" />
    ${which}${codeField(wrong)}
    <div class="row"><button class="btn main">Log in</button></div>
  </form>`;
}

function codeField(wrong: string | null): Markup {
  const error: PageContent =
    wrong === null ? "" : html`<span class="wrong" id="code-error" role="alert">${wrong}</span>`;
  const attributes: PageContent = wrong === null ? "" : html` aria-invalid="true" aria-describedby="code-error"`;
  return html`<p class="field">
    <label for="code">Code</label>
    <input id="code" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required${attributes} />
    ${error}
  </p>`;
}

function enrolmentForm(view: View): Markup {
  return html`<form class="panel form" method="post" action="${addressOf(view, `${LOGIN_PATH}factors/`)}" aria-label="Add a factor">
    <input type="hidden" name="next" value="${nextOf(view)}" />
    <input type="hidden" name="kind" value="totp" />
    <p>You need an authenticator app on your phone.</p>
    <div class="row"><button class="btn main">Set up the app</button></div>
  </form>`;
}

/** Confirms a factor that a user adds on the account page. */
async function confirmForm(view: View, { id }: Values): Promise<PageContent> {
  const offers = await view.offers(`/users/${String(view.place?.params["id"])}/factors/${String(id)}/confirm`);
  const offer = offers.find(({ method }) => method === "POST");
  return offer === undefined
    ? ""
    : writeForm({ view, offer, only: ["code"], does: "Confirm the app", prefix: "confirm" });
}

function drawNewFactor(factor: Values, form: PageContent): Drawn {
  const title = "Set up the authenticator app";
  const main = html`${headOf(title, "Add this key to the app, then enter the code that the app shows.")}
    ${code("secret", "Key", "the key", String(factor["secret"]))}
    <p><a class="btn" href="${String(factor["uri"])}">Open in an app on this device</a></p>
    ${form}`;
  return { title, main, narrow: true };
}

/** Recovery codes are shown once. The page can be printed. */
function drawCodes(view: View, codes: readonly string[]): Drawn {
  const title = "Your recovery codes";
  const main = html`${headOf(title, "Print these codes or write them down. Each one replaces your second factor once. This page shows them only now.")}
    ${code("codes", "Recovery codes", "the recovery codes", codes.join("\n"))}
    <p class="row"><a class="btn main" href="${nextOf(view)}">I have saved them</a></p>`;
  return { title, main, narrow: true };
}

/** The page to show after the login: the one that the form names, if it is a path of this service. */
function nextOf(view: View): string {
  const { sent, call, basePath } = view;
  const next = isObject(sent) ? sent["next"] : parameterOf(view, "next");
  const path = typeof next === "string" ? pathHere(next) : null;
  return path === null || path === call.path ? `${basePath}/` : path;
}
