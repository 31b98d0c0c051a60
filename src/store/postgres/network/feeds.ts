import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { quote } from "../../sql/language/names.ts";
import { statement } from "../../sql/language/script.ts";
import { readList } from "../../sql/list.ts";
import type { Collection, Feed, Row } from "../../store.ts";
import { getTable } from "../dialect.ts";
import { channel } from "../own-tables.ts";
import { prepared } from "../parameters.ts";
import { requireWritable, type Primary } from "./primary.ts";
import { createSession, type Session } from "./session.ts";

/**
 * The interval between two reads of new rows if no notification arrives, in milliseconds. So a feed is at most this old
 * while the server answers.
 */
const pollMs = 500;

/** The wait before a new connection attempt, in milliseconds. */
const reconnectMs = 250;

/** The number of rows that are read at a time. */
const pageSize = 1000;

/** The feeds of a store. They share one connection outside the pool, so that a busy pool does not delay them. */
export interface Feeds {
  follow(collection: Collection, onRow: (row: Row) => void): Promise<Feed>;
  /** True if this process follows the collection. */
  isFollowed(collection: Collection): boolean;
  /**
   * Resolves when the feeds of the collection have read all rows that are committed so far. Also resolves if the server
   * does not answer.
   */
  catchUp(collection: Collection): Promise<void>;
  close(): void;
}

export interface FeedsOptions {
  readonly primary: Primary;
  /** Creates a client for that server. It is not connected yet. */
  readonly connect: (server: string) => pg.Client;
  /** True if a connection can receive notifications, which PgBouncer in transaction mode does not allow. */
  readonly listens: boolean;
  /** Marks the collection as followed, so that its keys have the order of the commits. */
  readonly mark: (collection: Collection) => Promise<void>;
}

interface Follower {
  readonly collection: Collection;
  readonly onRow: (row: Row) => void;
  /** The session in which `seenId` was read. */
  over: Session | null;
  seenId: number;
  /** The start of the last complete read. The view contained all committed rows at that time. */
  currentAt: number;
  reading: Promise<void> | null;
  next: Promise<void> | null;
}

export function feedsOver({ primary, connect, listens, mark }: FeedsOptions): Feeds {
  const followers = new Set<Follower>();
  let timer: NodeJS.Timeout | null = null;
  let isReconnecting = false;
  let closed = false;
  const line = createFeedConnection(
    { primary, connect, listens },
    (named) => {
      for (const follower of followers)
        if (follower.collection.name === named) void read(follower).catch(() => undefined);
    },
    () => {
      if (!closed) void reconnect();
    },
  );

  async function reconnect(): Promise<void> {
    // A failed attempt also closes its connection, and this function is called again.
    if (isReconnecting) return;
    isReconnecting = true;
    while (!closed && followers.size > 0 && !line.isConnected()) {
      await sleep(reconnectMs, undefined, { ref: false });
      await readAll();
    }
    isReconnecting = false;
  }

  const read = createReader(followers, line.session);

  async function readAll(): Promise<void> {
    await Promise.allSettled([...followers].map(read));
  }

  return {
    async follow(collection, onRow) {
      if (collection.key !== "integer")
        throw new TypeError(`Collection ${collection.name} has text keys, which have no order to follow`);
      await mark(collection);
      const follower: Follower = { collection, onRow, over: null, seenId: 0, currentAt: 0, reading: null, next: null };
      followers.add(follower);
      try {
        await read(follower);
      } catch (error) {
        followers.delete(follower);
        throw error;
      }
      timer ??= setInterval(() => void readAll(), pollMs).unref();
      return {
        // Only a query shows what is committed, and it takes time. See `ageMs`.
        catchUp: () => undefined,
        ageMs: () => performance.now() - follower.currentAt,
        close: () => void followers.delete(follower),
      };
    },
    isFollowed: (collection) => [...followers].some((each) => each.collection.name === collection.name),
    async catchUp(collection) {
      const concerned = [...followers].filter((each) => each.collection.name === collection.name);
      await Promise.allSettled(concerned.map(read));
    },
    close() {
      closed = true;
      followers.clear();
      if (timer !== null) clearInterval(timer);
      line.drop();
    },
  };
}

