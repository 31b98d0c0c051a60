import assert from "node:assert/strict";
import type { Idempotency, Outcome, Transaction } from "../../store/store.ts";
import { insert, inserted, people, visits, written, type Promises } from "./library.ts";

/** Promises about idempotency keys: a repeated write gets the stored outcome. */
export function promiseIdempotency(promises: Promises): void {
  promiseRepeats(promises);
  promiseStored(promises);
}

function promiseRepeats(promises: Promises): void {
  promises("changes nothing for a repeated write, and returns the rows of the first one", async (store) => {
    const first = await store.write(transaction({}));
    assert.equal(first.kind, "written");
    await written(store, { kind: "update", collection: people, key: 1, values: { name: "changed since" } });

    const second = await store.write(transaction({ now: "2026-01-01T00:59:59.999Z" }));

    assert.deepEqual(second, buildReplay(first));
    assert.equal(await store.count(people, null), 1);
  });

  promises("stores only the first rows of an outcome, as many as the write requires", async (store) => {
    const { idempotency } = transaction({});
    const changes = ["a", "b", "c"].map((name) => insert(people, { name }));
    const sent: Transaction = { changes, idempotency: { ...idempotency!, columns: ["id", "name"], rows: 2 } };
    assert.equal((await store.write(sent)).kind, "written");

    const again = await store.write(sent);

    assert.ok(again.kind === "replayed");
    assert.deepEqual(
      again.rows.map((row) => row?.record),
      [
        { id: 1, name: "a" },
        { id: 2, name: "b" },
      ],
    );
  });

  promises("reports a mismatch for the key of another request", async (store) => {
    await store.write(transaction({}));

    assert.deepEqual(await store.write(transaction({ fingerprint: "another" })), { kind: "mismatch" });
    assert.equal((await store.write(transaction({ key: "key of someone else" }))).kind, "written");
    assert.equal(await store.count(people, null), 2);
  });

  promises("accepts another write with a key after the key has expired", async (store) => {
    await store.write(transaction({}));
    const now = "2026-01-01T01:00:00.000Z";

    const later = await store.write(
      transaction({ now, expiresAt: "2026-01-01T02:00:00.000Z", fingerprint: "another" }),
    );

    assert.equal(later.kind, "written");
    assert.equal((await store.write(transaction({ now, fingerprint: "another" }))).kind, "replayed");
    assert.equal(await store.count(people, null), 2);
  });

  promises("accepts another write with the key of a refused write", async (store) => {
    await inserted(store, visits, { times: 1 }, "taken");
    const { idempotency } = transaction({});

    const refused = await store.write({
      changes: [insert(people, { name: "x" }), insert(visits, { times: 1 }, "taken")],
      ...(idempotency && { idempotency }),
    });

    assert.deepEqual(refused, { kind: "taken", change: 1, column: "id" });
    assert.equal((await store.write(transaction({ fingerprint: "another" }))).kind, "written");
  });

  promises("writes only once if the same write arrives several times concurrently", async (store) => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => store.write(transaction({}))));

    assert.equal(outcomes.filter(({ kind }) => kind === "written").length, 1);
    assert.equal(outcomes.filter(({ kind }) => kind === "replayed").length, 19);
    assert.equal(await store.count(people, null), 1);
  });
}

function promiseStored(promises: Promises): void {
  promises("reads the stored outcome of a key without writing", async (store) => {
    const { idempotency } = transaction({});
    const before = await store.recall(idempotency!);
    const first = await store.write(transaction({}));

    assert.equal(before, null);
    assert.deepEqual(await store.recall(idempotency!), buildReplay(first));
    assert.deepEqual(await store.recall({ ...idempotency!, fingerprint: "another" }), { kind: "mismatch" });
    assert.equal(await store.recall({ ...idempotency!, now: "2026-01-01T01:00:00.000Z" }), null);
  });

  promises("erases a row from stored outcomes, and all stored outcomes of the given caller", async (store) => {
    await store.write(transaction({ key: "7 one" }));
    await store.write(transaction({ key: "8 two" }));
    await store.write(transaction({ key: "77 three" }));

    await written(store, { kind: "forget", collection: people, key: 1, caller: "8" });

    const recalled = async (key: string) => store.recall(transaction({ key }).idempotency!);
    assert.deepEqual(await recalled("7 one"), { kind: "replayed", rows: [{ revision: 0, record: { id: 1 } }] });
    assert.equal((await store.write(transaction({ key: "7 one" }))).kind, "replayed");
    assert.equal(await recalled("8 two"), null);
    const third = await recalled("77 three");
    assert.ok(third?.kind === "replayed");
    assert.equal(third.rows[0]!.record["name"], "Ada");
  });

  promises(
    "stores the `answer` of a write with its outcome, and erases the answer when the row is forgotten",
    async (store) => {
      const answer = { total: 7, "ä b": [null, "\u2028"] };
      await store.write(transaction({ answer }));
      await inserted(store, people, { name: "Bob" });
      await store.write({
        changes: [{ kind: "deleteAll", collection: visits, where: { all: [] } }],
        idempotency: { ...transaction({ key: "7 rowless", answer: 0 }).idempotency!, erasable: false },
      });

      const again = await store.write(transaction({ answer: "another" }));
      assert.ok(again.kind === "replayed");
      assert.deepEqual(again.answer, answer);
      const recalled = async (key: string) => store.recall(transaction({ key }).idempotency!);
      assert.deepEqual(await recalled("7 key"), again);
      const rowless = await recalled("7 rowless");
      assert.ok(rowless?.kind === "replayed");
      assert.equal(rowless.answer, 0);
      await store.write({
        changes: [{ kind: "delete", collection: people, key: 2 }],
        idempotency: { ...transaction({ key: "7 gone", answer: 0 }).idempotency! },
      });
      assert.deepEqual(await recalled("7 gone"), { kind: "replayed", rows: [] });

      await written(store, { kind: "forget", collection: people, key: 1, caller: "" });
      assert.deepEqual(await recalled("7 key"), { kind: "replayed", rows: [{ revision: 0, record: { id: 1 } }] });
    },
  );

  promises("recognizes a repeated write with a different cause", async (store) => {
    const cause = { userId: 7, scheme: "x", credentialId: null, requestId: "r", traceId: null, parentId: null };

    const outcome = await store.write({ ...transaction({}), cause });

    assert.equal(outcome.kind, "written");
    assert.equal((await store.write({ ...transaction({}), cause: { ...cause, userId: 8 } })).kind, "replayed");
  });

  promises("recognizes a repeated write after a restart", async (store, { reopen }) => {
    const first = await store.write(transaction({}));
    await store.close();

    const again = await reopen();
    await again.open([people]);

    assert.deepEqual(await again.write(transaction({})), buildReplay(first));
  });
}

/** Returns the expected replay: the stored values of the first row, and no other row. */
function buildReplay(first: Outcome): Outcome {
  assert.ok(first.kind === "written");
  const { revision, record } = first.rows[0]!;
  return { kind: "replayed", rows: [{ revision, record: { id: record["id"]!, name: record["name"]! } }] };
}

function transaction(some: Partial<Idempotency>): Transaction {
  return {
    changes: [
      insert(people, { name: "Ada", height: "1.5", notes: { a: [1] } }),
      { kind: "updateAll", collection: visits, where: { all: [] }, values: { place: "x" } },
    ],
    idempotency: {
      key: "7 key",
      fingerprint: "print",
      columns: ["id", "name"],
      erasable: true,
      now: "2026-01-01T00:00:00.000Z",
      expiresAt: "2026-01-01T01:00:00.000Z",
      ...some,
    },
  };
}
