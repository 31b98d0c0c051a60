import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, boolean, defineProblem, defineResource, integer, mount } from "../../src/door/index.ts";
import { ownService } from "../harness/own-service.ts";

test("a rule over several records of its own resource holds against whoever writes at the same time", async (t) => {
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
