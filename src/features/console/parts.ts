import { formatDay } from "../../core/deprecation.ts";
import { html, type PageContent, type Markup } from "../../core/html/markup.ts";
import type { View } from "../../http/request/view.ts";
import { excerptText, MOST_SHOWN, textOfJSON } from "./excerpt.ts";
import { showDocument } from "./values.ts";

/** Returns a table in a separate frame, which scrolls instead of the page. */
export function table(caption: PageContent, columns: readonly PageContent[], rows: readonly PageContent[]): Markup {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Table">
    <table>
      <caption>
        <div>${caption}</div>
      </caption>
      <thead>
        <tr>
          ${columns}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

/** Returns a note if the page shows deprecated parts. */
export function goingNote({ deprecations, basePath }: Pick<View, "deprecations" | "basePath">): PageContent {
  if (deprecations.length === 0) return "";
  const lines = deprecations.map(({ what, since, sunset, link }) => {
    const until = sunset === null ? "" : `, until ${formatDay(sunset)}`;
    const at = link?.startsWith("/") === true ? basePath + link : link;
    const more = at === null ? "" : html` <a href="${at}">What to do instead</a>`;
    return html`<li>The ${what} is deprecated since ${formatDay(since)}${until}.${more}</li>`;
  });
  return html`<div class="note" role="note">
    <ul>
      ${lines}
    </ul>
  </div> `;
}

/** Returns the head of a column. */
export function column(name: PageContent, classes = ""): Markup {
  return html`<th scope="col" class="${classes}">${name}</th>`;
}

/** Returns text that can be copied. `id` is unique on the page. */
export function code(id: string, caption: PageContent, what: string, text: PageContent): Markup {
  return html`<figure class="code">
    <figcaption>
      <span>${caption}</span>
      <button class="btn low" type="button" data-js hidden data-copy="${id}" aria-label="Copy ${what}">Copy</button>
    </figcaption>
    <pre id="${id}" tabindex="0" role="group" aria-label="${what}">${text}</pre>
  </figure>`;
}

/** Returns data as a program gets it. Long data is cut. */
export function asJSON(id: string, mediaType: string, what: string, value: unknown): Markup {
  const text = typeof value === "object" && value !== null ? textOfJSON(value) : "";
  if (text.length <= MOST_SHOWN) return code(id, mediaType, what, showDocument(value));
  const caption = `${mediaType}, the beginning of ${text.length.toLocaleString("en")} characters`;
  return code(id, caption, what, excerptText(text, MOST_SHOWN));
}
