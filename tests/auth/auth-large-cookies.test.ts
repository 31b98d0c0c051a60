import assert from "node:assert/strict";
import { test } from "node:test";
import { text } from "../../src/door/index.ts";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: credentials are read from a request before the store is asked.

const names = Array.from({ length: 8 }, (_, at) => `team_${at}`);
const users = {
  fields: Object.fromEntries(names.map((name) => [name, text({ maxLength: 100, optional: true })])),
  identity: names,
};

test("measures the access cookie in octets, and refuses a login whose cookie a browser would drop", async (t) => {
  const api = await serve(t, { config: { users } });
  const fields = (value: string) => Object.fromEntries(names.map((name) => [name, value]));
  const made = async (email: string, value: string) => {
    const login = { username: email, password: "long and unusual" };
    await api.post("/users", { name: "Ann", email, password: login.password, ...fields(value) }, api.admin);
    return login;
  };
  const [ascii, cjk, emoji] = [
    await made("a@example.com", "x".repeat(100)),
    await made("b@example.com", "王".repeat(90)),
    await made("c@example.com", "😀".repeat(100)),
  ];

  for (const login of [ascii, cjk]) {
    const answer = await api.post("/api/token/", { ...login, cookie: true });
    const cookie = answer.headers.getSetCookie()[0]!.split(";")[0]!;
    assert.ok(Buffer.byteLength(cookie) - 1 <= 4096, cookie);
    assert.equal((await api.get("/protected/", { cookie })).status, 200);
  }
  const refused = await api.post("/api/token/", { ...emoji, cookie: true });
  const { pointer, code, detail } = refused.json.errors[0];
  assert.deepEqual([refused.status, pointer, code], [400, "/cookie", "too_long"]);
  assert.match(detail, /^The cookie access_token would have \d{4} octets, and browsers keep no more than 4096\./);
  assert.deepEqual(refused.headers.getSetCookie(), []);
  assert.equal((await api.post("/api/token/", emoji)).status, 200);
});
