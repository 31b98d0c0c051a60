import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Mail } from "../../src/door/features.ts";
import type { BuiltIn } from "../../src/service/built-in.ts";
import { createLatchkey } from "../../src/service/latchkey.ts";
import { readSettings } from "../../src/service/settings/settings.ts";
import { adminPassword, basicHeader } from "../harness/serve.ts";
import { emptyDatabase } from "../harness/test-store.ts";

const mail = { LATCHKEY_MAIL_URL: "file:mails", LATCHKEY_MAIL_FROM: "no-reply@example.com" };
const root = basicHeader("admin", adminPassword);
const ben = { name: "Ben", email: "ben@example.com", password: "difference-engine" };
const email = ben.email;

/**
 * Starts the ready-made service with these settings, and creates the user Ben. `sent` delivers the queued mails and
 * returns them.
 */
async function start(t: TestContext, environment: Readonly<Record<string, string>>) {
  const mails: Mail[] = [];
  const found: BuiltIn[] = [];
  const latchkey = await createLatchkey({
    settings: readSettings({
      LATCHKEY_DATABASE: await emptyDatabase(t),
      LATCHKEY_SECRET: "a secret that all processes of the service know",
      LATCHKEY_ADMIN_PASSWORD: adminPassword,
      ...environment,
    }),
    config: { features: (builtIn) => (found.push(builtIn), []) },
    overMail: () => async (each) => void mails.push(each),
  });
  t.after(() => latchkey.close());
  async function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    const type = { "content-type": "application/json" };
    const init = { method: "POST", headers: { ...type, ...headers }, body: JSON.stringify(body) };
    const response = await latchkey.fetch(new Request(`http://127.0.0.1${path}`, init), { peer: "127.0.0.1" });
    return { status: response.status, text: await response.text() };
  }
  assert.equal((await post("/users", ben, root)).status, 201);
  return {
    post,
    async sent(): Promise<readonly Mail[]> {
      await latchkey.use(found[0]!.outbox).deliverDue();
      return mails.splice(0);
    },
  };
}

test("resets a password if the settings name a way to send mail, and sends a notice about the change", async (t) => {
  const { post, sent } = await start(t, mail);
  assert.deepEqual(await post("/api/password/reset/", { email }), { status: 202, text: "{}" });
  const [message] = await sent();
  assert.equal(message!.to, email);
  assert.match(message!.text, /^\d{8}$/m);
  const token = /^http\S+\/reset\?token=(\S+)$/m.exec(message!.text)![1];
  const confirmation = { token, password: "analytical-engine" };
  assert.equal((await post("/api/password/reset/confirm/", confirmation)).status, 204);
  const [notice] = await sent();
  assert.match(notice!.subject, /password was changed/i);
  assert.doesNotMatch(notice!.text, /token=|^\d{8}$/m);
  assert.equal((await post("/api/token/", { username: email, password: confirmation.password })).status, 200);
  assert.equal((await post("/api/login/code/", { email })).status, 404);
});

test("sends login codes if LATCHKEY_LOGIN_CODES is on", async (t) => {
  const { post, sent } = await start(t, { ...mail, LATCHKEY_LOGIN_CODES: "on" });
  assert.deepEqual(await post("/api/login/code/", { email }), { status: 202, text: "{}" });
  const [message] = await sent();
  const code = /^\d{8}$/m.exec(message!.text)![0];
  assert.equal((await post("/api/token/", { email, code })).status, 200);
  // The password still works, because an administrator created the account.
  assert.equal((await post("/api/token/", { username: email, password: ben.password })).status, 200);
});

test("answers 404 to every call that needs mail if mail is off", async (t) => {
  const { post } = await start(t, { LATCHKEY_LOGIN_CODES: "on" });
  for (const path of ["/api/password/reset/", "/api/password/reset/confirm/", "/api/login/code/"])
    assert.equal((await post(path, { email })).status, 404, path);
});
