import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { View } from "../../../http/request/view.ts";
import { canSignUp } from "../forms/login-form.ts";
import { hasLoginMethods } from "../login-methods.ts";
import { nameMany, resolveAddress, type Drawing, type Drawn, type Site } from "../site.ts";
import { describeAccess, isForAdministrators } from "./access-words.ts";

/**
 * Draws the start page: the title and the sentence of the service, and a card for each list that the caller may open.
 * Returns null if the response of the root is of another kind.
 */
export async function drawRoot({ site, view, body: { value } }: Drawing): Promise<Drawn | null> {
  if (!isObject(value) || !isObject(value["links"]) || !isObject(value["links"]["resources"])) return null;
  const refusal = isObject(value["problem"]) ? drawRefusal(value["problem"]) : "";
  return drawStart(site, view, refusal);
}

/** Draws the start page of a service without an endpoint at its root. */
export function drawStart(site: Site, view: View, note: PageContent = ""): Promise<Drawn> {
  return view.identity === null && view.wasIdentified
    ? drawForVisitor(site, view, note)
    : drawForMember(site, view, note);
}

async function drawForMember(site: Site, view: View, note: PageContent): Promise<Drawn> {
  const cards = await drawCards(site, view);
  const none = html`<div class="empty"><h2>Nothing here yet</h2><p class="dim">There is no list that you may open.</p></div>`;
  const main = html`<div class="head"><div><h1>${site.title}</h1>${drawSentence(site)}</div></div>
${note}
${cards.length === 0 ? none : html`<ul class="cards-grid">${cards}</ul>`}`;
  return { title: "Start", main };
}

async function drawForVisitor(site: Site, view: View, note: PageContent): Promise<Drawn> {
  const cards = await drawCards(site, view);
  const hasLogin = hasLoginMethods(site.facts());
  const login = html`<a class="btn main" href="${resolveAddress(view, site.pages.login)}">Log in</a>`;
  const signUp = (await canSignUp(site, view))
    ? html` <a class="btn" href="${resolveAddress(view, site.pages.signup)}">Sign up</a>`
    : "";
  const ways = hasLogin ? html`<p class="row meta">${login}${signUp}</p>` : "";
  const open = html`<section class="stack" aria-labelledby="open"><h2 id="open">Open to everyone</h2>
<ul class="cards-grid">${cards}</ul></section>`;
  const main = html`<div class="head"><div><h1>${site.title}</h1>${drawSentence(site, hasLogin ? " Log in to see more." : "")}${ways}</div></div>
${note}
${cards.length === 0 ? "" : open}`;
  return { title: "Start", main };
}

function drawSentence({ description }: Site, more = ""): PageContent {
  const words = `${description ?? ""}${more}`.trim();
  return words === "" ? "" : html`<p class="lead">${words}</p>`;
}

function drawRefusal({ detail }: Readonly<Record<string, unknown>>): Markup {
  return html`<div class="note bad" role="alert"><h2>Your login was not accepted</h2><p>${String(detail)}</p></div>`;
}

/** Returns a card for each list that the caller may open. Those for administrators only come last. */
async function drawCards(site: Site, view: View): Promise<readonly Markup[]> {
  const mounts = site.facts().mounts.filter(({ resource, older }) => resource.within === null && older === null);
  const cards = await Promise.all(
    mounts.map(async (mount) => {
      const { path, description } = mount.resource;
      const offers = await view.offers(path);
      if (!offers.some(({ action, name }) => action === "list" && name === null)) return null;
      const mayAdd = offers.some(({ action, name }) => action === "create" && name === null);
      const may = describeAccess(mount, view.identity, mayAdd);
      const about = description === null ? "" : html`<p class="dim">${description}</p>`;
      const card = html`<li class="tile"><h2><a href="${resolveAddress(view, path)}">${nameMany(mount.resource)}</a></h2>${about}<p class="small">${may}</p></li>
`;
      return { card, isLast: isForAdministrators(mount.permissions.list) };
    }),
  );
  const shown = cards
    .filter((each) => each !== null)
    .toSorted((one, other) => Number(one.isLast) - Number(other.isLast));
  return shown.map(({ card }) => card);
}
