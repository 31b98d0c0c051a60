import { isObject } from "../../../core/checking/members.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { ProblemDocument } from "../../../http/request/format.ts";
import type { TypedTexts } from "../../../http/request/sent-form.ts";
import type { FormKind, Offer, View } from "../../../http/request/view.ts";
import { readParameters } from "../addresses.ts";
import { isTooLong } from "../excerpt.ts";
import { formInputs } from "../forms/form-inputs.ts";
import { pickFilled } from "../forms/form-records.ts";
import { collectInputs } from "../forms/inputs.ts";
import { askedPath } from "../paths.ts";
import { findRecord } from "../replies.ts";
import type { Drawn, Site } from "../site.ts";
import { drawFormPage, type ShownRecord, type TypedValues } from "./form-page.ts";
import { findInvitationForm } from "./invitations-page.ts";

/** Draws the form that the request asks for: `?form=new` or `?form=edit`. */
export async function drawRequestedForm(site: Site, view: View, form: FormKind): Promise<Drawn> {
  const path = askedPath(view);
  const offers = await view.offers(path);
  const named = form === "new" ? ["create"] : ["update", "replace"];
  const offer = named.flatMap((action) => offers.find((each) => each.action === action && each.name === null) ?? [])[0];
  // The right to write was checked. Only a permission that changes its mind in between leaves no offer.
  if (offer === undefined) throw problem("permission_denied");
  if (form === "new") {
    const filled = await pickFilled(offer, formInputs(offer, view, null), readParameters(view));
    return drawFormPage({ site, view, offer, record: null, filled, typed: null, problem: null });
  }
  const record = await readShown(view, path);
  return drawFormPage({ site, view, offer, record, typed: null, problem: null });
}

/**
 * Draws the form of a refused write again, with what was sent and the mistakes. Returns null if there is no form for
 * it: the caller may not send it, a value is too long to be shown again, or a program sent it and no field is wrong.
 */
export async function drawFormAgain(site: Site, view: View, document: ProblemDocument): Promise<Drawn | null> {
  const { sent, sentForm, call } = view;
  const { errors = [], status } = document;
  if (sentForm === null ? errors.length === 0 : !ANSWERED_BY_FORM.has(status)) return null;
  if (sent !== null && !isObject(sent)) return null;
  const typed = sentForm === null ? { ...sent } : joinTexts(sentForm.typed);
  if (Object.values(typed).some(isTooLong)) return null;
  const path = askedPath(view);
  const asked = (await view.offers()).find((each) => each.method === call.method && each.path === path);
  if (asked === undefined) return null;
  const offer = isForPeople(asked) ? asked : await findInvitationForm(site, view, path);
  if (offer === null || collectInputs(offer).length === 0) return null;
  const isChange = offer.name === null && offer.method !== "POST";
  const shown = isChange ? await readShown(view, path) : null;
  const record = shown === null ? null : { ...shown, tag: call.header("if-match") ?? null };
  return drawFormPage({ site, view, offer, record, typed, problem: document });
}

/** The statuses of a form that can be corrected, or sent again later. */
const ANSWERED_BY_FORM: ReadonlySet<number> = new Set([400, 409, 422, 429, 503]);

/** Returns the typed texts by name. A name with several texts, and the hidden one before its checkboxes, is a list. */
function joinTexts(typed: TypedTexts): TypedValues {
  const named = [...typed].map(([name, texts]) => {
    const isOfBox = texts.every((each) => each === "true" || each === "false");
    return [name, texts.length === 1 || isOfBox ? texts.at(-1) : texts.filter((each) => each !== "")] as const;
  });
  return Object.fromEntries(named);
}

/** True for a write of a resource, or for one of its actions. Other endpoints have separate forms. */
function isForPeople({ resource, name }: Offer): boolean {
  return resource !== null || name !== null;
}

async function readShown(view: View, path: string): Promise<ShownRecord> {
  const reply = await view.ask(path);
  const tag = typeof reply?.tag === "string" ? `"${reply.tag}"` : null;
  return { values: findRecord(reply) ?? {}, tag };
}
