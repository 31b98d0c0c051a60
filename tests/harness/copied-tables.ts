import { createHash, randomBytes } from "node:crypto";
import pg from "pg";
import { Secret } from "../../src/door/index.ts";
import { postgresStore, type Collection, type Store } from "../../src/door/stores.ts";

// Creating the tables of the whole service costs PostgreSQL and the store a third of a second of CPU time, and nearly
// every test needs them. Copying a database costs a tenth of that. So the second test with the same declarations keeps
// a database as `open` left it, without a record, and the tests after it get a copy.

const PREFIX = "latchkey_test_";

/** A database that exists from the first `open` of its store. */
export interface LateDatabase {
  readonly url: string;
  /** Returns the store with an `open` that makes the database first. */
  over(store: Store): Store;
  /** Drops the database before the next one is made. */
  free(): void;
}

/** The late databases of a process. */
export interface LateDatabases {
  make(): LateDatabase;
  /** Drops the databases, unless the server ends with the test run. */
  stop(): Promise<void>;
}

/** Makes databases on a server. The processes of a test run, which made the database of the URL, share the kept ones. */
export function lateDatabases(serverURL: string): LateDatabases {
  const isOfRun = new URL(serverURL).pathname.startsWith(`/${PREFIX}`);
  const own = isOfRun ? "" : `${makeName()}_`;
  const opened = new Set<string>();
  const free: string[] = [];

  return {
    make() {
      const name = makeName();
      let isMade = false;
      return {
        url: formatURL(serverURL, name),
        over: (store) => ({
          ...store,
          async open(collections) {
            if (!isMade) await makeDatabase(name, collections);
            isMade = true;
            await store.open(collections);
          },
        }),
        free: () => void (isMade && free.push(name)),
      };
    },
    async stop() {
      if (!isOfRun) await usingClient(serverURL, (client) => drop(client, [...free.splice(0), ...opened]));
    },
  };

  async function makeDatabase(name: string, collections: readonly Collection[]): Promise<void> {
    const kept = `${own}${nameOf(collections)}`;
    await usingClient(serverURL, async (client) => {
      await drop(client, free.splice(0));
      if (await copy(client, kept, name)) return;
      if (opened.has(kept)) {
        await keep(client, kept, collections);
        await copy(client, kept, name);
      } else {
        opened.add(kept);
        await copy(client, "template0", name);
      }
    });
  }

  /** Makes the database that is copied. */
  async function keep(client: pg.Client, kept: string, collections: readonly Collection[]): Promise<void> {
    const made = makeName();
    await copy(client, "template0", made);
    const store = postgresStore({ url: new Secret(formatURL(serverURL, made)), poolSize: 1 });
    await store.open(collections);
    await store.close();
    try {
      await client.query(`ALTER DATABASE ${made} RENAME TO ${kept}`);
    } catch (error) {
      // Another process was faster.
      if (codeOf(error) !== "42P04") throw error;
      free.push(made);
    }
  }
}

async function drop(client: pg.Client, names: readonly string[]): Promise<void> {
  for (const name of names) await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

/** Returns false if there is no database to copy. */
async function copy(client: pg.Client, from: string, to: string): Promise<boolean> {
  try {
    await client.query(`CREATE DATABASE ${to} ENCODING 'UTF8' TEMPLATE ${from} STRATEGY file_copy`);
    return true;
  } catch (error) {
    if (codeOf(error) === "3D000") return false;
    throw error;
  }
}

/** Returns the name of the database with the tables of these declarations. Declarations are data. */
function nameOf(collections: readonly Collection[]): string {
  return `kept_${createHash("sha256").update(JSON.stringify(collections)).digest("hex").slice(0, 24)}`;
}

function makeName(): string {
  return `${PREFIX}${randomBytes(6).toString("hex")}`;
}

function formatURL(serverURL: string, name: string): string {
  const made = new URL(serverURL);
  made.pathname = `/${name}`;
  return made.href;
}

function codeOf(error: unknown): string | undefined {
  return (error as { readonly code?: string }).code;
}

async function usingClient(connectionString: string, task: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await task(client);
  } finally {
    await client.end();
  }
}
