// A table: each way on which a service shows records, and each kind of rule. The endpoints and the formats are those of
// the service, so that a new one without a row fails.
import assert from "node:assert/strict";
import { test } from "node:test";
import { channels, quiet, type Caller, type Channel, type Shown } from "../harness/channel-table.ts";
import { channelWorld, isHidden, marks, type ChannelWorld, type Ids } from "../harness/channel-world.ts";
import type { Answered } from "../harness/serve.ts";

/** Returns an answer as text, with the claims of its tokens. */
function wholeOf({ headers, text }: Answered): string {
  const claims = [...text.matchAll(/\beyJ[\w-]+\.([\w-]+)\./g)].map(([, part]) => Buffer.from(part!, "base64url"));
  return [[...headers].join("\n"), text, ...claims].join("\n");
}

/** Returns the fields whose value an answer contains. */
function seenIn(answer: Answered): ReadonlySet<string> {
  const whole = wholeOf(answer);
  const found = Object.entries(marks).flatMap(([of, fields]) =>
    Object.entries(fields).flatMap(([field, mark]) => (whole.includes(mark) ? [`${of}.${field}`] : [])),
  );
  return new Set(found);
}

const fieldsOf = (shown: readonly Shown[]): readonly string[] =>
  shown.flatMap((of) => Object.keys(marks[of]).map((field) => `${of}.${field}`));

function markOf(name: string): string {
  const [of, field] = name.split(".") as [Shown, string];
  return marks[of][field]!;
}

const isHiddenIn = (name: string): boolean => isHidden(name.split(".")[1]!);

async function send({ api }: ChannelWorld, channel: Channel, as: Caller, ids: Ids, accept: string): Promise<Answered> {
  const [method, path] = channel.of.split(" ") as [string, string];
  const target =
    channel.target?.(ids, as) ?? path.replaceAll(/\{id\}/g, String(ids.thing)).replaceAll(/\{[^}]+\}/g, "2");
  const body = channel.body?.(ids, as);
  const caller: Record<string, string> = channel.logsIn === true ? {} : { "x-visitor": as };
  const { headers = {} } = channel;
  const key = headers["idempotency-key"];
  const keyed = key === undefined ? {} : { "idempotency-key": `${key}-${as}-${accept.replace("/", "-")}` };
  const options = { headers: { ...caller, accept, ...headers, ...keyed }, ...(body === undefined ? {} : { body }) };
  const answer = await api.ask(method, target, options);
  return key === undefined ? answer : api.ask(method, target, options);
}

test("has a row for every endpoint and every format of the service", async (t) => {
  const { api, formats } = await channelWorld(t);
  const served = api.service.routes.flatMap(({ path, methods }) =>
    [...methods.keys()].map((method) => `${method} ${path}`),
  );
  const rows = new Set([...channels.map(({ of }) => of), ...quiet]);
  assert.deepEqual([...rows].toSorted(), served.toSorted());
  assert.deepEqual(
    formats.map(({ mediaType }) => mediaType),
    ["application/json", "application/xml", "text/csv", "text/html"],
  );
});

test("shows callers the fields that they may read, in every channel and format", async (t) => {
  const world = await channelWorld(t);
  const wrong: string[] = [];
  const shared = await world.makeThing();
  for (const channel of channels)
    for (const { mediaType } of world.formats) {
      const place = `${channel.of} ${channel.name ?? ""} ${mediaType}`;
      const ask = async (as: Caller): Promise<Answered> => {
        const ids = /^(?:GET|QUERY)/.test(channel.of) ? shared : await world.makeThing();
        return send(world, channel, as, ids, mediaType);
      };
      const [plain, boss] = [await ask("plain"), await ask("boss")];
      const [byPlain, byBoss] = [seenIn(plain), seenIn(boss)];
      // A page may repeat the address that was sent.
      const sent = channel.target?.(shared, "plain") ?? "";
      const hidden = [...byPlain].filter((name) => isHiddenIn(name) && !sent.includes(markOf(name)));
      wrong.push(...hidden.map((name) => `${place}: plain sees ${name}`));
      // A format for lists alone shows no record.
      if (boss.status === 406 || channel.in?.includes(mediaType) === false) continue;
      for (const name of fieldsOf(channel.shows))
        if (!byBoss.has(name)) wrong.push(`${place}: boss does not see ${name} (${boss.status})`);
      for (const name of fieldsOf(channel.showsPlain ?? channel.shows))
        if (!isHiddenIn(name) && !byPlain.has(name))
          wrong.push(`${place}: plain does not see ${name} (${plain.status})`);
    }
  assert.deepEqual(wrong, []);
});

test("shows no hidden value at any other endpoint", async (t) => {
  const world = await channelWorld(t);
  const ids = await world.makeThing();
  for (const of of [...quiet, ...new Set(world.api.service.routes.map(({ path }) => `OPTIONS ${path}`))])
    for (const { mediaType } of world.formats) {
      const [method] = of.split(" ") as [string];
      const target = ({ thing }: Ids): string =>
        of
          .slice(method.length + 1)
          .replace("{thing_id}", String(thing))
          .replaceAll(/\{[^}]+\}/g, "2");
      const body = method === "GET" || method === "OPTIONS" || method === "DELETE" ? {} : { body: () => ({}) };
      const answer = await send(world, { of, shows: [], target, ...body }, "plain", ids, mediaType);
      assert.deepEqual([...seenIn(answer)].filter(isHiddenIn), [], `${of} ${mediaType}`);
      assert.ok(answer.status < 500 || of === "GET /readyz", `${of}: ${answer.status} ${answer.text}`);
    }
});

