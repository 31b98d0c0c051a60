// Two services have the same visible records and different hidden values. The same drawn requests of a caller who may
// not read the hidden values must get the same answers, while the hidden values change. `SILENCE_REQUESTS` and
// `SILENCE_SEED` choose another number of requests and another seed.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Own, OwnAnswer, OwnAsk } from "../harness/own-service.ts";
import { fillRuled, hiddenValues, ruledWorld } from "../harness/ruled-world.ts";

const requests = Number(process.env["SILENCE_REQUESTS"] ?? 20_000);
const seed = Number(process.env["SILENCE_SEED"] ?? 1);

interface Draw {
  below(most: number): number;
  pick<T>(from: readonly T[]): T;
}

function drawFrom(start: number): Draw {
  let state = start >>> 0;
  const below = (most: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % most;
  };
  return { below, pick: (from) => from[below(from.length)]! };
}

type Step = readonly [method: string, path: string, options: OwnAsk];

const names = [
  "title",
  "rank",
  "cost",
  "plan",
  "budget",
  "memo",
  "code",
  "stamp",
  "label",
  "id",
  "budgt",
  "team_id",
  "lead_id",
  "pin",
  "proof",
];
const oldNames = ["name", "price", "level", "funds", "cost", "captain", "id"];
const values = ["1", "5.00", "1000.00", "zebra", "apple", "null", "", "2027-01-01T00:00:00Z", "0zebra plan"];
const operators = ["eq", "lt", "gt", "null", "contains", "icontains", "in"];
const types = ["application/json", "application/xml", "text/csv", "text/html"];

function drawBody({ below, pick }: Draw, from: readonly string[]): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (let at = below(3); at >= 0; at--) {
    const name = pick(from);
    body[name] = pick<unknown>([...values, 3, null, { a: 1 }, [1]]);
  }
  return body;
}

function drawQuery({ below, pick }: Draw, from: readonly string[]): string {
  const parts: string[] = [];
  for (let at = below(3); at > 0; at--)
    parts.push(
      pick([
        () => `${pick(from)}=${encodeURIComponent(pick(values))}`,
        () => `${pick(from)}[${pick(operators)}]=${encodeURIComponent(pick(values))}`,
        () => `sort=${pick(["", "-"])}${pick(from)}`,
        () => `fields=${pick(from)},${pick(from)}`,
        () => `limit=${1 + below(4)}`,
        () => `expand=${pick(["team", "lead", "notes", "team,notes", "nots", "notes.project"])}`,
        () => `search=${pick(values)}`,
      ])(),
    );
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

function drawStep(draw: Draw, at: number): Step {
  const { below, pick } = draw;
  const isOld = below(4) === 0;
  const base = isOld
    ? pick(["/v0/projects", "/v1/projects"])
    : pick(["/projects", "/projects", `/projects/${1 + below(5)}/notes`]);
  const from = isOld ? oldNames : base.endsWith("notes") ? ["line", "price", "prize", "id"] : names;
  const one = `${base}/${1 + below(6)}`;
  const headers: Record<string, string> = { accept: pick(types) };
  if (below(6) === 0) headers["prefer"] = pick(["count=exact", "return=minimal"]);
  if (below(8) === 0) headers["idempotency-key"] = `silence-${pick([at, at - 1, at - 2])}`;
  const patchJSON = { ...headers, "content-type": "application/json-patch+json" };
  return pick<() => Step>([
    () => ["GET", base + drawQuery(draw, from), { headers }],
    () => ["GET", one + drawQuery(draw, from), { headers }],
    () => [
      "QUERY",
      base,
      { headers, body: { where: { [pick(from)]: { [pick(operators)]: pick<unknown>([...values, 1, [1, 2]]) } } } },
    ],
    () => [
      "QUERY",
      base,
      { headers, body: { sort: pick(from), fields: pick(from), expand: pick(["team", "lead", "notes"]), search: "z" } },
    ],
    () => ["QUERY", base, { headers, body: { sort: pick(from), expand: pick(["team", "lead", "notes"]) } }],
    () => ["POST", base, { headers, body: { ...(below(2) === 0 ? { title: "drawn" } : {}), ...drawBody(draw, from) } }],
    () => ["POST", base, { headers, body: [drawBody(draw, from), drawBody(draw, from)] }],
    () => ["PUT", one, { headers, body: drawBody(draw, from) }],
    () => ["PATCH", one, { headers, body: drawBody(draw, from) }],
    () => ["PATCH", base, { headers, body: [{ id: 1 + below(5), ...drawBody(draw, from) }] }],
    () => {
      const op = pick(["test", "add", "replace", "remove", "copy", "move"]);
      const member = pick<unknown>([...values, 1, null]);
      return [
        "PATCH",
        one,
        { headers: patchJSON, body: [{ op, path: `/${pick(from)}`, from: `/${pick(from)}`, value: member }] },
      ];
    },
    () => ["POST", `${one}/rename`, { headers, body: { title: pick(values) } }],
    () => ["POST", `${one}/describe`, { headers, body: { title: pick(values), memo: pick(values) } }],
    () => ["DELETE", `/projects/${6 + below(40)}`, { headers }],
  ])();
}

/** Returns an answer as text, without what differs between two equal requests. */
function masked({ status, headers, text }: OwnAnswer): string {
  const fields = [...headers].filter(([name]) => name !== "date" && name !== "x-request-id");
  const body = text
    .replace(/(request_id(?:"|&quot;)?(?::|>)\s*(?:<span[^>]*>)?(?:"|&quot;)?)[\w-]+/g, "$1")
    .replace(/(Request <code>)[\w-]+/g, "$1");
  return [status, ...fields.map((each) => each.join(": ")), body].join("\n");
}

test(`answers ${requests} drawn requests alike, whatever the hidden values are`, async (t) => {
  const worlds: readonly [Own, Own] = [await ruledWorld(t), await ruledWorld(t)];
  for (const [at, world] of worlds.entries()) await fillRuled(world, hiddenValues[at]!);
  const draw = drawFrom(seed);
  const statuses = new Map<number, number>();
  for (let at = 2; at < requests; at++) {
    if (at % 10 === 0) {
      const path = `/projects/${1 + draw.below(3)}`;
      const [cost, budget, note] = [draw.below(90), draw.below(90), draw.below(1000)];
      const changed = await Promise.all(
        worlds.map(({ ask }, which) =>
          ask("PATCH", path, {
            as: "root",
            body: {
              cost: `${cost + which}.00`,
              budget: `${budget * (which + 1)}.50`,
              memo: `memo ${note} ${which}`,
              plan: [which],
              lead_id: which + 1,
            },
          }),
        ),
      );
      for (const { status, text } of changed) assert.ok(status === 200 || status === 404, text);
    }
    const [method, path, options] = drawStep(draw, at);
    const [one, other] = await Promise.all(worlds.map(({ ask }) => ask(method, path, { as: "ada", ...options })));
    assert.equal(
      masked(other!),
      masked(one!),
      `request ${at}, seed ${seed}: ${method} ${path} ${JSON.stringify(options)}`,
    );
    assert.ok(
      one!.status < 500,
      `request ${at}, seed ${seed}: ${method} ${path} ${JSON.stringify(options)}: ${one!.text}`,
    );
    statuses.set(one!.status, (statuses.get(one!.status) ?? 0) + 1);
  }
  t.diagnostic(JSON.stringify([...statuses].toSorted(([one], [other]) => one - other)));
  for (const status of [200, 201, 204, 400, 404, 409])
    assert.ok((statuses.get(status) ?? 0) > 0, `no answer was ${status}`);
});
