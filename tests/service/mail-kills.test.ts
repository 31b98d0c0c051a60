import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { askPostgres, startPostgres } from "../harness/postgres.ts";

// `npm run verify -- mail-kills` kills two hundred times on each database.
const KILLS = Number(process.env["MAIL_KILLS"] ?? 2);
const writer = path.join(import.meta.dirname, "../harness/mail-writer.ts");

/** The database of the service, and ways for a test to query it directly. */
interface Database {
  readonly address: string;
  ask(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  readonly tables: string;
  /** The bytes of the database files, if the test can read them. */
  bytes(): Buffer;
}

for (const kind of ["SQLite", "PostgreSQL"] as const)
  test(`sends a mail for each committed request and none for a refused request, over ${KILLS} kills on ${kind}`, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "latchkey-mail-kills-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const database = await (kind === "PostgreSQL" ? inPostgres(t) : inSQLite(folder));
    const { address, ask } = database;
    const mails = path.join(folder, "mails");
    mkdirSync(mails);
    const acknowledged = new Set<string>();

    for (let kill = 0; kill < KILLS; kill++) {
      for (const email of await runAndKill(address, mails)) acknowledged.add(email);
      // Deletes the lease of the killed process. Otherwise the next process would deliver only after the lease has
      // expired.
      await ask("DELETE FROM outbox_leases");
    }
    // The content of the database while mails wait, and after they are sent. It must contain no token and no code.
    const dumps = [await dump(database)];
    const drained = spawnSync(process.execPath, [writer, address, mails, "drain"], { encoding: "utf8" });
    assert.equal(drained.status, 0, drained.stderr);
    dumps.push(await dump(database));

    const sent = readMails(mails);
    const recipients = new Set(sent.map(({ to }) => to));
    const users = new Set((await ask("SELECT email FROM users")).map(({ email }) => String(email)));
    t.diagnostic(
      `${acknowledged.size} requested, ${sent.length} mails, ${sent.length - recipients.size} of them twice`,
    );
    assert.ok(acknowledged.size >= KILLS);
    assert.deepEqual(
      [...acknowledged].filter((email) => !recipients.has(email)),
      [],
      "requested and not sent",
    );
    assert.deepEqual(
      [...recipients].filter((email) => !users.has(email)),
      [],
      "sent to an address that no user has, or for a refused transaction",
    );
    const [waiting] = await ask("SELECT count(*) AS count FROM outbox");
    assert.equal(Number(waiting?.["count"]), 0);
    for (const { token, code } of sent) {
      const found = dumps.filter(
        ({ text, bytes }) => hasWord(text, code) || bytes.includes(token) || text.includes(token),
      );
      assert.deepEqual(found.length, 0, "the database has a token or a code");
    }
  });

/** Runs the writer for a short time and kills it. Returns the addresses whose requests were acknowledged. */
async function runAndKill(address: string, mails: string): Promise<readonly string[]> {
  const child = spawn(process.execPath, [writer, address, mails], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  let said = "";
  child.stdout.on("data", (chunk) => (said += String(chunk)));
  await Promise.race([once(child.stdout, "data"), ended]);
  assert.equal(child.exitCode, null, "the writer ended before it was killed");
  await wait(20 + 180 * Math.random());
  child.kill("SIGKILL");
  await ended;
  return said.split("\n").slice(0, -1);
}

interface SentMail {
  readonly to: string;
  readonly token: string;
  readonly code: string;
}

/** Reads the mails. A process that was killed may have left an unfinished file, whose name begins with a dot. */
function readMails(folder: string): readonly SentMail[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith("."))
    .map((name) => {
      const text = readFileSync(path.join(folder, name), "utf8");
      const [to, token, code] = [/^To: (\S+)\r$/m, /^https:\/\/\S+\?token=(\S+)\r$/m, /^(\d{8})\r$/m].map(
        (pattern) => pattern.exec(text)?.[1] ?? "",
      );
      assert.ok(to && token && code, text);
      return { to, token, code };
    });
}

/** Returns true if a text has these digits as a separate word. */
function hasWord(text: string, digits: string): boolean {
  return new RegExp(`(?<![0-9A-Za-z])${digits}(?![0-9A-Za-z])`).test(text);
}

async function dump({ ask, tables, bytes }: Database): Promise<{ readonly text: string; readonly bytes: Buffer }> {
  const names = (await ask(tables)).map(({ name }) => String(name));
  const rows = await Promise.all(names.map(async (name) => ask(`SELECT * FROM "${name}"`)));
  return { text: JSON.stringify(rows), bytes: bytes() };
}

function inSQLite(folder: string): Database {
  const address = path.join(folder, "latchkey.db");
  return {
    address,
    tables: "SELECT name FROM sqlite_schema WHERE type = 'table'",
    bytes: () =>
      Buffer.concat(
        readdirSync(folder)
          .filter((name) => name.startsWith("latchkey.db"))
          .map((name) => readFileSync(path.join(folder, name))),
      ),
    async ask(sql) {
      const database = new DatabaseSync(address, { timeout: 5000 });
      try {
        return database.prepare(sql).all();
      } finally {
        database.close();
      }
    },
  };
}

async function inPostgres(t: TestContext): Promise<Database> {
  const server = await startPostgres();
  t.after(() => server.stop());
  const address = await server.makeDatabase();
  return {
    address,
    tables: "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
    bytes: () => Buffer.alloc(0),
    ask: (sql) => askPostgres(address, sql),
  };
}
