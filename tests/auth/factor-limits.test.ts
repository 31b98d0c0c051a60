import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Notice } from "../../src/door/auth.ts";
import { defineFeature } from "../../src/door/index.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { arrive, type Arrived } from "../harness/arrive.ts";
import { addTOTP, readCookies, startLogin, type TOTPUser } from "../harness/factors.ts";
import { basicHeader, serve, type API } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

// Wrong codes are limited for each account, and all services on a database share the counts.

/** Two services on one database. `turn` sets both clocks forward. */
interface Pair {
  readonly each: readonly [API, API];
  readonly ann: TOTPUser;
  /** The notices that both services have sent. */
  readonly notices: readonly Notice[];
  turn(seconds: number): void;
}

async function servePair(t: TestContext): Promise<Pair> {
  const notices: Notice[] = [];
  const features: ConfigFile["features"] = ({ accounts }) => [
    defineFeature({
      name: "notices",
      needs: [accounts],
      setUp(host) {
        host.use(accounts).confirming.registerNotices((notice) => {
          notices.push(notice);
          return [];
        });
        return { offer: null };
      },
    }),
  ];
  const settings = {
    LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
    LATCHKEY_SECRET: "a secret that both of the services know",
  };
  const one = await serve(t, { settings, config: { features } });
  const each = [one, await serve(t, { settings, config: { features } })] as const;
  const ann = await addTOTP(one, "Ann");
  each[1].clock.now = one.clock.now;
  notices.length = 0;
  return { each, ann, notices, turn: (seconds) => each.forEach(({ clock }) => clock.turn(seconds)) };
}

const stranger = { peer: "203.0.113.7", encrypted: true };

/** Tries a code through one of the services, after a right password. */
async function tryCode(
  api: API,
  { email, password, factor }: TOTPUser,
  code: string,
  from = stranger,
): Promise<Arrived> {
  const body = { username: email, password };
  const { json } = await arrive(api, "/api/token/", { ...from, method: "POST", body });
  const { pending } = json.login;
  return arrive(api, "/api/login/", { ...from, method: "POST", body: { pending, factor, code } });
}

test("permits ten wrong codes an hour over two services, and resets no count after a right password", async (t) => {
  const { each, ann, turn } = await servePair(t);
  for (let at = 0; at < 10; at++) {
    const wrong = await tryCode(each[at % 2]!, ann, "000000");
    assert.deepEqual([wrong.status, wrong.json.code], [401, "invalid_credentials"], String(at));
    turn(60);
  }

  for (const api of each) {
    const refused = await tryCode(api, ann, ann.code());
    assert.deepEqual([refused.status, refused.json.code], [429, "too_many_attempts"]);
    // The first of the ten wrong codes was ten minutes ago, so its hour ends in 3000 seconds.
    assert.deepEqual(refused.header("retry-after"), ["3000"]);
  }
  turn(2999);
  assert.equal((await tryCode(each[1], ann, ann.code())).status, 429);
  turn(1);
  assert.equal((await tryCode(each[1], ann, ann.code())).status, 200);
});

test("permits thirty wrong codes a day over two services", async (t) => {
  const { each, ann, turn } = await servePair(t);
  const statuses: number[] = [];
  for (let hour = 0; hour < 4; hour++) {
    for (let at = 0; at < 11; at++) statuses.push((await tryCode(each[at % 2]!, ann, "000000")).status);
    turn(3600);
  }
  const hourly = [...Array<number>(10).fill(401), 429];
  assert.deepEqual(statuses, [...hourly, ...hourly, ...hourly, ...Array<number>(11).fill(429)]);

  const refused = await tryCode(each[0], ann, ann.code());
  assert.deepEqual([refused.status, refused.header("retry-after")], [429, [String(20 * 3600)]]);
  turn(20 * 3600);
  assert.equal((await tryCode(each[0], ann, ann.code())).status, 200);
});

test("counts wrong codes of all factors, wrong recovery codes and wrong codes for a new factor together", async (t) => {
  const { each, ann, notices } = await servePair(t);
  const [api] = each;
  for (let at = 0; at < 9; at++) {
    const factor = at % 2 === 0 ? ann.factor : "recovery";
    assert.equal((await tryCode(api, { ...ann, factor }, "000000", { ...stranger, peer: "127.0.0.1" })).status, 401);
  }
  const made = (await api.post(`/users/${ann.id}/factors`, { kind: "totp" }, ann.headers)).json;
  const confirm = (code: string) => api.post(`/users/${ann.id}/factors/${made.id}/confirm`, { code }, ann.headers);

  assert.deepEqual(notices, []);
  assert.equal((await confirm("000000")).status, 400);
  assert.deepEqual(notices, ["factor_guessed"]);
  assert.equal((await confirm("000000")).status, 429);
});

test("sends one notice with the tenth wrong code of an hour", async (t) => {
  const { each, ann, notices, turn } = await servePair(t);
  for (let at = 0; at < 9; at++) await tryCode(each[at % 2]!, ann, "000000");
  assert.deepEqual(notices, []);
  for (let at = 0; at < 5; at++) await tryCode(each[at % 2]!, ann, "000000");
  assert.deepEqual(notices, ["factor_guessed"]);

  turn(3600);
  for (let at = 0; at < 10; at++) await tryCode(each[at % 2]!, ann, "000000");
  assert.deepEqual(notices, ["factor_guessed", "factor_guessed"]);
});

