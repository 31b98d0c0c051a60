import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsCollection } from "../../src/door/auth.ts";
import { basicHeader, serve, withMail, type Answered, type API } from "../harness/serve.ts";

// A username with @ that a user chooses is the user's own e-mail, at every endpoint and in every registration mode.

const anns = { email: "ann@example.com", password: "password of Ann" };

/** Requests in which Ann (id 2) chooses a username. */
const writers: Readonly<Record<string, (api: API, username: string, as: Record<string, string>) => Promise<Answered>>> =
  {
    "PATCH /users": (api, username, as) => api.patch("/users/2", { username, current_password: anns.password }, as),
    "PUT /users": (api, username, as) =>
      api.put("/users/2", { name: "Ann", email: anns.email, username, current_password: anns.password }, as),
    "JSON Patch of /users": (api, username, as) =>
      api.patch(
        "/users/2",
        [
          { op: "add", path: "/username", value: username },
          { op: "add", path: "/current_password", value: anns.password },
        ],
        { "content-type": "application/json-patch+json", ...as },
      ),
    "PATCH /users/{id}/account": (api, username, as) =>
      api.patch("/users/2/account", { username, current_password: anns.password }, as),
    "JSON Patch of /users/{id}/account": (api, username, as) =>
      api.patch(
        "/users/2/account",
        [
          { op: "replace", path: "/username", value: username },
          { op: "add", path: "/current_password", value: anns.password },
        ],
        { "content-type": "application/json-patch+json", ...as },
      ),
    "XML of /users/{id}/account": (api, username, as) =>
      api.patch(
        "/users/2/account",
        `<account><username>${username}</username><current_password>${anns.password}</current_password></account>`,
        { "content-type": "application/xml", ...as },
      ),
  };

const modes = [
  ["closed, without mail", {}],
  ["open", { LATCHKEY_REGISTRATION: "open" }],
  ["verified", { LATCHKEY_REGISTRATION: "verified", ...withMail }],
] as const;

for (const [mode, settings] of modes)
  test(`refuses a user the address of another person as username, at every endpoint (registration ${mode})`, async (t) => {
    const api = await serve(t, { settings });
    const ann = await api.user("Ann");

    for (const [name, send] of Object.entries(writers)) {
      for (const username of ["nobody@corp.example", "@", "ann@example.com@x", "ben@EXAMPLE.com"]) {
        const { status, json } = await send(api, username, ann.headers);
        assert.deepEqual([status, json?.errors?.[0]?.pointer], [400, "/username"], `${name}: ${username}`);
      }
      const named = await send(api, "ANN@example.com", ann.headers);
      assert.equal(named.status, 200, `${name}: ${named.text}`);
      assert.equal((await send(api, anns.email, basicHeader("ANN@example.com", anns.password))).status, 200, name);
    }
  });

test("refuses the address of another person at an open sign-up, and accepts the own address", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_REGISTRATION: "open" } });
  const signUp = (username: string) => api.post("/users", { name: "Ann", ...anns, username });

  const refused = await signUp("ben@corp.example");
  const accepted = await signUp("Ann@Example.com");

  assert.deepEqual([refused.status, refused.json.errors[0].pointer], [400, "/username"]);
  assert.equal(accepted.status, 201);
});

test("moves a username that is the own address with the address, whoever wrote it first", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_REGISTRATION: "open" } });
  const ann = await api.post("/users", { name: "Ann", ...anns, username: "Ann@Example.com" });
  const ben = await api.user("Ben");
  const bens = { username: "BEN@example.com", current_password: ben.password };
  assert.equal((await api.patch(`/users/${ben.id}/account`, bens, ben.headers)).status, 200);
  // An earlier version did not store that the username follows.
  await api.service.store.write({
    changes: [
      { kind: "update", collection: accountsCollection, key: ben.id, values: { username_follows_email: false } },
    ],
  });

  const moved = await api.patch(
    `/users/${ann.json.id}`,
    { email: "a@example.com", current_password: anns.password },
    basicHeader("Ann@Example.com", anns.password),
  );
  const movedToo = await api.patch(
    `/users/${ben.id}`,
    { email: "b@example.com", current_password: ben.password },
    basicHeader("BEN@example.com", ben.password),
  );

  assert.deepEqual([moved.status, movedToo.status], [200, 200]);
  assert.equal((await api.get("/protected/", basicHeader("a@example.com", anns.password))).status, 200);
  assert.equal((await api.get("/protected/", basicHeader("b@example.com", ben.password))).status, 200);
  // The former addresses are free for other people.
  assert.equal((await api.post("/users", { name: "New", ...anns })).status, 201);
});

test("refuses a user to keep the old address as username", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");

  const kept = await api.patch(
    `/users/${ann.id}`,
    { email: "a@example.com", username: anns.email, current_password: anns.password },
    ann.headers,
  );

  assert.deepEqual([kept.status, kept.json.errors[0].pointer], [400, "/username"]);
});

test("lets administrators give any username with @, which then does not follow the address", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const given = await api.patch(`/users/${ann.id}/account`, { username: "a.b@corp" }, api.admin);
  const moved = await api.patch(
    `/users/${ann.id}`,
    { email: "a@example.com", current_password: anns.password },
    basicHeader("a.b@corp", anns.password),
  );

  assert.deepEqual([given.status, moved.status], [200, 200]);
  assert.equal((await api.get(`/users/${ann.id}/account`, api.admin)).json.username, "a.b@corp");
});

test("refuses users a username while the service accepts identities from outside, at every endpoint", async (t) => {
  const settings = {
    LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user",
    LATCHKEY_TRUSTED_PROXIES: "10.0.0.1",
    LATCHKEY_REMOTE_USER_SECRET: "shared-with-the-proxy",
  };
  const api = await serve(t, { settings });
  const ann = await api.user("Ann");

  for (const [name, send] of Object.entries(writers)) {
    const { status, json } = await send(api, "a", ann.headers);
    assert.deepEqual([status, json?.code], [403, "permission_denied"], name);
  }
});
