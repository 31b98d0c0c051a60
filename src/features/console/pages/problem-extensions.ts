import { html, type PageContent } from "../../../core/html/markup.ts";
import { standardMembers, type ExtensionMembers } from "../../../core/problem/extensions.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import { excerptOfJSON, MOST_SHOWN } from "../excerpt.ts";
import { showPlain } from "../values.ts";

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
