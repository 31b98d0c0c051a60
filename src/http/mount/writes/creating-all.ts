import type { Reply } from "../../../call/call.ts";
import { Problem } from "../../../problem/problem.ts";
import type { Draft } from "../../../resource/draft.ts";
import type { Resource } from "../../../resource/resource.ts";
import { inTurns } from "../../body/turns.ts";
import type { Exchange } from "../../exchange.ts";
import type { MountInPlace } from "../mount.ts";
import { requireParents } from "../reads/reading.ts";
import { commitAll } from "./committing.ts";
import { noteGoing, readSent } from "./drafting.ts";
import { countKept, recall, repeatable } from "./idempotency.ts";
import { requireCollectionAsKnown } from "./preconditions.ts";
import { furtherChanges, madeId, prepare, requireAllowed, valuesOf } from "./preparing.ts";
import { joined, readEach, refusalOf, requireMembers, showAll, type Part } from "./several.ts";

/** POST of an array to a collection: all of its records are created, or none. */
export async function createAll(placed: MountInPlace, exchange: Exchange, sent: readonly unknown[]): Promise<Reply> {
  const idempotency = repeatable(placed, exchange, sent.length);
  const known = await recall(exchange, idempotency);
  if (known !== null) return showAll(placed, exchange, known.rows, { status: 201, isReplay: true });
  const target = { id: null, record: null };
  const drafts = await readEach(requireMembers(sent), (member) => {
    noteGoing(placed.resource, exchange.context, member);
    return readSent(placed, exchange.context, member, target);
  });
  await requireParents(placed, exchange);
  const parts: Part[] = [];
  await inTurns(drafts, async (draft, at) => void parts.push(await partOf(placed, exchange, draft, at)));
  await requireCollectionAsKnown(placed, exchange);
  const { changes, owners } = joined(parts);
  const transaction = {
    changes: [...changes, ...countKept(exchange, idempotency)],
    ...(idempotency === null ? {} : { idempotency }),
  };
  const outcome = await commitAll(
    placed,
    exchange,
    transaction,
    parts.map(({ writing }) => writing),
  );
  if (outcome.kind !== "written" && outcome.kind !== "replayed")
    throw refusalOf(outcome, placed, exchange, { owners, count: parts.length });
  const rows = outcome.rows.slice(0, parts.length);
  return showAll(placed, exchange, rows, { status: 201, isReplay: outcome.kind === "replayed" });
}

async function partOf(placed: MountInPlace, exchange: Exchange, read: Draft, at: number): Promise<Part> {
  // Nothing was there, so that the draft is a whole record.
  const draft = read as Draft<Resource, "made">;
  const { context } = exchange;
  const id = madeId(placed, exchange);
  return told(at, async () => {
    const prepared = await prepare(placed, { kind: "create", context, id, current: null, draft });
    const values = valuesOf(placed, exchange, draft, prepared);
    requireAllowed(placed, exchange, values);
    return {
      at,
      own: { kind: "insert", collection: placed.collection, ...(id === null ? {} : { key: id }), values },
      further: await furtherChanges(prepared, placed, exchange, { id, before: null, values }),
      writing: { kind: "create", action: null, before: null },
    };
  });
}

/** Does something about one record of an array: what is wrong is told with its place. */
export async function told<T>(at: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Problem ? error.below(`/${at}`) : error;
  }
}
