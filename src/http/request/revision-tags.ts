import { StoreUnavailable, type Collection, type Row, type Store } from "../../store/store.ts";

/*
 * Versions before 0.2 know only ETags that are the revision of a record. While such a version may serve the same
 * database, this version gives these ETags too, so that `If-Match` works at every process. That is the case for a time
 * after this version has first opened a database with records. Afterwards, and in a new database, ETags are keyed
 * digests, which do not count the writes of other callers.
 */

/** The time for which a database with records gets ETags from revisions, in milliseconds. */
const KEPT_MS = 7 * 24 * 3_600_000;

const KEY = "revisions";

/** Contains one row: how long ETags are revisions, and for which shapes of records. */
export const tagFormsCollection: Collection = {
  name: "tag_forms",
  key: "text",
  columns: [
    { name: "until", type: "date-time" },
    /**
     * The shapes of the first start. A record of another shape gets a keyed ETag, because a revision does not show the
     * shape.
     */
    { name: "shapes", type: "json" },
  ],
};

/** Decides which records have an ETag from their revision. */
export interface RevisionTags {
  /** Returns true if the ETag of a record of this shape is its revision. */
  has(shape: string): boolean;
  /** Reads the decision of the first start, or makes it. */
  open(store: Store, mounted: readonly MountedShape[]): Promise<void>;
}

/** The table of a mount, and the digest of the shape of its records. */
export interface MountedShape {
  readonly collection: Collection;
  readonly shape: string;
}

/** Makes the decision of one service. Before `open`, no ETag is a revision. */
export function makeRevisionTags(now: () => number): RevisionTags {
  let until = -Infinity;
  let shapes: ReadonlySet<unknown> = new Set();
  return {
    has: (shape) => now() < until && shapes.has(shape),
    async open(store, mounted) {
      const { record } = (await findDecision(store)) ?? (await decide(store, mounted, now()));
      until = Date.parse(record["until"] as string);
      shapes = new Set(record["shapes"] as readonly unknown[]);
    },
  };
}

async function findDecision(store: Store): Promise<Pick<Row, "record"> | null> {
  return store.find(tagFormsCollection, KEY);
}

/** Stores the decision, unless another process has just stored one. */
async function decide(store: Store, mounted: readonly MountedShape[], now: number): Promise<Pick<Row, "record">> {
  const isUsed = await hasRecords(store, mounted);
  const values = {
    until: new Date(isUsed ? now + KEPT_MS : now).toISOString(),
    shapes: [...new Set(mounted.map(({ shape }) => shape))],
  };
  try {
    await store.write({ changes: [{ kind: "insert", collection: tagFormsCollection, key: KEY, values }] });
  } catch (error) {
    // A full disk does not stop the start. The next start decides again.
    if (!(error instanceof StoreUnavailable)) throw error;
  }
  return (await findDecision(store)) ?? { record: { ...values, until: new Date(now).toISOString() } };
}

async function hasRecords(store: Store, mounted: readonly MountedShape[]): Promise<boolean> {
  for (const collection of new Set(mounted.map((each) => each.collection)))
    if ((await store.list({ collection, where: null, sort: [], limit: 1 })).length > 0) return true;
  return false;
}
