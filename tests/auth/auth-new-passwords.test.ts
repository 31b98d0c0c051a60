import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { basicHeader, serve } from "../harness/serve.ts";

const breached = "correct horse battery";

/** Starts a mirror of the service for breached passwords, which lists one password. */
async function startMirror(t: TestContext) {
  const digest = createHash("sha1").update(breached).digest("hex").toUpperCase();
  const mirror = { isAway: false, asked: 0, url: "" };
  const server = createServer((_, response) => {
    mirror.asked++;
    response.statusCode = mirror.isAway ? 503 : 200;
    response.end(`${digest.slice(5)}:12\r\n`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  mirror.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/range/`;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return mirror;
}

test("refuses a breached password if a breach service is configured, and accepts it while that service is down", async (t) => {
  const mirror = await startMirror(t);
  const api = await serve(t, { settings: { LATCHKEY_BREACHED_PASSWORDS_URL: mirror.url } });
  const ann = await api.user("Ann");
  const change = () =>
    api.patch(`/users/${ann.id}`, { password: breached, current_password: ann.password }, ann.headers);

  const refused = await change();
  const own = await api.post("/users", { name: "B", email: "b@example.com", password: "LATCHKEY" }, api.admin);
  mirror.isAway = true;
  const taken = await change();

  assert.deepEqual(
    [refused.status, refused.json.errors[0].pointer, refused.json.errors[0].code],
    [400, "/password", "breached"],
  );
  assert.equal(own.json.errors[0].code, "same_as_service");
  assert.equal(mirror.asked, 3);
  assert.equal(taken.status, 200);
  assert.equal(api.observed.filter((each) => each.kind === "notice" && /breached/i.test(each.message)).length, 1);
  assert.equal((await api.get("/protected/", basicHeader(ann.email, breached))).status, 200);
});

test("sends the breach service at most ten requests a minute for sign-ups", async (t) => {
  const mirror = await startMirror(t);
  const settings = { LATCHKEY_BREACHED_PASSWORDS_URL: mirror.url };
  const api = await serve(t, { settings, config: { registration: "open" } });
  const signUp = (at: number) => api.post("/users", { name: "B", email: `b${at}@example.com`, password: breached });

  const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => signUp(at)));

  const among = (wanted: number): number => answers.filter(({ status }) => status === wanted).length;
  assert.deepEqual([among(400), among(429)], [10, 20]);
  assert.equal(mirror.asked, 10);
});

test("sends no request to a breach service if none is configured", async (t) => {
  const mirror = await startMirror(t);
  const api = await serve(t);

  const made = await api.post("/users", { name: "B", email: "b@example.com", password: breached }, api.admin);

  assert.deepEqual([made.status, mirror.asked], [201, 0]);
});
