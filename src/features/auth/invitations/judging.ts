import type { Identity } from "../../../core/identity.ts";
import { provedBy } from "../../../core/levels.ts";
import { Problem, problem } from "../../../core/problem/problem.ts";
import {
  findCreator,
  mayCreateEach,
  maySend,
  mayUseParents,
  requireDraftWithout,
  type Creator,
} from "../../../http/mount/writes/creating-for.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Params } from "../../../http/request/path.ts";
import type { WrittenValues } from "../../../store/store.ts";
import { identityOf, type Account } from "../records/accounts.ts";
import type { Invitation, SentFields } from "./invitations.ts";
import { isGroup, type InvitedMount, type InvitingParts } from "./parts.ts";

// An invitation is judged as a creation by its sender, when it is sent, listed, ended and accepted.

/** The sender of an invitation who may create the membership now. */
export interface Sender {
  readonly account: Account;
  readonly creator: Creator;
}

/** The name of the scheme of a sender whose invitation is accepted. */
const SCHEME = "invitation";

/**
 * Returns the caller. Ends the request (403) for a credential of a program and for an administrator who acts for
 * another user.
 */
export function requirePerson(context: Context): Identity {
  const identity = context.requireIdentity();
  if (identity.proofs === undefined || identity.scopes !== null)
    throw problem("permission_denied", { detail: "Only people send and accept invitations, not programs." });
  if (identity.actor !== undefined)
    throw problem("permission_denied", { detail: "A token that acts for a user sends and accepts no invitations." });
  return identity;
}

/**
 * Returns the sender of an invitation. Returns null if the sender is deactivated or deleted, or may not create the
 * membership any more, or if the group is deleted.
 */
export async function findSender(
  parts: Pick<InvitingParts, "accounts" | "store" | "service">,
  context: Context,
  invited: InvitedMount,
  invitation: Invitation,
): Promise<Sender | null> {
  const account = await parts.accounts.find(invitation.senderId);
  if (account?.active !== true) return null;
  if (!(await isGroup(parts, invited, invitation.group))) return null;
  const creator = findCreatorNow(invited, context, identityOf(account, SCHEME), invitation.params);
  if (creator === null || (await judge(parts, invited, creator, invitation)) === null) return null;
  return { account, creator };
}

/** Returns the identity of a sender, for the hooks of the creation. It has no proofs, because the sender sent none. */
export function senderIdentity({ account }: Sender): Identity {
  return identityOf(account, SCHEME);
}

/**
 * Returns a user as a creator of memberships. Returns null if the permission denies it. A permission that asks for
 * recent proofs asked when the invitation was sent, so this user counts as just confirmed.
 */
export function findCreatorNow(
  { mount }: InvitedMount,
  context: Context,
  identity: Identity,
  params: Params,
): Creator | null {
  const confirmed = { ...identity, ...provedBy([{ method: "operator", at: context.now }]) };
  return findCreator(mount, context, { identity: confirmed, params });
}

/** The parts that find the sender of an invitation. */
type Senders = Pick<InvitingParts, "accounts">;

type SentInvitation = Pick<Invitation, "senderId" | "sent">;

/**
 * Returns the values of the membership of an invitation, without the user. Its defaults are those of the sender.
 * Returns null if this user may not create the membership.
 */
export async function judge(
  parts: Senders,
  invited: InvitedMount,
  creator: Creator,
  invitation: SentInvitation,
): Promise<WrittenValues | null> {
  if (!(await mayUseParents(creator))) return null;
  return (await judgeEach(parts, invited, creator, [invitation]))[0]!;
}

/** Does the same as `judge` for several invitations below one path, whose parents the user may use. */
export async function judgeEach(
  parts: Senders,
  { user }: InvitedMount,
  creator: Creator,
  invitations: readonly SentInvitation[],
): Promise<readonly (WrittenValues | null)[]> {
  if (!maySend(creator, user)) return invitations.map(() => null);
  const senders = await findSenders(parts, invitations);
  const read = invitations.map(({ senderId, sent }) => {
    const sender = senders.get(senderId);
    // The sender was deleted in the meantime, and the invitation with them.
    return sender === undefined ? null : readValues(creator, user, sent, sender);
  });
  const whole = read.filter((values) => values !== null);
  const allowed = await mayCreateEach(creator, whole);
  const created: ReadonlySet<WrittenValues | null> = new Set(whole.filter((_, at) => allowed[at] === true));
  return read.map((values) => (created.has(values) ? values : null));
}

/** Returns the senders of invitations, by their id. */
async function findSenders(
  { accounts }: Senders,
  invitations: readonly SentInvitation[],
): Promise<ReadonlyMap<number, Identity>> {
  const senders = new Map<number, Identity>();
  for (const id of new Set(invitations.map(({ senderId }) => senderId))) {
    const account = await accounts.find(id);
    if (account !== null) senders.set(id, identityOf(account, SCHEME));
  }
  return senders;
}

/** Returns the values that the sender has sent. Returns null if the creator may not send these fields. */
function readValues(creator: Creator, user: string, sent: SentFields, sender: Identity): WrittenValues | null {
  try {
    return requireDraftWithout(creator, { without: user, sent, sender }).values as WrittenValues;
  } catch (error) {
    // The declaration or the rules of fields have changed.
    if (error instanceof Problem && error.status < 500) return null;
    throw error;
  }
}
