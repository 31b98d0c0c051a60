import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Mount } from "../../../http/declarations/mount.ts";
import { isResource } from "../../../http/request/body-shape.ts";
import type { Offer, View } from "../../../http/request/view.ts";
import { nameField } from "../../../resource/record-labels.ts";
import type { Resource } from "../../../resource/resource.ts";
import { readParameters } from "../addresses.ts";
import { inCell } from "../excerpt.ts";
import { writeFormFields } from "../forms/form-fields.ts";
import { formInputs } from "../forms/form-inputs.ts";
import { loadFormRecords, parseKey, pickFilled } from "../forms/form-records.ts";
import { writeSentForm } from "../forms/sent-form.ts";
import { labelsFor } from "../labels.ts";
import { fits, splitPath } from "../paths.ts";
import { resolveAddress, type Drawing, type Drawn, type Site } from "../site.ts";
import { showDay, showValue } from "../values.ts";
import { nameUser } from "./user-name.ts";

const END = "/invitations";

/** The invitations to memberships that the caller may create. */
interface Inviting {
  /** The call that sends one, with the fields that the caller may send. */
  readonly offer: Offer & { readonly request: Resource };
  /** The field with the group. Null if the path has the group. */
  readonly group: string | null;
}

/** Returns the mount of the memberships whose invitations are at a path. */
function findInvited(site: Site, path: string): Mount | undefined {
  const isHere = ({ resource, invitations, older }: Mount): boolean =>
    invitations !== null && older === null && fits(splitPath(resource.path + END), splitPath(path));
  return site.facts().mounts.find(isHere);
}

/** Returns what the caller may invite to at a path. Returns null if the caller may create no membership there. */
async function findInviting(site: Site, view: View, path: string): Promise<Inviting | null> {
  const mount = findInvited(site, path);
  if (mount === undefined) return null;
  const { user, group } = mount.invitations!;
  const [offers, above] = await Promise.all([view.offers(path), view.offers(path.slice(0, -END.length))]);
  const sending = offers.find(({ method }) => method === "POST");
  const creation = above.find(({ action, name }) => action === "create" && name === null);
  const request = sending?.request;
  if (sending === undefined || !creation?.resource || !request || !isResource(request)) return null;
  const { [user]: _, ...fields } = creation.resource.fields;
  return {
    offer: {
      ...sending,
      description: "Invite somebody",
      request: { ...request, fields: { email: request.fields["email"]!, ...fields } },
      mayHold: (field, ids) => creation.mayHold(field, ids),
    },
    group: Object.hasOwn(fields, group) ? group : null,
  };
}

/** Returns the call that sends an invitation, for its form. Returns null if the caller may send none at the path. */
export async function findInvitationForm(site: Site, view: View, path: string): Promise<Offer | null> {
  return (await findInviting(site, view, path))?.offer ?? null;
}

/**
 * Returns the link to the invitations to a list of memberships. `narrowed` is the query of the list, which may name a
 * group. Returns nothing if the caller may send no invitation there.
 */
export async function inviteLink(
  site: Site,
  view: View,
  list: string,
  narrowed: URLSearchParams,
): Promise<PageContent> {
  const inviting = await findInviting(site, view, list + END);
  if (inviting === null) return "";
  const { offer, group } = inviting;
  const to = group === null ? null : narrowed.get(group);
  const key = to === null ? null : parseKey(offer.request.fields[group!]!, to);
  if (key !== null && (await offer.mayHold(group!, [key])).length === 0) return "";
  const query = key === null ? "" : `?${new URLSearchParams([[group!, String(key)]]).toString()}`;
  return html` <a class="btn low" href="${resolveAddress(view, list + END + query)}">Invite</a>`;
}

/**
 * Draws the open invitations to memberships, and the form that sends one. Returns null if the path has no invitations.
 */
export async function drawInvitations(drawing: Drawing): Promise<Drawn | null> {
  const { site, view, path } = drawing;
  if (findInvited(site, path) === undefined) return null;
  const inviting = await findInviting(site, view, path);
  const main = html`<h1>Invitations</h1>
<p class="lead">A mail leads each person here. Its link is valid for seven days.</p>
<div class="stack">
${inviting === null ? "" : await writeInviteForm(drawing, inviting)}
${inviting === null ? noneOpen : await drawOpen(drawing, inviting)}
</div>`;
  return { title: "Invitations", main };
}

async function writeInviteForm({ site, view }: Drawing, { offer }: Inviting): Promise<Markup> {
  const inputs = formInputs(offer, view, null);
  const values = await pickFilled(offer, inputs, readParameters(view));
  const records = await loadFormRecords(site, view, offer, inputs, values);
  const fields = writeFormFields({ offer, inputs, records, values, typed: null, mistakes: [], prefix: "field-" });
  const content = html`${fields}<div class="row"><button class="btn main">Send the invitation</button></div>`;
  return writeSentForm({ view, offer, tag: null, classes: "panel form", content });
}

const noneOpen = html`<p class="dim">No open invitations.</p>`;

type Invitation = Readonly<Record<string, unknown>>;

async function drawOpen(drawing: Drawing, { offer: { request } }: Inviting): Promise<Markup> {
  const { site, view, path, body } = drawing;
  const open = Array.isArray(body.value) ? body.value.filter(isObject) : [];
  const [first] = open;
  if (first === undefined) return noneOpen;
  const memberships = open.map(({ fields }) => (isObject(fields) ? fields : {}));
  const names = Object.keys(request.fields).filter((name) => memberships.some((each) => Object.hasOwn(each, name)));
  const shown = { ...drawing, labels: await labelsFor(site, view, request, memberships, inCell) };
  // The right to end one depends on the membership, and all of these are memberships that the caller may create.
  const ending = (await view.offers(`${path}/${String(first["id"])}`)).find(({ method }) => method === "DELETE");
  const drawRow = async (invitation: Invitation, at: number): Promise<Markup> => {
    const cells = names.map((name) => {
      const field = request.fields[name]!;
      return html`<td data-label="${nameField(name, field)}">${showValue(shown, field, memberships[at]![name], inCell)}</td>`;
    });
    const end =
      ending === undefined
        ? ""
        : writeSentForm({
            view,
            offer: { ...ending, path: `${path}/${String(invitation["id"])}` },
            tag: null,
            classes: "",
            content: html`<button class="btn low">End it</button>`,
          });
    return html`<tr><th scope="row"><bdi>${String(invitation["email"])}</bdi></th>${cells}<td data-label="Sent by">${await nameUser(shown, invitation["sender"])}</td><td data-label="Valid until">${showDay(String(invitation["expires_at"]))}</td><td>${end}</td></tr>
`;
  };
  const heads = [...names.map((name) => nameField(name, request.fields[name])), "Sent by", "Valid until"];
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Open invitations, table"><table class="cards">
<caption>Open invitations</caption>
<thead><tr><th scope="col">E-mail</th>${heads.map((words) => html`<th scope="col">${words}</th>`)}<th scope="col"><span class="vh">End</span></th></tr></thead>
<tbody>
${await Promise.all(open.map(drawRow))}</tbody></table></div>`;
}
