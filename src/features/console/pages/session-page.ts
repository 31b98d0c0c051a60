import type { Carrier } from "../../../access/scheme/scheme.ts";
import { isObject } from "../../../core/checking/members.ts";
import { html, type PageContent } from "../../../core/html/markup.ts";
import type { View } from "../../../http/request/view.ts";
import { formatTitle } from "../../../resource/record-labels.ts";
import { asJSON } from "../parts.ts";
import { resolveAddress, type Drawing, type Drawn, type Site } from "../site.ts";
import { drawFields } from "./fields.ts";

/** Draws the session: what the service knows about the caller, and a form to try a request like a program. */
export function drawSession(drawing: Drawing): Drawn | null {
  const { value } = drawing.body;
  if (!isObject(value) || !isObject(value["user"])) return null;
  const { user: _, ...rest } = value;
  const main = html`<div class="head"><div><h1>Who you are</h1><p>The service knows this about you from your request.</p></div></div>
<div class="duo"><section aria-labelledby="you"><h2 id="you">You</h2>
${drawFields(drawing, { ...value["user"], ...rest })}
${asJSON("json", "application/json", "the answer as JSON", value)}</section>
${drawProgram(drawing.site, drawing.view)}</div>`;
  return { title: "Who you are", main };
}

/** A way to send a credential by hand. */
interface CredentialHeader {
  readonly name: string;
  readonly header: string;
  readonly placeholder: string;
}

/**
 * Returns a form that sends one request with a given credential, without the session's cookie, as a program would. It
 * needs the script, and stores nothing.
 */
export function drawProgram(site: Site, view: View): PageContent {
  const path = resolveAddress(
    view,
    site.facts().endpoints.some((each) => each.path === "/protected/") ? "/protected/" : "/",
  );
  const headers = collectHeaders(site);
  if (headers.length === 0) return "";
  const panes = headers.map(
    ({ header, placeholder }, at) => html`<div class="pane"><form class="stack" data-try="answer-${at}">
<input type="hidden" name="method" value="GET"><input type="hidden" name="path" value="${path}"><input type="hidden" name="header" value="${header}">
<p class="field"><label for="value-${at}">${header}</label>
<input id="value-${at}" class="mono" name="value" placeholder="${placeholder}" autocomplete="off" spellcheck="false"></p>
<div class="row" data-js hidden><button class="btn main">Send one request</button></div></form>
<figure class="code"><figcaption>Answer</figcaption><pre id="answer-${at}" tabindex="0" role="group" aria-live="polite" aria-label="Answer to the request with ${placeholder}">Nothing sent yet.</pre></figure></div>
`,
  );
  const choices = headers.map(
    ({ name }, at) => html`<label><input type="radio" name="way"${at === 0 ? html` checked` : ""}> ${name}</label>`,
  );
  return html`<section aria-labelledby="program"><h2 id="program">Try a request of a program</h2>
<p class="dim">Sends one request to <code>${path}</code> with the credential that you give, and without your cookie. It stays on this page and is forgotten when you leave.</p>
<div class="panes"><fieldset class="switch"><legend class="vh">Scheme</legend>${choices}</fieldset>
${panes}</div>
<noscript><p class="rule">Sending it needs JavaScript.</p></noscript></section>`;
}

function collectHeaders(site: Site): readonly CredentialHeader[] {
  const carriers = site.facts().schemes.flatMap((scheme) => scheme.carriers.map((carrier) => ({ scheme, carrier })));
  const headers = carriers.flatMap(({ scheme, carrier }) => createHeaders(scheme.name, carrier));
  return headers
    .filter((way, at) => headers.findIndex(({ placeholder }) => placeholder === way.placeholder) === at)
    .slice(0, 5);
}

function createHeaders(name: string, carrier: Carrier): readonly CredentialHeader[] {
  if (carrier.in === "authorization") {
    const word = formatTitle(carrier.scheme);
    return [{ name: word, header: "Authorization", placeholder: `${word} …` }];
  }
  return carrier.in === "header"
    ? [{ name: formatTitle(name), header: carrier.name, placeholder: `${carrier.name} …` }]
    : [];
}
