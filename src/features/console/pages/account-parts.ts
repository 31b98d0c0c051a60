import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { View } from "../../../http/request/view.ts";
import { writeButton } from "../forms/form.ts";
import type { Drawing } from "../site.ts";
import { isRows } from "./rows.ts";

// The parts of the account page: sections with their titles beside them, lines, and folded forms.

/** An element of a list. */
export type Row = Readonly<Record<string, unknown>>;

/** One account, as its page shows it. */
export interface AccountView {
  readonly drawing: Drawing;
  /** The path of the user, without the base path. */
  readonly user: string;
  /** True if the caller is the user. */
  readonly isOwn: boolean;
  /** The record of the user. */
  readonly record: Row;
  readonly recordTag: string | null;
  /** How the user logs in. */
  readonly account: Row;
  /** The steps after the password. Null if the caller may not see them. */
  readonly factors: readonly Row[] | null;
}

/** Returns true if the account has a second step. */
export function hasTwoSteps(factors: AccountView["factors"]): boolean {
  return factors !== null && factors.length > 0;
}

/** Writes a section. Returns nothing if it has no content. */
export function settingsSection(id: string, title: string, words: string, content: PageContent): PageContent {
  if (content === "") return "";
  return html`<section aria-labelledby="${id}">
  <div><h2 id="${id}">${title}</h2><p class="dim small">${words}</p></div>
  ${content}
</section>
`;
}

/** Writes lines below each other. Returns nothing if there are none. */
export function lines(all: readonly PageContent[]): PageContent {
  const shown = all.filter((each) => each !== "");
  return shown.length === 0 ? "" : html`<ul class="lines">${shown}</ul>`;
}

/** Writes one line: what it is about, and what can be done. */
export function line(about: PageContent, does: PageContent = ""): Markup {
  return html`<li><div>${about}</div>${does}</li>
`;
}

/** Writes a folded form. */
export function fold(summary: PageContent, content: PageContent): Markup {
  return html`<details class="more"><summary>${summary}</summary>${content}</details>`;
}

/** Returns the elements of a list that the caller may read. Returns null if there is no such list. */
export async function rowsAt(view: View, path: string): Promise<readonly Row[] | null> {
  const found = await view.ask(path);
  return found?.body?.kind === "data" && isRows(found.body.value) ? found.body.value : null;
}

/** What a removal asks before it is done. */
export interface Removal {
  readonly path: string;
  /** The id of the question on the page. */
  readonly id: string;
  /** The name of what is removed. */
  readonly name: string;
  /** What happens then. */
  readonly warning: string;
  /** The words of the button. Default: "Remove". */
  readonly does?: string;
}

/** Writes the button that removes one element and asks before, if the caller may remove it. */
export async function removal(
  drawing: Drawing,
  { path, id, name, warning, does = "Remove" }: Removal,
): Promise<PageContent> {
  const { view } = drawing;
  const offer = (await view.offers(path.replace(/\?.*$/s, ""))).find(({ method }) => method === "DELETE");
  if (offer === undefined) return "";
  const button = writeButton({ view, offer: { ...offer, path }, next: view.call.path, does: `${does} it` }, "bad main");
  return html`<button class="btn low" type="button" popovertarget="${id}">${does}<span class="vh"> ${name}</span></button>
<div class="pop" id="${id}" popover role="dialog" aria-labelledby="${id}-title">
  <h2 id="${id}-title">${does} <bdi>${name}</bdi>?</h2>
  <p>${warning}</p>
  <div class="row">${button}<button class="btn" type="button" popovertarget="${id}" popovertargetaction="hide">Keep it</button></div>
</div>`;
}
