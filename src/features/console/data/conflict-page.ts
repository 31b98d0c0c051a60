import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Offer, View } from "../../../http/request/view.ts";
import { nameField } from "../../../resource/record-labels.ts";
import { isTooLong, onPage } from "../excerpt.ts";
import { writeFormFields } from "../forms/form-fields.ts";
import { writeAttributes, writeField, type FieldWords } from "../forms/form.ts";
import { collectInputs, type Input } from "../forms/inputs.ts";
import { writeSentForm } from "../forms/sent-form.ts";
import { labelsFor, noLabels } from "../labels.ts";
import { findRecord } from "../replies.ts";
import { resolveAddress, type Drawing, type Drawn, type Site } from "../site.ts";
import { nothing, showValue } from "../values.ts";
import { nameOfRecord } from "./record-name.ts";

type ConflictValues = Readonly<Record<string, unknown>>;

/** The account page that sent a change. Its script keeps what was typed into its other forms. */
export interface AccountPage {
  readonly address: string;
  readonly words: FieldWords;
}

/** Two versions of one record, to choose from field by field. */
interface Conflict {
  readonly site: Site;
  readonly view: View;
  readonly offer: Offer;
  readonly path: string;
  /** The current record, as far as the caller may read it. */
  readonly current: ConflictValues;
  /** Its tag, in the form of `If-Match`. */
  readonly tag: string;
  readonly sent: ConflictValues;
  /** Null if another page sent the change. */
  readonly account: AccountPage | null;
}

/**
 * Draws the page for a change that came too late. The change was not stored. The page shows it, so the caller can send
 * it again. Returns null if the two versions cannot be compared: for example, there is no record, or a value is too
 * long. A change from the account page leads back to it.
 */
export async function drawConflict(
  site: Site,
  view: View,
  path: string,
  account: AccountPage | null,
): Promise<Drawn | null> {
  const { sent, call } = view;
  if ((call.method !== "PATCH" && call.method !== "PUT") || !isObject(sent)) return null;
  if (Object.values(sent).some(isTooLong)) return null;
  const offers = await view.offers(path);
  const offer = offers.find(({ action, name }) => action === "update" && name === null);
  const found = await view.ask(path);
  const current = findRecord(found);
  if (offer === undefined || current === null || typeof found?.tag !== "string") return null;
  const tag = `"${found.tag}"`;
  const whole = call.method === "PUT" ? { ...createEmptyValues(offer), ...sent } : sent;
  return drawBoth({ site, view, offer, path, current, tag, sent: whole, account });
}

/**
 * Returns each optional field with the value null, because a replacement (PUT) empties the fields that it leaves out.
 */
function createEmptyValues(offer: Offer): ConflictValues {
  const optional = collectInputs(offer).filter(({ type, isUnseen }) => type.endsWith(" null") && !isUnseen);
  return Object.fromEntries(optional.map(({ name }) => [name, null]));
}

async function drawBoth(conflict: Conflict): Promise<Drawn> {
  const { site, view, offer, path, current, tag, sent, account } = conflict;
  const sentInputs = collectInputs(offer).filter(({ name }) => Object.hasOwn(sent, name));
  const differing = sentInputs.filter(({ name, isUnseen }) => !isUnseen && !isSame(sent[name], current[name]));
  const unseen = sentInputs.filter(({ isUnseen }) => isUnseen);
  const { resource } = offer;
  const labels = resource === null ? noLabels : await labelsFor(site, view, resource, [current, sent], onPage);
  const name = resource === null ? "This" : html`“<bdi>${await nameOfRecord(site, view, resource, current)}</bdi>”`;
  const content = html`${differing.length < 2 ? "" : all}
${differing.map((input) => writeVersus({ site, view, labels } as unknown as Drawing, conflict, input))}
${writeUnseen(conflict, unseen)}<div class="row"><button class="btn main">Save my choice</button> <a class="btn" href="${account?.address ?? resolveAddress(view, path)}"${account === null ? "" : html` data-back`}>Keep theirs</a></div>`;
  const script = account === null ? "" : writeAttributes({ view, offer, tag, next: account.address });
  const about = html` aria-label="Both versions"${script}`;
  const main = html`<h1 tabindex="-1" data-focus>Someone saved before you</h1>
<p>${name} was changed while you wrote. Nothing of yours is lost, and nothing was saved yet. Choose what shall stand.</p>
${writeSentForm({ view, offer, tag, about, isPage: true, classes: "form", content })}`;
  return { title: "Someone saved before you", looks: "narrow problem", main };
}

/** Writes the fields whose values are never shown, such as a password. They are typed again. */
function writeUnseen({ offer, sent, account }: Conflict, inputs: readonly Input[]): PageContent {
  const records = { options: new Map(), names: new Map() } as const;
  if (account === null)
    return writeFormFields({ offer, inputs, records, values: {}, typed: null, mistakes: [], prefix: "field-" });
  return inputs.map((input) => {
    const values = input.isSecret ? {} : { values: sent, again: [input.name] };
    return writeField(input, { offer, words: account.words, ...values });
  });
}

const all = html`<div class="row" data-js hidden><button class="btn low" type="button" data-every="theirs">All of theirs</button> <button class="btn low" type="button" data-every="yours">All of mine</button></div>`;

function writeVersus(drawing: Drawing, { current, sent, account }: Conflict, input: Input): Markup {
  const { name, field, type, formatValue, nameValue } = input;
  const marks = account === null ? "" : html` data-type="${type}" data-again`;
  const side = (which: "theirs" | "yours", value: unknown, words: PageContent): Markup => {
    const isNone = value === null || value === undefined;
    const text = isNone ? "" : formatValue(value);
    const shown = isNone
      ? nothing
      : field === null
        ? html`<bdi>${typeof value === "boolean" ? nameValue(value) : text}</bdi>`
        : showSide(drawing, field, value);
    const checked = which === "yours" ? html` checked` : "";
    return html`<label class="choice"><input type="radio" name="${name}" value="${text}"${marks} data-side="${which}"${checked} required> <span>${shown}<span class="hint">${words}</span></span></label>
`;
  };
  return html`<fieldset class="versus"><legend>${account?.words[name]?.[0] ?? nameField(name, field)}</legend>
${side("theirs", current[name], "There now")}${side("yours", sent[name], "Yours")}</fieldset>
`;
}

/** Shows a value in words. A typed value may have any form. */
function showSide(drawing: Drawing, field: NonNullable<Input["field"]>, value: unknown): Markup {
  const isText = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isText || Array.isArray(value)
    ? showValue(drawing, field, value)
    : html`<code>${JSON.stringify(value)}</code>`;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
