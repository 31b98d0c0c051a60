/**
 * Tests that a released version and today's version can use one database at the same time, and that the released one
 * can then use it alone.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import { parseBase32 } from "../../tests/harness/factors.ts";
import { startPostgres, type TestServer } from "../../tests/harness/postgres.ts";
import { basicHeader } from "../../tests/harness/serve.ts";
import { startService, type ServiceProcess } from "../../tests/harness/service-process.ts";

/**
 * The commits of the versions: the one that created the databases in `tests/released`, the last one without second
 * factors, and the first one with them.
 */
const releases = {
  "0.1.0": "4dde072babf98c74182d2afe2c08adc27cb0efb1",
  edc1d3c: "edc1d3c13fda91b34a08c1a65659c4132c0b4e8f",
  "8a66b6e6": "8a66b6e6cf135343ea34dd61b0536fe285a7dcf7",
} as const;

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
    token: string;
    secret: string;
    code: string;
    login: { pending: string };
  };
  const { status, headers: replied } = response;
  const cookie = replied
    .getSetCookie()
    .map((each) => each.split(";")[0]!)
    .join("; ");
  return { status, replayed: replied.get("idempotency-replayed"), tag: replied.get("etag")!, cookie, json };
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
      const mails = path.join(folder, "mails");
      const start: Start = (from) =>
        startService({ ...settings, ...(from === root ? mailTo(mails) : {}) }, [
          "/bin/sh",
          "-c",
          `printf %s "$1" > latchkey.config.mjs; exec "$2" "$3"`,
          "start",
          configFor(from),
          process.execPath,
          path.join(from, "src/cli/latchkey.ts"),
        ]);
      {
        await using old = await start(folder);
        const ann = await make(old, "ann");
        await using today = await start(root);
        await bothServe(old, today, ann);
        await bothStayLoggedIn(old, today);
        await bothAcceptTags(old, today);
        await sendsMails(today, ann.json.id, mails);
        if (version !== "0.1.0") await refusesPasswordAlone(old, today);
        await bothWrite(old, today);
        await using next = await start(root);
        await findsFolded(old, next, ann.json.id);
      }
      await using old = await start(folder);
      assert.equal((await ask(old, "GET", "/users?limit=100")).json.length, version === "0.1.0" ? 45 : 46);
      assert.equal((await make(old, "last")).status, 201);
    });

/**
 * Version 0.1.0 writes names without their folded column. Today's version corrects such rows after its start, and
 * checks again as long as it finds some. This function waits until searches find all rows.
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

/**
 * Asserts that each version accepts the credentials of the other, and that each refuses a token that the other has
 * revoked.
 */
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
  // Finds u1 and u10 to u19, from both versions. Version 0.1.0 does not index words. So today's version looks for its
  // writes every five seconds, and indexes them.
  const found = async (): Promise<number> => (await ask(today, "GET", "/users?search=u1&limit=50")).json.length;
  for (let look = 0; look < 70 && (await found()) < 11; look++) await wait(100);
  assert.equal(await found(), 11);
}

/**
 * Returns a configuration with a subscriber of the outbox, which version 0.1.0 does not have. Only today's version has
 * mail.
 */
function configFor(folder: string): string {
  const [features, orders] = ["src/door/features.ts", "src/service/endpoints/orders.ts"].map((file) =>
    path.join(folder, file),
  );
  if (!existsSync(features!)) return "export default {};";
  return `import { outbox } from ${JSON.stringify(features)};
    import { orders } from ${JSON.stringify(orders)};
    export default { features: [outbox({ subscribers: [{ name: "watcher", to: [orders], deliver() {} }] })] };`;
}

const mailTo = (folder: string) => ({
  LATCHKEY_MAIL_URL: `file:${folder}`,
  LATCHKEY_MAIL_FROM: "no-reply@example.com",
});

/** Asserts that a login at one version is valid at the other: a session, a token pair, an API token, and Basic. */
async function bothStayLoggedIn(old: ServiceProcess, today: ServiceProcess): Promise<void> {
  const { email: username, password: itsPassword } = buildUser("ann");
  const body = { username, password: itsPassword };
  for (const [one, other] of [
    [old, today],
    [today, old],
  ] as const) {
    const session = await ask(one, "POST", "/api/session/", { headers: {}, body });
    const pair = await ask(one, "POST", "/api/token/", { headers: {}, body });
    const token = await ask(one, "POST", "/api-token-auth/", { headers: {}, body });
    const all: Record<string, string>[] = [
      { cookie: session.cookie },
      { authorization: `Bearer ${pair.json.access}` },
      { authorization: `Token ${token.json.token}` },
      basicHeader(username, itsPassword),
    ];
    for (const headers of all)
      for (const service of [other, one])
        assert.equal((await ask(service, "GET", "/protected/", { headers })).status, 200, JSON.stringify(headers));
    const refreshed = await ask(other, "POST", "/api/token/refresh/", { body: { refresh: pair.json.refresh } });
    assert.equal(refreshed.status, 200);
  }
}

