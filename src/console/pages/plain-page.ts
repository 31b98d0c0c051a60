import { isObject } from "../../checking/members.ts";
import { html, type Markup } from "../../html/markup.ts";
import { asJSON } from "../parts.ts";
import { titleOf, type Drawing, type Drawn } from "../site.ts";
import { showValue } from "../values.ts";
import { fieldsOf } from "./record-page.ts";
import { isRows, rowsOf } from "./rows.ts";

/** Data of which nobody declared anything: its members, its rows, or itself. */
export function drawPlain(drawing: Drawing): Drawn {
  const { value, element } = drawing.body;
  const title = titleOf(element);
  const main = html`<div class="head">
      <div><h1>${title}</h1></div>
    </div>
    ${showAny(drawing, value)}
    <section>
      <h2>What programs get</h2>
      ${asJSON("json", "application/json", "the answer as JSON", value)}
    </section>`;
  return { title, main };
}

function showAny(drawing: Drawing, value: unknown): Markup {
  if (isRows(value)) return rowsOf(drawing, value);
  if (isObject(value)) return fieldsOf(drawing, {}, value);
  return html`<p>${showValue(drawing, null, value)}</p>`;
}
