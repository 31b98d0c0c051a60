import { problem } from "../../../core/problem/problem.ts";
import { insert, jsonOf, storedOf, table, update, updateAll, type StoredIn } from "../../../http/declarations/table.ts";
import { boolean, dateTime, integer, reference, text } from "../../../resource/kinds/fields.ts";
import type { Change, JSONValue, KeyOf, Outcome, Row, Store, Where } from "../../../store/store.ts";
import { equals, later, ofUser, timeText, until } from "../records/conditions.ts";
import { MAIL_PROOF_USED } from "./contract.ts";
import { writeNothing } from "./limits.ts";

/** Proofs by mail that wait for their link or code. Neither can be computed from a row without the service's secret. */
export const mailProofsCollection = table({
  name: "mail_proofs",
  id: "text",
  fields: {
    purpose: text(),
    user_id: reference("accounts", { optional: true, onDelete: "cascade" }),
    /** A keyed digest of the folded address, for the search. */
    mailbox: text(),
    address: text(),
    data: jsonOf<JSONValue>({ optional: true }),
    /** The generation of the account at the request. Null without an account, and in rows of earlier versions. */
    generation: integer({ optional: true }),
    /** True if the row outlives a changed password of an account whose address was never proved. */
    outlives: boolean({ optional: true }),
    /** The template of a mail that only informs. Null for a mail with a link. */
    notice: text({ optional: true }),
    /** The wrong codes: `{ total, networks: { digest: number } }`. */
    tries: jsonOf<Tries>(),
    created_at: dateTime(),
    codes_until: dateTime(),
    expires_at: dateTime(),
  },
  indexes: [["mailbox", "purpose", "created_at"], ["user_id"], ["expires_at"]],
});

type ProofRecord = StoredIn<typeof mailProofsCollection>;

/** The rows that end with a password. */
export const endedWithPassword: Where = {
  any: [equals("outlives", false), { column: "outlives", operator: "null", value: true }],
};

/** A proof by mail that waits for its link or code. */
export interface MailProof {
  readonly id: string;
  readonly purpose: string;
  readonly userId: number | null;
  readonly address: string;
  readonly data: JSONValue;
  /** The generation of the account at the request. Null without an account. */
  readonly generation: number | null;
  readonly outlives: boolean;
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

/**
 * The maximum number of attempts to count a try. An attempt fails if another request counts its own try at the same
 * moment.
 */
const MOST_ATTEMPTS = 3 * MOST_TRIES;

interface Tries {
  readonly total: number;
  readonly networks: Readonly<Record<string, number>>;
}

/**
 * Returns the changes that store a proof. They end the codes of earlier mails for this purpose and mailbox. The links
 * stay valid.
 */
export function insertProof(proof: NewMailProof): readonly Change[] {
  const { id, purpose, userId, mailbox, address, data, notice, createdAt, codesUntil, expiresAt, ...more } = proof;
  const values = {
    purpose,
    user_id: userId,
    mailbox,
    address,
    data,
    generation: more.generation,
    outlives: more.outlives,
    notice,
    tries: { total: 0, networks: {} },
    created_at: timeText(createdAt),
    codes_until: timeText(codesUntil),
    expires_at: timeText(expiresAt),
  };
  const older = { all: [equals("mailbox", mailbox), equals("purpose", purpose), later("codes_until", createdAt)] };
  return [
    updateAll(mailProofsCollection, { where: older, values: { codes_until: timeText(createdAt) } }),
    insert(mailProofsCollection, { key: id, values }),
  ];
}

export async function findProof(store: Store, id: string): Promise<MailProof | null> {
  const row = await store.find(mailProofsCollection, id);
  return row === null ? null : read(row);
}

/** A try of a code. */
export interface CodeTry {
  readonly mailbox: string;
  /** The digest of the network of the client. */
  readonly network: string;
  readonly purposes: readonly string[];
  readonly now: number;
}

/**
 * Counts a try of a code against the newest mail of each purpose, before the code is checked. Returns the proofs that
 * the code may belong to: a proof is left out if the network, or all networks together, have no tries left. Writes one
 * transaction, also if there is no such proof, so that the response time does not reveal whether a mailbox has one.
 */
export async function countTry(store: Store, codeTry: CodeTry): Promise<readonly MailProof[]> {
  const { network, now } = codeTry;
  for (let round = 0; round < MOST_ATTEMPTS; round++) {
    const allowed = (await findOpen(store, codeTry)).flatMap((row) => {
      const { total, networks } = storedOf(row).tries;
      const ofNetwork = networks[network] ?? 0;
      if (total >= MOST_TRIES || ofNetwork >= MOST_TRIES_PER_NETWORK) return [];
      return [{ row, tries: { total: total + 1, networks: { ...networks, [network]: ofNetwork + 1 } } }];
    });
    const changes = allowed.length === 0 ? [writeNothing(network, now)] : allowed.map(changeTries);
    if ((await store.write({ changes })).kind === "written") return allowed.map(({ row }) => read(row));
  }
  return [];
}

/** Removes a counted try from these proofs, because its code was right. */
export async function takeBackTry(store: Store, proofs: readonly MailProof[], network: string): Promise<void> {
  for (let round = 0; round < MOST_ATTEMPTS; round++) {
    const changes: Change[] = [];
    for (const { id } of proofs) {
      const row = await store.find(mailProofsCollection, id);
      if (row === null) continue;
      const { total, networks } = storedOf(row).tries;
      const rest = { ...networks, [network]: (networks[network] ?? 1) - 1 };
      changes.push(changeTries({ row, tries: { total: total - 1, networks: rest } }));
    }
    if (changes.length === 0 || (await store.write({ changes })).kind === "written") return;
  }
}

/** Finds the newest proof of each purpose of a mailbox whose code is still valid. */
async function findOpen(store: Store, { mailbox, purposes, now }: CodeTry): Promise<readonly Row<ProofRecord>[]> {
  const found: Row<ProofRecord>[] = [];
  for (const purpose of purposes) {
    const where = { all: [equals("mailbox", mailbox), equals("purpose", purpose), later("codes_until", now)] };
    const sort = [
      { column: "created_at", descending: true },
      { column: "id", descending: true },
    ];
    found.push(...(await store.list({ collection: mailProofsCollection, where, sort, limit: 1 })));
  }
  return found;
}

function changeTries({ row, tries }: { readonly row: Row<ProofRecord>; readonly tries: Tries }): Change {
  return update(mailProofsCollection, { key: storedOf(row).id, revision: row.revision, values: { tries } });
}

/** Returns the changes that use a proof up. The transaction is refused if another request used it first. */
export function useProof({ id }: MailProof): readonly Change[] {
  const collection = mailProofsCollection;
  return [
    { kind: "require", collection, where: equals("id", id), atLeast: 1, name: MAIL_PROOF_USED },
    { kind: "delete", collection, key: id },
  ];
}

/**
 * Ends the request with 400 `invalid_link` if a transaction was refused because another request used the proof first.
 */
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

function read(row: Row<ProofRecord>): MailProof {
  const { id, purpose, user_id, address, data, generation, outlives, notice, codes_until, expires_at } = storedOf(row);
  return {
    id,
    purpose,
    userId: user_id,
    address,
    data,
    generation,
    outlives: outlives === true,
    notice,
    codesUntil: Date.parse(codes_until),
    expiresAt: Date.parse(expires_at),
  };
}
