import { isObject, isText } from "../../../core/checking/members.ts";
import type { Identity } from "../../../core/identity.ts";
import { Problem, problem, type Issue } from "../../../core/problem/problem.ts";
import { storedOf } from "../../../http/declarations/table.ts";
import { createFor, refusalFor, type Unwritten } from "../../../http/mount/writes/creating-for.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Params } from "../../../http/request/path.ts";
import { fold } from "../../../store/fold.ts";
import { OVERTAKEN, type Change, type Outcome, type Row, type Where } from "../../../store/store.ts";
import { requireNewId } from "../../../store/written.ts";
import { MAIL_PROOF_USED, type RedeemedProof } from "../mailbox/contract.ts";
import { accountsCollection, identityOf, type Account } from "../records/accounts.ts";
import { equals } from "../records/conditions.ts";
import { endInvitations, findInvitation, INVITATION_USED, type Invitation } from "./invitations.ts";
import { findSender, requirePerson, senderIdentity, type Sender } from "./judging.ts";
import { findInvitedMount, type InvitedMount, type InvitingParts } from "./parts.ts";

/** The largest number of attempts while other requests change the sender or the memberships. */
const MOST_ATTEMPTS = 30;

/** The refusal of a transaction in which another request made the user a member first. */
const MEMBER_ALREADY = "member_already";

/** A link of a mail that is valid now. */
export interface OpenLink {
  readonly invited: InvitedMount;
  readonly invitation: Invitation;
  readonly proof: RedeemedProof;
  readonly sender: Sender;
}

/**
 * Returns the invitation of a link, without using the link up. Returns null if the link is wrong, used or expired, or
 * if its sender may not create the membership any more.
 */
export async function findOpenLink(parts: InvitingParts, context: Context, token: string): Promise<OpenLink | null> {
  const proof = await parts.purpose.find(context, { token });
  if (proof === null) return null;
  const id = isObject(proof.data) ? proof.data["invitation"] : null;
  const invitation = isText(id) ? await findInvitation(parts.store, id, context.now) : null;
  if (invitation === null) return null;
  const invited = findInvitedMount(parts, invitation.memberships);
  if (invited === null) return null;
  const sender = await findSender(parts, context, invited, invitation);
  return sender === null ? null : { invited, invitation, proof, sender };
}

/** Returns the invitation of a link, like `findOpenLink`. Ends the request (400 `invalid_link`) if there is none. */
export async function requireOpenLink(parts: InvitingParts, context: Context, token: string): Promise<OpenLink> {
  const link = await findOpenLink(parts, context, token);
  if (link === null) throw problem("invalid_link");
  return link;
}

/** A user who has accepted an invitation. */
export interface Joined {
  readonly status: 200 | 201;
  readonly row: Row;
  readonly member: Identity;
  readonly invited: InvitedMount;
  /** The parameters of the path of nested memberships. */
  readonly params: Params;
}

/** Makes the caller a member. Ends the request (401, 403) if the caller is not logged in with the invited address. */
export async function acceptAsCaller(parts: InvitingParts, context: Context, token: string): Promise<Joined> {
  const link = await requireOpenLink(parts, context, token);
  if (context.identity === null && context.refusal !== null) throw context.refusal.problem;
  const member = requirePerson(context);
  if (!(await isInvited(parts, link, member.id)))
    throw problem("permission_denied", { detail: "Log in with the address that the invitation was sent to." });
  return join(parts, context, token, link, member);
}

/** The choices of a person without an account. */
export interface Newcomer {
  readonly name: string;
  readonly password: string;
}

/**
 * Creates the user of the invited address, then the membership. The link is used up with the membership. So if the work
 * is interrupted after the first step, the user logs in and accepts with the same link. Ends the request with 409 if the
 * address has an account.
 */
export async function acceptAsNewcomer(
  parts: InvitingParts,
  context: Context,
  token: string,
  { name, password }: Newcomer,
): Promise<Joined> {
  const link = await requireOpenLink(parts, context, token);
  const account = await createUser(parts, context, link, { name, password });
  return join(parts, context, token, link, identityOf(account, "invitation"));
}

/** Returns true if a user has the invited address now. */
export async function isInvited(
  { accounts, store }: InvitingParts,
  { invitation, proof }: OpenLink,
  userId: number,
): Promise<boolean> {
  const row = await store.find(accounts.users.collection, userId);
  if (row === null) return false;
  const address = fold(storedOf(row).email);
  return address === fold(proof.address) && address === fold(invitation.address);
}

