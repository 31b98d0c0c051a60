import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { after, before, test, type TestContext } from "node:test";
import { startService, type ServiceProcess } from "../../tests/harness/service-process.ts";

// Measures whether the response time shows that an account has an address, while the mail server hangs. The measure is
// the area under the ROC curve (AUC): the probability that a request for a known address takes longer than one for an
// unknown address. 0.5 shows nothing.

/** The number of measured pairs of requests for each call. */
const PAIRS = Number(process.env["TIMING_PAIRS"] ?? 2000);
/** Pairs before the measurement, so that the code is compiled and the caches are full. */
const WARM = Math.min(300, PAIRS);
const MOST_AUC = 0.55;
const HANGS_MS = 10_000;

const calls = {
  reset: ["/api/password/reset/", (email: string) => ({ email })],
  code: ["/api/login/code/", (email: string) => ({ email })],
  signup: ["/users", (email: string) => ({ name: "Ann Example", email })],
} satisfies Record<string, [path: string, body: (email: string) => object]>;

/** Accepts connections and says nothing for ten seconds. */
const mailServer = createServer((socket) => {
  const timer = setTimeout(() => socket.destroy(), HANGS_MS);
  socket.on("close", () => clearTimeout(timer)).on("error", () => undefined);
});

let service: ServiceProcess;

before(async () => {
  mailServer.listen(0, "127.0.0.1");
  await once(mailServer, "listening");
  const { port } = mailServer.address() as AddressInfo;
  service = await startService({
    LATCHKEY_MAIL_URL: `smtp://127.0.0.1:${port}`,
    LATCHKEY_MAIL_FROM: "no-reply@example.com",
    LATCHKEY_PUBLIC_URL: "https://shop.example",
    LATCHKEY_REGISTRATION: "verified",
    LATCHKEY_LOGIN_CODES: "on",
    LATCHKEY_TRUSTED_PROXIES: "127.0.0.1",
  });
  await addUsers();
});

after(async () => {
  await service[Symbol.asyncDispose]();
  mailServer.close();
});

/** Wrong codes after a mail: a count that is written for one kind of address only would show in their time. */
const guesses = {
  signup: "/api/email/confirm/",
  reset: "/api/password/reset/confirm/",
} satisfies Partial<Record<keyof typeof calls, string>>;

for (const [name, [path, body]] of Object.entries(calls)) {
  test(`takes the same time for known and unknown addresses: POST ${path}`, async (t) => {
    const times = { known: [] as number[], unknown: [] as number[] };
    for (let pair = 0; pair < WARM + PAIRS; pair++) {
      const order = Math.random() < 0.5 ? (["known", "unknown"] as const) : (["unknown", "known"] as const);
      for (const kind of order) {
        const ms = await measure(path, body(`${kind}-${name}-${pair}@example.com`));
        if (pair >= WARM) times[kind].push(ms);
      }
    }
    requireSameTime(t, times);
  });
}

for (const [name, path] of Object.entries(guesses)) {
  test(`takes the same time for wrong codes of known and unknown addresses: ${name}`, async (t) => {
    const times = { known: [] as number[], unknown: [] as number[] };
    for (let pair = 0; pair < WARM + PAIRS; pair++) {
      const order = Math.random() < 0.5 ? (["known", "unknown"] as const) : (["unknown", "known"] as const);
      for (const kind of order) {
        // The test above has asked for a mail.
        const email = `${kind}-${name}-${pair}@example.com`;
        const ms = await measure(path, { email, code: "00000000", password: "a good pass phrase 1" }, [
          400,
          "invalid_link",
        ]);
        if (pair >= WARM) times[kind].push(ms);
      }
    }
    requireSameTime(t, times);
  });
}

interface Times {
  readonly known: readonly number[];
  readonly unknown: readonly number[];
}

function requireSameTime(t: TestContext, { known, unknown }: Times): void {
  const auc = areaUnderCurve(known, unknown);
  const medians = [median(known), median(unknown)].map((ms) => ms.toFixed(3)).join(" and ");
  t.diagnostic(`${PAIRS} pairs: AUC ${auc.toFixed(3)}, medians ${medians} ms`);
  assert.ok(Math.max(auc, 1 - auc) <= MOST_AUC, `AUC ${auc.toFixed(3)}`);
}

/** Creates the known users. An administrator creates them, so no mail is sent and no limit is used. */
async function addUsers(): Promise<void> {
  const basic = Buffer.from(`admin:${service.password}`).toString("base64");
  const headers = { ...proxied(0), authorization: `Basic ${basic}`, "content-type": "application/json" };
  for (const name of Object.keys(calls))
    for (let pair = 0; pair < WARM + PAIRS; pair++) {
      const user = JSON.stringify({ name: "Ann Example", email: `known-${name}-${pair}@example.com` });
      const made = await fetch(`${service.address}/users`, { method: "POST", headers, body: user });
      assert.equal(made.status, 201, await made.text());
    }
}

let clients = 0;

/**
 * Returns the time of one request, in milliseconds. Each request comes from another address, because each address may
 * send only a few.
 */
async function measure(
  path: string,
  body: object,
  [status, text]: readonly [status: number, text: string] = [202, "{}"],
): Promise<number> {
  const headers = { ...proxied(++clients), "content-type": "application/json" };
  const sent = JSON.stringify(body);
  const began = performance.now();
  const answer = await fetch(`${service.address}${path}`, { method: "POST", headers, body: sent });
  const read = await answer.text();
  const ms = performance.now() - began;
  assert.equal(answer.status, status);
  assert.ok(read.includes(text), read);
  return ms;
}

/** Returns the headers of a request that a trusted proxy received over TLS from one client. */
function proxied(client: number): Readonly<Record<string, string>> {
  const address = `10.${(client >> 16) & 255}.${(client >> 8) & 255}.${client & 255}`;
  return { "x-forwarded-for": address, "x-forwarded-proto": "https" };
}

/** Returns the probability that a value of the first list is larger than one of the second. Equal values count half. */
function areaUnderCurve(ones: readonly number[], others: readonly number[]): number {
  const sorted = others.toSorted((one, other) => one - other);
  const below = (value: number, includes: boolean): number => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! < value || (includes && sorted[middle] === value)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const sum = ones.reduce((total, value) => total + (below(value, false) + below(value, true)) / 2, 0);
  return sum / (ones.length * others.length);
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1]!;
}
