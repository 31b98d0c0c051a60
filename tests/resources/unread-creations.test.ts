import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import {
  administrator,
  anyone,
  authenticated,
  defineResource,
  integer,
  mount,
  owner,
  text,
} from "../../src/door/index.ts";
import { olderShape } from "../../src/door/resources.ts";
import { ownService, visitor, type Own, type OwnAnswer } from "../harness/own-service.ts";
import { serve } from "../harness/serve.ts";

// Administrators read all letters. Others read those that are addressed to them, and may write to anyone.
const letters = defineResource({
  name: "letter",
  fields: {
    line: text(),
    to: integer(),
    // A value that the service chooses, so that its caller has not sent it.
    mark: text({ readOnly: true, default: "secret mark" }),
  },
});
const remarks = defineResource({ name: "remark", within: letters, fields: { line: text(), to: integer() } });
const reports = defineResource({ name: "report", fields: { line: text() } });

const received = owner("to");

async function start(t: TestContext): Promise<Own> {
  const mounted = mount(letters, {
    permission: { list: received, read: received, create: anyone, replace: authenticated, update: administrator },
    arrays: true,
  });
  const older = olderShape(mounted, { prefix: "/v1", fields: { words: "line", to: "to", mark: "mark" }, defaults: {} });
  return ownService(t, {
    schemes: [visitor],
    mounts: [
      mounted,
      older,
      mount(remarks, { permission: { list: received, read: received, create: authenticated }, writers: "readers" }),
      mount(reports, { permission: { create: anyone } }),
    ],
  });
}

/** Requires that a caller learns where the new record is, and nothing else of it. */
function assertUnread(answer: OwnAnswer, location: string | null): void {
  assert.deepEqual([answer.status, answer.text], [201, ""]);
  assert.deepEqual(
    ["location", "etag", "content-type"].map((name) => answer.headers.get(name)),
    [location, null, null],
  );
}

test("shows nothing of a new record to a creator who may not read it", async (t) => {
  const { ask } = await start(t);

  assertUnread(await ask("POST", "/letters", { as: "ada", body: { line: "a", to: 3 } }), "/letters/1");
  assertUnread(await ask("POST", "/letters", { body: { line: "b", to: 3 } }), "/letters/2");
  assertUnread(await ask("POST", "/v1/letters", { as: "ada", body: { words: "c", to: 3 } }), "/v1/letters/3");
  assertUnread(await ask("PUT", "/letters/9", { as: "ada", body: { line: "d", to: 3 } }), "/letters/9");
  const xml = { accept: "application/xml" };
  assertUnread(await ask("POST", "/letters", { as: "ada", body: { line: "e", to: 3 }, headers: xml }), "/letters/4");
  assert.equal((await ask("GET", "/letters/1", { as: "ben" })).json.mark, "secret mark");
});

test("shows a new record to a creator who may read it", async (t) => {
  const { ask } = await start(t);

  for (const as of ["ada", "root"]) {
    const answer = await ask("POST", "/letters", { as, body: { line: "a", to: as === "ada" ? 2 : 1 } });
    assert.deepEqual([answer.status, answer.json.mark], [201, "secret mark"], as);
    assert.notEqual(answer.headers.get("etag"), null);
  }
});

test("shows the new records of an array only to a creator who may read all of them", async (t) => {
  const { ask } = await start(t);
  const [own, other] = [
    { line: "a", to: 2 },
    { line: "b", to: 3 },
  ];

  assertUnread(await ask("POST", "/letters", { as: "ada", body: [own, other] }), null);
  assertUnread(await ask("POST", "/v1/letters", { as: "ada", body: [{ words: "a", to: 3 }] }), null);
  const both = await ask("POST", "/letters", { as: "ada", body: [own, own] });
  assert.deepEqual(
    both.json.map(({ mark }: { mark: string }) => mark),
    ["secret mark", "secret mark"],
  );
});

test("shows nothing of a new nested record to a creator who may not read it", async (t) => {
  const { ask } = await start(t);
  await ask("POST", "/letters", { as: "ada", body: { line: "a", to: 2 } });

  const answer = await ask("POST", "/letters/1/remarks", { as: "ada", body: { line: "b", to: 3 } });
  assertUnread(answer, "/letters/1/remarks/1");
  const own = await ask("POST", "/letters/1/remarks", { as: "ada", body: { line: "c", to: 2 } });
  assert.equal(own.json.line, "c");
});

test("answers a repeated creation like the first, for a creator who may not read the record", async (t) => {
  const { ask } = await start(t);

  for (const body of [{ line: "a", to: 3 }, [{ line: "a", to: 3 }]])
    for (const time of ["first", "again"]) {
      const key = { "idempotency-key": `the-same-letter-${Array.isArray(body)}` };
      const answer = await ask("POST", "/letters", { as: "ada", body, headers: key });
      assertUnread(answer, Array.isArray(body) ? null : "/letters/1");
      assert.equal(answer.headers.get("idempotency-replayed"), time === "first" ? null : "true");
    }
});

test("shows a new record to its creator if the resource has no permission for reading", async (t) => {
  const { ask } = await start(t);

  assert.deepEqual((await ask("POST", "/reports", { body: { line: "a" } })).json, { id: 1, line: "a" });
});

test("shows a person who signs up their account", async (t) => {
  const { ask } = await serve(t, { config: { registration: "open" } });

  const body = { username: "ada", name: "Ada", email: "ada@example.com", password: "a long enough password" };
  const answer = await ask("POST", "/users", { body });
  assert.deepEqual([answer.status, answer.json.name, answer.json.email], [201, "Ada", "ada@example.com"]);
});
