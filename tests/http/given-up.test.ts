import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { sessionsCollection, type Account } from "../../src/door/auth.ts";
import { consolePages } from "../../src/door/features.ts";
import type { Format, Reply } from "../../src/door/http.ts";
import {
  accounts,
  anyone,
  createService,
  defineEndpoint,
  defineResource,
  mount,
  rejected,
  sessionLogin,
  text,
  tokenLogin,
  type Context,
  type Scheme,
} from "../../src/door/index.ts";
import type { Observation } from "../../src/door/ops.ts";
import { sqliteStore, type Store } from "../../src/door/stores.ts";
import { email, open, password, serve } from "../harness/own-logins.ts";

// A request that takes too long is answered with 503. Its handler or scheme may still run. These tests check that late
// code does no harm.

const never = (): Promise<never> => new Promise(() => undefined);
const permission = anyone;

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function serviceWith(t: TestContext, parts: object) {
  const observed: Observation[] = [];
  const service = await createService({
    // Always SQLite: these tests stop the timers of the process, and the connections to PostgreSQL need timers.
    store: sqliteStore({ path: ":memory:" }),
    handlerTimeoutSeconds: 1,
    observe: (each) => void observed.push(each),
    ...parts,
  });
  t.after(() => service.close());
  const ask = (path: string, init: RequestInit = {}) =>
    service.fetch(new Request(`http://a${path}`, init), { peer: "127.0.0.1" });
  return { service, observed, ask };
}

const telling = (writeProblem: Format["writeProblem"]): Format => ({
  mediaType: "text/odd",
  problemMediaType: "text/odd",
  tagSuffix: "-odd",
  write: never,
  writeProblem,
});

const tellings: Readonly<Record<string, Format["writeProblem"]>> = {
  throws: () => {
    throw new Error("no problem of mine");
  },
  rejects: async () => {
    throw new Error("no problem of mine");
  },
  "returns nothing": () => undefined as never,
};

for (const [how, writeProblem] of Object.entries(tellings))
  test(`answers a timeout in the default format if the format's writeProblem ${how}`, async (t) => {
    const rejected: unknown[] = [];
    const hear = (error: unknown): number => rejected.push(error);
    process.on("unhandledRejection", hear);
    t.after(() => process.off("unhandledRejection", hear));
    const { ask } = await serviceWith(t, {
      formats: [telling(writeProblem)],
      mounts: [mount(defineResource({ name: "note", fields: { body: text() } }), { permission })],
    });
    t.mock.timers.enable({ apis: ["setInterval"] });

    const pendingAnswer = ask("/notes", { headers: { accept: "text/odd" } });
    await settle();
    t.mock.timers.tick(3000);
    const answer = await pendingAnswer;
    await settle();

    assert.deepEqual([answer.status, answer.headers.get("content-type")], [503, "application/problem+json"]);
    assert.deepEqual(rejected, []);
  });

test("answers a timeout with a page to a caller that asked for a page", async (t) => {
  const { ask } = await serviceWith(t, {
    features: [consolePages({ title: "Slow" })],
    endpoints: [defineEndpoint({ method: "GET", path: "/slow", access: anyone, handle: never })],
  });
  t.mock.timers.enable({ apis: ["setInterval"] });

  const pendingAnswer = ask("/slow", { headers: { accept: "text/html" } });
  await settle();
  t.mock.timers.tick(3000);
  const answer = await pendingAnswer;

  assert.deepEqual([answer.status, answer.headers.get("content-type")], [503, "text/html; charset=utf-8"]);
  assert.match(await answer.text(), /The request took too long and was cancelled\./);
});

// A scheme that checks a signature of the whole body, as webhooks send it.
const signed = (authenticate: Scheme["authenticate"]): Scheme => ({
  name: "signed",
  carriers: [{ in: "header", name: "X-Signature" }],
  readsBody: true,
  authenticate,
});
const notes = () => mount(defineResource({ name: "note", fields: { body: text() } }), { permission });
const sent = (body: ReadableStream | string): RequestInit => ({
  method: "POST",
  body,
  duplex: "half",
  headers: { "content-type": "application/json", "x-signature": "a" },
});

