import type { Offer, View } from "../../../http/request/view.ts";
import type { Field } from "../../../resource/declaration/field.ts";
import type { Resource } from "../../../resource/resource.ts";
import { referredBy, type Choice, type Choices, type Site } from "../site.ts";

/**
 * Returns the resources whose ids the forms of these offers accept. Checks whether the caller may list them, so that
 * the page makes no request that is refused.
 */
export async function choicesFor(site: Site, view: View, offers: readonly Offer[]): Promise<Choices> {
  const fields = new Set(offers.flatMap((offer) => Object.values(askedBy(offer)?.fields ?? {})));
  const listed = new Map<Resource, Promise<boolean>>();
  const found = [...fields].map(async (field): Promise<readonly (readonly [Field, Choice])[]> => {
    const to = referredBy(site, field);
    if (to === null) return [];
    const isListed = listed.get(to) ?? mayList(view, to);
    listed.set(to, isListed);
    return [[field, { to, isListed: await isListed }]];
  });
  return new Map((await Promise.all(found)).flat());
}

function askedBy({ body, resource, method }: Offer): Resource | null {
  return body ?? (["POST", "PUT", "PATCH"].includes(method) ? resource : null);
}

async function mayList(view: View, { path }: Resource): Promise<boolean> {
  return (await view.offers(path)).some(({ action }) => action === "list");
}
