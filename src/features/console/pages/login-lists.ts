import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Offer, View } from "../../../http/request/view.ts";
import { writeButton, writeForm } from "../forms/form.ts";
import { passkeysElsewhere } from "../forms/passkey-form.ts";
import { PASSKEY_PATH } from "../login-methods.ts";
import { table } from "../parts.ts";
import { isServed } from "../paths.ts";
import type { Drawing, Drawn } from "../site.ts";
import { drawEndButton, heads, linkTo, rowsAt, section, shown } from "./credential-lists.ts";
import { drawHead } from "./waiting-parts.ts";

// The parts of an account with which its user logs in: second factors, passkeys, and identities at providers.

/** Lists the second factors and passkeys of the account, each with a button that removes it. */
export async function drawFactors(drawing: Drawing, user: string, isOwn: boolean): Promise<PageContent> {
  const { view, site } = drawing;
  const path = `${user}/factors`;
  const rows = await rowsAt(view, path);
  if (rows === null) return "";
  const add = isOwn ? (await view.offers(path)).find(({ method }) => method === "POST") : undefined;
  const lines = await Promise.all(
    rows.map(
      async (row) => html`<tr>
        <th scope="row"><bdi>${String(row["label"] ?? row["kind"])}</bdi></th>
        <td>${String(row["kind"])}</td>
        <td class="nw">${shown(drawing, row, "created_at")}</td>
        <td class="nw">${shown(drawing, row, "last_used_at")}</td>
        <td>${await drawEndButton(drawing, `${path}/${String(row["id"])}`, "Remove")}</td>
      </tr> `,
    ),
  );
  const list =
    rows.length === 0
      ? html`<p class="dim">There is none. A second factor protects the account if the password is stolen.</p>`
      : table(linkTo(view, path, "All"), heads("Name", "Kind", "Added", "Last used"), lines);
  const forms: PageContent =
    add === undefined
      ? ""
      : html`${newFactor(view, add, "totp", "an authenticator app", "Add the app")}
        ${isServed(site, PASSKEY_PATH, "POST") ? (passkeysElsewhere(view, "Add a passkey") ?? newFactor(view, add, "passkey", "a passkey", "Add the passkey")) : ""}`;
  return section(
    "factors",
    "Second factors and passkeys",
    rows.length === 0 ? "" : await drawCodesButton(view, `${path}/recovery`, add),
    html`${list}${forms}`,
  );
}

/** Writes the button that makes new recovery codes. The answer shows them. */
async function drawCodesButton(view: View, path: string, add: Offer | undefined): Promise<PageContent> {
  const offer = add === undefined ? undefined : (await view.offers(path)).find(({ method }) => method === "POST");
  return offer === undefined ? "" : writeButton({ view, offer, does: "Make new recovery codes" }, "low");
}

function newFactor(view: View, offer: Offer, kind: string, what: string, does: string): Markup {
  const parts = {
    view,
    offer,
    only: ["label", "current_password"],
    values: { kind },
    does,
    prefix: kind,
    isPlain: kind === "totp",
  };
  return html`<details class="more">
    <summary>Add ${what}</summary>
    ${writeForm({ ...parts, more: html`<input type="hidden" name="kind" value="${kind}" />` })}
  </details>`;
}

/** Lists the identities at providers, each with a button that unlinks it. */
export async function drawIdentities(drawing: Drawing, user: string, isOwn: boolean): Promise<PageContent> {
  const { view, site } = drawing;
  const path = `${user}/identities`;
  const rows = await rowsAt(view, path);
  if (rows === null) return "";
  const add = isOwn ? (await view.offers(path)).find(({ method }) => method === "POST") : undefined;
  const lines = await Promise.all(
    rows.map(
      async (row) => html`<tr>
        <th scope="row"><bdi>${String(row["title"])}</bdi></th>
        <td class="mono"><bdi>${String(row["subject"])}</bdi></td>
        <td class="nw">${shown(drawing, row, "created_at")}</td>
        <td>${await drawEndButton(drawing, `${path}/${String(row["id"])}`, "Unlink")}</td>
      </tr> `,
    ),
  );
  const list =
    rows.length === 0
      ? html`<p class="dim">There is none. A linked identity logs in without the password of this service.</p>`
      : table(linkTo(view, path, "All"), heads("Provider", "Account there", "Linked"), lines);
  const forms: readonly PageContent[] =
    add === undefined ? [] : site.facts().loginLinks.flatMap(({ title, href }) => newIdentity(view, add, title, href));
  return section("identities", "Identities at providers", "", html`${list}${forms}`);
}

/**
 * Returns the form that links an identity at a provider. The login at a provider starts at
 * `/api/login/{provider}/start`. Returns nothing for any other login.
 */
function newIdentity(view: View, offer: Offer, title: string, href: string): readonly PageContent[] {
  const provider = /^\/api\/login\/([^/]+)\/start$/.exec(href)?.[1];
  if (provider === undefined) return [];
  const does = `Link ${title}`;
  const parts = { view, offer, only: ["current_password"], does, prefix: `identity-${provider}`, isPlain: true };
  return [
    html`<details class="more">
      <summary>Link ${title}</summary>
      ${writeForm({ ...parts, more: html`<input type="hidden" name="provider" value="${provider}" />` })}
    </details>`,
  ];
}

/**
 * Draws the response with the link to the provider at which the user then logs in. Returns null for the list of
 * identities.
 */
export function drawIdentityStart({ body }: Drawing): Drawn | null {
  const { value } = body;
  if (!isObject(value) || typeof value["start"] !== "string") return null;
  const title = "Link an identity";
  const main = html`${drawHead(title, "Log in at the provider. It sends you back to your account.")}
    <p class="row"><a class="btn main" href="${value["start"]}">Go to the provider</a></p>`;
  return { title, main, narrow: true };
}
