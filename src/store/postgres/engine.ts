import type { Observer } from "../../core/observation.ts";
import { pickSearched } from "../searched.ts";
import { asSettled } from "../sql/existing/settle.ts";
import { comparingFolded } from "../sql/folding.ts";
import { indexInBackground, type Indexing } from "../sql/indexing.ts";
import { encodeCompared } from "../sql/language/codec.ts";
import type { ReadStatement } from "../sql/language/dialect.ts";
import { quote } from "../sql/language/names.ts";
import { readCount, readList, selectBy } from "../sql/list.ts";
import { findRetyped, makeRefusing, type Shapes } from "../sql/schema/table-shape.ts";
import { requireColumn } from "../sql/schema/table.ts";
import type { Engine } from "../sql/store.ts";
import { readWordCounts, takeFirstWords, takeSomeWords } from "../sql/word-index.ts";
import { MigrationNeeded, StoreSetupError, type Collection } from "../store.ts";
import { postgres, getTable } from "./dialect.ts";
import type { PostgresAddress } from "./network/address.ts";
import { connectPatiently, makeClient } from "./network/clients.ts";
import { connectionsTo, type Connections } from "./network/connections.ts";
import { feedsOver, markFollowed } from "./network/feeds.ts";
import { createPrimary } from "./network/primary.ts";
import { openingError, requireServer } from "./network/server.ts";
import { createSession, type Session } from "./network/session.ts";
import { makeSockets } from "./network/sockets.ts";
import { prepared, unprepared } from "./parameters.ts";
import { canBeJoined, compileJoined, readJoined } from "./reads/lateral-join.ts";
import { compileListJSON, readListJSON } from "./reads/list.ts";
import { compileRelated, readRelated } from "./reads/related.ts";
import { planNarrowed } from "./reads/semi-joins.ts";
import { prepareSchema, requireSchema, shapesIn } from "./schema.ts";
import { semaphore, type Semaphore } from "./semaphore.ts";
import { postgresSchema } from "./table-changes/migration.ts";
import { explainOutdated } from "./writes/outdated.ts";
import { recall, createWriter } from "./writes/transactions.ts";
import { writingWith } from "./writes/writing.ts";

export interface EngineOptions {
  readonly address: PostgresAddress;
  readonly poolSize: number;
  readonly observe: Observer;
  readonly collections: readonly Collection[];
}

const timeNow = prepared("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now", []);

/** Prepares the schema and opens the connections. */
export async function openEngine({
  address,
  poolSize,
  observe,
  collections,
}: EngineOptions): Promise<Engine & Required<Pick<Engine, "connections" | "now">>> {
  const { settled, shapes } = await prepare(address, collections);
  const primary = createPrimary(address);
  const sockets = makeSockets();
  const refusing = makeRefusing(observe);
  let retyped: ReadonlySet<string> = new Set();
  const connections: Connections = connectionsTo({
    address,
    primary,
    sockets,
    size: poolSize,
    observe,
    explain: (error) => explainOutdated(error, shapes, refusing, (work) => connections.use(work)),
    retyped: findRetypedTables,
  });
  async function findRetypedTables(): Promise<void> {
    retyped = await connections.use((session) => session.play(findRetyped(collections)));
  }
  // Called after a read. The read itself detects that the types of columns have changed, and then updates `retyped`.
  const requireSameTypes = ({ name }: Collection): void => {
    if (retyped.has(name)) throw refusing(name);
  };
  const feeds = feedsOver({
    primary,
    connect: (server) => makeClient({ address, server, sockets }),
    listens: !address.pooled,
    mark: (collection) => connections.use((session) => markFollowed(session, collection)),
  });
  const indexing = indexingOver(connections, collections);
  // Long reads and long writes share half of the connections. Otherwise a few callers could take all connections, and
  // every other request would wait for seconds.
  const longWork = semaphore(poolSize >> 1);

  const writing = writingWith({
    write: createWriter(connections, asSettled(collections, settled), { shapes, refusing, pooled: address.pooled }),
    longWork,
    lookForTypes: findRetypedTables,
    async written(added) {
      indexing?.written();
      // When a client gets the response to a revocation, this process must already refuse the revoked credential.
      const followed = new Set(added.filter((each) => feeds.isFollowed(each)));
      await Promise.all([...followed].map((each) => feeds.catchUp(each)));
    },
  });

  return {
    settled,
    ...readsOver(connections, longWork, requireSameTypes),
    recall: (idempotency) => recall(connections, idempotency),
    write: writing.write,
    follow: feeds.follow,
    check: () => connections.use((session) => requireSchema(session, collections)),
    async now() {
      const [row] = await connections.send(timeNow);
      return row!["now"] as number;
    },
    connections: connections.counts,
    async close() {
      indexing?.stop();
      // An unfinished write may still wait for a permit or for a feed.
      await writing.close();
      await connections.close();
      feeds.close();
      await sockets.closed();
    },
  };
}

/**
 * Returns the background work: it indexes the words of searched columns, and compares folded values with their texts.
 * Returns null if no collection needs this work.
 */
