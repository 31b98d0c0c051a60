import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { type ServiceProcess, startService } from "./service-process.ts";

// `npm test` kills the service a few times, `npm run test:crash` fifty times.
const rounds = Number(process.env["CRASH_ROUNDS"] ?? 3);
const password = "outlives every kill";
const lanes = 8;

/** One write that a client wants to happen exactly once, and what it was told of it. */
interface Entry {
  readonly key: string;
  readonly email: string;
  /** The id that was acknowledged; null where no answer came. */
  acknowledged: number | null;
}

test(`killed ${rounds} times under load: nothing acknowledged is lost, nothing is doubled by a retry, nothing comes back`, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-crash-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const settings = {
    LATCHKEY_DATABASE: `sqlite:${path.join(folder, "latchkey.db")}`,
    LATCHKEY_ADMIN_PASSWORD: password,
  };
  const ledger: Entry[] = [];
  const deleted: number[] = [];
  let slowestStartMs = 0;

  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    await using service = await startService(settings);
    const headers = await logIn(service);
    slowestStartMs = Math.max(slowestStartMs, performance.now() - startedAt);

    const unanswered = ledger.filter((entry) => entry.acknowledged === null);
    for (const entry of unanswered) await write(service, headers, entry);
    const victim = ledger[round * 3];
    if (victim !== undefined) {
      const gone = await fetch(`${service.address}/users/${victim.acknowledged}`, { method: "DELETE", headers });
      if (gone.status === 204) deleted.push(victim.acknowledged!);
    }

    const busy = Array.from({ length: lanes }, async () => {
      for (;;) {
        const key = randomUUID();
        const entry: Entry = { key, email: `${key}@example.com`, acknowledged: null };
        ledger.push(entry);
        await write(service, headers, entry);
      }
    }).map((lane) => lane.catch(() => undefined));
    await wait(150 + round * 7);
    process.kill(service.pid, "SIGKILL");
    await Promise.all(busy);
  }

  await using service = await startService(settings);
  const headers = await logIn(service);
  for (const entry of ledger) if (entry.acknowledged === null) await write(service, headers, entry);
  const found = await allUsers(service, headers);

  assert.ok(ledger.length > rounds * lanes, `${ledger.length} writes`);
  const expected = ledger.filter(({ acknowledged }) => !deleted.includes(acknowledged!));
  assert.deepEqual(found.map(({ email }) => email).toSorted(), expected.map(({ email }) => email).toSorted());
  const ids = new Map(found.map(({ id, email }) => [email, id]));
  assert.deepEqual(
    expected.filter(({ email, acknowledged }) => ids.get(email) !== acknowledged),
    [],
  );
  t.diagnostic(
    `${ledger.length} writes, ${deleted.length} deletions, slowest start with a login ${Math.round(slowestStartMs)} ms`,
  );
});

async function logIn({ address }: ServiceProcess): Promise<Record<string, string>> {
  const response = await fetch(`${address}/api/token/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password }),
  });
  const { access } = (await response.json()) as { access: string };
  return { authorization: `Bearer ${access}` };
}

/** Rejects where the service went away before it answered. */
async function write({ address }: ServiceProcess, headers: Record<string, string>, entry: Entry): Promise<void> {
  const response = await fetch(`${address}/users`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", "idempotency-key": entry.key },
    body: JSON.stringify({ name: "Once", email: entry.email }),
  });
  const body = (await response.json()) as { id: number };
  assert.equal(response.status, 201, JSON.stringify(body));
  entry.acknowledged = body.id;
}

async function allUsers(
  { address }: ServiceProcess,
  headers: Record<string, string>,
): Promise<{ readonly id: number; readonly email: string }[]> {
  const users: { id: number; email: string }[] = [];
  for (let next: string | undefined = "/users?limit=1000"; next !== undefined;) {
    const response = await fetch(address + next, { headers });
    users.push(...((await response.json()) as { id: number; email: string }[]));
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  }
  return users.filter(({ id }) => id !== 1);
}
