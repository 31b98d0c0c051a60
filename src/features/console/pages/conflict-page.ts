import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Offer, View } from "../../../http/request/view.ts";
import { formatTitle } from "../../../resource/record-labels.ts";
import { isTooLong } from "../excerpt.ts";
import { writeAttributes, writeField } from "../forms/form.ts";
import { collectInputs, type Input } from "../forms/inputs.ts";
import { needsScript } from "../parts.ts";
import { resolveAddress, type Drawn } from "../site.ts";
import { findRecord } from "./rows.ts";

type ConflictValues = Readonly<Record<string, unknown>>;

/** Two versions of one record, to choose from field by field. */
interface Conflict {
  readonly view: View;
  readonly offer: Offer;
  readonly path: string;
  /** The current record, as far as the caller may read it. */
  readonly current: ConflictValues;
  /** Its tag, in the form of `If-Match`. */
  readonly tag: string;
  readonly sent: ConflictValues;
}

/**
 * Draws the page for a change that came too late. The change was not stored. The page shows it, so the caller can send
 * it again. Returns null if the two versions cannot be compared: for example, there is no record, or a value is too
 * long.
 */
export async function drawConflict(view: View, path: string): Promise<Drawn | null> {
  const { sent, call } = view;
  if ((call.method !== "PATCH" && call.method !== "PUT") || !isObject(sent)) return null;
  if (Object.values(sent).some(isTooLong)) return null;
  const offer = (await view.offers(path)).find(({ action }) => action === "update");
  const found = await view.ask(path);
  const current = findRecord(found);
  if (offer === undefined || current === null || typeof found?.tag !== "string") return null;
  const tag = `"${found.tag}"`;
  const whole = call.method === "PUT" ? { ...createEmptyValues(offer), ...sent } : sent;
  return page({ view, offer, path, current, tag, sent: whole });
}

/**
 * Returns each optional field with the value null, because a replacement (PUT) empties the fields that it leaves out.
 */
function createEmptyValues(offer: Offer): ConflictValues {
  const optional = collectInputs(offer).filter(({ type, isUnseen }) => type.endsWith(" null") && !isUnseen);
  return Object.fromEntries(optional.map(({ name }) => [name, null]));
}

function page(conflict: Conflict): Drawn {
  const { view, offer, path, current, tag, sent } = conflict;
  const sentInputs = collectInputs(offer).filter(({ name }) => Object.hasOwn(sent, name));
  const shown = sentInputs.filter(({ isUnseen }) => !isUnseen);
  const differing = shown.filter(({ name }) => !isSame(sent[name], current[name]));
  const what = offer.resource?.name ?? "record";
  const main = html`<div class="head"><div><h1 tabindex="-1">Someone saved before you</h1>
<p>The ${what} has changed since you read it. Your changes are not stored yet. Choose the values to store.</p></div></div>
<form class="stack"${writeAttributes({ view, offer, tag })} data-whole aria-label="Both versions">
${differing.length < 2 ? "" : all}
${differing.map((input) => versus(input, current[input.name], sent[input.name]))}
${shown.length === differing.length ? "" : drawSameFields(shown.filter((each) => !differing.includes(each)))}
${sentInputs.filter(({ isUnseen }) => isUnseen).map((input) => writeField(input, { offer }))}
<div class="row"><span data-js hidden><button class="btn main">Save my choice</button></span><a class="btn" href="${resolveAddress(view, path)}">Drop my changes</a>
<span class="small dim">Sent with <code>If-Match: ${tag}</code>, so if someone saves before you again, this page comes back and nothing is lost.</span></div>
${needsScript}
</form>`;
  return { title: formatTitle("someone saved before you"), narrow: true, main };
}

const all = html`<div class="row" data-js hidden><button class="btn low" type="button" data-every="theirs">All theirs</button><button class="btn low" type="button" data-every="yours">All yours</button></div>`;

function versus({ name, label, type, formatValue }: Input, theirs: unknown, yours: unknown): Markup {
  const side = (which: string, value: unknown, words: PageContent): Markup => {
    const text = value === null || value === undefined ? "" : formatValue(value);
    const shown =
      value === null || value === undefined ? html`<span class="dim">null</span>` : html`<bdi>${text}</bdi>`;
    return html`<label class="choice"><input type="radio" name="${name}" value="${text}" data-type="${type}" data-side="${which}" required> <span>${shown} <span class="hint">${words}</span></span></label>`;
  };
  return html`<fieldset class="versus"><legend>${label}</legend>
${side("theirs", theirs, "There now")}
${side("yours", yours, "Yours, not stored")}</fieldset>
`;
}

function drawSameFields(same: readonly Input[]): Markup {
  const names = same.map(({ name }, at) => html`${at === 0 ? "" : ", "}<code>${name}</code>`);
  return html`<p class="dim">The same in both: ${names}</p>`;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
