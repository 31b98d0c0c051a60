import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsCollection } from "../../src/door/auth.ts";
import { serve, withMail, type API } from "../harness/serve.ts";

// Who vouches for the address of an account decides what stays after the owner of the mailbox proves it.

type Headers = Readonly<Record<string, string>>;

const owner = "victim@example.com";
const settings = {
  ...withMail,
  LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user",
  LATCHKEY_TRUSTED_PROXIES: "127.0.0.1",
  LATCHKEY_REMOTE_USER_SECRET: "shared-with-the-proxy",
  LATCHKEY_REMOTE_USER_CREATE: "true",
};
const eve = {
  "x-remote-user": "eve",
  "x-remote-email": owner,
  "x-remote-user-secret": "shared-with-the-proxy",
  "x-forwarded-proto": "https",
  "x-forwarded-for": "192.0.2.1",
};

/** Lets Eve open the account of the victim's address through the proxy, with a key of her own. */
async function openByProxy(api: API): Promise<Headers> {
  const key = await api.post("/users/2/keys", { name: "k" }, eve);
  if (key.status !== 404) assert.equal(key.status, 201, key.text);
  assert.equal((await api.get("/protected/", eve)).status, 200);
  const made = await api.post("/users/2/keys", { name: "k" }, eve);
  assert.equal(made.status, 201, made.text);
  return { authorization: `Token ${made.json.key}` };
}

/** Sets a password with the link of a mail, and keeps the keys as far as the service lets it. */
async function reset(api: API): Promise<void> {
  assert.equal((await api.post("/api/password/reset/", { email: owner })).status, 202);
  const [mail] = (await api.mails()).filter(({ text }) => /token=/.test(text));
  const token = /token=([\w.~-]+)/.exec(mail!.text)![1]!;
  const body = { token, password: "password of the owner", end_keys: false };
  const confirmed = await api.post("/api/password/reset/confirm/", body);
  assert.equal(confirmed.status, 204, confirmed.text);
}

const isIn = async (api: API, caller: Headers): Promise<boolean> =>
  (await api.get("/protected/", caller)).status === 200;

test("ends the other ways into an account that the proxy opened, with the first proof of its address", async (t) => {
  const api = await serve(t, { settings });
  const key = await openByProxy(api);

  await reset(api);

  assert.equal(await isIn(api, key), false);
  // The proxy's user is not bound to the account by the username again.
  const { status, json } = await api.get("/protected/", eve);
  assert.deepEqual([status, json.code], [403, "identity_not_bound"]);
});

test("keeps the ways into an account that the proxy opened if the proxy vouches for its addresses", async (t) => {
  const api = await serve(t, { settings: { ...settings, LATCHKEY_REMOTE_USER_TRUST_EMAIL: "true" } });
  const key = await openByProxy(api);

  await reset(api);

  assert.deepEqual([await isIn(api, key), await isIn(api, eve)], [true, true]);
});

/** The stored origins of an address, with the answer whether the other ways into the account stay. */
const stored = [
  ["vouched", false, true],
  ["vouched", true, true],
  ["given", false, true],
  ["given", true, false],
  ["chosen", false, false],
  [null, false, false],
] as const;

for (const [origin, isBound, stays] of stored)
  test(`${stays ? "keeps" : "ends"} the other ways into an account of the origin ${origin}${isBound ? " that is bound to a proxy" : ""}`, async (t) => {
    const api = await serve(t, { settings });
    await api.post("/users", { name: "Ann", email: owner, username: "eve", password: "password of Eve" }, api.admin);
    const values = { email_origin: origin };
    await api.service.store.write({ changes: [{ kind: "update", collection: accountsCollection, key: 2, values }] });
    if (isBound) assert.equal(await isIn(api, eve), true);
    const made = await api.post(
      "/users/2/keys",
      { name: "k" },
      { authorization: `Basic ${btoa("eve:password of Eve")}` },
    );
    const key = { authorization: `Token ${made.json.key}` };
    assert.equal(await isIn(api, key), true);

    await reset(api);

    assert.equal(await isIn(api, key), stays);
  });
