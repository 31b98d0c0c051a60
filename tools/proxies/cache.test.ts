import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answered } from "./asking.ts";
import { startNginx, type Nginx } from "./nginx.ts";
import { adminPassword, basicHeader, startUpstream, type Upstream } from "./upstream.ts";

type Headers = Readonly<Record<string, string>>;

/** The header fields of each caller, by the caller's name. */
type Callers = Readonly<Record<string, Headers>>;

async function fill(service: Upstream): Promise<Callers> {
  const admin = basicHeader("admin", adminPassword);
  const [ann, ben] = [await service.user("Ann"), await service.user("Ben")];
  const pair = (await (await service.post("/api/token/", { username: ben.email, password: ben.password })).json()) as {
    access: string;
  };
  const callers = {
    nobody: {},
    admin,
    ann: basicHeader(ann.email, ann.password),
    "ann with a cookie": { cookie: await openSession(service, ann) },
    ben: { authorization: `Bearer ${pair.access}` },
    "ben with a cookie": { cookie: await openSession(service, ben) },
  };
  await service.post("/notices", { title: "Open to all" }, admin);
  for (const [user, headers] of [
    [ann, callers.ann],
    [ben, callers.ben],
  ] as const) {
    await service.post("/orders", {}, headers);
    await service.post("/notes", { title: `Of ${user.email}` }, headers);
    await service.post(`/users/${user.id}/token`, {}, headers);
  }
  await service.post("/orders/1/items", { product: "Key", quantity: 1, unit_price: "1" }, callers.ann);
  return callers;
}

async function openSession(
  service: Upstream,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<string> {
  const { headers } = await service.post("/api/session/", { username: email, password });
  return headers.get("set-cookie")!.split(";")[0]!;
}

/** Returns every URL that can be read, with each id that exists. */
async function targets(service: Upstream): Promise<string[]> {
  const { paths } = (await (await service.ask("/openapi.json")).json()) as { paths: Record<string, object> };
  const readable = Object.entries(paths).flatMap(([path, methods]) => ("get" in methods ? [path] : []));
  const filled = readable.flatMap((path) =>
    ["1", "2", "3"].map((id) => path.replaceAll(/\{(?:\w+_)?id\}/g, id).replace("{code}", "taken")),
  );
  // `/metrics` is left out, because its counts and latencies differ with every request.
  return [...new Set(filled)].filter((path) => path !== "/metrics");
}

test("sends every caller the same bytes in public responses", async (t) => {
  const service = await startUpstream(t);
  const callers = await fill(service);
  const found: string[] = [];

  for (const target of await targets(service)) {
    const answers = await Promise.all(
      Object.values(callers).map(async (headers) => {
        const response = await service.ask(target, headers);
        return {
          cache: response.headers.get("cache-control")!,
          etag: response.headers.get("etag"),
          text: await response.text(),
        };
      }),
    );
    if (answers.every(({ cache }) => !cache.includes("public"))) continue;
    found.push(target);
    for (const answer of answers) assert.deepEqual(answer, answers[0], target);
  }

  assert.deepEqual(found.toSorted(), [
    "/.well-known/jwks.json",
    "/docs",
    "/motto",
    "/notices",
    "/notices/1",
    "/openapi.json",
    "/problems",
    "/problems/taken",
  ]);
});

test("never gives one caller's response to another with nginx as a shared cache", async (t) => {
  const service = await startUpstream(t);
  const callers = await fill(service);
  const nginx = await startNginx(t, { block: "cache", upstream: service.url });
  const cachedTargets = new Set<string>();

  for (const target of await targets(service)) {
    // Each caller asks twice. In the second round, nginx has cached the responses of the first, and must not send them
    // to other callers.
    for (const [who, headers] of [...Object.entries(callers), ...Object.entries(callers).toReversed()]) {
      const [through, direct] = [await nginx.ask(target, { headers }), await service.ask(target, headers)];
      assert.deepEqual(
        [through.status, comparable(through.text)],
        [direct.status, comparable(await direct.text())],
        `${target} as ${who}`,
      );
      if (through.headers["x-cache-status"] === "HIT") cachedTargets.add(target);
    }
  }

  assert.deepEqual([...cachedTargets].toSorted(), [
    "/.well-known/jwks.json",
    "/docs",
    "/motto",
    "/openapi.json",
    "/problems",
    "/problems/taken",
  ]);
});

test("caches one response for each format and origin", async (t) => {
  const service = await startUpstream(t, { LATCHKEY_ALLOWED_ORIGINS: "https://app.example" });
  const nginx = await startNginx(t, { block: "cache", upstream: service.url });
  const json = { accept: "application/json" };
  const xml = { accept: "application/xml" };
  const page = { ...json, origin: "https://app.example" };

  for (const turn of ["MISS", "HIT"]) {
    for (const headers of [json, xml, page]) {
      const answer = await nginx.ask("/motto", { headers });
      assert.deepEqual([answer.headers["x-cache-status"], answer.headers["content-type"]], [turn, headers.accept]);
      assert.equal(answer.headers["access-control-allow-origin"], headers === page ? page.origin : undefined);
    }
  }
});

test("supports conditional requests through a cache", async (t) => {
  const service = await startUpstream(t);
  const { ann = {} } = await fill(service);
  const nginx = await startNginx(t, { block: "cache", upstream: service.url });
  const read = () => nginx.ask("/users/2", { headers: ann });
  const change = (tag: string, name: string) =>
    nginx.ask("/users/2", { method: "PATCH", headers: { ...ann, "if-match": tag }, body: { name } });
  const before = readTag(await read());

  assert.equal((await change(before, "Anne")).status, 200);
  assert.equal((await change(before, "Anna")).status, 412);
  assert.equal((await read()).json.name, "Anne");
  assert.notEqual(readTag(await read()), before);
  await assertNotModified(nginx, "/openapi.json");
});

async function assertNotModified(nginx: Nginx, target: string): Promise<void> {
  const tag = readTag(await nginx.ask(target));
  assert.equal((await nginx.ask(target, { headers: { "if-none-match": tag } })).status, 304);
}

function readTag({ headers }: Answered): string {
  return String(headers["etag"]);
}

/** Removes the parts that differ with every request. */
function comparable(text: string): string {
  return text.replace(/"request_id":"[^"]*"/, "").replaceAll(/"(last_(seen|used)_at|auth_time)":"[^"]*"/g, "");
}
