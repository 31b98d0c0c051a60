import { randomBytes } from "node:crypto";
import { parseJSON } from "../../../core/exact-numbers.ts";
import { insert, jsonOf, storedOf, table, type StoredIn } from "../../../http/declarations/table.ts";
import type { Params } from "../../../http/request/path.ts";
import { dateTime, text } from "../../../resource/kinds/fields.ts";
import { fold } from "../../../store/fold.ts";
import type { Change, JSONValue, Key, Row, Store, Where } from "../../../store/store.ts";
import { ofAccount } from "../records/accounts.ts";
import { equals, later, timeText, until } from "../records/conditions.ts";

/** The largest number of open invitations to one group. */
export const MOST_OPEN = 100;

/** The lifetime of an invitation, in seconds. */
export const INVITATION_SECONDS = 7 * 86_400;

/**
 * The open invitations. The link of a mail is a proof of `mail_proofs`, and its data name the row. An invitation whose
 * mail was not sent has a row too, so the rows show nothing about the address.
 */
export const invitationsCollection = table({
  name: "open_invitations",
  id: "text",
  fields: {
    /** The name of the table of the memberships. */
    memberships: text(),
    /** The id of the group, as JSON. */
    group: text(),
    /** The parameters of the path of nested memberships. */
    params: jsonOf<Params>(),
    sender_id: ofAccount,
    /** The address as the sender spelled it. */
    address: text(),
    /** The folded address. */
    mailbox: text(),
    /** The body of the membership as the sender sent it, without the user. */
    sent: jsonOf<SentFields>(),
    created_at: dateTime(),
    expires_at: dateTime(),
  },
  indexes: [["memberships", "group", "created_at"], ["memberships", "created_at", "id"], ["sender_id"], ["expires_at"]],
});

type InvitationRecord = StoredIn<typeof invitationsCollection>;

/** The fields of a membership, as a body has them. */
export type SentFields = Readonly<Record<string, JSONValue>>;

/** An invitation to a group. */
export interface Invitation {
  readonly id: string;
  /** The name of the table of the memberships. */
  readonly memberships: string;
  readonly group: Key;
  /** The parameters of the path of nested memberships. */
  readonly params: Params;
  readonly senderId: number;
  readonly address: string;
  readonly sent: SentFields;
  /** RFC 3339. */
  readonly createdAt: string;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/** A new invitation. */
export type NewInvitation = Omit<Invitation, "id" | "createdAt" | "expiresAt">;

/** The name of the refusal of a transaction if the invitation was accepted or ended first. */
export const INVITATION_USED = "invitation_used";

/** Returns the id and the changes of a new invitation. The store refuses them if the group has too many. */
export function insertInvitation(
  { memberships, group, params, senderId, address, sent }: NewInvitation,
  now: number,
): { readonly id: string; readonly changes: readonly Change[] } {
  const collection = invitationsCollection;
  const id = randomBytes(16).toString("base64url");
  const values = {
    memberships,
    group: JSON.stringify(group),
    params,
    sender_id: senderId,
    address,
    mailbox: fold(address),
    sent,
    created_at: timeText(now),
    expires_at: timeText(now + INVITATION_SECONDS * 1000),
  };
  const where = { all: [...ofGroup(memberships, group), later("expires_at", now)] };
  return {
    id,
    changes: [
      insert(collection, { key: id, values }),
      { kind: "require", collection, where, atMost: MOST_OPEN, name: "too_many" },
    ],
  };
}

/** Finds an open invitation. Returns null if it was accepted, ended or has expired. */
export async function findInvitation(store: Store, id: string, now: number): Promise<Invitation | null> {
  const row = await store.find(invitationsCollection, id);
  if (row === null || Date.parse(storedOf(row).expires_at) <= now) return null;
  return read(row);
}

/** The open invitations to read: a part of those of one table of memberships, oldest first. */
export interface InvitationPage {
  readonly memberships: string;
  /** Null: of every group. */
  readonly group: Key | null;
  /** The last invitation of the page before. Null: from the start. */
  readonly after: Pick<Invitation, "id" | "createdAt"> | null;
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Reads a page of open invitations. */
export async function listInvitations(store: Store, page: InvitationPage): Promise<readonly Invitation[]> {
  const { memberships, group, after, limit, now } = page;
  const whose = group === null ? [equals("memberships", memberships)] : ofGroup(memberships, group);
  const following: readonly Where[] =
    after === null
      ? []
      : [
          {
            any: [
              { column: "created_at", operator: "gt", value: after.createdAt },
              { all: [equals("created_at", after.createdAt), { column: "id", operator: "gt", value: after.id }] },
            ],
          },
        ];
  const rows = await store.list({
    collection: invitationsCollection,
    where: { all: [...whose, later("expires_at", now), ...following] },
    sort: [{ column: "created_at" }, { column: "id" }],
    limit,
  });
  return rows.map(read);
}

/** Returns the changes that end an invitation. The transaction is refused if another request ended it first. */
export function endInvitation({ id }: Pick<Invitation, "id">): readonly Change[] {
  const collection = invitationsCollection;
  return [
    { kind: "require", collection, where: equals("id", id), atLeast: 1, name: INVITATION_USED },
    { kind: "delete", collection, key: id },
  ];
}

/**
 * Returns the changes that end an invitation and every other one of the same address to the group. Otherwise a user who
 * was removed from the group could come back with another link.
 */
export function endInvitations({ id, memberships, group, address }: Invitation): readonly Change[] {
  const collection = invitationsCollection;
  const where = { all: [...ofGroup(memberships, group), equals("mailbox", fold(address))] };
  return [
    { kind: "require", collection, where: equals("id", id), atLeast: 1, name: INVITATION_USED },
    { kind: "deleteAll", collection, where },
  ];
}

/** Returns the change that deletes expired invitations. */
export function dueInvitations(now: number): Change {
  return { kind: "deleteAll", collection: invitationsCollection, where: until("expires_at", now) };
}

function ofGroup(memberships: string, group: Key): readonly Where[] {
  return [equals("memberships", memberships), equals("group", JSON.stringify(group))];
}

function read(row: Row<InvitationRecord>): Invitation {
  const stored = storedOf(row);
  return {
    id: stored.id,
    memberships: stored.memberships,
    group: parseJSON(stored.group) as Key,
    params: stored.params,
    senderId: stored.sender_id,
    address: stored.address,
    sent: stored.sent,
    createdAt: stored.created_at,
    expiresAt: stored.expires_at,
  };
}
