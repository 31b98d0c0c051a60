import assert from "node:assert/strict";
import { test } from "node:test";
import { readSettings } from "../../src/service/settings/settings.ts";
import { serve, withMail } from "../harness/serve.ts";

const ben = { name: "Ben", email: "ben@example.com" };
const password = "difference-engine";

test("signs a user up with a verified address if LATCHKEY_REGISTRATION is verified", async (t) => {
  const { post, mails } = await serve(t, { settings: { ...withMail, LATCHKEY_REGISTRATION: "verified" } });
  assert.equal((await post("/users", ben)).status, 202);
  const [message] = await mails();
  assert.equal(message!.to, ben.email);
  const token = /^http\S+\/verify\?token=(\S+)$/m.exec(message!.text)![1];
  assert.match(message!.text, /^\d{8}$/m);
  assert.doesNotMatch(message!.text, /Ben/);
  const created = await post("/api/email/confirm/", { token, password });
  assert.deepEqual([created.status, created.json.email], [201, ben.email], created.text);
  assert.equal((await post("/api/token/", { username: ben.email, password })).status, 200);

  assert.equal((await post("/users", { name: "Mallory", email: "BEN@example.com" })).status, 202);
  assert.deepEqual(await mails(), [], "one mail a minute for each mailbox");
});

test("sends a notice instead of a link if a known address signs up, and sends invitations", async (t) => {
  const { post, mails, admin } = await serve(t, { settings: { ...withMail, LATCHKEY_REGISTRATION: "verified" } });
  assert.equal((await post("/users", { ...ben, password }, admin)).status, 201);
  assert.equal((await post("/users", ben)).status, 202);
  const [notice] = await mails();
  assert.deepEqual([notice!.to, notice!.subject], [ben.email, "You already have an account"]);
  assert.doesNotMatch(notice!.text, /token=|^\d{8}$/m);

  const eve = { name: "Eve", email: "eve@example.com", invite: true };
  assert.equal((await post("/users", eve, admin)).status, 201);
  const [invitation] = await mails();
  assert.deepEqual([invitation!.to, invitation!.subject], [eve.email, "Your invitation to Latchkey"]);
});

test("offers no field and no path that needs mail if mail is off", async (t) => {
  const api = await serve(t);
  const invited = await api.post("/users", { ...ben, invite: true }, api.admin);
  assert.deepEqual([invited.status, invited.json.errors[0].code], [400, "unknown_field"]);
  for (const path of ["/users/1/invitation", "/users/1/email", "/api/email/confirm/"])
    assert.equal((await api.post(path, {}, api.admin)).status, 404, path);
  const { json, text: document } = await api.get("/openapi.json");
  assert.doesNotMatch(document, /"invite"|email\/confirm/);
  // The pages of links are always there, and say what is missing.
  const paths = Object.keys(json.paths as object).filter((path) => path.includes("invit"));
  assert.deepEqual(paths, ["/invitation"]);
});

test("reads who may sign up from the environment and from the config file", () => {
  const read = (environment: Record<string, string>, config = {}) =>
    readSettings({ LATCHKEY_DATABASE: "sqlite::memory:", ...environment }, config);
  assert.equal(read({}).registration, "closed");
  assert.equal(read({ LATCHKEY_REGISTRATION: "open" }).registration, "open");
  assert.equal(read({ LATCHKEY_REGISTRATION: "closed" }, { registration: "open" }).registration, "closed");
  assert.equal(read({}, { settings: { registration: "open" } }).registration, "open");
  assert.equal(read({ ...withMail }, { registration: "verified" }).registration, "verified");
  for (const [environment, config, said] of [
    [
      { LATCHKEY_REGISTRATION: "verified" },
      {},
      /LATCHKEY_REGISTRATION is verified, and mail is off.*LATCHKEY_MAIL_URL/,
    ],
    [{}, { registration: "verified" }, /registration in the config file is verified, and mail is off/],
    [{ LATCHKEY_REGISTRATION: "yes" }, {}, /LATCHKEY_REGISTRATION is "yes"\. Write closed or open or verified/],
    [{}, { registration: "open", settings: { registration: "open" } }, /are both given/],
  ] as const)
    assert.throws(() => read(environment, config), said);
});
