import { html, type Markup } from "../../../core/html/markup.ts";
import type { Offer } from "../../../http/request/view.ts";
import { formatTitle } from "../../../resource/record-labels.ts";
import { resolveAddress, type Drawing } from "../site.ts";
import { writeButton, writeForm } from "./form.ts";
import { collectInputs } from "./inputs.ts";

// The actions of a resource: a button if an action needs no input, otherwise a form.

/** Writes the actions that need only a click. */
export function actionButtons({ view, offers, tag }: Drawing): readonly Markup[] {
  return pickActions(offers)
    .filter((offer) => collectInputs(offer).length === 0)
    .map((offer) =>
      offer.method === "GET"
        ? html`<a class="btn" href="${resolveAddress(view, offer.path)}">${formatTitle(offer.name!)}</a>`
        : writeButton({ view, offer, tag, does: formatTitle(offer.name!) }, "main"),
    );
}

/** Writes the actions that need input. */
export function actionForms({ view, offers, tag, choices }: Drawing): readonly Markup[] {
  return pickActions(offers)
    .filter((offer) => collectInputs(offer).length > 0)
    .map(
      (offer) =>
        html`<section aria-labelledby="do-${offer.name}">
          <h2 id="do-${offer.name}">${formatTitle(offer.name!)}</h2>
          ${offer.description === null ? "" : html`<p class="dim">${offer.description}</p>`}
          ${writeForm({ view, choices, offer, tag, does: formatTitle(offer.name!), prefix: `do-${offer.name}` })}
        </section> `,
    );
}

function pickActions(offers: readonly Offer[]): readonly Offer[] {
  return offers.filter(({ name }) => name !== null);
}
