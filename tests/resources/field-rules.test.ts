// Rules of fields, tried through every channel as a caller whom they deny something. Three services have the same
// visible records. Two differ in the hidden values, and the third does not declare the fields that the caller may not
// know. The answers of all three have to be equal.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Own, OwnAnswer, OwnAsk } from "../harness/own-service.ts";
import { fillRuled, hiddenValues, ruledWorld } from "../harness/ruled-world.ts";

type Step = readonly [method: string, path: string, options?: OwnAsk];

async function startWorlds(t: TestContext): Promise<readonly [Own, Own, Own]> {
  const worlds = [await ruledWorld(t), await ruledWorld(t), await ruledWorld(t, { isUndeclared: true })] as const;
  await fillRuled(worlds[0], hiddenValues[0]);
  await fillRuled(worlds[1], hiddenValues[1]);
  await fillRuled(worlds[2], null);
  return worlds;
}

const masked = new Set(["date", "x-request-id"]);

/** Returns an answer as text, without what differs between two equal requests. */
function whole({ status, headers, text }: OwnAnswer, withoutTags: boolean): string {
  const fields = [...headers]
    .filter(([name]) => !masked.has(name) && !(withoutTags && name === "etag"))
    .map(
      ([name, value]) => `${name}: ${withoutTags && name === "link" ? value.replace(/cursor=[\w.-]+/g, "") : value}`,
    );
  const body = withoutTags ? text.replace(/cursor=[\w.-]+/g, "") : text;
  return [
    status,
    ...fields.toSorted(),
    body.replaceAll(
      headers.get("x-request-id") ??
        /request_id":"([\w-]+)/.exec(text)?.[1] ??
        /Request <code>([\w-]+)/.exec(text)?.[1] ??
        "\n",
      "",
    ),
  ].join("\n");
}

/** Sends the same request to all services, and asserts equal answers. Returns the first answer. */
async function alike(worlds: readonly [Own, Own, Own], [method, path, options = {}]: Step): Promise<OwnAnswer> {
  const [one, other, without] = await Promise.all(
    worlds.map(async ({ ask }) => ask(method, path, { as: "ada", ...options })),
  );
  const name = `${method} ${path} ${JSON.stringify(options)}`;
  assert.equal(whole(other!, false), whole(one!, false), name);
  assert.equal(whole(without!, true), whole(one!, true), `${name}, compared with undeclared fields`);
  return one!;
}

const patchJSON = { "content-type": "application/json-patch+json" };
const accept = (type: string): OwnAsk => ({ headers: { accept: type } });

const reads: readonly Step[] = [
  ["GET", "/projects/1"],
  ["GET", "/projects"],
  ["GET", "/projects?limit=1"],
  ["GET", "/projects?limit=2&sort=-title"],
  ["GET", "/projects?sort=rank", { headers: { prefer: "count=exact" } }],
  ["GET", "/projects?fields=title,label"],
  ["GET", "/projects?fields=budget"],
  ["GET", "/projects/1?fields=cost"],
  ["GET", "/projects/1?fields=stamp"],
  ["GET", "/projects?budget=1000.00"],
  ["GET", "/projects?budget[lt]=500"],
  ["GET", "/projects?budge=1"],
  ["GET", "/projects?budget[null]=true"],
  ["GET", "/projects?cost[gt]=5"],
  ["GET", "/projects?memo[contains]=zebra"],
  ["GET", "/projects?sort=budget"],
  ["GET", "/projects?sort=-cost"],
  ["GET", "/projects?rank[lt]=2"],
  ["GET", "/projects?expand=team,notes"],
  ["GET", "/projects?expand=nots"],
  ["GET", "/projects/2?expand=team,notes"],
  ["GET", "/projects/1", accept("application/xml")],
  ["GET", "/projects", accept("application/xml")],
  ["GET", "/projects", accept("text/csv")],
  ["GET", "/projects/1", accept("text/html")],
  ["GET", "/projects", accept("text/html")],
  ["GET", "/projects?budget=1", accept("text/html")],
  ["GET", "/projects/1/notes"],
  ["GET", "/projects/1/notes?price=10"],
  ["GET", "/projects/1/notes?sort=price"],
  ["GET", "/v1/projects"],
  ["GET", "/v1/projects/1"],
  ["GET", "/v1/projects?price[gt]=5"],
  ["GET", "/v1/projects?funds=1000.00"],
  ["GET", "/v1/projects?fields=funds"],
  ["GET", "/v1/projects?fields=price,level"],
  ["GET", "/v1/projects?sort=price"],
  ["GET", "/projects?lead_id=1"],
  ["GET", "/projects?expand=lead"],
  ["GET", "/projects/1?expand=lead"],
  ["GET", "/v1/projects?expand=lead"],
  ["GET", "/v1/projects/1?expand=lead"],
  ["GET", "/v1/projects/1", accept("text/html")],
  ["GET", "/v0/projects"],
  ["GET", "/v0/projects/1"],
  ["QUERY", "/projects", { body: { where: { budget: { lt: "500.00" } } } }],
  ["QUERY", "/projects", { body: { where: { budge: { lt: "500.00" } } } }],
  ["QUERY", "/projects", { body: { where: { not: { lead_id: { eq: 1 } } } } }],
  ["QUERY", "/projects", { body: { where: { any: [{ cost: { gt: "5.00" } }, { title: { eq: "apple" } }] } } }],
  ["QUERY", "/projects", { body: { sort: "cost" } }],
  ["QUERY", "/projects", { body: { sort: "-title", limit: 1 } }],
  ["QUERY", "/projects", { body: { fields: "title,memo" } }],
  ["QUERY", "/projects", { body: { expand: "lead" } }],
  ["QUERY", "/projects", { body: { where: { title: { eq: "apple" } }, expand: "team,notes" } }],
  ["QUERY", "/v1/projects", { body: { where: { price: { gt: "5.00" } } } }],
  ["QUERY", "/v1/projects", { body: { expand: "lead" } }],
];

