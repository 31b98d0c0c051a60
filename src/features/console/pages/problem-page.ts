import { isObject } from "../../../core/checking/members.ts";
import { html, type PageContent, type Markup } from "../../../core/html/markup.ts";
import { catalogueWith } from "../../../core/problem/catalogue.ts";
import { standardMembers, type ExtensionMembers } from "../../../core/problem/extensions.ts";
import { formType } from "../../../http/formats/form.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { Offer, View } from "../../../http/request/view.ts";
import { formatTitle, nameOne } from "../../../resource/record-labels.ts";
import { drawConflict } from "../data/conflict-page.ts";
import { drawForbidden, drawMissing, drawUndone } from "../data/problem-words.ts";
import { drawFormAgain } from "../data/requested-form.ts";
import { drawStart } from "../data/root-page.ts";
import { isTooLong, onPage, excerptOfJSON, MOST_SHOWN } from "../excerpt.ts";
import { choicesFor } from "../forms/choices.ts";
import { writeForm, writeMistakes } from "../forms/form.ts";
import { collectInputs } from "../forms/inputs.ts";
import { writeLoginForm } from "../forms/login-form.ts";
import { labelsFor, noLabels } from "../labels.ts";
import { hasLoginMethods, SESSION_PATH } from "../login-methods.ts";
import { column, table } from "../parts.ts";
import { askedPath, isReadable, isServed } from "../paths.ts";
import { findRecord } from "../replies.ts";
import { resolveAddress, nameInSentence, type Drawn, type Site } from "../site.ts";
import { showPlain } from "../values.ts";
import { drawAccountAgain, findAccountPage } from "./account-again.ts";
import { drawAccountProblem } from "./account-problems.ts";
import { drawConfirmFirst } from "./confirm-page.ts";
import { drawFactorProblem } from "./factor-page.ts";
import { drawLogin, drawLoginAgain } from "./login-page.ts";
import { drawMailProblem } from "./mail-pages.ts";
import { drawAppAgain } from "./new-factor-page.ts";

/** Draws a problem: what happened, why, and what to do. The typed values are kept. */
export async function drawProblem(site: Site, view: View, document: ProblemDocument): Promise<Drawn> {
  const factor = (await drawFactorProblem(site, view, document)) ?? (await drawAppAgain(view, document));
  if (factor !== null) return factor;
  const mailed = await drawMailProblem(site, view, document);
  if (mailed !== null) return mailed;
  const confirming = document.code === "confirmation_required" ? await drawConfirmFirst(site, view) : null;
  if (confirming !== null) return confirming;
  const form =
    document.status === 412
      ? await drawConflict(site, view, askedPath(view), findAccountPage(view))
      : await formAgain(site, view, document);
  if (form?.card !== undefined || form?.looks !== undefined) return form;
  if (form !== null) return { title: form.title, narrow: true, main: form.main };
  // Compares codes instead of the status 401, because the status is 403 if no scheme has a challenge, for example with
  // sessions only.
  const isUnknown = document.code === "not_authenticated" || document.code === "authentication_failed";
  if (isUnknown && hasLoginMethods(site.facts())) return drawLogin(site, view, {});
  if (isEndedLogin(site, view, document)) return drawLogin(site, view, {}, "Your login has ended. Log in again.");
  const { title, code } = document;
  const isRefused = code === "invalid_credentials" || document.status === 429;
  if (isRefused && isLoginPage(view) && view.call.method === "POST") return drawLoginAgain(site, view, document);
  const card = await drawAccountProblem(site, view, document);
  if (card !== null) return card;
  if (code === "not_found" && askedPath(view) === "/" && !isServed(site, "/")) return drawStart(site, view);
  if (code === "not_found") return drawMissing(site, view);
  if (code === "permission_denied" && document.errors === undefined) return drawForbidden(site, view, document);
  const undone = document.status === 409 || document.status === 412 ? await drawUndone(site, view, document) : null;
  if (undone !== null) return undone;
  const detail = code === "invalid_credentials" ? "Wrong name or password." : document.detail;
  const { extensions } = catalogueWith(site.facts().problems)[code] ?? {};
  const main = html`<h1 tabindex="-1" data-focus>${title}</h1>
    <p>${detail}</p>
    ${drawMistakes(document)} ${drawExtensions(document, extensions)} ${waysOn(site, view, document)}
    ${document.status === 401 ? html`${writeLoginForm(site, view)}${drawChallenges(view)}` : ""}`;
  return { title, looks: "narrow problem", main };
}

function isLoginPage(view: View): boolean {
  return askedPath(view) === SESSION_PATH.slice(0, -1);
}

/** True for a cookie that is no longer valid. A wrong token in a header is the mistake of a program. */
function isEndedLogin(site: Site, { call }: View, { code }: ProblemDocument): boolean {
  const isToken = code === "invalid_token" || code === "token_not_valid";
  return isToken && call.header("authorization") === undefined && hasLoginMethods(site.facts());
}

