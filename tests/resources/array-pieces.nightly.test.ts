import { test } from "node:test";
import { metas, requireShortPieces } from "../harness/array-pieces.ts";
import { bothDatabases } from "../harness/both-databases.ts";

// `array-pieces.test.ts` tests one kind of value at every submission.
const databases = bothDatabases();

for (const kind of ["texts", "numbers"] as const)
  test(`array × json size: reads, writes and shows arrays of large records in short pieces (${kind})`, async (t) => {
    for (const database of await databases(t)) await requireShortPieces(t, database, metas[kind]);
  });
