import type { Reply } from "../../../core/call/call.ts";
import { hmac } from "../../../core/crypto/secret.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import type { Identity } from "../../../core/identity.ts";
import { problem, Problem } from "../../../core/problem/problem.ts";
import { formatStored, rowsToStore } from "../../../store/kept-rows.ts";
import type {
  Change,
  Collection,
  Idempotency,
  Outcome,
  Recalled,
  StoredRecord,
  Transaction,
  Where,
} from "../../../store/store.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import { repeatKey } from "../../request/repeating.ts";

const KEPT_MS = 24 * 60 * 60 * 1000;

const DAY_MS = 24 * 60 * 60 * 1000;

/** The maximum number of idempotency records of one caller per day (UTC). */
const MAX_A_DAY = 10_000;

/**
 * The maximum number of octets in idempotency records of one caller per day (UTC). It allows 10,000 records of 6 KiB.
 */
const MAX_OCTETS_A_DAY = 64 * 1024 * 1024;

/** Counts the idempotency records of each caller, and their octets. The key is the caller and the day. */
export const idempotencyCountsCollection: Collection = {
  name: "repeat_counts",
  key: "text",
  columns: [
    { name: "caller", type: "text" },
    { name: "writes", type: "integer" },
    { name: "octets", type: "integer", default: 0 },
    { name: "expires_at", type: "date-time" },
  ],
  indexes: [["caller"]],
};

/**
 * A write whose outcome is stored, so that a repeated request with the same `Idempotency-Key` gets the same outcome.
 */
export interface StoredWrite {
  readonly idempotency: Idempotency;
  /** The length of its records in the stored form, in octets. */
  readonly octets: number;
}

/**
 * Returns the write with the length of its records in the stored form. Returns null if the request has no
 * `Idempotency-Key`.
 */
export function storedWith(idempotency: Idempotency | null, records: readonly StoredRecord[]): StoredWrite | null {
  return idempotency === null ? null : { idempotency, octets: measureStored(idempotency, records) };
}

/** Returns the length of these records in the stored form, in octets. */
export function measureStored(idempotency: Idempotency, records: readonly StoredRecord[]): number {
  const rows = records.map((record) => ({ revision: 0, record }));
  return Buffer.byteLength(formatStored(idempotency, rowsToStore(idempotency, rows)));
}

/**
 * Returns the transaction of a write. If the outcome is stored, the transaction also counts it for the caller. The
 * store refuses the transaction if the caller has stored too many outcomes on this day.
 */
export function withRepeats(exchange: Exchange, changes: readonly Change[], stored: StoredWrite | null): Transaction {
  if (stored === null) return { changes };
  return { changes: [...changes, ...countStored(exchange, stored)], idempotency: stored.idempotency };
}

function countStored({ call, identity }: Exchange, { idempotency, octets }: StoredWrite): readonly Change[] {
  // Callers without a credential are not counted together. Creating accounts has its own limit.
  if (identity === null) return [];
  const caller = String(identity.id);
  const key = `${formatCaller(identity)} ${Math.floor(call.now / DAY_MS)}`;
  const expires_at = new Date((Math.floor(call.now / DAY_MS) + 1) * DAY_MS).toISOString();
  const past = { column: "expires_at", operator: "lte", value: idempotency.now } as const;
  const ofCaller = { column: "caller", operator: "eq", value: caller } as const;
  const within: Where = {
    all: [
      { column: "id", operator: "eq", value: key },
      { column: "writes", operator: "lte", value: MAX_A_DAY },
      { column: "octets", operator: "lte", value: MAX_OCTETS_A_DAY },
    ],
  };
  const collection = idempotencyCountsCollection;
  const values = { caller, expires_at };
  return [
    { kind: "deleteAll", collection, where: { all: [ofCaller, past] } },
    { kind: "add", collection, key, column: "writes", by: idempotency.rows ?? 1, values: { ...values, octets: 0 } },
    { kind: "add", collection, key, column: "octets", by: octets, values: { ...values, writes: 0 } },
    { kind: "require", collection, where: within, atLeast: 1, name: TOO_MANY },
  ];
}

const TOO_MANY = "too_many_repeats";

/** Ends the request if the write was refused because its caller has stored too many outcomes. */
export function requireRoomForRepeats(outcome: Outcome, { call }: Exchange): void {
  if (outcome.kind !== "refused" || outcome.name !== TOO_MANY) return;
  const seconds = Math.ceil((DAY_MS - (call.now % DAY_MS)) / 1000);
  throw problem(TOO_MANY, { headers: [["Retry-After", String(seconds)]] });
}

/**
 * Returns the idempotency key of a write with this number of records, with its fingerprint and expiry. Returns null if
 * the request has no `Idempotency-Key`.
 */
export function repeatable(
  { repeatColumns: storedColumns, personal }: ServedMount,
  exchange: Exchange,
  rows = 1,
): Idempotency | null {
  const { call, body, service } = exchange;
  const key = repeatKey(exchange);
  if (key === null) return null;
  const path = call.path.endsWith("/") ? call.path.slice(0, -1) : call.path;
  const request = Buffer.concat([
    Buffer.from(`${call.method} ${path} ${body?.mediaType ?? ""}\n`),
    body?.bytes ?? Buffer.alloc(0),
  ]);
  return {
    columns: storedColumns,
    rows,
    erasable: personal,
    key: `${formatCaller(exchange.identity)} ${key}`,
    fingerprint: hmac(service.fingerprintKey, request).toString("base64url"),
    expiresAt: new Date(call.now + KEPT_MS).toISOString(),
    now: new Date(call.now).toISOString(),
  };
}

/**
 * Returns the text for the caller in a stored key. An administrator who acts for a user has the ids of both, separated
 * by a space. A key contains no space, so it cannot imitate this text.
 */
function formatCaller(identity: Identity | null): string {
  if (identity === null) return "anonymous";
  return identity.actor === undefined ? String(identity.id) : `${identity.id} ${identity.actor.id}`;
}

/** The result of an earlier write with the same key. */
export type Repeated = Extract<Recalled, { readonly kind: "replayed" }>;

/** The two ways to answer a request that may be a repeat. */
interface Answers {
  /** Writes, and returns the reply. Called if no outcome is stored. */
  readonly perform: () => Promise<Reply>;
  /** Returns the reply for an earlier request with the same key. */
  readonly replay: (earlier: Repeated) => Eventually<Reply>;
}

/**
 * Answers a request that may be a repeat. Looks for a stored outcome before it checks the request, because the same
 * request may be invalid now. If the write is refused, looks again. A concurrent request with the same key may have
 * been committed in the meantime, and may be the reason for the refusal.
 */
export async function answerOnce(
  exchange: Exchange,
  idempotency: Idempotency | null,
  { perform, replay }: Answers,
): Promise<Reply> {
  if (idempotency === null) return perform();
  const earlier = await recall(exchange, idempotency);
  if (earlier !== null) return replay(earlier);
  try {
    return await perform();
  } catch (error) {
    const written = error instanceof Problem ? await recall(exchange, idempotency) : null;
    if (written === null) throw error;
    return replay(written);
  }
}

function recall({ service }: Exchange, idempotency: Idempotency): Eventually<Repeated | null> {
  return after(service.store.recall(idempotency), (earlier) => {
    if (earlier === null) return null;
    if (earlier.kind === "mismatch") throw problem("idempotency_mismatch");
    return earlier;
  });
}
