import { problem } from "../../../core/problem/problem.ts";
import type { Change, Collection, JSONValue, KeyOf, Outcome, Row, Store } from "../../../store/store.ts";
import { equals, later, ofUser, timeText, until } from "../conditions.ts";
import { MAIL_PROOF_USED } from "./contract.ts";

/** Proofs by mail that wait for their link or code. Neither can be computed from a row without the service's secret. */
export const mailProofsCollection: Collection = {
  name: "mail_proofs",
  key: "text",
  columns: [
    { name: "purpose", type: "text" },
    { name: "user_id", type: "integer", nullable: true, references: { collection: "accounts", onDelete: "cascade" } },
    /** A keyed digest of the folded address, for the search. */
    { name: "mailbox", type: "text" },
    { name: "address", type: "text" },
    { name: "data", type: "json", nullable: true },
    /** The template of a mail that only informs. Null for a mail with a link. */
    { name: "notice", type: "text", nullable: true },
    /** The wrong codes: `{ total, networks: { digest: number } }`. */
    { name: "tries", type: "json" },
    { name: "created_at", type: "date-time" },
    { name: "codes_until", type: "date-time" },
    { name: "expires_at", type: "date-time" },
  ],
  indexes: [["mailbox", "purpose", "created_at"], ["user_id"], ["expires_at"]],
};

/** A proof by mail that waits for its link or code. */
export interface MailProof {
  readonly id: string;
  readonly purpose: string;
  readonly userId: number | null;
  readonly address: string;
  readonly data: JSONValue;
  readonly notice: string | null;
  /** Milliseconds since the epoch. */
  readonly codesUntil: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A new proof. */
export interface NewMailProof extends Omit<MailProof, "userId"> {
  readonly userId: number | KeyOf | null;
  readonly mailbox: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

const MOST_TRIES = 30;
const MOST_TRIES_PER_NETWORK = 5;

/** The maximum number of attempts to count a try. An attempt fails if another request counts its own try at the same moment. */
const MOST_ATTEMPTS = 3 * MOST_TRIES;

interface Tries {
  readonly total: number;
  readonly networks: Readonly<Record<string, number>>;
}

/** Returns the changes that store a proof. They end the codes of earlier mails for this purpose and mailbox. The links stay valid. */
export function insertProof(proof: NewMailProof): readonly Change[] {
  const { id, purpose, userId, mailbox, address, data, notice, createdAt, codesUntil, expiresAt } = proof;
  const values = {
    purpose,
    user_id: userId,
    mailbox,
    address,
    data,
    notice,
    tries: { total: 0, networks: {} },
    created_at: timeText(createdAt),
    codes_until: timeText(codesUntil),
    expires_at: timeText(expiresAt),
  };
  const collection = mailProofsCollection;
  const older = { all: [equals("mailbox", mailbox), equals("purpose", purpose), later("codes_until", createdAt)] };
  return [
    { kind: "updateAll", collection, where: older, values: { codes_until: timeText(createdAt) } },
    { kind: "insert", collection, key: id, values },
  ];
}

export async function findProof(store: Store, id: string): Promise<MailProof | null> {
  const row = await store.find(mailProofsCollection, id);
  return row === null ? null : read(row);
}

/** Returns the newest proof of a mailbox whose code is still valid. Returns null if there is none. */
export async function findByCode(
  store: Store,
  mailbox: string,
  purposes: readonly string[],
  now: number,
): Promise<MailProof | null> {
  const found: Row[] = [];
  for (const purpose of purposes) {
    const where = { all: [equals("mailbox", mailbox), equals("purpose", purpose), later("codes_until", now)] };
    const sort = [
      { column: "created_at", descending: true },
      { column: "id", descending: true },
    ];
    found.push(...(await store.list({ collection: mailProofsCollection, where, sort, limit: 1 })));
  }
  const newest = found.toSorted((one, other) => (createdAt(one) < createdAt(other) ? 1 : -1))[0];
  return newest === undefined ? null : read(newest);
}

/** Counts a try of a code, before the code is checked. Returns false if the network, or all networks together, have no tries left. */
export function countTry(store: Store, id: string, network: string): Promise<boolean> {
  return changeTries(store, id, ({ total, networks }) => {
    const ofNetwork = networks[network] ?? 0;
    if (total >= MOST_TRIES || ofNetwork >= MOST_TRIES_PER_NETWORK) return null;
    return { total: total + 1, networks: { ...networks, [network]: ofNetwork + 1 } };
  });
}

/** Removes a counted try, because its code was right. */
export function takeBackTry(store: Store, id: string, network: string): Promise<boolean> {
  return changeTries(store, id, ({ total, networks }) => ({
    total: total - 1,
    networks: { ...networks, [network]: (networks[network] ?? 1) - 1 },
  }));
}

async function changeTries(store: Store, key: string, change: (tries: Tries) => Tries | null): Promise<boolean> {
  const collection = mailProofsCollection;
  for (let round = 0; round < MOST_ATTEMPTS; round++) {
    const row = await store.find(collection, key);
    const tries = row === null ? null : change(row.record["tries"] as unknown as Tries);
    if (row === null || tries === null) return false;
    const values = { tries: tries as unknown as JSONValue };
    const changes: readonly Change[] = [{ kind: "update", collection, key, revision: row.revision, values }];
    if ((await store.write({ changes })).kind === "written") return true;
  }
  return false;
}

/** Returns the changes that use a proof up. The transaction is refused if another request used it first. */
export function useProof({ id }: MailProof): readonly Change[] {
  const collection = mailProofsCollection;
  return [
    { kind: "require", collection, where: equals("id", id), atLeast: 1, name: MAIL_PROOF_USED },
    { kind: "delete", collection, key: id },
  ];
}

/** Ends the request with 400 `invalid_link` if a transaction was refused because another request used the proof first. */
export function requireUnused(outcome: Outcome): void {
  const isUsed = (outcome.kind === "refused" && outcome.name === MAIL_PROOF_USED) || outcome.kind === "missing";
  if (isUsed) throw problem("invalid_link");
}

/** Returns the change that ends the proofs of a purpose, for a user or for a mailbox. */
export function endProofs(purpose: string, of: { readonly userId: number } | { readonly mailbox: string }): Change {
  const whose = "userId" in of ? ofUser(of.userId) : equals("mailbox", of.mailbox);
  return { kind: "deleteAll", collection: mailProofsCollection, where: { all: [whose, equals("purpose", purpose)] } };
}

/** Returns the change that ends every proof of a user. */
export function endUserProofs(userId: number): Change {
  return { kind: "deleteAll", collection: mailProofsCollection, where: ofUser(userId) };
}

/** Returns the change that deletes expired proofs. */
export function dueProofs(now: number): Change {
  return { kind: "deleteAll", collection: mailProofsCollection, where: until("expires_at", now) };
}

function read({ record }: Row): MailProof {
  return {
    id: record["id"] as string,
    purpose: record["purpose"] as string,
    userId: record["user_id"] as number | null,
    address: record["address"] as string,
    data: record["data"] as JSONValue,
    notice: record["notice"] as string | null,
    codesUntil: Date.parse(record["codes_until"] as string),
    expiresAt: Date.parse(record["expires_at"] as string),
  };
}

function createdAt({ record }: Row): string {
  return record["created_at"] as string;
}
