import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import type { Permission } from "../../src/door/auth.ts";
import {
  accepted,
  administrator,
  anyOf,
  authenticated,
  decimal,
  defineResource,
  enumeration,
  integer,
  json,
  mount,
  text,
  type Identity,
  type Scheme,
} from "../../src/door/index.ts";
import { olderShape } from "../../src/door/resources.ts";
import { ownService, type Own } from "../harness/own-service.ts";

const small = { minimum: 0, maximum: 4 } as const;
const issue = (pointer: string) => ({ pointer, code: "odd", detail: "It does not fit." });

const deals = defineResource({
  name: "deal",
  fields: {
    low: integer(small),
    high: integer(small),
    start: integer({ ...small, optional: true }),
    end: integer({ ...small, optional: true }),
    note: json({ optional: true }),
    label: text({ maxLength: 8, optional: true }),
    price: decimal({ scale: 2, maximum: "9.99", default: "1.50" }),
    status: text({ readOnly: true, default: "new" }),
    pin: text({ writeOnly: true, optional: true }),
  },
  // This check reads all four fields each time.
  check: ({ low, high, start, end }) => [
    ...(low <= high ? [] : [issue("/high")]),
    ...(end !== null && start !== null && start > end ? [issue("/start")] : []),
  ],
});
const spans = defineResource({
  name: "span",
  fields: {
    kind: enumeration(["free", "bounded"]),
    start: integer(small),
    end: integer({ ...small, optional: true }),
    note: json({ optional: true }),
  },
  // This check reads `start` and `end` only if the kind is bounded.
  check: (record) =>
    record.kind === "bounded" && record.end !== null && record.start > record.end ? [issue("/start")] : [],
});

/**
 * The callers. `root` may read and write. `writer` and `key` may only write, because of the permission or of the
 * scopes.
 */
const callers: Readonly<Record<string, Partial<Identity>>> = {
  root: { id: 1, role: "admin" },
  writer: { id: 2, role: "user" },
  key: { id: 1, role: "admin", scopes: ["write"] },
};
const nobodyElse: Identity = { id: 9, username: "x", role: "user", scheme: "named", scopes: null, expiresAt: null };
const named: Scheme = {
  name: "named",
  carriers: [{ in: "header", name: "X-Visitor" }],
  challenge: () => "Named",
  authenticate: (name) => accepted({ ...nobodyElse, ...callers[name] }),
};
const permission: Readonly<Record<"list" | "read" | "create" | "update" | "replace", Permission>> = {
  list: administrator,
  read: administrator,
  create: administrator,
  update: anyOf(authenticated),
  replace: anyOf(authenticated),
};

async function start(t: TestContext): Promise<Own> {
  const mounts = [mount(deals, { permission, arrays: true }), mount(spans, { permission, arrays: true })] as const;
  const older = olderShape(mounts[0], {
    prefix: "/v1",
    fields: {
      floor: "low",
      ceiling: "high",
      begin: "start",
      end: "end",
      extra: "note",
      whole: {
        from: "price",
        as: integer(),
        show: (price: unknown) => Math.floor(Number(price)),
        read: (whole: unknown) => `${String(whole)}.00`,
      },
    },
    defaults: {},
  });
  return ownService(t, {
    schemes: [named],
    scopesAllow: (scopes, method) => scopes.includes(method === "GET" ? "read" : "write"),
    mounts: [...mounts, older],
  });
}

const value = fc.integer({ min: 0, max: 4 });
/** Numbers, of which the fields refuse one in ten. */
const number = fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: fc.constantFrom(-1, 5) });
const nested = fc.oneof(
  fc.constant(null),
  fc.record({ a: fc.constantFrom(null, 1, { b: 2 }), fill: fc.constantFrom("", "x".repeat(40_000)) }),
);

/** Values of a stored deal, which the writing callers may not read. These values pass the check. */
const deal = fc
  .record({
    low: value,
    high: value,
    start: fc.option(value),
    end: fc.option(value),
    note: nested,
    label: fc.constantFrom("a", "b"),
    price: fc.constantFrom("1.00", "1.50", "2.00"),
    pin: fc.constantFrom("1", "2"),
  })
  .filter(({ low, high, start, end }) => low <= high && (start === null || end === null || start <= end));
