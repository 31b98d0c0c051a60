import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { command } from "../harness/command.ts";
import { askPostgres, startPostgres, type TestServer } from "../harness/postgres.ts";
import { startService } from "../harness/service-process.ts";

const secret = { LATCHKEY_SECRET: "known to every process of it, at any time" };

let server: TestServer;

before(async () => {
  server = await startPostgres();
});

after(() => server.stop());

test("ends an impossible start with an exit code, the cause and the fix, shows no password, and changes nothing", async (t) => {
  const empty = await server.makeDatabase();
  const made = await server.makeDatabase();
  await (await startService({ ...secret, LATCHKEY_DATABASE: made }))[Symbol.asyncDispose]();
  const role = new URL(empty).pathname.slice(1).replace("latchkey_test", "guest");
  await askPostgres(empty, `CREATE ROLE ${role} LOGIN PASSWORD 'guest'; REVOKE CREATE ON SCHEMA public FROM PUBLIC`);
  t.after(() => askPostgres(empty, `DROP ROLE ${role}`));
  const newer = await server.makeDatabase();
  await askPostgres(newer, "CREATE TABLE latchkey_version AS SELECT 99 AS version");
  const hidden = await server.makeDatabase();
  await askPostgres(hidden, "CREATE SCHEMA theirs; REVOKE ALL ON SCHEMA public FROM PUBLIC");
  const cases: readonly [what: string, database: string, status: number, said: RegExp][] = [
    ["wrong URL", "postgres://ann:hunter2@:5432/x", 78, /LATCHKEY_DATABASE.*Write sqlite:PATH/s],
    [
      "wrong password",
      withParts(made, { password: "hunter2" }),
      78,
      /authentication failed.*Correct the user and the password/s,
    ],
    ["missing database", withParts(made, { pathname: "/nowhere" }), 78, /does not exist.*CREATE DATABASE/s],
    [
      "missing rights",
      withParts(empty, { username: role, password: "guest" }),
      78,
      /permission denied.*`latchkey db migrate`/s,
    ],
    ["missing schema", `${empty}?options=-c%20search_path%3Dnope`, 78, /search_path \(nope\).*CREATE SCHEMA nope;/s],
    ["schema of others", withParts(hidden, { username: role, password: "guest" }), 78, /GRANT USAGE, CREATE ON SCHEMA/],
    ["password with #", "postgres://ann:x@hunter2#w@127.0.0.1:5432/x", 78, /LATCHKEY_DATABASE .*%23, %2F and %3F/],
    ["newer schema", newer, 78, /schema version 99.*Run the newer program/s],
    ["old server", await oldServer(t), 78, /PostgreSQL 13.*14 or newer.*pg_upgrade/s],
    ["replica wanted", `${made}?target_session_attrs=standby`, 78, /target_session_attrs=read-write/],
    ["no server", withParts(made, { port: "1" }), 1, /ECONNREFUSED/],
  ];
  const before = await Promise.all([empty, made, newer].map(contents));

  const ends = await Promise.all(cases.map(([, database]) => startAndEnd(database)));

  for (const [at, [what, , status, said]] of cases.entries()) {
    assert.equal(ends[at]!.status, status, `${what}: ${ends[at]!.said}`);
    assert.match(ends[at]!.said, said, what);
    assert.doesNotMatch(ends[at]!.said, /hunter2|latchkey:latchkey|guest:guest|\n\s+at /, what);
  }
  assert.deepEqual(await Promise.all([empty, made, newer].map(contents)), before);
});

test("leaves the database empty if the first migration is killed half-way, and makes the tables at the next start", async () => {
  const url = await server.makeDatabase();
  const inTheWay = new pg.Client({ connectionString: url });
  await inTheWay.connect();
  // The migration waits in the middle for this transaction, which has created one of the tables of the migration.
  await inTheWay.query("BEGIN; CREATE TABLE revocations ()");
  const child = start(url);
  const ended = once(child, "exit");
  while ((await askPostgres(url, `${waiting} AND query LIKE 'CREATE TABLE "revocations"%'`)).length === 0)
    await wait(20);

  child.kill("SIGKILL");
  await ended;
  await inTheWay.end();
  while ((await askPostgres(url, ours)).length > 0) await wait(20);

  assert.deepEqual(await contents(url), []);
  await using service = await startService({ ...secret, LATCHKEY_DATABASE: url });
  assert.equal((await fetch(`${service.address}/readyz`)).status, 200);
});

const ours = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
const waiting = `${ours} AND wait_event_type = 'Lock'`;

/** Returns the URL with these parts replaced. */
function withParts(url: string, parts: Partial<Pick<URL, "username" | "password" | "pathname" | "port">>): string {
  return Object.assign(new URL(url), parts).href;
}

/** Returns everything in the database: its tables with their rows, and its functions. */
async function contents(url: string): Promise<readonly unknown[]> {
  return askPostgres(
    url,
    `SELECT relname, query_to_xml(format('SELECT * FROM %I ORDER BY 1', relname), true, true, '')::text AS rows
     FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S')
     UNION ALL SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1`,
  );
}

function start(database: string) {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-start-"));
  const child = spawn(process.execPath, [command], {
    cwd: folder,
    env: { ...process.env, ...secret, LATCHKEY_PORT: "0", LATCHKEY_DATABASE: database },
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return child;
}

async function startAndEnd(database: string): Promise<{ readonly status: number; readonly said: string }> {
  const child = start(database);
  let said = "";
  child.stderr.on("data", (data) => (said += String(data)));
  const [status] = (await once(child, "close")) as [number];
  return { status, said };
}

/** Starts a server that answers every query with the version of PostgreSQL 13. Returns its URL. */
async function oldServer(t: TestContext): Promise<string> {
  const message = (type: string, body: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(body.length + 4);
    return Buffer.concat([Buffer.from(type), length, body]);
  };
  const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
  const cell = (text: string): Buffer => Buffer.concat([Buffer.from([0, 0, 0, text.length]), Buffer.from(text)]);
  const column = (name: string, type: number): Buffer =>
    Buffer.concat([Buffer.from(`${name}\0`), Buffer.alloc(8), int16(type), Buffer.alloc(8)]);
  const ready = message("Z", Buffer.from("I"));
  const facts = Buffer.concat([
    message("T", Buffer.concat([int16(2), column("version", 23), column("encoding", 25)])),
    message("D", Buffer.concat([int16(2), cell("130021"), cell("UTF8")])),
    message("C", Buffer.from("SELECT 1\0")),
    ready,
  ]);
  const listener = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.on("data", (data) => data[0] === "Q".charCodeAt(0) && socket.write(facts));
      socket.write(Buffer.concat([message("R", Buffer.alloc(4)), ready]));
    });
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  t.after(() => listener.close());
  return `postgres://latchkey:latchkey@127.0.0.1:${(listener.address() as AddressInfo).port}/postgres`;
}
