import assert from "node:assert/strict";
import { test } from "node:test";
import { consolePages } from "../../src/door/features.ts";
import { anyone, boolean, defineProblem, defineResource, integer, mount } from "../../src/door/index.ts";
import { olderShape } from "../../src/door/resources.ts";
import type { Collection } from "../../src/door/stores.ts";
import { ownService } from "../harness/own-service.ts";

test("enforces a rule over several records of a resource, also for concurrent writes", async (t) => {
  const tooMany = defineProblem({
    code: "too_many_loans",
    status: 409,
    title: "Too many loans",
    detail: "Two at most.",
    why: "Two are open.",
    cure: "Bring one back.",
  });
  const loan = defineResource({ name: "loan", fields: { member: integer(), back: boolean({ default: false }) } });
  const loans = mount(loan, {
    permission: anyone,
    arrays: true,
    problems: { create: [tooMany] },
    beforeWrite({ kind, draft, collection }) {
      if (kind === "delete") return {};
      const where = {
        all: [
          { column: "member", operator: "eq", value: draft.values.member },
          { column: "back", operator: "eq", value: false },
        ],
      } as const;
      return { changes: [{ kind: "require", collection, where, atMost: 2, name: tooMany.code }] };
    },
  });
  const { ask } = await ownService(t, { mounts: [loans] });

  const sent = await Promise.all([1, 2, 3, 4].map(() => ask("POST", "/loans", { body: { member: 7 } })));

  assert.equal(sent.filter(({ status }) => status === 201).length, 2);
  assert.ok(sent.some(({ json }) => json.code === "too_many_loans"));
  assert.equal((await ask("PATCH", "/loans/1", { body: { back: true } })).status, 200);
  assert.equal((await ask("POST", "/loans", { body: { member: 7 } })).status, 201);
  assert.equal((await ask("PATCH", "/loans/1", { body: { back: false } })).status, 409);
  assert.equal((await ask("POST", "/loans", { body: [{ member: 8 }, { member: 8 }, { member: 8 }] })).status, 409);
});

test("names the fields of a failed rule in the answers to a record, an array, an action, an older shape and a form", async (t) => {
  const overlaps = defineProblem({
    code: "loan_overlaps",
    status: 409,
    title: "Loan overlaps",
    detail: "The copy is lent at that time.",
    why: "Another loan has the copy.",
    cure: "Choose another day.",
  });
  const loan = defineResource({ name: "loan", fields: { copy: integer(), day: integer() } });
  const free = (collection: Collection, copy: unknown, day: unknown) =>
    ({
      kind: "require",
      collection,
      where: {
        all: [
          { column: "copy", operator: "eq", value: copy as number },
          { column: "day", operator: "eq", value: day as number },
        ],
      },
      atMost: 1,
      name: overlaps.code,
      issues: [{ pointer: "/day", code: "overlaps", detail: "The copy is lent on that day." }],
    }) as const;
  const loans = mount(loan, {
    permission: anyone,
    arrays: true,
    problems: { create: [overlaps], update: [overlaps] },
    beforeWrite: ({ kind, draft, collection }) =>
      kind === "delete" ? {} : { changes: [free(collection, draft.values.copy, draft.values.day)] },
    actions: {
      move: {
        permission: anyone,
        body: { to: integer() },
        handle: ({ record, draft, collection }) => ({
          values: { day: draft.to },
          changes: [
            {
              ...free(collection, record.copy, draft.to),
              issues: [{ pointer: "/to", code: "overlaps", detail: "Lent." }],
            },
          ],
        }),
      },
    },
  });
  const older = olderShape(loans, {
    prefix: "/v1",
    deprecated: { since: "2026-01-01" },
    fields: { copy: "copy", on_day: "day" },
  });
  const { ask, service } = await ownService(t, {
    mounts: [loans, older],
    features: [consolePages({ title: "Loans" })],
  });
  const summarizeProblem = ({ status, json }: Awaited<ReturnType<typeof ask>>) => [
    status,
    json.code,
    json.errors?.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`),
  ];

  for (const day of [1, 2]) await ask("POST", "/loans", { body: { copy: 7, day } });
  const body = { copy: 7, day: 1 };

  assert.deepEqual(summarizeProblem(await ask("POST", "/loans", { body })), [409, "loan_overlaps", ["/day overlaps"]]);
  assert.deepEqual(summarizeProblem(await ask("PATCH", "/loans/2", { body: { day: 1 } })), [
    409,
    "loan_overlaps",
    ["/day overlaps"],
  ]);
  assert.deepEqual(summarizeProblem(await ask("POST", "/loans", { body: [{ copy: 8, day: 1 }, body] })), [
    409,
    "loan_overlaps",
    ["/1/day overlaps"],
  ]);
  assert.deepEqual(summarizeProblem(await ask("POST", "/loans/2/move", { body: { to: 1 } })), [
    409,
    "loan_overlaps",
    ["/to overlaps"],
  ]);
  assert.deepEqual(summarizeProblem(await ask("POST", "/v1/loans", { body: { copy: 7, on_day: 1 } })), [
    409,
    "loan_overlaps",
    ["/on_day overlaps"],
  ]);
  const form = await service.fetch(
    new Request("http://localhost/loans", {
      method: "POST",
      headers: { accept: "text/html", "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
    { peer: null },
  );
  assert.match(await form.text(), /The copy is lent on that day\./);
});

test("answers 500 if a hook returns a rule with invalid issues", async (t) => {
  const loan = defineResource({ name: "loan", fields: { copy: integer() } });
  const loans = mount(loan, {
    permission: anyone,
    beforeWrite: ({ collection }) => ({
      changes: [
        {
          kind: "require",
          collection,
          where: { all: [] },
          atMost: 9,
          name: "conflict",
          issues: [{ pointer: "/copy" }] as never,
        },
      ],
    }),
  });
  const { ask } = await ownService(t, { mounts: [loans] });

  assert.equal((await ask("POST", "/loans", { body: { copy: 1 } })).status, 500);
});