const span = fc
  .record({ kind: fc.constantFrom("free", "bounded"), start: value, end: fc.option(value), note: nested })
  .filter(({ kind, start, end }) => kind === "free" || end === null || start <= end);

const written = {
  low: number,
  high: number,
  start: fc.option(number),
  end: fc.option(number),
  note: nested,
  label: fc.constantFrom("a", "b", "c", null, "too long a label"),
  price: fc.constantFrom("1.00", "1.50", "1", "2", "x"),
  status: fc.constant("new"),
  pin: fc.constantFrom("1", "2", null),
  kind: fc.constantFrom("free", "bounded", "odd"),
  floor: number,
  ceiling: number,
  begin: fc.option(number),
  extra: nested,
  whole: value,
};

type Name = keyof typeof written;
const knownNames: Readonly<Record<string, readonly Name[]>> = {
  "/deals": ["low", "high", "start", "end", "note", "label", "price", "status", "pin"],
  "/spans": ["kind", "start", "end", "note"],
  "/v1/deals": ["floor", "ceiling", "begin", "end", "extra", "whole"],
};

interface Sent {
  readonly method: string;
  readonly path: (id: number) => string;
  readonly body: (id: number) => unknown;
  readonly type: string;
}

function requestTo(base: string): fc.Arbitrary<Sent> {
  const names = knownNames[base]!;
  const all = Object.fromEntries(names.map((name) => [name, written[name] as fc.Arbitrary<unknown>]));
  const record = fc.oneof(
    fc.record(all, { requiredKeys: [] }),
    fc.record(all, { requiredKeys: names.filter((name) => name !== "status") }),
    fc
      .record(all, { requiredKeys: names.filter((name) => name !== "status") })
      .map(({ status: _status, ...rest }) => rest),
    ...names.map((name) => fc.record({ [name]: all[name]! })),
  );
  const operation = fc.oneof(
    fc
      .constantFrom(...names)
      .chain((name) =>
        fc.record({ op: fc.constantFrom("add", "replace"), path: fc.constant(`/${name}`), value: all[name]! }),
      ),
    fc.record({ op: fc.constant("remove"), path: fc.constantFrom(...names.map((name) => `/${name}`)) }),
    fc.record({ op: fc.constant("test"), path: fc.constantFrom(...names.map((name) => `/${name}`)), value }),
    fc.record({ op: fc.constant("replace"), path: fc.constant("/note/a"), value }),
  );
  const one = (id: number): string => `${base}/${id}`;
  const plain = "application/json";
  return fc.oneof(
    record.map((body): Sent => ({ method: "PATCH", path: one, body: () => body, type: plain })),
    record.map((body): Sent => ({ method: "PUT", path: one, body: () => body, type: plain })),
    record.map((body): Sent => ({ method: "PATCH", path: () => base, body: (id) => [{ id, ...body }], type: plain })),
    fc
      .array(operation, { minLength: 1, maxLength: 3 })
      .map((body): Sent => ({ method: "PATCH", path: one, body: () => body, type: "application/json-patch+json" })),
  );
}

async function observeOutcome(own: Own, id: number, as: string, { method, path, body, type }: Sent): Promise<object> {
  const answer = await own.ask(method, path(id), { as, body: body(id), headers: { "content-type": type } });
  const headers = [...answer.headers].filter(([name]) => name !== "date" && !name.includes("request-id"));
  const { request_id: _id, ...content } = (answer.json ?? {}) as Record<string, unknown>;
  return { status: answer.status, headers, told: content, isEmpty: answer.text === "" };
}

const worlds = [
  { base: "/deals", made: "/deals", hidden: deal },
  { base: "/spans", made: "/spans", hidden: span },
  { base: "/v1/deals", made: "/deals", hidden: deal },
] as const;

