import { storedOf } from "../../../http/declarations/table.ts";
import { readFor } from "../../../http/mount/writes/creating-for.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Field } from "../../../resource/declaration/field.ts";
import { findLabelField, nameOne } from "../../../resource/record-labels.ts";
import { findOpenLink, isInvited, type OpenLink } from "./accepting.ts";
import { senderIdentity } from "./judging.ts";
import { findGroups, type InvitingParts } from "./parts.ts";

/** What the page of a link shows. */
export interface Opened {
  /** The name of the user who sent the invitation. */
  readonly sender: string;
  /** The name of the group. */
  readonly group: string;
  /** The invited address. */
  readonly email: string;
  /** True if an account has the address. */
  readonly account: boolean;
  /** True if the caller is logged in with the address. */
  readonly yours: boolean;
}

/** Returns what the page of a link shows, without using the link up. Returns null if the link is not valid. */
export async function openLink(parts: InvitingParts, context: Context, token: string): Promise<Opened | null> {
  const link = await findOpenLink(parts, context, token);
  if (link === null) return null;
  const { accounts, store } = parts;
  const { address } = link.proof;
  const known = await store.findBy(accounts.users.collection, "email", address);
  const sender = await store.find(accounts.users.collection, link.sender.account.id);
  return {
    sender: sender === null ? link.sender.account.username : storedOf(sender).name,
    group: await nameGroup(parts, context, link),
    email: link.invitation.address,
    account: known !== null,
    yours: context.identity !== null && (await isInvited(parts, link, context.identity.id)),
  };
}

/** Returns the name of the group as the sender reads it. Without a readable name, it is `Project 7`. */
async function nameGroup(
  parts: InvitingParts,
  context: Context,
  { invited, invitation, sender }: OpenLink,
): Promise<string> {
  const groups = findGroups(parts, invited);
  if (groups === null) return nameOne(invited.mount.resource);
  const key = invitation.group;
  const record = await readFor(groups, context, senderIdentity(sender), key);
  const { resource } = groups;
  const label = findLabelField(resource);
  const name = label === null || !isShownToAll(resource.fields[label]!) ? null : record?.[label];
  return typeof name === "string" && name.trim() !== "" ? name : nameOne(resource, key);
}

/** True for a field that holds a text and has no rule. Everyone with the link reads the name, also without a login. */
function isShownToAll({ kind, options }: Field): boolean {
  return kind.references === undefined && options.read === undefined;
}
