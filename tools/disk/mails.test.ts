/**
 * Counts the copies of mails whose outcome cannot be stored: on SQLite on a full disk, and on PostgreSQL that refuses
 * writes to the outbox. `MAIL_SECONDS` is the time without room.
 */
import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { SMTPServer } from "smtp-server";
import { password } from "../../tests/harness/disk-ledger.ts";
import { askPostgres, startPostgres } from "../../tests/harness/postgres.ts";
import { basicHeader } from "../../tests/harness/serve.ts";
import { startService, type ServiceProcess } from "../../tests/harness/service-process.ts";
import { mountSmallDisk } from "./small-disk.ts";

const SECONDS = Number(process.env["MAIL_SECONDS"] ?? 90);
const command = path.join(import.meta.dirname, "../../src/cli/latchkey.ts");
const people = ["ann", "bob", "eve"];

/** A mail server that refuses all mails for now, until `isOpen`. */
async function startMailServer(t: TestContext) {
  const state = { isOpen: false, copies: [] as string[] };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    onRcptTo: (_, __, done) =>
      state.isOpen ? done() : done(Object.assign(new Error("Later, please"), { responseCode: 450 })),
    onData(stream, { envelope }, done) {
      stream.resume().on("end", () => {
        state.copies.push(String(envelope.rcptTo[0]?.address));
        done();
      });
    },
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  t.after(() => new Promise<void>((resolve) => server.close(resolve)));
  return { state, port: (server.server.address() as AddressInfo).port };
}

function start(database: string, port: number): Promise<ServiceProcess> {
  const settings = {
    LATCHKEY_DATABASE: database,
    LATCHKEY_ADMIN_PASSWORD: password,
    LATCHKEY_SECRET: "a secret that is used in this test alone",
    LATCHKEY_MAIL_URL: `smtp://127.0.0.1:${port}`,
    LATCHKEY_MAIL_FROM: "no-reply@example.com",
    LATCHKEY_PUBLIC_URL: "https://api.example",
  };
  return startService(settings, [process.execPath, command]);
}

async function post({ address }: ServiceProcess, target: string, body: unknown): Promise<number> {
  const headers = { ...basicHeader("admin", password), "content-type": "application/json" };
  const response = await fetch(address + target, { method: "POST", headers, body: JSON.stringify(body) });
  await response.text();
  return response.status;
}

/** Returns the number of copies for each person. */
function count(copies: readonly string[]): readonly number[] {
  return people.map((name) => copies.filter((to) => to === `${name}@example.com`).length);
}

/**
 * Requests three resets, takes the room away, and opens the mail server. Returns the copies of each mail, before and
 * after there is room.
 */
async function measure(
  t: TestContext,
  database: string,
  room: { take(): Promise<void> | void; give(): Promise<void> | void },
  left: () => Promise<number>,
): Promise<void> {
  const { state, port } = await startMailServer(t);
  await using service = await start(database, port);
  for (const name of people) {
    const user = { name, email: `${name}@example.com`, password: "nobody guesses this one" };
    assert.equal(await post(service, "/users", user), 201);
    assert.equal(await post(service, "/api/password/reset/", { email: user.email }), 202);
  }
  await wait(1500);
  await room.take();
  state.isOpen = true;
  await wait(SECONDS * 1000);
  const without = count(state.copies);
  await room.give();
  for (let look = 0; look < 120 && ((await left()) > 0 || Math.min(...count(state.copies)) === 0); look++)
    await wait(500);

  t.diagnostic(`copies of each mail in ${SECONDS} s without room: ${without.join(", ")}`);
  t.diagnostic(
    `copies of each mail after there was room: ${count(state.copies).join(", ")}; rows left: ${await left()}`,
  );
  for (const copies of count(state.copies)) assert.ok(copies === 1 || copies === 2, `${copies} copies`);
  assert.equal(await left(), 0);
  process.kill(service.pid, "SIGTERM");
  await service.ended;
}

test("sends one or two copies of a mail while the disk of SQLite is full", async (t) => {
  using disk = mountSmallDisk(14);
  const file = `${disk.folder}/latchkey.db`;
  const { DatabaseSync } = await import("node:sqlite");
  await measure(t, `sqlite:${file}`, { take: () => disk.fill(), give: () => disk.makeRoom() }, async () => {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    try {
      return Number(database.prepare("SELECT count(*) AS n FROM outbox").get()?.["n"]);
    } finally {
      database.close();
    }
  });
});

test("sends one or two copies of a mail while PostgreSQL refuses writes to the outbox", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const database = await server.makeDatabase();
  const refuse = `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$`;
  const trigger = "CREATE TRIGGER no_room BEFORE INSERT OR UPDATE OR DELETE ON outbox EXECUTE FUNCTION no_room()";
  const room = {
    async take() {
      await askPostgres(database, refuse);
      await askPostgres(database, trigger);
    },
    give: async () => void (await askPostgres(database, "DROP TRIGGER no_room ON outbox")),
  };
  await measure(t, database, room, async () =>
    Number((await askPostgres(database, "SELECT count(*) AS n FROM outbox"))[0]?.["n"]),
  );
});
