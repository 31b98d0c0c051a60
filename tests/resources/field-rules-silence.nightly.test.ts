// Two services have the same visible records, and differ in hidden values and in hidden rows. The same drawn requests of
// callers who may not see these must get the same answers, while both services change. `SILENCE_REQUESTS` and
// `SILENCE_SEED` choose another number of requests and another seed.
//
// By construction the worlds do not differ in what an answer may tell: whether a value that is referred to exists,
// whether a foreign row holds a unique value, and whether a row that is deleted is referred to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { drawFrom } from "../harness/draw.ts";
import type { Answered } from "../harness/serve.ts";
import { changeVisibly, drawHiddenChange, fillSilent, type Worlds } from "../harness/silent-changes.ts";
import { channels, drawStep, type Channel, type Memory, type Step } from "../harness/silent-steps.ts";
import { silentWorld } from "../harness/silent-world.ts";
import { Twins } from "../harness/twins.ts";

const requests = Number(process.env["SILENCE_REQUESTS"] ?? 20_000);
const seed = Number(process.env["SILENCE_SEED"] ?? 1);

/** The statuses that each channel has to reach. */
const reached: Readonly<Record<Channel, readonly number[]>> = {
  record: [200, 400, 404],
  list: [200, 400],
  search: [200, 400, 404],
  expand: [200, 400, 403, 404],
  count: [200, 404],
  query: [200, 400],
  head: [200, 403, 404],
  options: [204],
  create: [201, 400, 409],
  array: [201, 400, 403, 409],
  replace: [200, 400, 403, 404],
  "merge patch": [200, 400, 403, 404],
  "JSON patch": [200, 400, 403, 404, 409],
  "array of changes": [200, 400, 403, 404],
  delete: [204, 403, 404],
  action: [200, 204, 403, 404],
  repeat: [200, 201, 204, 400, 403, 404],
  precondition: [200, 304, 412],
  nested: [200, 201, 400, 403, 404],
  "older shape": [200, 201, 204, 400, 403, 404],
  users: [200, 400, 403],
  logins: [200, 401, 403],
  orders: [200, 201, 400, 403, 404],
  pages: [200, 400, 404],
  documents: [200, 404],
};

/** Notes the newest ids of an answer in JSON. */
function meet(ids: Map<string, (number | string)[]>, path: string, { json }: Answered): void {
  const records = [json].flat().filter((each) => typeof each === "object" && each !== null && each.id !== undefined);
  const [, list] = /^((?:\/v1)?\/[a-z]+(?:\/\d+\/(?:comments|items))?)(?:[/?]|$)/.exec(path) ?? [];
  if (list === undefined || records.length === 0) return;
  const known = [...new Set([...records.map(({ id }) => id as number | string), ...(ids.get(list) ?? [])])];
  ids.set(list, known.slice(0, 6));
}

function remember(
  ids: Map<string, (number | string)[]>,
  memory: Memory,
  { method, path }: Step,
  answers: readonly [Answered, Answered],
): void {
  const [one, other] = answers.map(({ headers }) => headers.get("etag")) as [string | null, string | null];
  if (method === "GET" && one !== null && other !== null) {
    memory.tags.delete(path);
    memory.tags.set(path, [one, other]);
    if (memory.tags.size > 40) memory.tags.delete(memory.tags.keys().next().value!);
  }
  if (answers[0].status !== 201 && answers[0].status !== 200) return;
  meet(ids, path, answers[0]);
  const keep = (name: string, valueIn: (answer: Answered) => string): void => {
    memory.credentials.push([name, answers.map(valueIn) as unknown as readonly [string, string]]);
    if (memory.credentials.length > 4) memory.credentials.shift();
  };
  if (method !== "POST" || answers[0].json === undefined) return;
  if (path === "/api/session/") keep("cookie", ({ headers }) => headers.getSetCookie()[0]!.split(";")[0]!);
  if (path === "/api/token/") keep("authorization", ({ json }) => `Bearer ${json.access as string}`);
  if (path === "/api-token-auth/") keep("authorization", ({ json }) => `Token ${json.token as string}`);
}

test(`answers ${requests} drawn requests alike, whatever the hidden values and rows are`, async (t) => {
  const worlds: Worlds = [await silentWorld(t), await silentWorld(t)];
  const hidden = await fillSilent(worlds);
  const draw = drawFrom(seed);
  const twins = new Twins();
  const ids = new Map<string, (number | string)[]>();
  const memory: Memory = {
    tags: new Map(),
    credentials: [],
    repeatable: [],
    idsAt: (path) => [
      ...(ids.get(path) ?? []),
      ...(path === "/projects" ? [...hidden.shown.slice(-4), ...hidden.projects.slice(-2)] : []),
    ],
  };
  const statuses = new Map<Channel, Map<number, number>>(channels.map((channel) => [channel, new Map()]));
  for (let at = 0; at < requests; at++) {
    for (const { turn } of worlds) turn(1);
    const change = at % 6 === 0 ? drawHiddenChange(draw, worlds, hidden) : null;
    if (at % 25 === 0) await changeVisibly(draw, worlds, hidden);
    if (change?.overlaps === false) await change.run();
    const step = drawStep(draw, memory, at);
    const { channel, method, path, given, ...options } = step;
    const answering = worlds.map(({ ask }, which) => {
      const own = given === undefined ? {} : { [given[0]]: given[1][which]! };
      return ask(method, path, { ...options, headers: { ...options.headers, ...own } });
    });
    const [one, other] = (await Promise.all([...answering, change?.overlaps === true ? change.run() : null])) as [
      Answered,
      Answered,
      unknown,
    ];
    const about = `request ${at}, seed ${seed}: ${JSON.stringify(step)}`;
    twins.requireEqual(one, other, about);
    assert.ok(one.status < 500, `${about}: ${one.text}`);
    const counts = statuses.get(channel)!;
    counts.set(one.status, (counts.get(one.status) ?? 0) + 1);
    remember(ids, memory, step, [one, other]);
  }
  for (const [channel, counts] of statuses) {
    const sorted = [...counts].toSorted(([a], [b]) => a - b);
    t.diagnostic(`${channel}: ${sorted.map(([status, count]) => `${status} ${count}`).join(", ")}`);
    // A channel whose requests are all refused would compare nothing.
    for (const status of reached[channel])
      assert.ok((counts.get(status) ?? 0) >= Math.floor(requests / 4000), `${channel}: too few answers were ${status}`);
  }
});
