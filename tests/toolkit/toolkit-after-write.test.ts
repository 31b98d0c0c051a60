import assert from "node:assert/strict";
import { test } from "node:test";
import {
  administrator,
  anyOf,
  anyone,
  defineEndpoint,
  defineResource,
  integer,
  mount,
  text,
} from "../../src/door/index.ts";
import type { Written } from "../../src/door/resources.ts";
import { type Cause, type Store, type Transaction } from "../../src/door/stores.ts";
import { ownService } from "../harness/own-service.ts";
import { emptyStore } from "../harness/test-store.ts";

const notes = defineResource({
  name: "note",
  fields: {
    line: text({ unique: true }),
    pin: text({ writeOnly: true, optional: true }),
    seen: integer({ default: 0 }),
  },
});
const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };

test("calls afterWrite once for each committed write, with the cause and with the record before and after the write", async (t) => {
  const writes: Written[] = [];
  const { ask } = await ownService(t, {
    mounts: [mount(notes, { permission: anyone, afterWrite: (written) => void writes.push(written) })],
  });
  const headers = { ...trace, "x-request-id": "request-1", "idempotency-key": "a-key-of-mine" };

  await ask("POST", "/notes", { as: "ada", body: { line: "a", pin: "1234" }, headers });
  await ask("POST", "/notes", { as: "ada", body: { line: "a", pin: "1234" }, headers });
  await ask("PATCH", "/notes/1", { body: { seen: 1 } });
  await ask("PUT", "/notes/1", { body: { line: "b" } });
  await ask("DELETE", "/notes/1");

  const { cause } = writes[0]!;
  assert.deepEqual(cause, {
    userId: 2,
    scheme: "visitor",
    credentialId: null,
    requestId: "request-1",
    traceId: "0af7651916cd43dd8448eb211c80319c",
    parentId: "b7ad6b7169203331",
  } satisfies Cause);
  assert.equal(writes[1]!.cause.userId, null);
  assert.deepEqual(
    writes.map(({ cause: _cause, ...rest }) => rest),
    [
      { kind: "create", action: null, id: 1, before: null, after: { id: 1, line: "a", pin: "1234", seen: 0 } },
      {
        kind: "update",
        action: null,
        id: 1,
        before: { id: 1, line: "a", pin: "1234", seen: 0 },
        after: { id: 1, line: "a", pin: "1234", seen: 1 },
      },
      {
        kind: "replace",
        action: null,
        id: 1,
        before: { id: 1, line: "a", pin: "1234", seen: 1 },
        after: { id: 1, line: "b", pin: "1234", seen: 0 },
      },
      { kind: "delete", action: null, id: 1, before: { id: 1, line: "b", pin: "1234", seen: 0 }, after: null },
    ],
  );
});

test("does not call afterWrite for refused writes or for reads", async (t) => {
  const writes: Written[] = [];
  const { ask } = await ownService(t, {
    mounts: [mount(notes, { permission: anyone, afterWrite: (written) => void writes.push(written) })],
  });
  await ask("POST", "/notes", { body: { line: "a" } });
  await ask("POST", "/notes", { body: { line: "b" } });
  writes.length = 0;

  assert.equal((await ask("POST", "/notes", { body: { line: "a" } })).status, 409);
  assert.equal((await ask("PATCH", "/notes/2", { body: { line: "a" } })).status, 409);
  assert.equal((await ask("PATCH", "/notes/2", { body: { line: "c" }, headers: { "if-match": '"0"' } })).status, 412);
  assert.equal((await ask("DELETE", "/notes/9")).status, 404);
  assert.equal((await ask("GET", "/notes/1")).status, 200);

  assert.deepEqual(writes, []);
});

test("reports a failed afterWrite as a fault, and sends the same response", async (t) => {
  const ways: readonly ((written: Written) => void | Promise<void>)[] = [
    ({ after }) => void Object.assign(after!, { line: "of the hook" }),
    () => {
      throw new Error("at once");
    },
    () => Promise.reject(new Error("later")),
    () => new Promise<void>(() => undefined),
  ];
  let way = 0;
  const { ask, observed } = await ownService(t, {
    mounts: [mount(notes, { permission: anyone, afterWrite: (written) => ways[way++]!(written) })],
  });

  for (const line of ["a", "b", "c", "d"]) {
    const reply = await ask("POST", "/notes", { body: { line } });
    assert.deepEqual([reply.status, reply.json.line], [201, line]);
  }

  const faults = observed.flatMap((each) => (each.kind === "fault" ? [String(each.error)] : []));
  assert.deepEqual(faults, ["Error: at once", "Error: later"]);
  assert.equal((await ask("GET", "/notes")).json.length, 4);
});

test("names the cause in every transaction of a request", async (t) => {
  const written: Transaction[] = [];
  const inner = await emptyStore();
  const store: Store = {
    ...inner,
    write(transaction) {
      written.push(transaction);
      return inner.write(transaction);
    },
  };
  const mounted = mount(notes, { permission: anyOf(administrator, anyone) });
  const { ask } = await ownService(t, {
    store,
    mounts: [mounted],
    endpoints: [
      defineEndpoint({
        method: "POST",
        path: "/marks",
        access: anyone,
        async handle(context) {
          const { collection } = mounted;
          await context.write({ changes: [{ kind: "insert", collection, values: { line: "m", seen: 0 } }] });
          return { status: 204 };
        },
      }),
    ],
  });
  written.length = 0;
  const headers = { "x-request-id": "r-1" };
  await ask("POST", "/notes", { as: "ben", body: { line: "a" }, headers });
  await ask("PATCH", "/notes/1", { as: "ben", body: { line: "b" }, headers });
  await ask("DELETE", "/notes/1", { as: "ben", headers });
  await ask("POST", "/marks", { as: "ben", headers });

  assert.deepEqual(
    written.map(({ cause }) => [cause?.userId, cause?.requestId]),
    Array.from({ length: 4 }, () => [3, "r-1"]),
  );
});
