import { isObject } from "../../../core/checking/members.ts";
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
import { OVERTAKEN, type JSONValue, type Key, type WrittenValues } from "../../../store/store.ts";
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
    sent: withoutAddress(sent),
  });
}

/** Ends the request (400) if there is no such group. Only a caller who may create memberships of any group gets here. */
async function requireGroup(parts: InvitingParts, invited: InvitedMount, key: Key): Promise<void> {
  if (await isGroup(parts, invited, key)) return;
  const detail = "There is no record with this id.";
  throw invalid([{ pointer: `/${invited.group}`, code: "invalid", detail }]);
}

function withoutAddress(sent: unknown): SentFields {
  if (!isObject(sent)) return {};
  // The body of a request is JSON.
  return Object.fromEntries(Object.entries(sent).filter(([name]) => name !== "email")) as SentFields;
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
    if (outcome.kind !== "refused" || outcome.name !== OVERTAKEN)
      throw new Error(`The store answered ${outcome.kind} to an invitation.`);
  }
  throw problem("unavailable", { headers: [["Retry-After", "1"]] });
}
