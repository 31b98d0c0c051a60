import { html, type Markup } from "../../../core/html/markup.ts";
import type { Offer } from "../../../http/request/view.ts";
import { formatTitle } from "../../../resource/record-labels.ts";
import { resolveAddress, type Drawing } from "../site.ts";
import { writeFormFields } from "./form-fields.ts";
import { loadFormRecords } from "./form-records.ts";
import { collectInputs } from "./inputs.ts";
import { writeSentForm } from "./sent-form.ts";

// The actions of a resource: a button if an action needs no input, otherwise a form.

/**
 * Writes the actions that need no input. One that changes something asks first, because only its author knows whether
 * it can be taken back. `of` is the name of the record.
 */
export function actionButtons({ view, offers, tag }: Drawing, of?: string): readonly Markup[] {
  return pickActions(offers)
    .filter((offer) => collectInputs(offer).length === 0)
    .map((offer) => {
      const words = formatTitle(offer.name!);
      if (offer.method === "GET") return html`<a class="btn" href="${resolveAddress(view, offer.path)}">${words}</a>`;
      const id = `do-${offer.name}`;
      const content = html`<button class="btn main">${words}</button>
<button class="btn" type="button" popovertarget="${id}" popovertargetaction="hide">Not now</button>`;
      return html`<button class="btn" type="button" popovertarget="${id}">${words}</button>
<div class="pop" id="${id}" popover role="dialog" aria-labelledby="${id}-title">
  <h2 id="${id}-title">${words}${of === undefined ? "" : html` <bdi>${of}</bdi>`}?</h2>
  ${offer.description === null ? "" : html`<p>${offer.description}</p>`}
  ${writeSentForm({ view, offer, tag, classes: "row", content })}
</div>`;
    });
}

/** Writes the actions that need input, each folded. */
export async function actionForms({ site, view, offers, tag }: Drawing): Promise<readonly Markup[]> {
  const actions = pickActions(offers).filter((offer) => collectInputs(offer).length > 0);
  return Promise.all(
    actions.map(async (offer) => {
      const inputs = collectInputs(offer);
      const records = await loadFormRecords(site, view, offer, inputs, {});
      const prefix = `do-${offer.name}-`;
      const fields = writeFormFields({ offer, inputs, records, values: {}, typed: null, mistakes: [], prefix });
      const words = formatTitle(offer.name!);
      const content = html`${fields}<div class="row"><button class="btn main">${words}</button></div>`;
      const about = html` aria-label="${words}"`;
      return html`<details class="more"><summary>${words}</summary>
${offer.description === null ? "" : html`<p class="dim">${offer.description}</p>`}
${writeSentForm({ view, offer, tag, about, classes: "panel form", content })}</details>
`;
    }),
  );
}

function pickActions(offers: readonly Offer[]): readonly Offer[] {
  return offers.filter(({ name }) => name !== null);
}