/** A use of the name of a field in a request. Returns the target, and a body if there is one. */
const uses: Readonly<
  Record<string, (field: string, value: unknown, ids: Ids) => readonly [method: string, target: string, body?: unknown]>
> = {
  filter: (field, value) => ["GET", `/things?${field}=${String(value)}`],
  "filter of null": (field) => ["GET", `/things?${field}[null]=true`],
  sort: (field) => ["GET", `/things?sort=-${field}`],
  fields: (field) => ["GET", `/things?fields=${field}`],
  "fields of one": (field, _, { thing }) => ["GET", `/things/${thing}?fields=${field}`],
  "where of QUERY": (field, value) => ["QUERY", "/things", { where: { [field]: { eq: value } } }],
  "sort of QUERY": (field) => ["QUERY", "/things", { sort: field }],
  "fields of QUERY": (field) => ["QUERY", "/things", { fields: field }],
  "older filter": (field, value) => ["GET", `/v1/things?old_${field}=${String(value)}`],
  "older sort": (field) => ["GET", `/v1/things?sort=old_${field}`],
  "older fields": (field) => ["GET", `/v1/things?fields=old_${field}`],
  create: (field, value) => ["POST", "/things", { title: "sent", [field]: value }],
  "an array": (field, value) => ["POST", "/things", [{ title: "sent", [field]: value }]],
  replace: (field, value, { thing }) => ["PUT", `/things/${thing}`, { title: "sent", [field]: value }],
  "merge patch": (field, value, { thing }) => ["PATCH", `/things/${thing}`, { [field]: value }],
  changes: (field, value, { thing }) => ["PATCH", "/things", [{ id: thing, [field]: value }]],
  "older patch": (field, value, { thing }) => ["PATCH", `/v1/things/${thing}`, { [`old_${field}`]: value }],
  "test of JSON Patch": (field, value, { thing }) => [
    "PATCH",
    `/things/${thing}`,
    [{ op: "test", path: `/${field}`, value }],
  ],
  "copy of JSON Patch": (field, _, { thing }) => [
    "PATCH",
    `/things/${thing}`,
    [{ op: "copy", from: `/${field}`, path: "/title" }],
  ],
};
/** The uses that send a value. */
const sends = new Set(["create", "an array", "replace", "merge patch", "changes", "older patch"]);

test("answers for the name of a hidden field like for a name that nobody declared", async (t) => {
  const world = await channelWorld(t);
  const ids = await world.makeThing();
  const wrong: string[] = [];
  for (const [use, request] of Object.entries(uses))
    for (const [field, value] of Object.entries(marks.thing)) {
      if (!isHidden(field) || (sends.has(use) && field.startsWith("blind_"))) continue;
      const ask = async (name: string, as: Caller): Promise<string> => {
        const [method, target, body] = request(name, value, ids);
        const type = /JSON Patch/.test(use) ? { "content-type": "application/json-patch+json" } : {};
        const options = { headers: { "x-visitor": as, ...type }, ...(body === undefined ? {} : { body }) };
        const { status, json } = await world.api.ask(method, target, options);
        const issues = (json?.errors ?? []).map((each: { code: string }) => each.code);
        return `${status} ${String(json?.code ?? "")} ${issues.join()}`;
      };
      const [hidden, unknown] = [await ask(field, "plain"), await ask("nowhere", "plain")];
      if (hidden !== unknown) wrong.push(`${use} ${field}: ${hidden}, not ${unknown}`);
    }
  assert.deepEqual(wrong, []);
  // The same requests of a caller who knows the fields succeed.
  for (const [use, request] of Object.entries(uses)) {
    const [method, target, body] = request("both_text", "mark-thing-both-text", ids);
    const type = /JSON Patch/.test(use) ? { "content-type": "application/json-patch+json" } : {};
    const options = { headers: { "x-visitor": "boss", ...type }, ...(body === undefined ? {} : { body }) };
    const { status, text } = await world.api.ask(method, target, options);
    assert.ok(status === 200 || status === 201 || use === "filter of null", `${use}: ${status} ${text}`);
  }
});

test("finds records only by the words of fields that the caller may read", async (t) => {
  const { api, makeThing } = await channelWorld(t);
  await makeThing();
  for (const [mark, path] of [
    ["both-text", "/things"],
    ["blind-text", "/things"],
    ["both-text", "/v1/things"],
  ] as const)
    for (const [as, count] of [
      ["plain", 0],
      ["boss", 1],
    ] as const) {
      const { json } = await api.get(`${path}?search=mark-thing-${mark}`, { "x-visitor": as });
      assert.equal(json.length, count, `${as} searches ${path} for ${mark}`);
    }
});
