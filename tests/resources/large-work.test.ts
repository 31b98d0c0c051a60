import assert from "node:assert/strict";
import { test } from "node:test";
import { serve, type Answered } from "../harness/serve.ts";

/** Returns how many rounds of the event loop the work takes. Other requests are served between two rounds. */
async function countRounds(work: () => Promise<unknown>): Promise<number> {
  let rounds = 0;
  let counter = setImmediate(function count() {
    rounds++;
    counter = setImmediate(count);
  });
  try {
    await work();
  } finally {
    clearImmediate(counter);
  }
  return rounds;
}

const atOnce = 20;
const many = (ask: () => Promise<Answered>) => Promise.all(Array.from({ length: atOnce }, ask));

test("reads at most one long list per round of the event loop if many callers ask at once, in any format", async (t) => {
  const api = await serve(t);

  for (const accept of ["application/json", "application/xml"]) {
    const headers = { ...api.admin, accept };
    const statuses: number[] = [];
    const rounds = await countRounds(async () => {
      for (const { status } of await many(() => api.get("/users?limit=101", headers))) statuses.push(status);
    });
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.ok(rounds >= atOnce, `${rounds} rounds for ${atOnce} long lists`);
  }
});

test("reads at most one large body per round of the event loop if many bodies arrive at once", async (t) => {
  const api = await serve(t);
  const body = { name: "Ann", email: "ann@example.com", password: "x".repeat(100_000) };

  const rounds = await countRounds(async () => {
    for (const { status } of await many(() => api.post("/users", body, api.admin))) assert.equal(status, 400);
  });

  assert.ok(rounds >= 2 * atOnce, `${rounds} rounds for ${atOnce} large bodies`);
});