/** The one connection that receives notifications. */
interface FeedConnection {
  session(): Promise<Session>;
  isConnected(): boolean;
  drop(): void;
}

function createFeedConnection(
  { primary, connect, listens }: Pick<FeedsOptions, "primary" | "connect" | "listens">,
  onNotice: (collection: string | undefined) => void,
  lost: () => void,
): FeedConnection {
  let client: pg.Client | null = null;
  let server = "";
  let connecting: Promise<Session> | null = null;

  /** Returns the session. Connects again if the connection was lost. */
  function session(): Promise<Session> {
    // The former primary may still answer, but it gets no new rows.
    if (client !== null && server !== primary.current()) drop();
    return (connecting ??= open().catch((error: unknown) => {
      connecting = null;
      throw error;
    }));
  }

  function drop(): void {
    void client?.end().catch(() => undefined);
    client = connecting = null;
  }

  async function open(): Promise<Session> {
    await primary.find();
    server = primary.current();
    const fresh = connect(server);
    fresh.on("notification", ({ payload }) => onNotice(payload));
    fresh.on("end", () => {
      if (client === fresh) client = connecting = null;
      lost();
    });
    try {
      await startListening(fresh, listens, () => (client = fresh));
    } catch (error) {
      client = null;
      await fresh.end().catch(() => undefined);
      throw error;
    }
    return createSession(fresh, listens);
  }

  return { session, isConnected: () => client !== null, drop };
}

async function startListening(fresh: pg.Client, listens: boolean, connected: () => void): Promise<void> {
  await fresh.connect();
  connected();
  if (listens) await fresh.query(`LISTEN ${channel}`);
  // A replica gets new rows only from its primary, and may be behind.
  await requireWritable(fresh);
}

/** Returns a function that reads the new rows of a follower. */
function createReader(
  followers: ReadonlySet<Follower>,
  session: () => Promise<Session>,
): (follower: Follower) => Promise<void> {
  /** Runs one read at a time. A call during a read gets the next read, which starts after the call. */
  function read(follower: Follower): Promise<void> {
    if (follower.reading === null) return beginReading(follower);
    follower.next ??= follower.reading
      .catch(() => undefined)
      .then(() => {
        follower.next = null;
        return read(follower);
      });
    return follower.next;
  }

  function beginReading(follower: Follower): Promise<void> {
    return (follower.reading = takeAll(follower).finally(() => {
      follower.reading = null;
    }));
  }

  async function takeAll(follower: Follower): Promise<void> {
    const over = await session();
    // This may be another server. If a replica was behind when it became the primary, it assigns some keys a second
    // time. So the feed starts again from the first row.
    if (over !== follower.over) follower.seenId = 0;
    follower.over = over;
    const start = performance.now();
    while ((await takePage(over, follower)) === pageSize);
    follower.currentAt = start;
  }

  async function takePage(over: Session, follower: Follower): Promise<number> {
    const { collection } = follower;
    const where = { column: "id", operator: "gt", value: follower.seenId } as const;
    const query = { collection, where, sort: [{ column: "id" }], limit: pageSize };
    const { text, values, of } = readList(getTable(collection), query);
    const rows = of(await over.sendForCells(prepared(text, values)));
    for (const row of rows) {
      if (!followers.has(follower)) return 0;
      // If the callback throws, the same row is delivered again. A skipped revocation would have no effect.
      follower.onRow(row);
      follower.seenId = row.record["id"] as number;
    }
    return rows.length;
  }

  return read;
}

/**
 * Marks a collection as followed. The table lock waits for transactions that have inserted rows before the mark,
 * because an insert locks its table before it takes a key.
 */
export async function markFollowed(session: Session, collection: Collection): Promise<void> {
  const [marked] = await session.send(
    statement("SELECT followed FROM latchkey_schema WHERE collection = $1", [collection.name]),
  );
  if (marked?.["followed"] === true) return;
  await session.run(`BEGIN ISOLATION LEVEL READ COMMITTED; LOCK TABLE ${quote(collection.name)} IN SHARE MODE`);
  try {
    await session.send(
      statement("UPDATE latchkey_schema SET followed = TRUE WHERE collection = $1", [collection.name]),
    );
    await session.run("COMMIT");
  } catch (error) {
    await session.run("ROLLBACK").catch(() => undefined);
    throw error;
  }
}
