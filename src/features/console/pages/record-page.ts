import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Offer } from "../../../http/request/view.ts";
import type { Field } from "../../../resource/declaration/field.ts";
import { findLabelField } from "../../../resource/record-labels.ts";
import { formatTitle, nameOne } from "../../../resource/record-labels.ts";
import type { Resource } from "../../../resource/resource.ts";
import { excerptText, inCell, isTooLong } from "../excerpt.ts";
import { actionButtons, actionForms } from "../forms/actions.ts";
import { writeButton, writeForm } from "../forms/form.ts";
import { writeRaw } from "../forms/raw-form.ts";
import { describeRule } from "../forms/rules.ts";
import { asJSON, goingNote, methodTag } from "../parts.ts";
import { offersBelow } from "../paths.ts";
import { resolveAddress, nestedIn, nameInSentence, nameMany, referredBy, type Drawing, type Drawn } from "../site.ts";
import { showValue } from "../values.ts";
import { drawExpansions } from "./list-page.ts";
import { isRows, drawRows } from "./rows.ts";

type RecordValues = Readonly<Record<string, unknown>>;

/** Draws a record: its fields with their rules, the records within it, its actions, and a form to change it. */
export async function drawRecord(drawing: Drawing, resource: Resource, record: RecordValues): Promise<Drawn> {
  const { offers, tag } = drawing;
  const what = nameOne(resource, record["id"]);
  const update = offers.find(({ action }) => action === "update");
  const main = html`<div class="head">
      <div>
        <h1>${what}</h1>
        ${drawLabel(drawing, resource, record)}
      </div>
      <div class="row">
        ${actionButtons(drawing)}${update === undefined ? "" : html`<a class="btn" href="#edit" data-key="e">Edit</a>`}${drawDeletion(drawing, `${nameInSentence(resource)} ${String(record["id"] ?? "")}`.trim())}
      </div>
    </div>
    ${goingNote(drawing.view)}
    <div class="split">
      <div class="stack far">
        <section aria-labelledby="fields">
          <h2 id="fields">Fields</h2>
          ${drawFields(drawing, resource.fields, record)}
        </section>
        ${await drawNested(drawing, resource)}${actionForms(drawing)}${drawEditForm(drawing, record)}
      </div>
      <aside class="side" aria-label="About this ${nameInSentence(resource)}">
        ${drawOffers(offers)}
        ${
          tag === null
            ? ""
            : html`<section>
                <h2>This version</h2>
                <p class="dim">
                  Its tag is <code>${tag}</code>. A change that is sent with it in <code>If-Match</code> is
                  refused if the record has changed in the meantime.
                </p>
              </section>`
        }
        <section>
          <h2>What programs get</h2>
          ${asJSON("json", "application/json", `the JSON of this ${nameInSentence(resource)}`, record)}
        </section>
      </aside>
    </div>`;
  return { title: what, main };
}

function drawLabel({ site, labels }: Drawing, resource: Resource, record: RecordValues): PageContent {
  const label = findLabelField(resource);
  if (label === null) return "";
  const value = record[label];
  const to = referredBy(site, resource.fields[label]!);
  const name = to === null ? value : labels.get(to.path)?.get(value as string);
  return typeof name === "string" ? html`<p><bdi>${excerptText(name, inCell.characters)}</bdi></p>` : "";
}

/** Returns the fields by name, each with its value and its rule. */
export function drawFields(drawing: Drawing, fields: Readonly<Record<string, Field>>, record: RecordValues): Markup {
  const rows = Object.entries(record).map(([name, value]) => {
    const field = Object.hasOwn(fields, name) ? fields[name]! : null;
    const rule = field === null ? (name === "id" ? "Given by the service" : "") : describeRule(field);
    return html`<div>
      <dt>${name}</dt>
      <dd>${field === null && isRows(value) && value.length > 0 ? drawRows(drawing, value) : showValue(drawing, field, value)}</dd>
      ${rule === "" ? "" : html`<dd class="rule">${rule}</dd>`}
    </div> `;
  });
  return html`<dl class="facts-list">${rows}</dl>`;
}

async function drawNested({ site, view, path }: Drawing, resource: Resource): Promise<Markup> {
  const links = nestedIn(site, resource).map((inner) => {
    const at = resolveAddress(view, `${path}/${inner.plural}`);
    return html`<li><a href="${at}">${nameMany(inner)}</a> <span class="rule">${inner.description}</span></li>`;
  });
  const expansions = drawExpansions(view);
  for (const [first] of await offersBelow(site, view, path)) {
    if (first!.method !== "GET" || first!.resource !== null) continue;
    const name = first!.path.slice(path.length + 1);
    links.push(
      html`<li><a href="${resolveAddress(view, first!.path)}">${formatTitle(name)}</a> <span class="rule">${first!.description}</span></li>`,
    );
  }
  if (links.length + expansions.length === 0) return html``;
  return html`<section aria-labelledby="within">
    <h2 id="within">Within it</h2>
    <ul class="stack near">
      ${links}${expansions}
    </ul>
  </section> `;
}

/**
 * Returns the form for a change. One button sends the changes, the other the whole record. The second button is missing
 * if a value is too long for an input, because the request would empty that value.
 */
function drawEditForm({ view, offers, tag, choices, labels }: Drawing, values: RecordValues): PageContent {
  const update = offers.find(({ action }) => action === "update");
  const isWhole = !Object.values(values).some(isTooLong);
  const replace = isWhole ? offers.find(({ action }) => action === "replace") : undefined;
  const offer = update ?? replace;
  if (offer === undefined) return "";
  const whole = html`<button class="btn" data-as="PUT">Replace all</button>`;
  const note = html`${update === undefined || replace === undefined ? "" : whole}<button class="btn" type="reset">Undo</button>
    <span class="small dim"
      >${update === undefined ? "Sends every field." : "Saving sends only what you changed."} If someone else has saved in the meantime, nothing is overwritten.</span
    >`;
  return html`<section aria-labelledby="edit">
    <h2 id="edit" tabindex="-1">Edit</h2>
    ${writeForm({ view, choices, labels, offer, values, tag, does: update === undefined ? "Replace all" : "Save changes", note })}
    ${writeRaw({ view, offers, values, tag })}
  </section>`;
}

function drawDeletion({ view, offers, path, tag }: Drawing, what: string): Markup {
  const offer = offers.find(({ action }) => action === "delete");
  if (offer === undefined) return html``;
  const next = resolveAddress(view, path.slice(0, path.lastIndexOf("/")) || "/");
  return html`<details class="menu end" data-js hidden>
    <summary class="btn bad">Delete</summary>
    <div class="stack">
      <p><b>Delete ${what}?</b><br />This cannot be undone.</p>
      <div class="row">
        ${writeButton({ view, offer, tag, next, does: `Delete ${what}` }, "bad main")}<button
          class="btn"
          type="button"
          data-close
        >
          Keep it
        </button>
      </div>
    </div>
  </details>`;
}

function drawOffers(offers: readonly Offer[]): Markup {
  const words: Readonly<Record<string, string>> = {
    read: "read it",
    replace: "replace it",
    update: "change parts of it",
    delete: "delete it",
  };
  const rows = offers.map((offer) => {
    const says = offer.name === null ? (words[offer.action] ?? offer.action) : formatTitle(offer.name);
    return html`<div><dt>${methodTag(offer.method)}</dt><dd>${says}</dd></div>`;
  });
  return html`<section>
    <h2>You may</h2>
    <dl class="kv">${rows}</dl>
  </section>`;
}
