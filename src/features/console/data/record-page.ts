import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import { caller, type Field } from "../../../resource/declaration/field.ts";
import { findLabelField, formatTitle, nameField } from "../../../resource/record-labels.ts";
import type { Resource } from "../../../resource/resource.ts";
import { inCell } from "../excerpt.ts";
import { actionButtons, actionForms } from "../forms/actions.ts";
import { writeSentForm } from "../forms/sent-form.ts";
import { USERS_PATH } from "../login-methods.ts";
import { goingNote } from "../parts.ts";
import { offersBelow } from "../paths.ts";
import { nameInSentence, resolveAddress, type Drawing, type Drawn, type Site } from "../site.ts";
import { showValue } from "../values.ts";
import { drawMay } from "./may-words.ts";
import { drawNested } from "./nested-lists.ts";
import { nameOfRecord } from "./record-name.ts";
import { nameUser } from "./user-name.ts";

type RecordValues = Readonly<Record<string, unknown>>;

/** Draws a record: its name, its values, what may be done with it, and the lists within it. */
export async function drawRecord(drawing: Drawing, resource: Resource, record: RecordValues): Promise<Drawn> {
  const { offers, site, view, path } = drawing;
  const name = await nameOfRecord(site, view, resource, record);
  const parts = sortFields(resource, record);
  const isEditable = offers.some(({ action, name: own }) => own === null && action === findChange(site, resource));
  const edit = html`<a class="btn main" href="${resolveAddress(view, path)}?form=edit" data-key="e">Edit</a>`;
  const buttons = html`${isEditable ? edit : ""}${actionButtons(drawing, name)}${drawDeletion(drawing, name)}`;
  const details = parts.shown.length === 0 ? "" : drawDetails(drawing, resource, record, parts.shown);
  const main = html`<div class="head">
  <div><h1 dir="auto">${name}</h1>${drawMeta(drawing, resource, record)}</div>
  ${buttons.toString() === "" ? "" : html`<div class="row">${buttons}</div>`}
</div>
${goingNote(view)}
<div class="split">
<div>
${details}
${await actionForms(drawing)}
${await drawNested(drawing, resource, record, name)}
${await drawBelow(drawing, resource)}
</div>
<aside class="side" aria-label="About this ${nameInSentence(resource)}"><dl class="kv">
${await drawOrigin(drawing, resource, record, parts.made)}${drawMay(drawing, resource)}
</dl></aside>
</div>`;
  return { title: name, main };
}

/** Returns the action of the form of a change: a PATCH, or a PUT if the resource has no PATCH. */
function findChange(site: Site, { path }: Resource): string {
  const mount = site.facts().mounts.find(({ resource }) => resource.path === path);
  return mount?.permissions.update === undefined ? "replace" : "update";
}

interface SortedFields {
  /** The fields of the record itself. */
  readonly shown: readonly string[];
  /** The fields that the service fills in: who made the record, and when. */
  readonly made: readonly string[];
}

function sortFields(resource: Resource, record: RecordValues): SortedFields {
  const named = findLabelField(resource);
  // The answer of a creation also has the values that are shown once.
  const names = Object.keys(resource.fields).filter((name) => Object.hasOwn(record, name));
  const made = names.filter((name) => isOfOrigin(resource.fields[name]!));
  const state = findState(resource, record);
  const details = names.filter(
    (name) =>
      name !== state && !made.includes(name) && (name !== named || isLinkOrLong(resource.fields[name]!, record[name])),
  );
  return { shown: details, made };
}

/** True if the value is more than the title shows: it is a link, or is cut there. */
function isLinkOrLong({ kind }: Field, value: unknown): boolean {
  return kind.references !== undefined || (typeof value === "string" && value.length > inCell.characters);
}

function isOfOrigin({ kind, options }: Field): boolean {
  if (kind.column.type === "date-time") return options.generated !== undefined;
  return kind.references === undefined && options.default === caller;
}

/** Returns the field with the state of a record: the first one whose words have tones. */
function findState({ fields }: Pick<Resource, "fields">, record: RecordValues): string | undefined {
  return Object.keys(fields).find((name) => fields[name]!.kind.tone !== undefined && typeof record[name] === "string");
}

/** Shows the first word of the record that has a tone: its state. */
function drawMeta(drawing: Drawing, { fields }: Resource, record: RecordValues): PageContent {
  const name = findState({ fields }, record);
  return name === undefined ? "" : html`<p class="meta">${showValue(drawing, fields[name]!, record[name])}</p>`;
}

function drawDetails(drawing: Drawing, { fields }: Resource, record: RecordValues, names: readonly string[]): Markup {
  const rows = names.map((name) => {
    const field = fields[name]!;
    const isProse = "multiline" in field.options && field.options.multiline === true;
    return html`<div><dt>${nameField(name, field)}</dt><dd${isProse ? html` class="prose" dir="auto"` : ""}>${showValue(drawing, field, record[name])}</dd></div>
`;
  });
  return html`<section class="panel" aria-label="Details"><dl class="kv">
${rows}</dl></section>`;
}

function drawDeletion({ view, offers, tag }: Drawing, name: string): PageContent {
  const offer = offers.find((each) => each.action === "delete" && each.name === null);
  if (offer === undefined) return "";
  const content = html`<button class="btn bad main">Delete it</button>
<button class="btn" type="button" popovertarget="delete" popovertargetaction="hide">Keep it</button>`;
  return html`<button class="btn bad" type="button" popovertarget="delete">Delete</button>
<div class="pop" id="delete" popover role="dialog" aria-labelledby="delete-title">
  <h2 id="delete-title">Delete <bdi>${name}</bdi>?</h2>
  <p>This cannot be undone.</p>
  ${writeSentForm({ view, offer, tag, classes: "row", content })}
</div>`;
}

/** Returns the links to what the service has below a record, such as the account of a user. */
async function drawBelow({ site, view, path }: Drawing, resource: Resource): Promise<PageContent> {
  const links: Markup[] = [];
  for (const [first] of await offersBelow(site, view, path)) {
    if (first!.method !== "GET" || first!.resource !== null) continue;
    const name = first!.path.slice(path.length + 1);
    // The page of the account has the logins and the keys of a user.
    if (resource.path === USERS_PATH && name !== "account") continue;
    links.push(html`<li><a href="${resolveAddress(view, first!.path)}">${formatTitle(name)}</a></li>`);
  }
  return links.length === 0 ? "" : html`<ul class="stack near">${links}</ul>`;
}

/** Names the maker of the record and the time, if the record has them. */
async function drawOrigin(
  { site, view }: Drawing,
  { fields }: Resource,
  record: RecordValues,
  names: readonly string[],
): Promise<readonly Markup[]> {
  const rows = names.map(async (name) => {
    const field = fields[name]!;
    const value = record[name];
    if (value === null) return html``;
    const row = (words: string, shown: PageContent): Markup => html`<div><dt>${words}</dt><dd>${shown}</dd></div>
`;
    if (field.kind.column.type !== "date-time") return row(nameField(name, field), await nameUser({ view }, value));
    const words = field.options.label ?? (field.options.regenerated === true ? "Last changed" : "Made");
    return row(words, showValue({ site, view } as Drawing, field, value));
  });
  return Promise.all(rows);
}