test("counts wrong codes separately for each network from which the account logged in, so that strangers cannot lock the user out", async (t) => {
  const { each, ann } = await servePair(t);
  for (let at = 0; at < 11; at++) await tryCode(each[0], ann, "000000", { ...stranger, peer: `203.0.113.${at}` });
  assert.equal((await tryCode(each[0], ann, "000000", { ...stranger, peer: "198.51.100.1" })).status, 429);

  // Ann has logged in from this machine.
  const home = { ...stranger, peer: "127.0.0.1" };
  assert.equal((await tryCode(each[1], ann, ann.code(), home)).status, 200);
  for (let at = 0; at < 10; at++) assert.equal((await tryCode(each[0], ann, "000000", home)).status, 401);
  assert.equal((await tryCode(each[1], ann, "000000", home)).status, 429);
});

test("still counts an address as a stranger's after a right password with Basic, which cannot send the second factor", async (t) => {
  const { each, ann } = await servePair(t);
  for (let at = 0; at < 10; at++) assert.equal((await tryCode(each[0], ann, "000000")).status, 401);

  const right = await arrive(each[0], "/protected/", {
    ...stranger,
    headers: Object.entries(basicHeader(ann.email, ann.password)),
  });
  assert.deepEqual([right.status, right.json.code], [401, "factor_required"]);

  assert.equal((await tryCode(each[1], ann, "000000")).status, 429);
});

test("checks only ten codes of a burst through two services", async (t) => {
  const { each, ann } = await servePair(t);
  const logins = await Promise.all(Array.from({ length: 8 }, (_, at) => startLogin(each[at % 2]!, ann)));

  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, at) => {
      const { pending } = logins[at % 8]!.json.login;
      return each[at % 2]!.post("/api/login/", { pending, factor: ann.factor, code: "000000" });
    }),
  );

  const statuses = answers.map(({ status }) => status);
  assert.ok(statuses.every((status) => status === 401 || status === 429));
  const judged = answers.filter(({ json }) => json.code === "invalid_credentials");
  assert.equal(judged.length, 10);
});

test("accepts a recovery code exactly once if fifty requests send it at the same time through two services", async (t) => {
  const { each, ann } = await servePair(t);
  const code = ann.recoveryCodes[7]!;
  const logins = await Promise.all(Array.from({ length: 10 }, (_, at) => startLogin(each[at % 2]!, ann)));

  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) => {
      const { pending } = logins[at % 10]!.json.login;
      return each[at % 2]!.post("/api/login/", { pending, factor: "recovery", code });
    }),
  );

  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.deepEqual(
    answers.filter(({ status }) => ![200, 401, 429].includes(status)).map(({ text }) => text),
    [],
  );
  assert.equal((await each[0].get(`/users/${ann.id}/factors`, each[0].admin)).json.at(-1).remaining, 9);
});

test("accepts the code of a TOTP step only once, whether a login or a confirmation asks for it", async (t) => {
  const { each, ann, turn } = await servePair(t);
  const [api, other] = each;
  // This code of the previous step has confirmed the factor, so it is used up.
  assert.equal((await tryCode(api, ann, ann.code(-1))).status, 401);
  const code = ann.code();
  assert.equal((await tryCode(api, ann, code)).status, 200);
  assert.equal((await tryCode(other, ann, code)).status, 401);

  const started = await other.post("/api/login/confirm/", undefined, ann.headers);
  const cookie = { cookie: `${ann.headers["cookie"]}; ${readCookies(started)["cookie"]}` };
  const confirm = (enteredCode: string) => other.post("/api/login/", { factor: ann.factor, code: enteredCode }, cookie);
  assert.equal((await confirm(code)).status, 401);
  assert.equal((await confirm(` ${ann.code(1).slice(0, 3)} ${ann.code(1).slice(3)} `)).status, 201);
  turn(30);
  // The confirmation above has used up the code of this step, one step early.
  assert.equal((await tryCode(api, ann, ann.code())).status, 401);
  turn(30);
  assert.equal((await tryCode(api, ann, ann.code())).status, 200);
});

test("deletes the oldest waiting login of an account with more than ten, and keeps the newest even if a clock is behind", async (t) => {
  const { each, ann } = await servePair(t);
  const first = (await startLogin(each[0], ann)).json.login.pending;
  each[0].clock.turn(1);
  for (let at = 0; at < 12; at++) await startLogin(each[0], ann);
  // The clock of the other service is behind, so its logins look older.
  each[1].clock.turn(-5);
  const { pending } = (await startLogin(each[1], ann)).json.login;

  const gone = await each[1].post("/api/login/", { pending: first, factor: ann.factor, code: ann.code() });
  assert.equal(gone.json.code, "login_expired");
  const done = await each[1].post("/api/login/", { pending, factor: ann.factor, code: ann.code() });
  assert.equal(done.status, 200, done.text);
});

test("answers a code that is no text of a code with 400, and any other wrong code with the same 401", async (t) => {
  const { each, ann, turn } = await servePair(t);
  const wrong = [401, "invalid_credentials", "The code or the credential is wrong."];
  for (const code of ["12345", "1234567", "abcdef", "０１２３４５", "1e5", "-12345", "💥".repeat(20)]) {
    const { status, json } = await tryCode(each[0], ann, code);
    assert.deepEqual([status, json.code, json.detail], wrong, JSON.stringify(code));
    turn(400);
  }

  for (const code of ["", " ", "\u0000"]) {
    const { status, json } = await tryCode(each[0], ann, code);
    assert.deepEqual([status, json.code, json.errors[0].pointer], [400, "invalid", "/code"], JSON.stringify(code));
  }
});
