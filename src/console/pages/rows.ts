import { isObject } from "../../checking/members.ts";
import { html, type Markup } from "../../html/markup.ts";
import { column, table } from "../parts.ts";
import type { Drawing } from "../site.ts";
import { showValue } from "../values.ts";

type Values = Readonly<Record<string, unknown>>;

/** Whether data is a table, whoever declared it. */
export function isRows(value: unknown): value is readonly Values[] {
  return Array.isArray(value) && value.every(isObject);
}

/** Rows of which nobody declared anything. */
export function rowsOf(drawing: Drawing, rows: readonly Readonly<Record<string, unknown>>[]): Markup {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (rows.length === 0) return html`<div class="empty"><h2>Nothing here</h2></div>`;
  const lines = rows.map(
    (row) =>
      html`<tr>
        ${names.map((name) => html`<td>${showValue(drawing, null, row[name])}</td>`)}
      </tr> `,
  );
  return table(
    `${rows.length} on this page`,
    names.map((name) => column(name)),
    lines,
  );
}
