import { html, type Markup } from "../../../core/html/markup.ts";
import { nameField } from "../../../resource/record-labels.ts";
import type { Drawing } from "../site.ts";
import { showValue } from "../values.ts";
import { drawRows, isRows } from "./rows.ts";

/** Returns the members of data without a declaration, each with its value. */
export function drawFields(drawing: Drawing, values: Readonly<Record<string, unknown>>): Markup {
  const rows = Object.entries(values).map(
    ([name, value]) => html`<div>
      <dt>${nameField(name)}</dt>
      <dd>${isRows(value) && value.length > 0 ? drawRows(drawing, value) : showValue(drawing, null, value)}</dd>
    </div> `,
  );
  return html`<dl class="facts-list">${rows}</dl>`;
}
