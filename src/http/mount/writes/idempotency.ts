import type { Reply } from "../../../core/call/call.ts";
import { hmac } from "../../../core/crypto/secret.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { problem, Problem } from "../../../core/problem/problem.ts";
import { formatKept, keptRows } from "../../../store/kept-rows.ts";
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
import type { Exchange } from "../../exchange.ts";
import { repeatKey } from "../../repeating.ts";
import type { MountInPlace } from "../mount.ts";

const KEPT_MS = 24 * 60 * 60 * 1000;

const DAY_MS = 24 * 60 * 60 * 1000;

/** How many writes a caller may have kept in a day (UTC). */
const MAX_A_DAY = 10_000;

/** The most octets that are kept for one caller in a day (UTC): 10,000 records of 6 KiB, or as much as the bodies of all callers may hold in memory. */
const MAX_OCTETS_A_DAY = 64 * 1024 * 1024;

/** How many writes each caller has had kept, and how many octets of them; the key is the caller and the day. */
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

/** A write that is kept for repeats. */
export interface Kept {
  readonly idempotency: Idempotency;
  /** The length of its records as they are kept. */
  readonly octets: number;
}

/** Returns the write with the length of its records as they are kept. Returns null if it is not kept. */
export function keptWith(idempotency: Idempotency | null, records: readonly StoredRecord[]): Kept | null {
  return idempotency === null ? null : { idempotency, octets: octetsKept(idempotency, records) };
}

/** Returns the length of these records as they are kept, in octets. */
export function octetsKept(idempotency: Idempotency, records: readonly StoredRecord[]): number {
  const rows = records.map((record) => ({ revision: 0, record }));
  return Buffer.byteLength(formatKept(idempotency, keptRows(idempotency, rows)));
}

/** The transaction of a write that may be kept for repeats: then it counts, and is refused where there are too many. */
export function withRepeats(exchange: Exchange, changes: readonly Change[], kept: Kept | null): Transaction {
  if (kept === null) return { changes };
  return { changes: [...changes, ...countKept(exchange, kept)], idempotency: kept.idempotency };
}

function countKept({ call, identity }: Exchange, { idempotency, octets }: Kept): readonly Change[] {
  // Whoever is nobody shares no count with others, and is counted where sign-ups are.
  if (identity === null) return [];
  const caller = String(identity.id);
  const key = `${caller} ${Math.floor(call.now / DAY_MS)}`;
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

/** Ends the request whose write was refused because too many are kept. */
export function requireRoomForRepeats(outcome: Outcome, { call }: Exchange): void {
  if (outcome.kind !== "refused" || outcome.name !== TOO_MANY) return;
  const seconds = Math.ceil((DAY_MS - (call.now % DAY_MS)) / 1000);
  throw problem(TOO_MANY, { headers: [["Retry-After", String(seconds)]] });
}

/** The record under which a repeated write of so many records is known; null where the caller sent no `Idempotency-Key`. */
export function repeatable({ kept, personal }: MountInPlace, exchange: Exchange, rows = 1): Idempotency | null {
  const { call, body, service } = exchange;
  const key = repeatKey(exchange);
  if (key === null) return null;
  const path = call.path.endsWith("/") ? call.path.slice(0, -1) : call.path;
  const request = Buffer.concat([
    Buffer.from(`${call.method} ${path} ${body?.mediaType ?? ""}\n`),
    body?.bytes ?? Buffer.alloc(0),
  ]);
  return {
    columns: kept,
    rows,
    erasable: personal,
    key: `${exchange.identity?.id ?? "anonymous"} ${key}`,
    fingerprint: hmac(service.fingerprintKey, request).toString("base64url"),
    expiresAt: new Date(call.now + KEPT_MS).toISOString(),
    now: new Date(call.now).toISOString(),
  };
}

/** What an earlier write under a key has left. */
export type Repeated = Extract<Recalled, { readonly kind: "replayed" }>;

/** How a write is answered. */
interface Answers {
  /** Makes the write. */
  readonly anew: () => Promise<Reply>;
  /** Gives the answer of an earlier copy of the request. */
  readonly again: (known: Repeated) => Eventually<Reply>;
}

/**
 * Answers a request that may be repeated. It looks for an earlier copy before it reads the request, for what the request says need not hold any more.
 * Another copy may be written while this one is under way, and be the reason why this one is refused: a refusal looks again.
 */
export async function answerOnce(
  exchange: Exchange,
  idempotency: Idempotency | null,
  { anew, again }: Answers,
): Promise<Reply> {
  if (idempotency === null) return anew();
  const known = await recall(exchange, idempotency);
  if (known !== null) return again(known);
  try {
    return await anew();
  } catch (error) {
    const written = error instanceof Problem ? await recall(exchange, idempotency) : null;
    if (written === null) throw error;
    return again(written);
  }
}

function recall({ service }: Exchange, idempotency: Idempotency): Eventually<Repeated | null> {
  return after(service.store.recall(idempotency), (known) => {
    if (known === null) return null;
    if (known.kind === "mismatch") throw problem("idempotency_mismatch");
    return known;
  });
}