const writes: readonly Step[] = [
  ["POST", "/projects", { body: { title: "date", budget: "1.00" } }],
  ["POST", "/projects", { body: { title: "date", budgt: "1.00", memmo: "x" } }],
  ["POST", "/projects", { body: { title: "date", pin: "x" } }],
  ["POST", "/projects", { body: { title: "date", pinn: "x", prof: "x" } }],
  ["PATCH", "/projects/1", { body: { proof: "x" } }],
  ["PATCH", "/projects/1", { headers: patchJSON, body: [{ op: "add", path: "/pin", value: "x" }] }],
  ["POST", "/projects", { body: { title: "date", stamp: "2027-01-01T00:00:00Z" } }],
  ["POST", "/projects", { body: { title: "date", rank: 3 } }],
  ["POST", "/projects", { body: { title: "date", cost: "8.00", plan: { x: 1 } } }],
  ["POST", "/projects", { body: [{ title: "elder", cost: "1.00" }, { title: "fig" }] }],
  ["POST", "/projects", { body: [{ title: "elder", memo: "a" }] }],
  ["PUT", "/projects/1", { body: { title: "apple 2" } }],
  ["PUT", "/projects/1", { body: { title: "apple 2", rank: 0 } }],
  ["PUT", "/projects/1", { body: { title: "apple 2", rank: 7 } }],
  ["PUT", "/projects/1", { body: { title: "apple 2", budget: null } }],
  ["PUT", "/projects/1", { body: { title: "apple 3", cost: "4.00" } }],
  ["PATCH", "/projects/1", { body: { title: "apple 4" } }],
  ["PATCH", "/projects/1", { body: { plan: { b: 1 } } }],
  ["PATCH", "/projects/1", { body: { budget: "1.00" } }],
  ["PATCH", "/projects/1", { body: { stamp: null } }],
  ["PATCH", "/projects/1", { headers: patchJSON, body: [{ op: "test", path: "/budget", value: "1000.00" }] }],
  ["PATCH", "/projects/1", { headers: patchJSON, body: [{ op: "test", path: "/cost", value: "4.00" }] }],
  ["PATCH", "/projects/1", { headers: patchJSON, body: [{ op: "remove", path: "/memo" }] }],
  ["PATCH", "/projects/1", { headers: patchJSON, body: [{ op: "remove", path: "/rank" }] }],
  ["PATCH", "/projects/1", { headers: patchJSON, body: [{ op: "copy", from: "/memo", path: "/title" }] }],
  ["PATCH", "/projects/1", { headers: patchJSON, body: [{ op: "move", from: "/cost", path: "/title" }] }],
  ["PATCH", "/projects/1", { headers: patchJSON, body: [{ op: "add", path: "/cost", value: "5.00" }] }],
  ["PATCH", "/projects/1", { headers: patchJSON, body: [{ op: "add", path: "/plan/a", value: 1 }] }],
  [
    "PATCH",
    "/projects",
    {
      body: [
        { id: 1, title: "apple 5" },
        { id: 2, cost: "6.00" },
      ],
    },
  ],
  ["PATCH", "/projects", { body: [{ id: 1, memo: "x" }] }],
  ["PATCH", "/projects", { body: [{ id: 1, rank: 9 }] }],
  ["POST", "/projects/2/rename", { body: { title: "blueberry" } }],
  ["POST", "/projects/2/notes", { body: { line: "more", price: 4 } }],
  ["POST", "/v1/projects", { body: { name: "grape", price: "2.00" } }],
  ["POST", "/v1/projects", { body: { name: "grape", funds: "2.00" } }],
  ["POST", "/v1/projects", { body: { name: "grape", level: "level 4" } }],
  ["PUT", "/v1/projects/2", { body: { name: "banana 2" } }],
  ["PATCH", "/v1/projects/2", { body: { price: "3.00" } }],
  ["PATCH", "/v1/projects/2", { body: { funds: "3.00" } }],
  ["PATCH", "/v0/projects/1", { body: { name: "oldest" } }],
  ["POST", "/projects", { body: { title: "kiwi", cost: "1.50" }, headers: { "idempotency-key": "kiwi-0001" } }],
  ["POST", "/projects", { body: { title: "kiwi", cost: "1.50" }, headers: { "idempotency-key": "kiwi-0001" } }],
  ["PATCH", "/projects/3", { body: { title: "c" }, headers: { "idempotency-key": "cherry-01" } }],
  ["PATCH", "/projects/3", { body: { title: "c" }, headers: { "idempotency-key": "cherry-01" } }],
  ["POST", "/projects/3/rename", { body: { title: "d" }, headers: { "idempotency-key": "rename-01" } }],
  ["POST", "/projects/3/rename", { body: { title: "d" }, headers: { "idempotency-key": "rename-01" } }],
  ["POST", "/projects/3/describe", { body: { title: "e", memo: "x" }, headers: { "idempotency-key": "describe-1" } }],
  ["POST", "/projects/3/describe", { body: { title: "e", memo: "x" }, headers: { "idempotency-key": "describe-1" } }],
  ["DELETE", "/projects/2", { headers: { "if-match": '"nothing"' } }],
  ["DELETE", "/projects/2"],
  ["GET", "/projects?expand=team,notes"],
];

