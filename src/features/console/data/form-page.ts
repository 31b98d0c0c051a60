import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Issue } from "../../../core/problem/problem.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { Offer, View } from "../../../http/request/view.ts";
import { formatTitle, nameField } from "../../../resource/record-labels.ts";
import { isAt, writeFormFields } from "../forms/form-fields.ts";
import { formInputs } from "../forms/form-inputs.ts";
import { loadFormRecords, type FormRecords } from "../forms/form-records.ts";
import { writeImport } from "../forms/import-form.ts";
import type { Input } from "../forms/inputs.ts";
import { writeSentForm } from "../forms/sent-form.ts";
import { nameInSentence, nameMany, resolveAddress, type Drawn, type Site } from "../site.ts";
import { nameOfRecord } from "./record-name.ts";

/** The parts of the page of a form. */
export interface FormPage {
  readonly site: Site;
  readonly view: View;
  /** The write that the form sends: to a list, to a record, or an action of either. */
  readonly offer: Offer;
  /** The record to change, as far as the caller may read it. Null for a new record. */
  readonly record: ShownRecord | null;
  /** The values that the address of the form of a new record fills in. */
  readonly filled?: Readonly<Record<string, string>>;
  /**
   * The values typed before, by the names of the controls: a text, or several texts for checkboxes. Also a value of
   * JSON, which a program sent. Null for a form that was not sent yet.
   */
  readonly typed: TypedValues | null;
  /** Why the form was refused. Null for a form that was not sent yet. */
  readonly problem: Pick<ProblemDocument, "detail" | "errors"> | null;
}

/** A record with its tag, in the form of `If-Match`. */
export interface ShownRecord {
  readonly values: Readonly<Record<string, unknown>>;
  readonly tag: string | null;
}

/** The typed values of a form, by the names of its controls. */
export type TypedValues = Readonly<Record<string, unknown>>;

/** Draws the page of a form: its fields with what was typed, and each mistake in a summary and at its field. */
export async function drawFormPage(page: FormPage): Promise<Drawn> {
  const { view, offer, problem } = page;
  const inputs = formInputs(offer, view, page.record?.values ?? null);
  const records = await loadFormRecords(page.site, view, offer, inputs, valuesOf(page));
  const { title, heading } = await nameForm(page);
  const main = html`<h1>${heading}</h1>
${problem === null ? "" : drawSummary(inputs, problem)}
${await writeWholeForm(page, { inputs, records, mistakes: problem?.errors ?? [] })}
${drawImport(page)}`;
  return { title: problem === null ? title : `Mistakes: ${title}`, narrow: true, main };
}

/** Returns the values that the form shows: those of the record or of the address, and over them what was typed. */
function valuesOf({ record, filled, typed }: FormPage): TypedValues {
  return { ...record?.values, ...filled, ...typed };
}

async function nameForm({ site, view, offer, record }: FormPage): Promise<{ title: string; heading: PageContent }> {
  const { resource, name } = offer;
  if (name !== null) return sameWords(formatTitle(name));
  if (resource === null) return sameWords(offer.description ?? "Form");
  if (offer.method === "POST") return sameWords(`New ${nameInSentence(resource)}`);
  const called = await nameOfRecord(site, view, resource, record?.values ?? {});
  return { title: `Edit ${called}`, heading: html`Edit “<bdi>${called}</bdi>”` };
}

interface FormParts {
  readonly inputs: readonly Input[];
  readonly records: FormRecords;
  readonly mistakes: readonly Issue[];
}

function sameWords(title: string): { title: string; heading: PageContent } {
  return { title, heading: title };
}

async function writeWholeForm(page: FormPage, parts: FormParts): Promise<Markup> {
  const { view, offer, record, typed } = page;
  const fields = writeFormFields({ offer, ...parts, values: valuesOf(page), typed, prefix: "field-" });
  const back = await findWayBack(page);
  const cancel = back === null ? "" : html` <a class="btn" href="${resolveAddress(view, back)}">Cancel</a>`;
  const row = html`<div class="row"><button class="btn main">${nameSending(offer)}</button>${cancel}</div>`;
  return writeSentForm({
    isPage: true,
    view,
    offer,
    tag: record?.tag ?? null,

    classes: "form",
    content: html`${fields}${row}`,
  });
}

/** Draws the import of a file below the form of a new record, if sending it again adds nothing twice. */
function drawImport({ site, view, offer }: FormPage): PageContent {
  if (offer.action !== "create" || offer.name !== null || !offer.repeatable || offer.resource === null) return "";
  return writeImport(site, view, offer, nameMany(offer.resource).toLowerCase());
}

/** Returns the text of the button: a verb, and what is done. */
function nameSending({ name, method, resource }: Offer): string {
  if (name !== null) return formatTitle(name);
  if (resource === null) return "Send";
  return method === "POST" ? `Add ${nameInSentence(resource)}` : "Save changes";
}

/** Returns the path of the page from which a person comes: the record or its list. Null if it may not be opened. */
async function findWayBack({ view, offer }: FormPage): Promise<string | null> {
  const { path, name } = offer;
  const at = name === null ? path : path.slice(0, path.lastIndexOf("/"));
  const offers = await view.offers(at);
  return offers.some(({ method }) => method === "GET") ? at : null;
}

/** Draws what is wrong, above the form, with a link to each field. */
function drawSummary(inputs: readonly Input[], { detail, errors = [] }: NonNullable<FormPage["problem"]>): Markup {
  const items = errors.map(({ pointer, detail: wrong }) => {
    const input = inputs.find(({ name }) => isAt(pointer, name));
    if (input !== undefined) return html`<li><a href="#field-${input.name}">${input.label}: ${wrong}</a></li>`;
    const place = pointer.replace(/^[/?]/, "");
    return html`<li>${place === "" ? "" : `${nameField(place)}: `}${wrong}</li>`;
  });
  const count = errors.length === 1 ? "One thing" : `${errors.length} things`;
  const title = errors.length === 0 ? detail : `${count} to change. Nothing was saved yet.`;
  return html`<div class="note bad" role="alert" tabindex="-1" data-focus>
  <h2>${title}</h2>
  ${items.length === 0 ? "" : html`<ul class="stack near">${items}</ul>`}
</div>`;
}
