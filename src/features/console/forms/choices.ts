import type { Offer, View } from "../../../http/request/view.ts";
import type { Field } from "../../../resource/declaration/field.ts";
import type { Resource } from "../../../resource/resource.ts";
import { referredBy, type Choice, type Choices, type Site } from "../site.ts";

/**
 * Returns the resources whose ids the forms of these offers accept. Checks whether the caller may list them, and which
 * fields the caller may read, so that the page makes no request that is refused.
 */
export async function choicesFor(site: Site, view: View, offers: readonly Offer[]): Promise<Choices> {
  const fields = new Set(offers.flatMap((offer) => Object.values(askedBy(offer)?.fields ?? {})));
  const listed = new Map<Resource, Promise<Resource | null>>();
  const found = [...fields].map(async (field): Promise<readonly (readonly [Field, Choice])[]> => {
    const to = referredBy(site, field);
    if (to === null) return [];
    const finding = listed.get(to) ?? findListed(view, to);
    listed.set(to, finding);
    const seen = await finding;
    return [[field, { to: seen ?? to, isListed: seen !== null }]];
  });
  return new Map((await Promise.all(found)).flat());
}

function askedBy({ body, resource, method }: Offer): Resource | null {
  return body ?? (["POST", "PUT", "PATCH"].includes(method) ? resource : null);
}

/** Returns the resource as the caller sees it in a list. Returns null if the caller may not list it. */
async function findListed(view: View, { path }: Resource): Promise<Resource | null> {
  return (await view.offers(path)).find(({ action }) => action === "list")?.resource ?? null;
}