test("shows no caller a field that its rule denies, in any channel", async (t) => {
  const worlds = await startWorlds(t);
  for (const step of reads) await alike(worlds, step);
  const shown = await alike(worlds, ["GET", "/projects/1"]);
  assert.deepEqual(shown.json, { id: 1, title: "apple", team_id: 1, rank: 0, label: "apple #1" });
  const full = await worlds[0].get("/projects/1", { as: "root" });
  assert.deepEqual(Object.keys(full.json), [
    "id",
    "title",
    "team_id",
    "budget",
    "memo",
    "code",
    "stamp",
    "lead_id",
    "cost",
    "plan",
    "rank",
    "label",
  ]);
});

test("moves the tags of older shapes with the visible content alone", async (t) => {
  const own = await ruledWorld(t);
  await fillRuled(own, hiddenValues[0]);
  const paths = ["/v0/projects/1", "/v0/projects", "/v1/projects/1", "/projects/1", "/projects?expand=notes"];
  const tags = async () =>
    Promise.all(paths.map(async (path) => (await own.get(path, { as: "ada" })).headers.get("etag")));
  const before = await tags();

  const { budget, cost, lead_id } = hiddenValues[1];
  assert.equal((await own.ask("PATCH", "/projects/1", { as: "root", body: { budget, cost, lead_id } })).status, 200);
  assert.deepEqual(await tags(), before);
  const headers = { "if-match": before[0]! };
  const changed = await own.ask("PATCH", "/v0/projects/1", { as: "ada", body: { name: "new" }, headers });
  assert.equal(changed.status, 200, changed.text);
  assert.equal((await own.ask("PATCH", "/v0/projects/1", { as: "ada", body: { name: "x" }, headers })).status, 412);
});

test("gives no caller a remembered page of a caller with more rights", async (t) => {
  const worlds = await startWorlds(t);
  for (const step of reads) {
    const [method, path, options = {}] = step;
    for (const as of ["root", "root", "ada", "root"])
      for (const { ask } of worlds) await ask(method, path, { ...options, as });
    await alike(worlds, step);
  }
});

test("answers writes alike for every hidden value, and keeps the values", async (t) => {
  const worlds = await startWorlds(t);
  for (const step of writes) {
    const { status } = await alike(worlds, step);
    assert.ok(status < 500, `${step[0]} ${step[1]}: ${status}`);
  }
  for (const [at, hidden] of hiddenValues.entries()) {
    const { json } = await worlds[at]!.get("/projects/1", { as: "root" });
    assert.equal(json.budget, hidden.budget);
    assert.equal(json.memo, hidden.memo);
    assert.equal(json.title, "oldest");
    assert.equal(json.cost, "5.00");
    assert.deepEqual(json.plan, { b: 1 });
  }
});