/** Returns the possible next steps: links, or a time to wait. */
function waysOn(site: Site, view: View, { status }: ProblemDocument): PageContent {
  const path = askedPath(view);
  const [, seconds] = view.headers.find(([name]) => name === "Retry-After") ?? [];
  const isRead = view.call.method === "GET" || view.call.method === "HEAD";
  const link = (at: string, words: PageContent): Markup =>
    html`<a class="btn" href="${resolveAddress(view, at)}">${words}</a>`;
  const links: readonly PageContent[] = [
    seconds === undefined
      ? ""
      : html`<p>Wait ${seconds} ${seconds === "1" ? "second" : "seconds"}, then send it again.</p>`,
    status === 400 && isRead && view.query !== "" && isReadable(site, path) ? link(path, "Without the query") : "",
    isRead && (status === 429 || status >= 500) && isReadable(site, path) ? link(path, "Try again") : "",
    status === 403 && hasLoginMethods(site.facts()) ? link(site.pages.login, "Log in as someone else") : "",
    status === 405 && isReadable(site, path) ? link(path, "Open it") : "",
  ];
  return links.every((each) => each === "") ? "" : html`<div class="row">${links}</div>`;
}

function drawMistakes({ errors = [], detail }: ProblemDocument): PageContent {
  return errors.length === 0 ? "" : writeMistakes([], detail, errors);
}

/** Lists the challenges of the response: how programs authenticate. */
function drawChallenges({ headers }: View): PageContent {
  const challenges = headers.filter(([name]) => name === "WWW-Authenticate");
  if (challenges.length === 0) return "";
  const rows = challenges.map(([, challenge]) => {
    const scheme = challenge.split(" ", 1)[0]!;
    return html`<tr>
      <th scope="row">${scheme}</th>
      <td><code>Authorization: ${scheme} …</code></td>
      <td><code>${challenge}</code></td>
    </tr> `;
  });
  const columns = ["Scheme", "Send", "The answer’s WWW-Authenticate"].map((name) => column(name));
  return html`<section>
    <h2>For programs</h2>
    ${table("Any one of these", columns, rows)}
  </section>`;
}

/**
 * Draws the form again with the sent values and the mistakes. Returns null if there is no form to draw: for example if
 * no field is wrong, or if the caller may not send the form.
 */
async function formAgain(site: Site, view: View, document: ProblemDocument): Promise<Drawn | null> {
  const { place, sent, call } = view;
  const { errors = [], detail } = document;
  if (place === null || isLoginPage(view) || (sent !== null && !isObject(sent)) || errors.length === 0) return null;
  // Values that are too long are not shown again. The user can go back to the page with the form, which still has them.
  if (Object.values({ ...sent }).some(isTooLong)) return null;
  const offers = await view.offers();
  const offer = offers.find(({ method, path }) => method === call.method && path === askedPath(view));
  if (offer === undefined) return null;
  const inputs = collectInputs(offer);
  if (inputs.length === 0) return null;
  const what = describeOffer(view, offer);
  // A PATCH contains only the changed fields. The others come from the record.
  const values: Readonly<Record<string, unknown>> =
    call.method === "PATCH" ? { ...findRecord(await view.ask(askedPath(view))), ...sent } : { ...sent };
  const fieldSource = offer.body ?? offer.resource;
  const form = {
    choices: await choicesFor(site, view, [offer]),
    labels: fieldSource === null ? noLabels : await labelsFor(site, view, fieldSource, [values], onPage),
    view,
    offer,
    values,
    again: Object.keys({ ...sent }),
    mistakes: errors,
    tag: call.header("if-match") ?? null,
    does: "Send again",
    isPlain: call.header("content-type")?.startsWith(formType) === true,
  };
  const ofAccount = await drawAccountAgain(view, form);
  if (ofAccount !== null) return ofAccount;
  const ofResource = await drawFormAgain(site, view, document);
  if (ofResource !== null) return ofResource;
  const main = html`<div class="head">
      <div>
        <h1>${what}</h1>
        <p>Nothing was stored. What you typed is still here.</p>
      </div>
    </div>
    ${writeMistakes(inputs, detail, errors)}
    ${drawExtensions(document, catalogueWith(site.facts().problems)[document.code]?.extensions)} ${writeForm(form)}`;
  return { title: what, main };
}

function describeOffer({ place, call }: View, { name, resource, description }: Offer): string {
  if (name !== null) return formatTitle(name);
  if (resource === null) return description ?? `${call.method} ${call.path}`;
  return call.method === "POST" ? `New ${nameInSentence(resource)}` : nameOne(resource, place?.params["id"]);
}

/** Returns the extension members of a problem with their values. Empty if it has none. */
export function drawExtensions(document: ProblemDocument, declared: ExtensionMembers = {}): PageContent {
  const members = Object.entries(document).filter(([name]) => !standardMembers.has(name));
  if (members.length === 0) return "";
  const rows = members.map(([name, value]) => {
    const shown =
      typeof value === "object" && value !== null
        ? html`<code>${excerptOfJSON(value, MOST_SHOWN)}</code>`
        : showPlain(value, MOST_SHOWN);
    const { description } = declared[name]?.options ?? {};
    return html`<div>
      <dt>${name}</dt>
      <dd>${shown}</dd>
      ${description === undefined ? "" : html`<dd class="rule">${description}</dd>`}
    </div> `;
  });
  return html`<dl class="facts-list">${rows}</dl>`;
}
