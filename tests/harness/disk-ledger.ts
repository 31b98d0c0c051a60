import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import type { ServiceProcess } from "./service-process.ts";

export const password = "outlives every fault";

/** A user that a client wants to create exactly once, and the response. */
export interface Entry {
  readonly key: string;
  readonly email: string;
  /** The acknowledged id. Null if there was none. */
  acknowledged: number | null;
}

/** A response that was not an acknowledgment. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly type: string | null;
  readonly retryAfter: string | null;
}

/** A function that is called while clients write, after a number of acknowledgments. */
export interface After {
  readonly acknowledged: number;
  call(): void;
}

/** The responses to clients, to compare with the stored data. */
export interface Ledger {
  readonly entries: readonly Entry[];
  readonly refusals: readonly Refusal[];
  /**
   * Lets `clients` write at the same time, each until its first refusal. Calls `after.call` at the acknowledgment
   * `after.acknowledged`.
   */
  writeUntilRefused(service: ServiceProcess, clients: number, after?: After): Promise<void>;
  /** Sends the unacknowledged requests again, with the same keys. Returns the statuses. */
  retry(service: ServiceProcess): Promise<number[]>;
  /**
   * Asserts that every acknowledged user exists with its id, and that each of the others exists at most once. No other
   * user may exist.
   */
  holds(service: ServiceProcess): Promise<void>;
}

export function makeLedger(): Ledger {
  const entries: Entry[] = [];
  const refusals: Refusal[] = [];

  async function write({ address }: ServiceProcess, headers: Headers, entry: Entry): Promise<number> {
    const response = await fetch(`${address}/users`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", "idempotency-key": entry.key },
      body: JSON.stringify({ name: "Once", email: entry.email }),
    });
    const { id, code } = (await response.json()) as { id: number; code: string };
    if (response.status === 201) entry.acknowledged = id;
    else {
      const [type, retryAfter] = [response.headers.get("content-type"), response.headers.get("retry-after")];
      refusals.push({ status: response.status, code, type, retryAfter });
    }
    return response.status;
  }

  return {
    entries,
    refusals,
    async writeUntilRefused(service, clients, after) {
      const headers = await logIn(service);
      let acknowledged = 0;
      const client = async (): Promise<void> => {
        for (let status = 201; status === 201;) {
          const key = randomUUID();
          const entry = { key, email: `${key}@example.com`, acknowledged: null };
          entries.push(entry);
          status = await write(service, headers, entry);
          if (status === 201 && ++acknowledged === after?.acknowledged) after.call();
        }
      };
      await Promise.all(Array.from({ length: clients }, client));
    },
    async retry(service) {
      const headers = await logIn(service);
      const open = entries.filter(({ acknowledged }) => acknowledged === null);
      return Promise.all(open.map((entry) => write(service, headers, entry)));
    },
    async holds(service) {
      const found = await allUsers(service, await logIn(service));
      const ids = new Map(found.map(({ id, email }) => [email, id]));
      assert.equal(ids.size, found.length, "two users have the same e-mail");
      const lost = entries.filter(
        ({ email, acknowledged }) => acknowledged !== null && ids.get(email) !== acknowledged,
      );
      assert.equal(lost.length, 0, `${lost.length} of ${entries.length} are lost or have another id`);
      const knownEmails = new Set(entries.map(({ email }) => email));
      assert.ok(
        found.every(({ email }) => knownEmails.has(email)),
        "there is a user that no client created",
      );
    },
  };
}

type Headers = Readonly<Record<string, string>>;

export async function logIn({ address }: ServiceProcess): Promise<Headers> {
  const response = await fetch(`${address}/api/token/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password }),
  });
  assert.equal(response.status, 200);
  const { access } = (await response.json()) as { access: string };
  return { authorization: `Bearer ${access}` };
}

/** Sends requests until `stop` is called, which returns the different statuses. */
export function readAllTheWhile(service: ServiceProcess, headers: Headers): { stop(): Promise<ReadonlySet<number>> } {
  const statuses = new Set<number>();
  let stopped = false;
  const reading = (async () => {
    while (!stopped) {
      const response = await fetch(`${service.address}/users/1`, { headers });
      await response.arrayBuffer();
      statuses.add(response.status);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await reading;
      return statuses;
    },
  };
}

async function allUsers(
  { address }: ServiceProcess,
  headers: Headers,
): Promise<readonly { readonly id: number; readonly email: string }[]> {
  const users: { id: number; email: string }[] = [];
  for (let next: string | undefined = "/users?limit=1000"; next !== undefined;) {
    const response = await fetch(address + next, { headers });
    users.push(...((await response.json()) as { id: number; email: string }[]));
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  }
  return users.filter(({ id }) => id !== 1);
}

/** Asserts that SQLite finds no damage, and that every user has its account, because one transaction creates both. */
export function isSound(file: string): void {
  const database = new DatabaseSync(file, { returnArrays: true });
  const ask = (sql: string): unknown => database.prepare(sql).all();
  assert.deepEqual(ask("PRAGMA integrity_check"), [["ok"]]);
  assert.deepEqual(ask("PRAGMA foreign_key_check"), []);
  assert.deepEqual(ask("SELECT id FROM users WHERE id NOT IN (SELECT id FROM accounts)"), []);
  database.close();
}
