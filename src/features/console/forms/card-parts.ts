import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";

// The parts of cards: of pages with one form or one sentence.

/** Returns the head of a card: its title, and one sentence. */
export function drawCardHead(title: PageContent, lead: PageContent): Markup {
  return html`<div>
  <h1 tabindex="-1">${title}</h1>
  ${lead === "" ? "" : html`<p class="lead">${lead}</p>`}
</div>`;
}

/** Returns what went wrong, above the form. */
export function drawRefusal(id: string, reason: string | undefined): PageContent {
  return reason === undefined
    ? ""
    : html`<div class="note bad" role="alert" id="${id}" tabindex="-1"><p>${reason}</p></div>`;
}

/** Returns the other ways, below "or". Returns nothing if there are none. */
export function drawOtherWays(ways: readonly PageContent[]): PageContent {
  const shown = ways.filter((each) => each !== "");
  if (shown.length === 0) return "";
  // Without the script, no word stands above buttons that need it.
  const isScripted = shown.every((each) => String(each).includes("data-js hidden"));
  return html`<p class="or"${isScripted ? html` data-js hidden` : ""}>or</p>
<div class="buttons">
${shown}
</div>`;
}

/** Returns a link that looks like a button of the full width. */
export function wideLink(href: string, words: PageContent, looks: "" | "main" = ""): Markup {
  return html`<a class="${`btn ${looks} wide`.replace("  ", " ")}" href="${href}">${words}</a>`;
}

/** Returns a field for a password, with a button that shows it. */
export function writePasswordInput(id: string, attributes: PageContent): Markup {
  return withShowButton(id, html`<input id="${id}" type="password"${attributes}>`);
}

/** Returns the input of a password with the button that shows it. `id` is the id of the input. */
export function withShowButton(id: string, input: Markup): Markup {
  return html`<div class="inside">
    ${input}
    <button class="btn low" type="button" data-js hidden data-show="${id}" aria-pressed="false"><span>Show</span><span class="vh"> password</span></button>
  </div>`;
}

/** The sign of passkeys. */
export const passkeySign = html`<svg viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" aria-hidden="true"><circle cx="7.5" cy="6" r="3"/><path d="M2.5 16c0-3 2.2-4.8 5-4.8"/><circle cx="14" cy="10.5" r="2.4"/><path d="M14 13v4.5l1.6-1.3"/></svg>`;
