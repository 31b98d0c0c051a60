import assert from "node:assert/strict";
import { test } from "node:test";
import { asking, fill, metas, places, requireShortPieces } from "../harness/array-pieces.ts";
import { bothDatabases } from "../harness/both-databases.ts";

const databases = bothDatabases();

// `array-pieces.nightly.test.ts` has the other values.
test("array × json size: reads, writes and shows arrays of large records in short pieces (markup)", async (t) => {
  for (const database of await databases(t)) await requireShortPieces(t, database, metas.markup);
});

test("array × if_match: compares many tags in pieces before it reads records", async (t) => {
  for (const database of await databases(t)) {
    const api = await asking(t, database);
    await fill(api, 64, metas["texts"]);
    await api.ask({ method: "PATCH", body: places(20, { if_match: `"x"` }) });
    const formatTags = (length: number): string => Array.from({ length }, (_, at) => `"${at}"`).join();

    await api.require("one each", { method: "PATCH", body: places(64, { if_match: `"no-such-tag-is-there"` }) }, [412]);
    assert.equal((await api.ask({ method: "PATCH", body: places(1, { if_match: formatTags(4000) }) })).status, 400);
    await api.require("many each", { method: "PATCH", body: places(60, { if_match: formatTags(2000) }) }, [412]);
    await api.require("at once", { method: "PATCH", body: places(60, { if_match: formatTags(2000) }) }, [412, 503], 10);
    assert.ok(api.takeOctets() < 1024 * 1024);
  }
});

test("array × references: writes 5,000 changes of records and their ids in short pieces", async (t) => {
  for (const database of await databases(t)) {
    const api = await asking(t, database);
    const first = Array.from({ length: 100 }, (_, at) => at + 1);
    const second = first.map((id) => id + 100);
    assert.equal((await api.ask({ method: "POST", path: "/tags", body: Array(200).fill({}) })).status, 201);
    await api.ask({ method: "POST", body: Array(20).fill({ tags: first }) });

    const [made] = await api.require("made", { method: "POST", body: Array(49).fill({ tags: first }) }, [201]);
    const ids = ((await made!.json()) as readonly { readonly id: number }[]).map(({ id }) => id);
    await api.require("few each", { method: "POST", body: Array(1000).fill({ tags: [1, 2, 3, 4] }) }, [201]);
    const some = ids.slice(0, 24);
    await api.require("exchanged", { method: "PATCH", body: some.map((id) => ({ id, tags: second })) }, [200]);
    await api.require("taken out", { method: "PATCH", body: some.map((id) => ({ id, tags: [] })) }, [200]);
    const few = Array(49).fill({ tags: first });
    await api.require("at once", { method: "POST", body: few }, [201], 5);
  }
});

test("keys × arrays: stores and repeats a response with 1,000 records in short pieces", async (t) => {
  for (const database of await databases(t)) {
    const api = await asking(t, database);
    const body = Array.from({ length: 1000 }, () => ({ title: "x".repeat(900) }));
    await api.ask({ method: "POST", body: body.slice(0, 50), headers: { "idempotency-key": "to-warm-up" } });

    for (let at = 0; at < 3; at++) await api.requireKeyed({ method: "POST", body }, 201);
    const headers = { "idempotency-key": "many-at-once" };
    await api.require("at once", { method: "POST", body, headers }, [201, 503], 6);
  }
});
