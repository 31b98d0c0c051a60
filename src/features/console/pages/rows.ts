import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup } from "../../../core/html/markup.ts";
import { inCell } from "../excerpt.ts";
import { column, table } from "../parts.ts";
import type { Drawing } from "../site.ts";
import { showValue } from "../values.ts";

type RowValues = Readonly<Record<string, unknown>>;

/** The maximum number of columns of a table. */
const MOST_COLUMNS = 100;

/**
 * Returns true if data is a table, with or without a declaration. Rows with too many different members are not a table.
 */
export function isRows(value: unknown): value is readonly RowValues[] {
  return Array.isArray(value) && value.every(isObject) && findColumns(value) !== null;
}

function findColumns(rows: readonly RowValues[]): readonly string[] | null {
  const names = new Set<string>();
  for (const row of rows) {
    for (const name in row) names.add(name);
    if (names.size > MOST_COLUMNS) return null;
  }
  return [...names];
}

/** Draws rows without a declared resource. */
export function drawRows(drawing: Drawing, rows: readonly RowValues[]): Markup {
  const names = findColumns(rows) ?? [];
  if (rows.length === 0) return html`<div class="empty"><h2>Nothing here</h2></div>`;
  const lines = rows.map(
    (row) =>
      html`<tr>
        ${names.map((name) => html`<td>${showValue(drawing, null, row[name], inCell)}</td>`)}
      </tr> `,
  );
  return table(
    `${rows.length} on this page`,
    names.map((name) => column(name)),
    lines,
  );
}
