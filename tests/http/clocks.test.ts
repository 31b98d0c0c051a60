import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { startPostgres, type TestServer } from "../harness/postgres.ts";
import { startService, type ServiceProcess } from "../harness/service-process.ts";

let postgres: TestServer;
before(async () => void (postgres = await startPostgres()));
after(() => postgres.stop());

test("shares logins, replays and limits among processes whose clocks are 90 s ahead or behind, and reports the difference", async () => {
  const settings = {
    LATCHKEY_DATABASE: await postgres.makeDatabase(),
    LATCHKEY_SECRET: "a secret that all of the processes know",
    LATCHKEY_ADMIN_PASSWORD: "first-administrator",
    LATCHKEY_LOG: "error",
  };
  await using right = await startService(settings);
  await using ahead = await startService({ ...settings, NODE_OPTIONS: shifted(90_000) });
  await using behind = await startService({ ...settings, NODE_OPTIONS: shifted(-90_000) });
  const all = [right, ahead, behind];
  const login = { username: "admin", password: "first-administrator" };

  for (const from of all) {
    const { access, refresh } = (await ask(from, "POST", "/api/token/", login)).body;
    const session = await ask(from, "POST", "/api/session/", login);
    const cookie = session.headers.getSetCookie()[0]!.split(";")[0]!;
    const children = [(await ask(from, "POST", "/api/token/refresh/", { refresh })).body["refresh"]];
    // A repeated refresh gets the same token for ten seconds. A process with another clock must not end this time too
    // early.
    await wait(1100);
    for (const at of all) {
      children.push((await ask(at, "POST", "/api/token/refresh/", { refresh })).body["refresh"]);
      assert.equal(
        (await ask(at, "GET", "/protected/", undefined, { authorization: `Bearer ${String(access)}` })).status,
        200,
      );
      assert.equal((await ask(at, "GET", "/protected/", undefined, { cookie })).status, 200);
    }
    assert.equal(new Set(children).size, 1);
    assert.equal(typeof children[0], "string");
  }
  for (const [at, from] of all.entries()) {
    const { access } = (await ask(from, "POST", "/api/token/", login)).body;
    const headers = { authorization: `Bearer ${String(access)}`, "idempotency-key": `order-${at}` };
    const made = [from, ...all].map((each) => ask(each, "POST", "/orders", { status: "open" }, headers));
    const ids = (await Promise.all(made)).map(({ status, body }) => `${status} ${String(body["id"])}`);
    assert.deepEqual(new Set(ids).size, 1, ids.join());
  }
  const guesses: number[] = [];
  for (let at = 0; at < 11; at++)
    guesses.push((await ask(all[at % 3]!, "POST", "/api/token/", { ...login, password: "wrong" })).status);

  assert.deepEqual(guesses, [...Array.from({ length: 10 }, () => 401), 429]);
  const ready = await Promise.all(all.map((each) => ask(each, "GET", "/readyz")));
  assert.deepEqual(
    ready.map(({ status, body }) => [
      status,
      body["status"],
      /\d+ s (?:ahead|behind)/.exec(String(body["clock"]))?.[0],
    ]),
    [
      [200, "ok", undefined],
      [200, "ok", "90 s ahead"],
      [200, "ok", "90 s behind"],
    ],
  );
  assert.match(ahead.said(), /clock of this machine is 90 s ahead/);
});

test("logs no user out if the clock is set while the process runs, and uses the database's clock", async () => {
  const settings = {
    LATCHKEY_DATABASE: await postgres.makeDatabase(),
    LATCHKEY_SECRET: "a secret that all of the processes know",
    LATCHKEY_ADMIN_PASSWORD: "first-administrator",
    LATCHKEY_LOG: "error",
  };
  await using right = await startService(settings);
  await using set = await startService({ ...settings, NODE_OPTIONS: shifted(0, 3_600_000) });
  const login = { username: "admin", password: "first-administrator" };
  const { access, refresh } = (await ask(set, "POST", "/api/token/", login)).body;
  const cookie = (await ask(set, "POST", "/api/session/", login)).headers.getSetCookie()[0]!.split(";")[0]!;

  // Until the signal, the clock of the process is correct.
  assert.equal((await ask(set, "GET", "/readyz")).body["clock"], undefined);
  process.kill(set.pid, "SIGUSR2");
  await wait(300);

  for (const at of [set, right])
    for (const headers of [{ authorization: `Bearer ${String(access)}` }, { cookie }])
      assert.equal((await ask(at, "GET", "/protected/", undefined, headers)).status, 200);
  const child = (await ask(set, "POST", "/api/token/refresh/", { refresh })).body["access"];
  const again = (await ask(set, "POST", "/api/token/", login)).body["access"];
  for (const at of [set, right])
    for (const token of [child, again])
      assert.equal(
        (await ask(at, "GET", "/protected/", undefined, { authorization: `Bearer ${String(token)}` })).status,
        200,
      );
  assert.match(String((await ask(set, "GET", "/readyz")).body["clock"]), /3600 s ahead/);
});

/** Returns the Node options that move the clock of a process by `ms`, and by `later` more on SIGUSR2. */
function shifted(ms: number, later = 0): string {
  const script = `const now = Date.now; let by = ${ms}; Date.now = () => now() + by; process.on("SIGUSR2", () => (by += ${later}));`;
  return `--import data:text/javascript,${encodeURIComponent(script)}`;
}

async function ask(
  { address }: ServiceProcess,
  method: string,
  target: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: Record<string, unknown> }> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const answer = await fetch(address + target, { method, headers: { ...headers, ...type }, ...sent });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> };
}
