import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Offer } from "../../../http/request/view.ts";
import { formatTitle } from "../../../resource/record-labels.ts";
import { readTarget } from "../addresses.ts";
import { inCell } from "../excerpt.ts";
import { writeButton, writeForm } from "../forms/form.ts";
import { collectInputs } from "../forms/inputs.ts";
import { asJSON, code, column, table } from "../parts.ts";
import { resolveAddress, type Drawing, type Drawn } from "../site.ts";
import { showValue } from "../values.ts";
import { drawFields } from "./fields.ts";
import { isRows } from "./rows.ts";

/** Draws data without a declared resource: its members or rows, and its actions. */
export async function drawPlain(drawing: Drawing): Promise<Drawn> {
  const { value, element } = drawing.body;
  const title = formatTitle(element);
  const main = html`<div class="head">
      <div><h1 tabindex="-1">${title}</h1></div>
    </div>
    ${drawSecrets(drawing)}
    ${await showAny(drawing, value)}
    ${drawing.offers.map((offer) => drawForm(drawing, offer))}
    <section>
      <h2>What programs get</h2>
      ${asJSON("json", "application/json", "the answer as JSON", value)}
    </section>`;
  return { title, main };
}

async function showAny(drawing: Drawing, value: unknown): Promise<Markup> {
  if (isRows(value)) return drawElements(drawing, value, drawing.path);
  if (isObject(value)) return drawFields(drawing, value);
  return html`<p>${showValue(drawing, null, value)}</p>`;
}

/**
 * Returns the form for an action that the caller may take at this path. Returns nothing if the action only reads or has
 * another path.
 */
function drawForm({ view, tag, path }: Drawing, offer: Offer): PageContent {
  const { method, description } = offer;
  if (method === "GET" || method === "QUERY" || offer.path !== path) return "";
  const does = description ?? method;
  const id = `do-${method.toLowerCase()}`;
  const isLast = method === "DELETE";
  const parts = { view, offer, tag, does: isLast ? "Do it" : "Send", prefix: id };
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${does}</h2>
    ${collectInputs(offer).length === 0 ? writeButton(parts, isLast ? "bad" : "main") : writeForm(parts)}
  </section>`;
}

/** Draws the credentials that the response gives out, with a note that they cannot be shown again. */
function drawSecrets({ view, body: { value } }: Drawing): PageContent {
  if (view.place?.logsIn !== true || view.call.method !== "POST" || view.status >= 300 || !isObject(value)) return "";
  const secrets = SECRETS.flatMap((name) => (typeof value[name] === "string" ? [[name, value[name]] as const] : []));
  if (secrets.length === 0) return "";
  return html`<div class="note good" role="status">
    <h2>Copy it now</h2>
    <p>Only this page shows it. It cannot be shown again.</p>
    ${secrets.map(([name, secret]) => code(`secret-${name}`, name, `the ${name}`, secret))}
    <p><a class="btn" href="">I have copied it</a></p>
  </div>`;
}

const SECRETS = ["key", "token", "password", "access", "refresh"] as const;

/**
 * Draws rows as a table. A row with an id gets a link if the caller may read it, and a button if the caller may delete
 * it.
 */
async function drawElements(
  drawing: Drawing,
  rows: readonly Readonly<Record<string, unknown>>[],
  path: string,
): Promise<Markup> {
  if (rows.length === 0) return html`<div class="empty"><h2>Nothing here</h2></div>`;
  const { view } = drawing;
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const offers = await Promise.all(rows.map(async ({ id }) => (isId(id) ? view.offers(`${path}/${id}`) : [])));
  const hasDeleteColumn = offers.some((each) => each.some(({ method }) => method === "DELETE"));
  const drawCell = (row: Readonly<Record<string, unknown>>, name: string, may: readonly Offer[]): Markup => {
    const shown = showValue(drawing, null, row[name], inCell);
    const isLink = name === "id" && isId(row[name]) && may.some(({ method }) => method === "GET");
    return isLink
      ? html`<th scope="row"><a class="mono" href="${resolveAddress(view, `${path}/${String(row[name])}`)}">${String(row[name])}</a></th>`
      : html`<td class="clip"><span>${shown}</span></td>`;
  };
  const drawDeleteCell = (may: readonly Offer[]): Markup => {
    const offer = may.find(({ method }) => method === "DELETE");
    return html`<td>${offer === undefined ? "" : writeButton({ view, offer, does: "End", next: readTarget(view) }, "low")}</td>`;
  };
  const lines = rows.map(
    (row, at) => html`<tr>
      ${names.map((name) => drawCell(row, name, offers[at]!))}${hasDeleteColumn ? drawDeleteCell(offers[at]!) : ""}
    </tr> `,
  );
  const columns = [...names.map((name) => column(name)), ...(hasDeleteColumn ? [html`<td></td>`] : [])];
  return table(`${rows.length} on this page`, columns, lines);
}

/** Returns true if a value can be part of a path unchanged. */
function isId(value: unknown): value is string | number {
  return typeof value === "number" || (typeof value === "string" && /^[\w.~-]{1,200}$/.test(value));
}