test("excludes the time in which a scheme waits for the body from the timeout", async (t) => {
  const octets = new TransformStream<Uint8Array, Uint8Array>();
  const { ask } = await serviceWith(t, {
    mounts: [notes()],
    schemes: [
      signed(async (_, call) => {
        await call.octets();
        return { kind: "absent" };
      }),
    ],
  });
  t.mock.timers.enable({ apis: ["setInterval"] });

  const pendingAnswer = ask("/notes", sent(octets.readable));
  await settle();
  t.mock.timers.tick(60_000);
  await settle();
  const writer = octets.writable.getWriter();
  await writer.write(Buffer.from('{"body":"late"}'));
  await writer.close();

  assert.equal((await pendingAnswer).status, 201);
});

test("answers 408 to an endless body after 30 s, and cancels the body", async (t) => {
  let cancelled = false;
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from('{"body":')),
    cancel: () => void (cancelled = true),
  });
  const { ask, service } = await serviceWith(t, { mounts: [notes()] });
  t.mock.timers.enable({ apis: ["setTimeout"] });

  const pendingAnswer = ask("/notes", { ...sent(body), headers: { "content-type": "application/json" } });
  await settle();
  t.mock.timers.tick(29_999);
  await settle();
  assert.equal(service.inFlight(), 1);
  t.mock.timers.tick(1);

  assert.equal((await pendingAnswer).status, 408);
  assert.deepEqual([cancelled, service.inFlight()], [true, 0]);
});

test("does not end a request at the timeout while its body arrives", async (t) => {
  const octets = new TransformStream<Uint8Array, Uint8Array>();
  let goOn: () => void = () => undefined;
  const { ask } = await serviceWith(t, {
    mounts: [notes()],
    schemes: [
      signed(async () => {
        await new Promise<void>((resolve) => (goOn = resolve));
        return { kind: "absent" };
      }),
    ],
  });
  t.mock.timers.enable({ apis: ["setInterval"] });

  const pendingAnswer = ask("/notes", sent(octets.readable));
  await settle();
  // The request reaches its timeout before the scheme has finished. Then the body starts to arrive.
  t.mock.timers.tick(1000);
  goOn();
  await settle();
  t.mock.timers.tick(60_000);
  await settle();
  const writer = octets.writable.getWriter();
  await writer.write(Buffer.from('{"body":"late"}'));
  await writer.close();

  assert.equal((await pendingAnswer).status, 201);
});

