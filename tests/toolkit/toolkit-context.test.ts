import assert from "node:assert/strict";
import { test } from "node:test";
import type { Permission, PermissionRequest } from "../../src/door/auth.ts";
import {
  anyone,
  defineEndpoint,
  defineFeature,
  defineResource,
  mount,
  Secret,
  text,
  type Context,
  createService,
} from "../../src/door/index.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { ownService } from "../harness/own-service.ts";

/** Returns all objects and functions that a program can reach from a value through members and prototypes. */
function reachable(start: unknown): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  const open: unknown[] = [start];
  while (open.length > 0) {
    const value = open.pop();
    if ((typeof value !== "object" && typeof value !== "function") || value === null || found.has(value)) continue;
    found.add(value);
    for (let own = value; own !== null && own !== Object.prototype; own = Object.getPrototypeOf(own)) {
      for (const key of Reflect.ownKeys(own)) {
        const described = Reflect.getOwnPropertyDescriptor(own, key)!;
        try {
          open.push(described.get === undefined ? described.value : Reflect.apply(described.get, value, []));
        } catch {
          // This getter reads a private member, which the value does not have.
        }
      }
    }
  }
  return found;
}

function names(values: ReadonlySet<unknown>): ReadonlySet<string> {
  return new Set([...values].flatMap((value) => Reflect.ownKeys(value as object).map(String)));
}

test("gives handlers, hooks and permissions no access to the keys and counters of the service", async (t) => {
  const contexts: { context: Context | PermissionRequest; from: string }[] = [];
  const keep = (from: string, context: Context | PermissionRequest): void => void contexts.push({ context, from });
  const asks: Permission = {
    name: "asks",
    decide(request) {
      keep("permission", request);
      return "allow";
    },
  };
  const notes = defineResource({ name: "note", fields: { line: text() } });
  const { ask } = await ownService(t, {
    secret: new Secret("a secret of thirty-two characters"),
    mounts: [
      mount(notes, {
        permission: asks,
        beforeWrite({ context }) {
          keep("beforeWrite", context);
          return {};
        },
      }),
    ],
    endpoints: [
      defineEndpoint({
        method: "GET",
        path: "/looks/{id}",
        access: anyone,
        guard: (context) => keep("guard", context),
        handle(context) {
          keep("handle", context);
          return { status: 204 };
        },
      }),
    ],
  });
  await ask("POST", "/notes", { as: "ada", body: { line: "x" } });
  await ask("GET", "/looks/7", { as: "ada" });

  assert.deepEqual(
    contexts.map(({ from }) => from),
    // The first one allows the creation, the second one shows its record.
    ["permission", "beforeWrite", "permission", "guard", "handle"],
  );
  for (const { context, from } of contexts) {
    const all = names(reachable(context));
    for (const name of [
      "fingerprintKey",
      "cursors",
      "schemeSet",
      "heldBodies",
      "inFlight",
      "guessing",
      "close",
      "open",
    ])
      assert.ok(!all.has(name), `${name} is reachable from the context of ${from}`);
    // A question about a record is a separate object.
    const ofQuestion = ["action", "params", "isPersonal"];
    assert.deepEqual(
      Reflect.ownKeys(context).filter((name) => from !== "permission" || !ofQuestion.includes(String(name))),
      [],
    );
  }
});

test("lets a handler read and write the store through its context", async (t) => {
  const notes = mount(defineResource({ name: "note", fields: { line: text() } }), { permission: { read: anyone } });
  const { ask } = await ownService(t, {
    mounts: [notes],
    endpoints: [
      defineEndpoint({
        method: "POST",
        path: "/jots",
        access: anyone,
        async handle(context) {
          const { collection } = notes;
          await context.write({ changes: [{ kind: "insert", collection, values: { line: "jotted" } }] });
          const row = await context.store.find(collection, 1);
          return { status: 200, body: { kind: "data", value: row?.record, element: "note" } };
        },
      }),
    ],
  });

  assert.deepEqual((await ask("POST", "/jots")).json, { id: 1, line: "jotted" });
});

test("lets an action use a feature of its service, and answers 500 for a feature of another service", async (t) => {
  const greeter = defineFeature({
    name: "greeter",
    setUp: () => ({ offer: { greet: (name: string) => `Hello ${name}` } }),
  });
  const stranger = defineFeature({ name: "stranger", setUp: () => ({ offer: 7 }) });
  const greet = (context: Context): string => context.use(greeter).greet("you");
  const { ask } = await ownService(t, {
    features: [greeter],
    mounts: [
      mount(defineResource({ name: "note", fields: { line: text() } }), {
        permission: anyone,
        actions: {
          greet: { permission: anyone, handle: ({ context }) => ({ values: { line: greet(context) } }) },
          lost: { permission: anyone, handle: ({ context }) => ({ values: { line: String(context.use(stranger)) } }) },
        },
      }),
    ],
  });
  await ask("POST", "/notes", { body: { line: "x" } });

  assert.equal((await ask("POST", "/notes/1/greet")).json.line, "Hello you");
  assert.equal((await ask("POST", "/notes/1/lost")).status, 500);
});

test("reports all missing features of mounts and endpoints together at the start", async () => {
  const offered = defineFeature({ name: "offered", setUp: () => ({ offer: 7 }) });
  const another = defineFeature({ name: "offered", setUp: () => ({ offer: 8 }) });
  const absent = defineFeature({ name: "absent", setUp: () => ({ offer: 9 }) });
  const note = defineResource({ name: "note", fields: { line: text() } });
  const start = (needs: Parameters<typeof mount>[1]["needs"] & object) =>
    createService({
      store: sqliteStore({ path: ":memory:" }),
      features: [
        offered,
        defineFeature({
          name: "own",
          setUp: () => ({
            offer: null,
            endpoints: [
              defineEndpoint({ method: "GET", path: "/a", access: anyone, needs, handle: () => ({ status: 204 }) }),
            ],
          }),
        }),
      ],
      mounts: [mount(note, { permission: anyone, needs })],
    });

  await assert.rejects(start([offered, another, absent]), (error: Error) => {
    for (const each of ["mount(/notes)", "GET /a"]) {
      assert.ok(
        error.message.includes(
          `- ${each} needs offered, but the list has another instance of it; make one instance and use it in both places`,
        ),
      );
      assert.ok(error.message.includes(`- ${each} needs absent, which is not in the list; add it`), error.message);
    }
    return true;
  });
  assert.throws(
    () => mount(note, { permission: anyone, needs: ["offered" as never] }),
    /mount\(\/notes\): needs is a list; item \d is a text, not a feature/,
  );
  await (await start([offered])).close();
});

test("does not compile access to the private parts of a context", () => {
  const endpoint = defineEndpoint({
    method: "GET",
    path: "/x",
    access: anyone,
    handle(context) {
      // @ts-expect-error -- a context has no service
      void context.service;
      // @ts-expect-error -- the identity may be null
      void context.identity.id;
      return { status: 204 };
    },
  });

  assert.equal(endpoint.path, "/x");
});

test("does not compile a handler that takes a method out of its context", () => {
  const handlers = [
    // @ts-expect-error -- `write` needs its context
    ({ write }: Context) => write({ changes: [] }),
    // @ts-expect-error -- `requireIdentity` needs its context
    ({ requireIdentity }: Context) => requireIdentity(),
    ({ now, store, identity }: Context) => [now, store, identity],
  ];
  assert.equal(handlers.length, 3);
});
