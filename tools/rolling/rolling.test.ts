/**
 * Tests that a released version and today's version can use one database at the same time, and that the released one can then use it alone.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { startPostgres, type TestServer } from "../../tests/harness/postgres.ts";
import { basicHeader } from "../../tests/harness/serve.ts";
import { startService, type ServiceProcess } from "../../tests/harness/service-process.ts";

/** The commits of the versions that created the databases in `tests/released`. */
const releases = { "0.1.0": "4dde072babf98c74182d2afe2c08adc27cb0efb1" } as const;

const root = path.join(import.meta.dirname, "../..");
const password = "first-administrator";
const admin = basicHeader("admin", password);
const places = mkdtempSync(path.join(tmpdir(), "latchkey-rolling-"));
let server: TestServer;

before(async () => {
  server = await startPostgres();
});
after(async () => {
  await server.stop();
  rmSync(places, { recursive: true, force: true });
});

/** Starts the version in a folder, on the database of the test. */
type Start = (folder: string) => Promise<ServiceProcess>;

async function ask(
  { address }: ServiceProcess,
  method: string,
  target: string,
  { headers = admin, body }: { headers?: Record<string, string>; body?: unknown } = {},
) {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(address + target, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...sent,
  });
  const text = await response.text();
  const json = (text === "" ? null : JSON.parse(text)) as {
    id: number;
    access: string;
    refresh: string;
    length: number;
  };
  return { status: response.status, replayed: response.headers.get("idempotency-replayed"), json };
}

/** Makes a checkout of a released version, with the installed packages of today's version. */
function checkOut(version: keyof typeof releases): string {
  const folder = mkdtempSync(path.join(places, `${version}-`));
  const archive = execFileSync("git", ["archive", releases[version]], { cwd: root, maxBuffer: 2 ** 28 });
  execFileSync("tar", ["x", "-C", folder], { input: archive });
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  return folder;
}

for (const version of Object.keys(releases) as (keyof typeof releases)[])
  for (const kind of ["SQLite", "PostgreSQL"] as const)
    test(`serves one ${kind} database with ${version} and today's version, and then with ${version} alone`, async () => {
      const folder = checkOut(version);
      const database = kind === "SQLite" ? `sqlite:${path.join(folder, "latchkey.db")}` : await server.makeDatabase();
      const settings = {
        LATCHKEY_DATABASE: database,
        LATCHKEY_SECRET: "a secret that both of the versions are served with",
        LATCHKEY_ADMIN_PASSWORD: password,
      };
      const start: Start = (from) => startService(settings, [process.execPath, path.join(from, "src/cli/latchkey.ts")]);
      {
        await using old = await start(folder);
        const ann = await make(old, "ann");
        await using today = await start(root);
        await bothServe(old, today, ann);
        await bothWrite(old, today);
        await using next = await start(root);
        await findsFolded(old, next, ann.json.id);
      }
      await using old = await start(folder);
      assert.equal((await ask(old, "GET", "/users?limit=100")).json.length, 44);
      assert.equal((await make(old, "last")).status, 201);
    });

/**
 * Version 0.1.0 writes names without their folded column. Today's version corrects such rows after its start, and checks again as long as
 * it finds some. This function waits until searches find all rows.
 */
async function findsFolded(old: ServiceProcess, today: ServiceProcess, ann: number): Promise<void> {
  const found = async (query: string): Promise<number> =>
    (await ask(today, "GET", `/users?${query}&limit=100`)).json.length;
  const becomes = async (query: string, count: number): Promise<void> => {
    for (let look = 0; look < 150 && (await found(query)) !== count; look++) await wait(100);
    assert.equal(await found(query), count, query);
  };

  await becomes("name[istarts]=U1", 11);
  await becomes("name[icontains]=U", 40);
  assert.equal((await ask(old, "PATCH", `/users/${ann}`, { body: { name: "Renamed By Old" } })).status, 200);
  const eva = { ...buildUser("eva"), name: "Éva" };
  assert.equal((await ask(old, "POST", "/users", { body: eva })).status, 201);
  await becomes("name[istarts]=renamed", 1);
  await becomes("name[icontains]=ANN", 0);
  await becomes("name[istarts]=éVA", 1);
}

const buildUser = (name: string) => ({ name, email: `${name}@example.com`, password: "nobody guesses this one" });

function make(service: ServiceProcess, name: string) {
  return ask(service, "POST", "/users", {
    headers: { ...admin, "idempotency-key": `this-is-the-key-of-${name}` },
    body: buildUser(name),
  });
}

/** Asserts that each version accepts the credentials of the other, and that each refuses a token that the other has revoked. */
async function bothServe(
  old: ServiceProcess,
  today: ServiceProcess,
  ann: Awaited<ReturnType<typeof make>>,
): Promise<void> {
  const again = await make(today, "ann");
  assert.deepEqual([again.status, again.replayed, again.json.id], [201, "true", ann.json.id]);
  const bob = await make(today, "bob");
  assert.deepEqual((await make(old, "bob")).json.id, bob.json.id);

  const { email: username, password: itsPassword } = buildUser("ann");
  let pair = await ask(old, "POST", "/api/token/", { body: { username, password: itsPassword } });
  for (const service of [today, old, today]) {
    const headers = { authorization: `Bearer ${pair.json.access}` };
    assert.equal((await ask(service, "GET", "/protected/", { headers })).status, 200);
    pair = await ask(service, "POST", "/api/token/refresh/", { body: { refresh: pair.json.refresh } });
    assert.equal(pair.status, 200);
  }
  assert.equal((await ask(today, "DELETE", "/api/token/", { body: { refresh: pair.json.refresh } })).status, 204);
  await wait(1000);
  const headers = { authorization: `Bearer ${pair.json.access}` };
  assert.equal((await ask(old, "GET", "/protected/", { headers })).status, 401);
}

async function bothWrite(old: ServiceProcess, today: ServiceProcess): Promise<void> {
  const made = await Promise.all(Array.from({ length: 40 }, (_, at) => make(at % 2 === 0 ? old : today, `u${at}`)));

  assert.deepEqual([...new Set(made.map(({ status }) => status))], [201]);
  assert.equal(new Set(made.map(({ json }) => json.id)).size, 40);
  // Finds u1 and u10 to u19, from both versions. Version 0.1.0 does not index words. So today's version looks for its writes every five
  // seconds, and indexes them.
  const found = async (): Promise<number> => (await ask(today, "GET", "/users?search=u1&limit=50")).json.length;
  for (let look = 0; look < 70 && (await found()) < 11; look++) await wait(100);
  assert.equal(await found(), 11);
}
