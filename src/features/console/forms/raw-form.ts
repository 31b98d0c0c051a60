import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Offer, View } from "../../../http/request/view.ts";
import { isTooLong } from "../excerpt.ts";
import { needsScript } from "../parts.ts";
import { resolveAddress } from "../site.ts";
import { collectInputs, type Input } from "./inputs.ts";

/** The initial content of a raw form. */
export interface RawParts {
  readonly view: View;
  readonly offers: readonly Offer[];
  /** The current record. Undefined for a new one. */
  readonly values?: Readonly<Record<string, unknown>>;
  readonly tag?: string | null;
}

/**
 * Writes a form for JSON that is sent exactly as typed, with its header fields. The response appears above it, and the
 * text stays.
 */
export function writeRaw({ view, offers, values, tag = null }: RawParts): PageContent {
  const own = offers.filter(({ name, resource }) => name === null && resource !== null);
  // The Enter key sends the first offer. PATCH is before PUT, because it changes less.
  const orderedOffers = ["POST", "PATCH", "PUT"].flatMap((each) => own.filter(({ method }) => method === each));
  const [first] = orderedOffers;
  if (first === undefined) return "";
  const draft = JSON.stringify(buildDraft(collectInputs(first), values), null, 2);
  const rows = Math.min(Math.max(draft.split("\n").length + 1, 6), 20);
  const buttons = orderedOffers.map(
    ({ method }) => html`<button class="btn" data-as="${method}">Send ${method}</button>`,
  );
  return html`<details class="more">
    <summary>Send JSON</summary>
    <form class="panel form" data-raw="json" data-method="${first.method}" data-path="${resolveAddress(view, first.path)}" aria-label="Send JSON">
      <p class="field">
        <label for="raw-body">Body</label>
        <textarea id="raw-body" class="mono" rows="${rows}" spellcheck="false" autocomplete="off">${draft}</textarea>
      </p>
      ${header("Content-Type", "application/json")}${tag === null ? "" : header("If-Match", tag)}${
        first.repeatable ? header("Idempotency-Key", "", html` data-once`) : ""
      }
      <div class="row" data-js hidden>${buttons}</div>
      ${needsScript}
    </form>
  </details>`;
}

function header(name: string, value: string, more: PageContent = ""): Markup {
  const id = `raw-${name.toLowerCase()}`;
  return html`<p class="field">
    <label for="${id}">${name}</label>
    <input id="${id}" class="mono" data-header="${name}" value="${value}"${more} autocomplete="off" spellcheck="false" />
  </p>`;
}

/**
 * Returns the writable values of a record, or the required ones of a new record. Leaves out values that are too long or
 * never shown.
 */
function buildDraft(inputs: readonly Input[], values: RawParts["values"]): object {
  const shown = inputs.filter(({ isUnseen }) => !isUnseen);
  if (values === undefined)
    return Object.fromEntries(
      shown.filter(({ isNeeded }) => isNeeded).map((input) => [input.name, chooseEmptyValue(input)]),
    );
  const filledInputs = shown.filter(({ name }) => Object.hasOwn(values, name) && !isTooLong(values[name]));
  return Object.fromEntries(filledInputs.map(({ name }) => [name, values[name]]));
}

function chooseEmptyValue({ type, choices, checkboxes }: Input): unknown {
  if (choices !== null) return choices[0];
  if (checkboxes !== null) return [];
  return type.startsWith("text") ? "" : type.startsWith("integer") || type.startsWith("number") ? 0 : null;
}
