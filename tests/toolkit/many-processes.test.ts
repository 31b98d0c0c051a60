import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import { parseBase32 } from "../harness/factors.ts";
import { bearer, endings, startProcesses, readToken, watchEnding, type Processes } from "../harness/many-processes.ts";
import { startPostgres, type TestServer } from "../harness/postgres.ts";

let postgres: TestServer;
before(async () => void (postgres = await startPostgres()));
after(() => postgres.stop());

/** The databases, each with the longest time for which other processes may accept a revoked access token. */
const engines = [
  { engine: "SQLite", database: async () => undefined, worstMs: 0 },
  { engine: "PostgreSQL", database: () => postgres.makeDatabase(), worstMs: 1000 },
];

for (const { engine, database, worstMs } of engines) {
  describe(`three processes on one ${engine}`, () => {
    let processes: Processes;
    before(async () => void (processes = await startProcesses(await database())));
    after(() => processes[Symbol.asyncDispose]());

    test("answers a hundred concurrent refreshes of one token with the same new refresh token, and logs no user out", async () => {
      const { refresh } = await processes.user();

      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, at) =>
          processes.ask(at % 3, "POST", "/api/token/refresh/", { body: { refresh } }),
        ),
      );

      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      const children = new Set(answers.map(({ json }) => json.refresh as string));
      assert.equal(children.size, 1);
      const access = [...new Set(answers.map(({ json }) => json.access as string))];
      for (const [at, each] of access.entries())
        assert.equal(
          (await processes.ask(at % 3, "GET", "/protected/", { headers: bearer({ access: each }) })).status,
          200,
        );
      const [child] = children;
      const next = await processes.ask(2, "POST", "/api/token/refresh/", { body: { refresh: child } });
      assert.equal(next.status, 200);
    });

    for (const ending of Object.keys(endings)) {
      test(`applies ${ending} in other processes ${worstMs === 0 ? "at once" : "within a second"}`, async () => {
        const { delayMs, answered } = await watchEnding(processes, ending);

        if (worstMs === 0) assert.equal(answered, 0);
        else assert.ok(delayMs < worstMs, `${delayMs} ms`);
      });
    }

    test("lists a session that another process started, and ends it in all processes", async () => {
      const { id, username, password } = await processes.user();
      const begun = await processes.ask(0, "POST", "/api/session/", { body: { username, password } });
      const headers = { cookie: begun.headers.getSetCookie()[0]!.split(";")[0]! };

      const listed = await processes.ask(1, "GET", `/users/${id}/sessions`, { headers });
      const ended = await processes.ask(2, "DELETE", `/users/${id}/sessions`, { headers: processes.admin });

      assert.deepEqual([listed.json.length, listed.json[0].current, ended.status], [1, true, 204]);
      for (const which of [0, 1, 2])
        assert.equal((await processes.ask(which, "GET", "/protected/", { headers })).status, 401);
    });

    test("creates one order for concurrent requests with the same idempotency key to all processes", async () => {
      const user = await processes.user();
      const headers = { ...bearer(user), "idempotency-key": `once-on-${engine}` };

      const answers = await Promise.all(
        Array.from({ length: 9 }, (_, at) => processes.ask(at % 3, "POST", "/orders", { headers, body: {} })),
      );

      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
      assert.equal(new Set(answers.map(({ json }) => json.id as number)).size, 1);
      assert.equal(answers.filter((answer) => answer.headers.get("idempotency-replayed") === "true").length, 8);
      assert.equal((await processes.ask(1, "GET", "/orders", { headers: bearer(user) })).json.length, 1);
    });

    test("permits ten wrong codes of a second factor through all processes together", async () => {
      const user = await processes.user();
      const { username, password } = user;
      const path = `/users/${user.id}/factors`;
      const headers = bearer(user);
      const { id, secret } = (await processes.ask(0, "POST", path, { headers, body: { kind: "totp" } })).json;
      const code = computeCode(parseBase32(secret), computeStep(Date.now()));
      const made = await processes.ask(0, "POST", `${path}/${id}/confirm`, { headers, body: { code } });
      const [recovery] = made.json.recovery_codes;
      const begin = async (which: number): Promise<string> =>
        (await processes.ask(which, "POST", "/api/token/", { body: { username, password } })).json.login.pending;
      const complete = (which: number, body: object) => processes.ask(which, "POST", "/api/login/", { body });
      const logins = [await begin(0), await begin(1), await begin(2), await begin(0)];

      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          complete(at % 3, { pending: logins[at % 4], factor: id, code: `${at}`.padStart(6, "9") }),
        ),
      );

      const wrong = answers.filter(({ json }) => json.code === "invalid_credentials");
      assert.equal(wrong.length, 10, answers.map(({ status }) => status).join());
      for (const which of [0, 1, 2]) {
        const refused = await complete(which, { pending: await begin(which), factor: "recovery", code: recovery });
        assert.equal(refused.status, 429);
        assert.ok(Number(refused.headers.get("retry-after")) > 3000);
      }
    });

    test("sends one mail for concurrent requests to all processes, and accepts its link once", async () => {
      const { username: email } = await processes.user();
      const path = "/api/password/reset/";
      const answers = await Promise.all(
        Array.from({ length: 9 }, (_, at) => processes.ask(at % 3, "POST", path, { body: { email } })),
      );
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
      const token = readToken((await processes.mails(email))[0]!);

      const used = await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          processes.ask(at % 3, "POST", `${path}confirm/`, { body: { token, password: `another password ${at}` } }),
        ),
      );
      assert.equal(used.filter(({ status }) => status === 204).length, 1);
      assert.equal(used.filter(({ json }) => json?.code === "invalid_link").length, 49);
      const resets = (await processes.mails(email)).filter((mail) => mail.includes("?token="));
      assert.equal(resets.length, 1);
    });

    // This test is last, because it uses up the guesses of this address.
    test("counts wrong passwords over all processes, and still accepts existing logins", async () => {
      const user = await processes.user();
      const guess = (which: number, password: string) =>
        processes.ask(which, "POST", "/api/token/", { body: { username: user.username, password } });

      for (let at = 0; at < 10; at++) assert.equal((await guess(at % 3, `wrong password ${at}`)).status, 401);

      for (const which of [0, 1, 2]) {
        const refused = await guess(which, user.password);
        assert.equal(refused.status, 429);
        assert.ok(Number(refused.headers.get("retry-after")) > 0);
        assert.equal((await processes.ask(which, "GET", "/protected/", { headers: bearer(user) })).status, 200);
      }
    });
  });
}