async function createUser(
  { accounts, changing }: InvitingParts,
  context: Context,
  { proof }: OpenLink,
  { name, password }: Newcomer,
): Promise<Account> {
  const newcomer = { name, email: proof.address, fields: {}, password, username: null };
  let outcome: Outcome;
  try {
    outcome = await changing.createUser(context, newcomer, []);
  } catch (error) {
    if (error instanceof Problem && error.code === "taken") throw addressTaken();
    throw error;
  }
  if (outcome.kind === "taken" || (outcome.kind === "refused" && outcome.name === "taken")) throw addressTaken();
  if (outcome.kind !== "written") throw problem("conflict");
  const account = await accounts.find(requireNewId(outcome));
  if (account === null) throw problem("invalid_link");
  return account;
}

function addressTaken(): Error {
  const issue: Issue = {
    pointer: "/email",
    code: "taken",
    detail: "An account with this address exists now. Log in to it, then open the link again.",
  };
  return problem("taken", { issues: [issue] });
}

async function join(
  parts: InvitingParts,
  context: Context,
  token: string,
  first: OpenLink,
  member: Identity,
): Promise<Joined> {
  let link = first;
  for (let round = 0; round < MOST_ATTEMPTS; round++) {
    const { invited, invitation } = link;
    const joined = { member, invited, params: invitation.params };
    const existing = await findMembership(parts, link, member.id);
    if (existing !== null) {
      requireUnused(await context.write({ changes: usedUp(link) }));
      return { ...joined, status: 200, row: existing };
    }
    const outcome = await create(link, member);
    if (outcome.kind === "written" || outcome.kind === "replayed")
      return { ...joined, status: 201, row: outcome.rows[0]! };
    requireUnused(outcome);
    if (!isOvertaken(outcome)) throw refused(outcome, link);
    // Another value of the membership is taken, and not by a membership of this user.
    if (outcome.kind === "taken" && (await findMembership(parts, link, member.id)) === null) throw problem("conflict");
    link = await requireOpenLink(parts, context, token);
  }
  throw problem("conflict");
}

function isOvertaken(outcome: Outcome): boolean {
  if (outcome.kind === "taken") return true;
  return outcome.kind === "refused" && (outcome.name === OVERTAKEN || outcome.name === MEMBER_ALREADY);
}

/** Returns the problem for a membership that the database refuses: the group was deleted, or a rule of the mount. */
function refused(outcome: Unwritten, { sender: { creator } }: OpenLink): Error {
  return outcome.kind === "dangling" ? problem("invalid_link") : refusalFor(creator, outcome);
}

/** Ends the request (400 `invalid_link`) if another request used the link first. */
function requireUnused(outcome: Outcome): void {
  const isUsed = outcome.kind === "refused" && [MAIL_PROOF_USED, INVITATION_USED].includes(outcome.name);
  if (isUsed) throw problem("invalid_link");
}

function usedUp({ proof, invitation }: OpenLink): readonly Change[] {
  return [...proof.changes, ...endInvitations(invitation)];
}

async function findMembership({ store }: InvitingParts, link: OpenLink, userId: number): Promise<Row | null> {
  const { collection } = link.invited.mount;
  const rows = await store.list({ collection, where: ofMember(link, userId), sort: [{ column: "id" }], limit: 1 });
  return rows[0] ?? null;
}

function ofMember({ invited: { user, group }, invitation }: OpenLink, userId: number): Where {
  return { all: [equals(user, userId), equals(group, invitation.group)] };
}

/**
 * Creates the membership as its sender. The transaction is refused if the sender was changed, the link was used, or the
 * user became a member in the meantime.
 */
async function create(link: OpenLink, member: Identity): Promise<Outcome> {
  const { invited, invitation, sender } = link;
  const { collection } = invited.mount;
  const { id, role, generation } = sender.account;
  const isSame = {
    all: [equals("id", id), equals("active", true), equals("role", role), equals("generation", generation)],
  };
  const also: readonly Change[] = [
    ...usedUp(link),
    { kind: "require", collection: accountsCollection, where: isSame, atLeast: 1, name: OVERTAKEN },
    { kind: "require", collection, where: ofMember(link, member.id), atMost: 1, name: MEMBER_ALREADY },
  ];
  const sent = { ...invitation.sent, [invited.user]: member.id };
  try {
    return await createFor(sender.creator, { sent, accepting: invited.user, identity: senderIdentity(sender), also });
  } catch (error) {
    // The sender may not create this membership. A conflict that a hook finds is a different problem.
    if (error instanceof Problem && [400, 401, 403, 404].includes(error.status)) throw problem("invalid_link");
    throw error;
  }
}
