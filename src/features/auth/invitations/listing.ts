import { problem } from "../../../core/problem/problem.ts";
import type { Creator } from "../../../http/mount/writes/creating-for.ts";
import { requireParentsOf } from "../../../http/mount/writes/creating-for.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import type { Key, WrittenValues } from "../../../store/store.ts";
import { endInvitation, findInvitation, listInvitations, type Invitation, type InvitationPage } from "./invitations.ts";
import { findCreatorNow, judge, judgeEach } from "./judging.ts";
import { findGroups, isNestedIn, type InvitedMount, type InvitingParts } from "./parts.ts";

/** The largest number of invitations in one answer. */
const MOST_LISTED = 1000;

/** The largest number of rows that one request judges. A caller who names the group gets all of its invitations. */
const MOST_JUDGED = 10_000;

const CHUNK = 200;

/** An open invitation, in the form that callers see. */
export interface ListedInvitation {
  readonly id: string;
  readonly email: string;
  /** The fields of the membership that the caller may read. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The id of the user who sent it. */
  readonly sender: number;
  /** RFC 3339. */
  readonly expires_at: string;
}

/** Returns the open invitations whose memberships the caller may create, oldest first. */
export async function listOpen(
  parts: InvitingParts,
  context: Context,
  invited: InvitedMount,
): Promise<readonly ListedInvitation[]> {
  const { mount, group: column } = invited;
  const { params } = context;
  const asked = readGroup(parts, context, invited);
  const creator = await requireCreatorOfAny(context, invited);
  const group = isNestedIn(invited) ? params[column]! : asked;
  const listed: ListedInvitation[] = [];
  let after: InvitationPage["after"] = null;
  for (let judged = 0; judged < MOST_JUDGED && listed.length < MOST_LISTED; judged += CHUNK) {
    const page = { memberships: mount.collection.name, group, after, limit: CHUNK, now: context.now };
    const found: readonly Invitation[] = await listInvitations(parts.store, page);
    const judgedValues = await judgeEach(parts, invited, creator, found);
    for (const [at, invitation] of found.entries()) {
      const values = judgedValues[at]!;
      if (values !== null) listed.push(show(creator, invitation, values));
    }
    if (found.length < CHUNK) break;
    after = found.at(-1)!;
  }
  return listed.slice(0, MOST_LISTED);
}

/** Ends an open invitation. Ends the request (404) if there is none, or if the caller may not create its membership. */
export async function endOpen(parts: InvitingParts, context: Context, invited: InvitedMount): Promise<void> {
  const { mount, group } = invited;
  const { invitation: id, ...params } = context.params;
  const creator = await requireCreatorOfAny(context, invited, params);
  const invitation = await findInvitation(parts.store, String(id), context.now);
  if (invitation === null || invitation.memberships !== mount.collection.name) throw problem("not_found");
  if (isNestedIn(invited) && invitation.group !== params[group]) throw problem("not_found");
  if ((await judge(parts, invited, creator, invitation)) === null) throw problem("not_found");
  const outcome = await context.write({ changes: endInvitation(invitation) });
  // Another request has deleted or accepted it first.
  if (outcome.kind !== "written") throw problem("not_found");
}

/** Returns the caller as a creator. Ends the request (403, or 404 for the parents) if the caller may create nothing. */
async function requireCreatorOfAny(
  context: Context,
  invited: InvitedMount,
  params: Context["params"] = context.params,
): Promise<Creator> {
  const creator = findCreatorNow(invited, context, context.requireIdentity(), params);
  if (creator === null) throw problem("permission_denied");
  await requireParentsOf(creator);
  return creator;
}

/** Returns the group in the query. Null: every group. Ends the request (400) for any other parameter. */
function readGroup(parts: InvitingParts, context: Context, invited: InvitedMount): Key | null {
  const { group } = invited;
  const parameters = context.parameters();
  const isKnown = (name: string): boolean => name === group && !isNestedIn(invited);
  const unknown = parameters.filter(([name], at) => !isKnown(name) || at > 0);
  if (unknown.length > 0)
    throw invalid(
      unknown.map(([name]) => ({
        pointer: `?${name}`,
        code: isKnown(name) ? "invalid" : "unknown_parameter",
        detail: isKnown(name) ? "Send it once." : "There is no such parameter.",
      })),
    );
  const [sent] = parameters;
  if (sent === undefined) return null;
  const isNumber = (findGroups(parts, invited)?.collection.key ?? "integer") === "integer";
  if (!isNumber) return sent[1];
  if (/^[1-9]\d{0,15}$/.test(sent[1])) return Number(sent[1]);
  throw invalid([{ pointer: `?${group}`, code: "invalid", detail: "A whole number from 1 is required." }]);
}

function show(
  { mount }: Creator,
  { id, address, senderId, expiresAt }: Invitation,
  values: WrittenValues,
): ListedInvitation {
  const names = mount.shown.filter((name) => Object.hasOwn(values, name));
  const fields = Object.fromEntries(names.map((name) => [name, values[name]]));
  return { id, email: address, fields, sender: senderId, expires_at: expiresAt };
}
