import { problem } from "../../../core/problem/problem.ts";
import {
  requireCreator,
  mayCreate,
  maySend,
  requireDraftWithout,
  requireKnownUsers,
  requireParentsOf,
} from "../../../http/mount/writes/creating-for.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import { email } from "../../../resource/kinds/fields.ts";
import type { JSONValue, Key, WrittenValues } from "../../../store/store.ts";
import { findRecipient } from "../mailbox/asking.ts";
import { insertInvitation, type NewInvitation, type SentFields } from "./invitations.ts";
import { requirePerson } from "./judging.ts";
import { groupIn, isGroup, type InvitedMount, type InvitingParts } from "./parts.ts";

/** The field of an invitation in place of the user of the membership. */
export const emailField = email({ label: "E-mail", description: "The address of the person to invite." });

/** The largest number of attempts to write an invitation while other requests count their mails. */
const MOST_ATTEMPTS = 100;

/**
 * Sends an invitation. Neither the answer nor the work depends on whether the address has an account. Ends the request
 * as the creation of the membership would.
 */
export async function sendInvitation(parts: InvitingParts, context: Context, invited: InvitedMount): Promise<void> {
  const { mount, user } = invited;
  const identity = requirePerson(context);
  const { params } = context;
  const creator = requireCreator(mount, context, { identity, params });
  const sent = context.body?.value;
  const { values } = requireDraftWithout(creator, { without: user, instead: { email: emailField }, sent });
  const { email: address, ...membership } = values as WrittenValues & { readonly email: string };
  await requireParentsOf(creator);
  if (!maySend(creator, user) || !(await mayCreate(creator, membership))) throw problem("permission_denied");
  await requireKnownUsers(creator, membership);
  const group = groupIn(invited, membership, params);
  await requireGroup(parts, invited, group);
  await write(parts, context, {
    memberships: mount.collection.name,
    group,
    params,
    senderId: identity.id,
    address,
    // The body of a request is JSON, and it was read as an object.
    sent: withoutAddress(sent as SentFields),
  });
}

/** Ends the request (400) if there is no such group. Only a caller who may create memberships of any group gets here. */
async function requireGroup(parts: InvitingParts, invited: InvitedMount, key: Key): Promise<void> {
  if (await isGroup(parts, invited, key)) return;
  const detail = "There is no record with this id.";
  throw invalid([{ pointer: `/${invited.group}`, code: "invalid", detail }]);
}

function withoutAddress(sent: SentFields): SentFields {
  return Object.fromEntries(Object.entries(sent).filter(([name]) => name !== "email"));
}

async function write(
  { accounts, changing, purpose, store }: InvitingParts,
  context: Context,
  invitation: NewInvitation,
): Promise<void> {
  const recipient = await findRecipient({ store }, accounts.users, invitation.address);
  const isMailed = recipient.user !== null || (changing.acceptsSignUps && !recipient.isKnown);
  for (let round = 0; round < MOST_ATTEMPTS; round++) {
    const { id, changes } = insertInvitation(invitation, context.now);
    const data: JSONValue = isMailed ? { invitation: id } : null;
    const mail = await purpose.request(context, { address: recipient.address, user: null, data });
    const outcome = await context.write({ changes: [...changes, ...mail] });
    if (outcome.kind === "written") return;
    if (outcome.kind === "refused" && outcome.name === "too_many")
      throw problem("too_many", { detail: "This group has 100 open invitations. End one first." });
    // The sender was deleted in the meantime.
    if (outcome.kind === "dangling") throw problem("permission_denied");
    // Another request has counted its mail at the same time.
  }
  throw problem("unavailable", { headers: [["Retry-After", "1"]] });
}