/**
 * Asserts that each version accepts the ETags of the other in `If-Match`: of a read, and of the response to a write.
 */
async function bothAcceptTags(old: ServiceProcess, today: ServiceProcess): Promise<void> {
  const headers = basicHeader(buildUser("ann").email, buildUser("ann").password);
  const order = await ask(old, "POST", "/orders", { headers, body: {} });
  const user = await make(today, "tagged");
  for (const [target, as, change] of [
    [`/orders/${order.json.id}`, headers, (at: number) => ({ status: at % 2 === 0 ? "paid" : "open" })],
    [`/users/${user.json.id}`, admin, (at: number) => ({ name: `Tagged ${at}` })],
  ] as const)
    for (let at = 0; at < 8; at++) {
      const [reads, writes] = at % 2 === 0 ? [today, old] : [old, today];
      const { tag } = await ask(reads, "GET", target, { headers: as });
      const match = (held: string) => ({ ...as, "if-match": held });
      const written = await ask(writes, "PATCH", target, { headers: match(tag), body: change(at) });
      assert.equal(written.status, 200, `${target}: the tag ${tag}`);
      const next = await ask(reads, "PATCH", target, { headers: match(written.tag), body: change(at + 1) });
      assert.equal(next.status, 200, `${target}: the tag ${written.tag} of a write`);
      const late = await ask(writes, "PATCH", target, { headers: match(tag), body: change(at) });
      assert.equal(late.status, 412);
    }
}

/** Asserts that a mail is sent within 5 seconds, although the older version may hold the lease of the outbox. */
async function sendsMails(today: ServiceProcess, user: number, folder: string): Promise<void> {
  const email = buildUser("ann").email;
  assert.equal((await ask(today, "GET", `/users/${user}`)).status, 200);
  assert.equal((await ask(today, "POST", "/api/password/reset/", { headers: {}, body: { email } })).status, 202);
  const sent = (): number => (existsSync(folder) ? readdirSync(folder).length : 0);
  for (let look = 0; look < 50 && sent() === 0; look++) await wait(100);
  assert.notEqual(sent(), 0, "no mail was sent within 5 seconds");
}

/**
 * Asserts that the older version refuses the password of an account with a second factor, and accepts its sessions and
 * tokens.
 */
async function refusesPasswordAlone(old: ServiceProcess, today: ServiceProcess): Promise<void> {
  const { json: fay } = await make(today, "fay");
  const { email: username, password: itsPassword } = buildUser("fay");
  const body = { username, password: itsPassword };
  assert.equal((await ask(old, "POST", "/api/token/", { headers: {}, body })).status, 200);
  const { cookie } = await ask(today, "POST", "/api/session/", { headers: {}, body });
  const factors = `/users/${fay.id}/factors`;
  const started = await ask(today, "POST", factors, { headers: { cookie }, body: { kind: "totp", label: "Phone" } });
  const secret = parseBase32(started.json.secret);
  const code = (steps: number): string => computeCode(secret, computeStep(Date.now()) + steps);
  const confirmed = await ask(today, "POST", `${factors}/${started.json.id}/confirm`, {
    headers: { cookie },
    body: { code: code(0) },
  });
  assert.equal(confirmed.status, 200);

  const complete = async (service: ServiceProcess, steps: number) => {
    const first = await ask(service, "POST", "/api/token/", { headers: {}, body });
    assert.deepEqual([first.status, first.json.code], [401, "factor_required"]);
    const { pending } = first.json.login;
    const answer = { pending, factor: String(started.json.id), code: code(steps) };
    return ask(service, "POST", "/api/login/", { headers: {}, body: answer });
  };
  const pair = await complete(today, 1);
  assert.equal(pair.status, 200);
  for (const headers of [{ cookie: confirmed.cookie }, { authorization: `Bearer ${pair.json.access}` }])
    for (const service of [old, today])
      assert.equal((await ask(service, "GET", "/protected/", { headers })).status, 200);
  const refreshed = await ask(old, "POST", "/api/token/refresh/", { body: { refresh: pair.json.refresh } });
  assert.equal(refreshed.status, 200);

  const refused = async (service: ServiceProcess): Promise<void> => {
    for (const target of ["/api/token/", "/api/session/", "/api-token-auth/"])
      assert.equal((await ask(service, "POST", target, { headers: {}, body })).status, 401, target);
    const headers = basicHeader(username, itsPassword);
    assert.equal((await ask(service, "GET", "/protected/", { headers })).status, 401);
  };
  await refused(old);
  await refused(today);
  // The older version writes a password as it knows it. Today's version marks it, so that it is refused again.
  const changed = await ask(old, "PATCH", `/users/${fay.id}`, { body: { password: itsPassword } });
  if (changed.status !== 200) return;
  for (let look = 0; look < 120; look++) {
    const { status, json } = await ask(old, "POST", "/api/token/", { headers: {}, body });
    if (status === 401 && json.code !== "factor_required") return;
    await wait(1000);
  }
  assert.fail("the older version accepts a password that it has written");
}
