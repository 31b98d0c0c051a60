import { html, type Markup } from "../../../core/html/markup.ts";
import type { View } from "../../../http/request/view.ts";
import type { Operator, Resource } from "../../../resource/resource.ts";
import { readParameters, withoutParameter } from "../addresses.ts";
import type { Drawing } from "../site.ts";

const words: Readonly<Record<Operator, string>> = {
  eq: "is",
  ne: "is not",
  lt: "is less than",
  lte: "is at most",
  gt: "is more than",
  gte: "is at least",
  in: "is one of",
  contains: "contains",
  starts: "starts with",
  icontains: "contains, in any case",
  istarts: "starts with, in any case",
  null: "is null",
};

/**
 * Writes a form for each declared filter, grouped by field. Each leads to a separate URL and works without the script.
 */
export function drawFilters({ view }: Drawing, resource: Resource): Markup {
  if (resource.filters.size === 0) return html``;
  const hiddenInputs = retainedInputs(view);
  const fields = [...resource.filters].map(([field, operators]) => {
    const forms = operators.map((operator) => {
      const id = `filter-${field}-${operator}`;
      const name = operator === "eq" ? (field === "format" ? "format[eq]" : field) : `${field}[${operator}]`;
      return html`<form class="row" action="${view.call.path}">
        ${hiddenInputs}<label for="${id}"><span class="vh">${field} </span>${words[operator]}</label>
        ${drawInput(resource, field, operator, html` id="${id}" name="${name}"`)}<button class="btn low">Filter</button>
      </form> `;
    });
    return html`<details class="more">
      <summary>${field}</summary>
      <div class="stack near">${forms}</div>
    </details> `;
  });
  return html`<details class="menu">
    <summary class="btn">Filter</summary>
    <div class="stack near">${fields}</div>
  </details>`;
}

/**
 * Returns hidden inputs with the current parameters, for a form that adds or changes one. Leaves out the cursor, so
 * that the list starts at its first page.
 */
export function retainedInputs(view: View, without?: string): readonly Markup[] {
  const retained = readParameters(view).filter(([name]) => name !== "cursor" && name !== without);
  return retained.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`);
}

function drawInput({ fields }: Resource, field: string, operator: Operator, about: Markup): Markup {
  if (operator === "null") return html`<select${about}><option>true</option><option>false</option></select>`;
  const kind = Object.hasOwn(fields, field) ? fields[field]!.kind : null;
  const choices = kind?.column.type === "boolean" ? ["true", "false"] : kind?.schema["enum"];
  if (Array.isArray(choices) && (operator === "eq" || operator === "ne"))
    return html`<select${about}>${choices.map((each) => html`<option>${String(each)}</option>`)}</select>`;
  const hint = operator === "in" ? html` placeholder="separated by commas"` : "";
  return html`<input${about}${hint} required autocomplete="off" dir="auto">`;
}

/** Returns the active filters, each with a link that removes it. */
export function drawChips({ view }: Drawing, resource: Resource): Markup {
  const chips = readParameters(view).flatMap(([name, value], at) => {
    const [, field = "", operator = "eq"] = /^([a-z][a-z0-9_]*)(?:\[([a-z]+)\])?$/.exec(name) ?? [];
    if (!resource.filters.has(field) || !Object.hasOwn(words, operator)) return [];
    const away = withoutParameter(view, at);
    return html`<li>
      <span
        >${field} ${words[operator as Operator]} <b><bdi>${value}</bdi></b></span
      ><a href="${away}" aria-label="Remove the filter on ${field}">×</a>
    </li>`;
  });
  return chips.length === 0
    ? html``
    : html`<ul class="chips" aria-label="Filters in use">
        ${chips}
      </ul>`;
}