for (const { base, made, hidden } of worlds) {
  test(`gives a caller who may write but not read ${base} the same response for any stored values`, async (t) => {
    const [one, other] = [await start(t), await start(t)];
    const statuses = new Map<number, number>();
    const make = async (own: Own, body: object): Promise<number> => {
      const answer = await own.ask("POST", made, { as: "root", body });
      assert.equal(answer.status, 201, answer.text);
      return answer.json.id;
    };

    await fc.assert(
      fc.asyncProperty(
        hidden as fc.Arbitrary<object>,
        hidden as fc.Arbitrary<object>,
        requestTo(base),
        fc.constantFrom("writer", "key"),
        async (first, second, sent, as) => {
          const id = await make(one, first);
          assert.equal(await make(other, second), id);
          const outcome = (await observeOutcome(one, id, as, sent)) as { status: number };
          assert.deepEqual(await observeOutcome(other, id, as, sent), outcome);
          statuses.set(outcome.status, (statuses.get(outcome.status) ?? 0) + 1);
        },
      ),
      { numRuns: 300 },
    );

    assert.deepEqual(
      [...statuses.keys()].toSorted((a, b) => a - b),
      [204, 400, 409],
      "the answers must have exactly these statuses",
    );
  });
}

test("reveals no value of a record by the rule `check`, even by bisection", async (t) => {
  const own = await start(t);
  const body = { low: 2, high: 4, start: 1, end: 3, note: { fill: "x" } };
  await own.ask("POST", "/deals", { as: "root", body });
  const attemptPatch = async (patch: object): Promise<number> =>
    (await own.ask("PATCH", "/deals/1", { as: "key", body: patch })).status;

  for (let high = 0; high <= 4; high++) assert.equal(await attemptPatch({ high }), 409);
  const refused = await own.ask("PATCH", "/deals/1", { as: "key", body: { high: 3 } });
  assert.equal(refused.json.code, "conflict");
  assert.equal(refused.json.errors, undefined);
  assert.equal(
    refused.json.detail,
    "The validity of this body depends on low, which you may not read and did not send. Send it too.",
  );
  assert.deepEqual((await own.get("/deals/1", { as: "root" })).json.high, 4);
});

test("accepts a write if the sent fields alone pass the check, and names invalid fields", async (t) => {
  const own = await start(t);
  await own.ask("POST", "/deals", { as: "root", body: { low: 2, high: 4, label: "a", note: { kept: 1 } } });
  const whole = {
    low: 1,
    high: 3,
    start: null,
    end: null,
    note: { sent: { a: null, b: 1 } },
    price: "2.00",
    label: "b",
  };

  const wrong = await own.ask("PATCH", "/deals/1", { as: "key", body: { ...whole, low: 4 } });
  assert.deepEqual([wrong.status, wrong.json.errors[0].pointer], [400, "/high"]);
  assert.equal((await own.ask("PUT", "/deals/1", { as: "key", body: whole })).status, 204);
  const shown = { id: 1, ...whole, note: { sent: { a: null, b: 1 } }, status: "new" };
  assert.deepEqual((await own.get("/deals/1", { as: "root" })).json, shown);
  const spanMade = await own.ask("POST", "/spans", { as: "root", body: { kind: "bounded", start: 1, end: 2 } });
  assert.equal(spanMade.status, 201);
  const body = { kind: "bounded", start: 3, end: 2 };
  assert.equal((await own.ask("PATCH", "/spans/1", { as: "writer", body })).json.errors[0].pointer, "/start");
  assert.equal((await own.ask("PATCH", "/spans/1", { as: "writer", body: { ...body, start: 0 } })).status, 204);
  assert.equal((await own.ask("PATCH", "/spans/1", { as: "writer", body: { kind: "free" } })).status, 204);
  assert.deepEqual((await own.get("/spans/1", { as: "root" })).json, {
    id: 1,
    kind: "free",
    start: 0,
    end: 2,
    note: null,
  });
});

test("replaces a JSON value for a caller who may not read the record, and merges it for a caller who may", async (t) => {
  const own = await start(t);
  await own.ask("POST", "/spans", { as: "root", body: { kind: "free", start: 1, note: { kept: 1, both: 1 } } });
  const body = { kind: "free", note: { both: { a: null, b: 2 } } };
  const readNote = async (): Promise<unknown> => (await own.get("/spans/1", { as: "root" })).json.note;

  assert.equal((await own.ask("PATCH", "/spans/1", { as: "root", body })).status, 200);
  assert.deepEqual(await readNote(), { kept: 1, both: { b: 2 } });
  assert.equal((await own.ask("PATCH", "/spans/1", { as: "writer", body })).status, 204);
  assert.deepEqual(await readNote(), { both: { b: 2 } });
});