function indexingOver(connections: Connections, collections: readonly Collection[]): Indexing | null {
  const searched = pickSearched(collections).map(getTable);
  const comparing = comparingFolded(postgresSchema, collections, { getTable, now: () => performance.now() });
  if (searched.length === 0 && comparing === null) return null;

  async function takeSome(session: Session): Promise<boolean> {
    if (await session.play(takeSomeWords(postgresSchema, searched))) return true;
    if (comparing === null) return false;
    try {
      return await session.play(comparing.next());
    } catch (error) {
      comparing.failed();
      throw error;
    }
  }

  // The work happens in the database server, so it may take half of the time of one connection: each pause is as long
  // as the portion before it. This is enough to index faster than clients write, even during an import.
  return indexInBackground(
    () => connections.use(takeSome),
    (tookMs) => tookMs,
  );
}

type Reads = Required<
  Pick<Engine, "find" | "findBy" | "list" | "listJSON" | "countWords" | "listRelated" | "count" | "estimate" | "plan">
>;

/** Returns the reads. Each takes one round trip, except the estimate of a large table, which takes two. */
function readsOver(
  connections: Connections,
  longWork: Semaphore,
  requireSame: (collection: Collection) => void,
): Reads {
  /** A read that may scan all rows gets only a share of the connections. */
  const withPermitIfLong = <T>(isLong: boolean | undefined, read: () => Promise<T>): Promise<T> =>
    isLong === true ? longWork(read) : read();

  async function ask<Given>({ text, values, of }: ReadStatement<Given>, sent: typeof prepared): Promise<Given> {
    return of(await connections.send(sent(text, values)));
  }

  return {
    async find(collection, key) {
      if (collection.key === "integer" ? !Number.isSafeInteger(key) : String(key).includes("\0")) return null;
      const table = getTable(collection);
      const cells = await connections.find(table.name, prepared(selectBy(table, table.id), [key]));
      requireSame(collection);
      return cells === undefined ? null : table.readRow(cells);
    },
    async findBy(collection, name, value) {
      const table = getTable(collection);
      const column = requireColumn(table, name);
      const cells = await connections.find(
        table.name,
        prepared(selectBy(table, column), [encodeCompared(postgres, column, value)]),
      );
      requireSame(collection);
      return cells === undefined ? null : table.readRow(cells);
    },
    async list(query) {
      const { text, values, of } = readList(getTable(query.collection), planNarrowed(query));
      const sent = query.long === true ? unprepared(text, values) : prepared(text, values);
      const rows = await withPermitIfLong(query.long, () => connections.sendForCells(sent));
      requireSame(query.collection);
      return of(rows);
    },
    async listJSON(query, beside = []) {
      const isJoined = canBeJoined(query, beside);
      const sent = isJoined ? compileJoined(query, beside) : compileListJSON(query);
      const [row] = await withPermitIfLong(query.long, () => connections.send(sent));
      requireSame(query.collection);
      const page = readListJSON(row!);
      return isJoined ? { ...page, beside: readJoined(row!, beside) } : page;
    },
    countWords: async (collection, words, atMost) => ask(readWordCounts(getTable(collection), words, atMost), prepared),
    async listRelated(query) {
      const [row] = await withPermitIfLong(query.long, () => connections.send(compileRelated(query)));
      requireSame(query.collection);
      return readRelated(row!, query);
    },
    count: async (collection, where, isLong) =>
      withPermitIfLong(isLong, () => ask(readCount(getTable(collection), where), unprepared)),
    async estimate({ name, existing }) {
      // An existing table has no estimate. The caller counts its rows.
      if (existing !== undefined) return null;
      const [few] = await connections.send(
        prepared(`SELECT count(*) AS counted FROM (SELECT FROM ${quote(name)} LIMIT 10001) AS t`, []),
      );
      const counted = few!["counted"] as number;
      if (counted <= 10_000) return counted;
      const [estimateRow] = await connections.send(prepared(estimateSQL, [quote(name)]));
      return (estimateRow?.["estimated"] ?? null) as number | null;
    },
    async plan(query) {
      const { text, values } = readList(getTable(query.collection), planNarrowed(query));
      const steps = await connections.send({ text: `EXPLAIN (COSTS OFF) ${text}`, values });
      return steps.map((step) => String(step["QUERY PLAN"]).trim());
    },
  };
}

/**
 * Estimates the number of rows as the planner does: the rows per page at the last ANALYZE, multiplied by the present
 * number of pages.
 */
const estimateSQL =
  "SELECT round(reltuples / relpages * (pg_relation_size(oid) / current_setting('block_size')::integer))::bigint AS estimated " +
  "FROM pg_class WHERE oid = to_regclass($1) AND reltuples > 0 AND relpages > 0";

async function prepare(
  address: PostgresAddress,
  collections: readonly Collection[],
): Promise<{ readonly settled: ReadonlyMap<string, Collection>; readonly shapes: Shapes }> {
  try {
    const client = await connectPatiently(address);
    try {
      const session = createSession(client, false);
      await requireServer(session);
      const settled = await prepareSchema(session, address, collections);
      const shapes = await shapesIn(session, address, collections);
      await session.play(takeFirstWords(postgresSchema, pickSearched(collections).map(getTable)));
      return { settled, shapes };
    } finally {
      await client.end();
    }
  } catch (error) {
    if (error instanceof MigrationNeeded || error instanceof StoreSetupError || error instanceof TypeError) throw error;
    throw openingError(error, address);
  }
}
