import { isObject } from "../../checking/members.ts";
import { html, type Markup, type PageContent } from "../../html/markup.ts";
import type { Offer, View } from "../../http/formats/view.ts";
import { isShown, type Field } from "../../resource/kinds/field.ts";
import type { Resource } from "../../resource/resource.ts";
import { isTooLong } from "../excerpt.ts";
import { attributesOf, writeField } from "../forms/form.ts";
import { inputOfField } from "../forms/inputs.ts";
import { needsScript } from "../parts.ts";
import { addressOf, titleOf, type Drawn } from "../site.ts";
import { textOf } from "../values.ts";

type Values = Readonly<Record<string, unknown>>;

/** What two people have made of one record: both versions of each field, to choose from. */
interface Conflict {
  readonly view: View;
  readonly offer: Offer;
  readonly resource: Resource;
  readonly path: string;
  /** The record as it is now, as the caller may read it. */
  readonly current: Values;
  /** Its tag, as `If-Match` takes it. */
  readonly tag: string;
  readonly sent: Values;
}

/** The page for a change that came too late: nothing of it was stored, and nothing of it is lost. Null where there is no record to compare with. */
export async function drawConflict(view: View, path: string): Promise<Drawn | null> {
  const { place, sent, call } = view;
  if (
    place === null ||
    place.resource === null ||
    (call.method !== "PATCH" && call.method !== "PUT") ||
    !isObject(sent)
  )
    return null;
  if (Object.values(sent).some(isTooLong)) return null;
  const offer = (await view.offers(path)).find(({ action }) => action === "update");
  const found = await view.ask(path);
  if (
    offer === undefined ||
    found?.body?.kind !== "data" ||
    !isObject(found.body.value) ||
    typeof found.tag !== "string"
  )
    return null;
  const tag = `"${found.tag}"`;
  const whole = call.method === "PUT" ? { ...emptiesOf(place.resource), ...sent } : sent;
  return page({ view, offer, resource: place.resource, path, current: found.body.value, tag, sent: whole });
}

/** Whoever replaces a record empties what they leave out. */
function emptiesOf({ fields }: Resource): Values {
  const optional = Object.entries(fields).filter(([, field]) => field.options.optional === true && isShown(field));
  return Object.fromEntries(optional.map(([name]) => [name, null]));
}

function page(conflict: Conflict): Drawn {
  const { view, offer, resource, path, current, tag, sent } = conflict;
  const known = Object.entries(resource.fields).filter(([name]) => Object.hasOwn(sent, name));
  const shown = known.filter(([, field]) => isShown(field));
  const differing = shown.filter(([name]) => !isSame(sent[name], current[name]));
  const main = html`<div class="head"><div><h1 tabindex="-1">Someone saved before you</h1>
<p>The ${resource.name} has changed since you read it, so nothing of yours was stored yet. Choose what should stand.</p></div></div>
<form class="stack"${attributesOf({ view, offer, tag })} data-whole aria-label="Both versions">
${differing.length < 2 ? "" : all}
${differing.map(([name, field]) => versus(name, field, current[name], sent[name]))}
${shown.length === differing.length ? "" : sameOf(shown.filter((each) => !differing.includes(each)))}
${known.filter(([, field]) => !isShown(field)).map(([name, field]) => writeField(inputOfField(name, field, offer.method), { offer }))}
<div class="row"><span data-js hidden><button class="btn main">Save my choice</button></span><a class="btn" href="${addressOf(view, path)}">Drop my changes</a>
<span class="small dim">Sent with <code>If-Match: ${tag}</code>, so this can happen again, and nothing gets lost.</span></div>
${needsScript}
</form>`;
  return { title: titleOf("someone saved before you"), narrow: true, main };
}

const all = html`<div class="row" data-js hidden><button class="btn low" type="button" data-all="theirs">All theirs</button><button class="btn low" type="button" data-all="yours">All yours</button></div>`;

function versus(name: string, field: Field, theirs: unknown, yours: unknown): Markup {
  const { type } = inputOfField(name, field, "PATCH");
  const side = (which: string, value: unknown, words: PageContent): Markup => {
    const text = value === null ? "" : textOf(field, value);
    return html`<label class="side-by"><input type="radio" name="${name}" value="${text}" data-type="${type}" data-side="${which}" required> <bdi>${value === null ? "null" : text}</bdi> <small>${words}</small></label>`;
  };
  return html`<div class="versus" role="group" aria-labelledby="versus-${name}"><b class="mono" id="versus-${name}">${name}</b>
${side("theirs", theirs, "There now")}
${side("yours", yours, "Yours, not stored")}</div>
`;
}

function sameOf(same: readonly (readonly [string, Field])[]): Markup {
  const names = same.map(([name], at) => html`${at === 0 ? "" : ", "}<code>${name}</code>`);
  return html`<p class="dim">The same in both: ${names}</p>`;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
