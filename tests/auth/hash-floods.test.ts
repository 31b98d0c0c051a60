import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { arrive } from "../harness/arrive.ts";
import { serve, type API } from "../harness/serve.ts";

// Nightly on PostgreSQL: the queue of hashes is in the memory of the process.

const settings = { LATCHKEY_TRUSTED_PROXIES: "127.0.0.1" };
/** A hash takes longer than a request, so guesses fill the queue. The usual cost takes ten times as long. */
const passwordCost = { memoryKiB: 4096, passes: 1, lanes: 1 };
const home = "2001:db8:ffff:7::1";

function logIn(api: API, address: string, username: string, password: string) {
  return arrive(api, "/api/token/", {
    method: "POST",
    headers: [
      ["X-Forwarded-For", address],
      ["X-Forwarded-Proto", "https"],
    ],
    body: { username, password },
  });
}

/**
 * Sends guesses on 90 connections, each under an unknown name. The returned function stops them and returns the count
 * of each status.
 */
function flood(api: API, chooseAddress: (turn: number) => string) {
  const statuses = new Map<number, number>();
  let stopped = false;
  let turn = 0;
  async function guess(): Promise<void> {
    while (!stopped) {
      const at = turn++;
      const { status } = await logIn(api, chooseAddress(at), `nobody ${at}`, "wrong password");
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await nextTurn();
    }
  }
  const connections = Promise.all(Array.from({ length: 90 }, guess));
  return async () => {
    stopped = true;
    await connections;
    return statuses;
  };
}

interface Flood {
  readonly title: string;
  readonly chooseAddress: (turn: number) => string;
  /** The maximum number of guesses that are hashed per minute. */
  readonly hashed: number;
  readonly logins: number;
}

const floods: readonly Flood[] = [
  {
    title: "from networks of one /48",
    chooseAddress: (turn) => `2001:db8:1:${(turn % 65_536).toString(16)}::1`,
    hashed: 100,
    logins: 12,
  },
  {
    title: "from 90 IPv4 addresses",
    chooseAddress: (turn) => `203.0.${turn % 90}.7`,
    hashed: 900,
    logins: 2,
  },
  {
    title: "from another /48 for each guess",
    chooseAddress: (turn) => `2001:db8:${(turn % 65_535).toString(16)}::1`,
    hashed: Infinity,
    logins: 2,
  },
];

for (const { title, chooseAddress, hashed, logins } of floods) {
  test(`lets an account log in from an address that it used before, during a flood of guesses ${title}`, async (t) => {
    const api = await serve(t, { settings, passwordCost });
    const ann = await api.user("Ann");
    assert.equal((await logIn(api, home, ann.email, ann.password)).status, 200);

    const stop = flood(api, chooseAddress);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    const answers: number[] = [];
    for (let turn = 0; turn < logins; turn++) answers.push((await logIn(api, home, ann.email, ann.password)).status);
    const statuses = await stop();

    assert.deepEqual(answers, Array<number>(logins).fill(200));
    assert.ok((statuses.get(401) ?? 0) > 0 && (statuses.get(401) ?? 0) <= hashed, `${statuses.get(401)} were hashed`);
    assert.ok((statuses.get(503) ?? 0) > 0, "no guess got 503, so the queue was never full");
    assert.deepEqual(
      [...statuses.keys()].filter((status) => ![401, 429, 503].includes(status)),
      [],
    );
  });
}

test("lets an account log in from a new network during a flood of guesses from one /48", async (t) => {
  const api = await serve(t, { settings, passwordCost });
  const ann = await api.user("Ann");

  const stop = flood(api, (turn) => `2001:db8:1:${(turn % 65_536).toString(16)}::1`);
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  const answers: number[] = [];
  for (let turn = 0; turn < 3; turn++)
    answers.push((await logIn(api, `198.51.100.${turn}`, ann.email, ann.password)).status);
  await stop();

  assert.deepEqual(answers, Array<number>(3).fill(200));
});
