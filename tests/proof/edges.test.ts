// SQLite alone, because the command starts its service on SQLite in memory.
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { test } from "node:test";
import { promisify } from "node:util";
import { memberOf } from "../../src/door/auth.ts";
import {
  administrator,
  anyOf,
  authenticated,
  caller,
  defineEndpoint,
  defineFeature,
  defineResource,
  integer,
  mount,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import { proveConfig } from "../harness/prove-config.ts";

const without = ["orders", "protected"] as const;
const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 100 }) },
});
const own = anyOf(owner("owner_id"), administrator);
const notes = mount(note, { permission: own });

test("lists the resources that a database in memory does not have, and tries the others", async () => {
  const club = defineResource({ name: "club", fields: { title: text({ maxLength: 100 }) } });
  const member = defineResource({
    name: "member",
    table: "shop.members",
    fields: { user_id: reference("users"), club_id: reference(club) },
  });
  const visit = defineResource({ name: "visit", fields: { member_id: reference(member) } });
  const price = defineResource({
    name: "price",
    fields: { net: integer() },
    computed: { gross: { as: integer(), sql: { postgres: "net * 2" } } },
  });
  const leak = defineEndpoint({
    method: "GET",
    path: "/first-notes",
    access: authenticated,
    async handle({ store }) {
      const sort = [{ column: "id" }];
      const rows = await store.list({ collection: notes.collection, where: null, sort, limit: 9 });
      return { status: 200, body: { kind: "data", value: rows.map(({ record }) => record.body), element: "notes" } };
    },
  });

  const { findings, not_tried: left } = await proveConfig({
    without,
    mounts: [
      notes,
      mount(club, { permission: memberOf(member) }),
      mount(member, { permission: authenticated }),
      mount(visit, { permission: authenticated }),
      mount(price, { permission: authenticated }),
    ],
    endpoints: [leak],
  });

  assert.deepEqual(Object.fromEntries(left.map(({ path, reason }) => [path, reason])), {
    "/clubs": "its permission asks members, which are not in memory",
    "/members": "its records are in an existing table",
    "/visits": "its records refer to members, which are not in memory",
    "/prices": "only PostgreSQL computes its field gross",
  });
  assert.deepEqual([...new Set(findings.map(({ path, field }) => `${path} ${String(field)}`))], ["/first-notes body"]);
});

/** Proves notes with an endpoint. Returns the requests that were not tried. */
async function notTriedWith(endpoint: ReturnType<typeof defineEndpoint>): Promise<readonly string[]> {
  const { findings, not_tried: left } = await proveConfig({ without, mounts: [notes], endpoints: [endpoint] });
  assert.deepEqual(findings, []);
  return left.map(({ path, reason }) => `${path}: ${reason}`);
}

test("lists an endpoint that hangs, and goes on", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const asked: string[] = [];
  const hanging = defineEndpoint({
    method: "GET",
    path: "/hanging/{id}",
    access: authenticated,
    handle({ params }) {
      asked.push(String(params["id"]));
      t.mock.timers.tick(3000);
      return new Promise(() => undefined);
    },
  });

  const left = await notTriedWith(hanging);

  assert.deepEqual(left, ["GET /hanging/{id}: it gives no answer within 3 seconds"]);
  assert.equal(asked.length, 1);
});

test("lists an endpoint that connects to another program, with the address, and opens no connection", async () => {
  const connecting = defineEndpoint({
    method: "GET",
    path: "/weather",
    access: authenticated,
    async handle() {
      await fetch("http://127.0.0.1:4567/today");
      return { status: 204 };
    },
  });

  const left = await notTriedWith(connecting);

  assert.deepEqual(left.slice(0, 1), ["GET /weather: its code connects to 127.0.0.1:4567, which is refused here"]);
});

test("sends no datagram of an endpoint, and tries the endpoint", async (t) => {
  const [receiver, sender] = [createSocket("udp4"), createSocket("udp4")];
  t.after(() => [receiver, sender].forEach((socket) => socket.close()));
  receiver.bind(0, "127.0.0.1");
  await once(receiver, "listening");
  const received = once(receiver, "message");
  const { address, port } = receiver.address();
  const send = (text: string) => promisify<void>((done) => sender.send(text, port, address, () => done(null)))();
  const metered = defineEndpoint({
    method: "GET",
    path: "/metered",
    access: authenticated,
    async handle() {
      await send("proved");
      return { status: 204 };
    },
  });

  const left = await notTriedWith(metered);

  assert.deepEqual(left, []);
  await send("after the proof");
  assert.equal(String((await received)[0]), "after the proof");
});

test("lists a hook that throws, with its place, and goes on", async () => {
  const broken = mount(note, {
    permission: own,
    beforeWrite() {
      throw new TypeError("The hook is broken.");
    },
  });

  const report = await proveConfig({ without, mounts: [broken] });

  assert.deepEqual(report.findings, []);
  assert.deepEqual(
    report.not_tried.map(({ path }) => path),
    ["POST /notes", "PATCH /notes/{id}", "PUT /notes/{id}", "DELETE /notes/{id}"],
  );
  for (const { reason } of report.not_tried)
    assert.match(reason, /^its code throws TypeError: The hook is broken\. \(\/.*edges\.test\.ts:\d+\)$/);
});

test("lists each write whose hook hangs, and goes on", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const asked: string[] = [];
  const hanging = mount(note, {
    permission: own,
    beforeWrite({ kind }) {
      asked.push(kind);
      t.mock.timers.tick(3000);
      return new Promise(() => undefined);
    },
  });

  const report = await proveConfig({ without, mounts: [hanging] });

  const reason = "it gives no answer within 3 seconds";
  assert.deepEqual(report.findings, []);
  assert.deepEqual(
    report.not_tried.map(({ path, reason: why }) => `${path}: ${why}`),
    ["POST /notes", "PATCH /notes/{id}", "PUT /notes/{id}", "DELETE /notes/{id}"].map((path) => `${path}: ${reason}`),
  );
  assert.deepEqual(asked, ["create", "update", "replace", "delete"]);
});

test("creates records under new ids too", async () => {
  const page = defineResource({ name: "page", id: "uuid", fields: { body: text({ maxLength: 100 }) } });
  const broken = mount(page, {
    permission: authenticated,
    beforeWrite({ kind }) {
      if (kind === "create") throw new TypeError("This hook refuses new records.");
      return {};
    },
  });

  const { not_tried: left } = await proveConfig({ without, mounts: [broken] });

  assert.deepEqual(
    left.map(({ path }) => path),
    ["POST /pages", "PUT /pages/{id}"],
  );
});

test("refuses a service that needs a secret or a connection at its start, and names what it needs", async () => {
  const withStart = (start: () => Promise<void>) =>
    proveConfig({
      without,
      features: [defineFeature({ name: "payments", setUp: () => ({ offer: null, start }) })],
    });

  await assert.rejects(
    withStart(() => Promise.reject(new Error("PAYMENT_KEY is missing."))),
    { name: "ConfigError", message: /The service does not start in memory: .*PAYMENT_KEY is missing\./ },
  );
  await assert.rejects(
    withStart(async () => void (await fetch("http://127.0.0.1:4567/keys"))),
    {
      name: "ConfigError",
      message: /The start connects to 127\.0\.0\.1:4567, and latchkey prove refuses connections\./,
    },
  );
});