test("reads no body and calls no handler if a scheme finishes after the timeout", async (t) => {
  let goOn: () => void = () => undefined;
  let handled = 0;
  let read = 0;
  const body = () =>
    new ReadableStream(
      {
        pull(controller) {
          read++;
          controller.enqueue(Buffer.from("{}"));
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
  const { ask, observed } = await serviceWith(t, {
    mounts: [notes()],
    endpoints: [
      defineEndpoint({
        method: "DELETE",
        path: "/all",
        access: anyone,
        handle() {
          handled++;
          return { status: 204 };
        },
      }),
    ],
    schemes: [
      signed(async (_, call) => {
        await new Promise<void>((resolve) => (goOn = resolve));
        await call.octets();
        return { kind: "absent" };
      }),
    ],
  });
  t.mock.timers.enable({ apis: ["setInterval"] });

  for (const [path, init] of [
    ["/notes", sent(body())],
    ["/all", { method: "DELETE", headers: { "x-signature": "a" } }],
  ] as const) {
    const pendingAnswer = ask(path, init);
    await settle();
    t.mock.timers.tick(3000);
    assert.equal((await pendingAnswer).status, 503);
    goOn();
    await settle();
  }

  assert.deepEqual([read, handled], [0, 0]);
  assert.deepEqual(
    observed.map(({ kind }) => kind),
    ["fault", "request", "fault", "request"],
  );
});

test("stores no body that arrives after its request was answered", async (t) => {
  const { ask } = await serviceWith(t, {
    mounts: [notes()],
    schemes: [
      signed(async (_, call) => {
        call.octets().catch(() => undefined);
        return rejected("malformed");
      }),
    ],
  });
  const large = new Uint8Array(1024 * 1024).fill(32);

  // One address may have 8 MiB of bodies in memory. So a ninth body of 1 MiB would exceed the limit if the service
  // stored the others.
  for (let at = 0; at < 9; at++) {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    assert.equal((await ask("/notes", sent(readable))).status, 403);
    await writable
      .getWriter()
      .write(large)
      .catch(() => undefined);
    await settle();
  }
  assert.equal(
    (await ask("/notes", { ...sent('{"body":"a"}'), headers: { "content-type": "application/json" } })).status,
    201,
  );
});

for (const [what, isWritten] of [
  ["waits for a write that is not finished at the timeout", true],
  ["stops waiting for an unfinished write fifteen seconds after the timeout", false],
] as const)
  test(what, async (t) => {
    const below = sqliteStore({ path: ":memory:" });
    let goOn: () => void = () => undefined;
    const store: Store = {
      ...below,
      async write(transaction) {
        await new Promise<void>((resolve) => (goOn = resolve));
        return below.write(transaction);
      },
    };
    const { ask } = await serviceWith(t, { store, mounts: [notes()] });
    t.mock.timers.enable({ apis: ["setInterval"] });

    const pendingAnswer = ask("/notes", { ...sent('{"body":"a"}'), headers: { "content-type": "application/json" } });
    await settle();
    t.mock.timers.tick(isWritten ? 15_000 : 17_000);
    await settle();
    if (isWritten) goOn();

    assert.equal((await pendingAnswer).status, isWritten ? 201 : 503);
  });

test("starts no login after the timeout of its request, and keeps the existing session", async (t) => {
  const people = accounts(open);
  const session = sessionLogin(people);
  const tokens = tokenLogin(people);
  let reached = Promise.withResolvers<() => void>();
  const late: Error[] = [];
  const slow = (path: string, start: (context: Context, account: Account) => Promise<Reply>) =>
    defineEndpoint({
      method: "POST",
      path,
      access: "open",
      logsIn: true,
      needs: [people, session, tokens],
      async handle(context) {
        const account = await context.use(people).accounts.find(1);
        await new Promise<void>((resolve) => reached.resolve(resolve));
        return start(context, account!).catch((error: unknown) => {
          late.push(error as Error);
          throw error;
        });
      },
    });
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { ask, get, service } = await serve(t, people, [session, tokens], {
    handlerTimeoutSeconds: 1,
    endpoints: [
      slow("/slow-session", (context, account) =>
        context.use(people).logins.beginLogin(context, {
          account,
          proofs: [{ method: "hwk", at: context.now }],
          begin: context.use(session).begin,
          options: {},
        }),
      ),
      slow("/slow-tokens", (context, account) =>
        context.use(people).logins.beginLogin(context, {
          account,
          proofs: [{ method: "hwk", at: context.now }],
          begin: context.use(tokens).begin,
          options: { cookie: true },
        }),
      ),
    ],
  });
  const had = await ask("POST", "/api/session/", { username: email, password });
  const cookie = had.headers.getSetCookie()[0]!.split(";")[0]!;

  for (const path of ["/slow-session", "/slow-tokens"]) {
    const pendingAnswer = ask("POST", path, undefined, { cookie });
    const goOn = await reached.promise;
    reached = Promise.withResolvers();
    t.mock.timers.tick(3000);
    assert.equal((await pendingAnswer).status, 503);
    const before = late.length;
    goOn();
    while (late.length === before) await settle();
  }

  assert.deepEqual(
    late.map((each) => "code" in each && each.code),
    ["unavailable", "unavailable"],
  );
  assert.equal((await get("/api/session/", { cookie })).status, 200);
  assert.equal(await service.store.count(sessionsCollection, null), 1);
});
