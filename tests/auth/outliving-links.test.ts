import assert from "node:assert/strict";
import { test } from "node:test";
import type { Change, Collection, WrittenValues } from "../../src/door/stores.ts";
import { mailProofsCollection } from "../../src/features/auth/mailbox/proofs.ts";
import { accountsCollection } from "../../src/features/auth/records/accounts.ts";
import { basic, startMailFlows, type MailFlows } from "../harness/mail-flows.ts";
import { email, password } from "../harness/own-logins.ts";

// Ada's account is open registration, so another person may have signed up with her address. The other person
// changes the password many times. The link that the owner of the mailbox gets must stay usable.

const words = ["analytical-engine", "amber lantern 43", "copper teapot 17"];

const change = async (api: MailFlows, from: string, to: string, more: object = {}) => {
  const body = { password: to, current_password: from, ...more };
  const changed = await api.ask("PATCH", "/users/1", body, basic(email, from));
  assert.equal(changed.status, 200, changed.text);
};

const confirm = (api: MailFlows, proof: object) =>
  api.post("/api/password/reset/confirm/", { ...proof, password: "the word of the owner" });

/** Changes stored rows of Ada like a process of an earlier version. */
async function store(api: MailFlows, table: Collection, values: WrittenValues): Promise<void> {
  const column = table === accountsCollection ? "id" : "user_id";
  const where = { column, operator: "eq", value: 1 } as const;
  const changes: Change[] = [{ kind: "updateAll", collection: table, where, values }];
  assert.equal((await api.service.store.write({ changes })).kind, "written");
}

for (const [name, act] of Object.entries<(api: MailFlows) => Promise<void>>({
  "a changed password": (api) => change(api, password, words[0]!),
  "three changed passwords": async (api) => {
    await change(api, password, words[0]!);
    await change(api, words[0]!, words[1]!);
    await change(api, words[1]!, words[2]!);
  },
  "a changed password that ends the keys": (api) => change(api, password, words[0]!, { end_keys: true }),
  "a password that the own code of the service sets": async (api) => {
    await api.people.changing.changePassword((await api.people.accounts.find(1))!, words[0]!, { endKeys: true });
  },
  "the end of all other logins": async (api) => {
    const account = (await api.people.accounts.find(1))!;
    const changes = api.people.endings.endLogins(account, { family: null, sessionId: null }, api.clock.now);
    assert.equal((await api.service.store.write({ changes })).kind, "written");
  },
})) {
  test(`keeps the link and the code of a reset of an address that was never proved valid: ${name}`, async (t) => {
    for (const by of ["link", "code"]) {
      const api = await startMailFlows(t);
      const older = await api.reset();
      const mail = await api.reset();
      const login = await api.loginCode();
      await act(api);
      assert.equal((await api.post("/api/session/", { token: login.token })).status, 401);
      const proof = by === "link" ? { token: mail.token } : { email, code: mail.values["code"] };
      assert.equal((await confirm(api, proof)).status, 204);
      for (const { token } of [mail, older]) assert.equal((await confirm(api, { token })).json.code, "invalid_link");
    }
  });

  test(`ends the link and the code of a reset of an address that was proved: ${name}`, async (t) => {
    const api = await startMailFlows(t);
    await store(api, accountsCollection, { email_verified_at: "2026-03-01T12:00:00.000Z" });
    const mail = await api.reset();
    await act(api);
    assert.equal((await confirm(api, { token: mail.token })).json.code, "invalid_link");
    assert.equal((await confirm(api, { email, code: mail.values["code"] })).json.code, "invalid_link");
  });
}

test("ends a link of a reset if the address was proved after the request and then the password changed", async (t) => {
  const api = await startMailFlows(t);
  const mail = await api.reset();
  await store(api, accountsCollection, { email_verified_at: "2026-03-01T12:00:00.000Z" });
  await change(api, password, words[0]!);
  assert.equal((await confirm(api, { token: mail.token })).json.code, "invalid_link");
});

test("refuses the link and the code of a reset while the account is not active", async (t) => {
  const api = await startMailFlows(t);
  const mail = await api.reset();
  await store(api, accountsCollection, { active: false });
  assert.equal((await confirm(api, { token: mail.token })).json.code, "invalid_link");
  assert.equal((await confirm(api, { email, code: mail.values["code"] })).json.code, "invalid_link");
  await store(api, accountsCollection, { active: true });
  assert.equal((await confirm(api, { token: mail.token })).status, 204);
});

test("ends the links of a reset with the first proof of the address by a login", async (t) => {
  const api = await startMailFlows(t);
  const mail = await api.reset();
  const login = await api.loginCode();
  assert.equal((await api.post("/api/session/", { token: login.token })).status, 201);
  assert.equal((await confirm(api, { token: mail.token })).json.code, "invalid_link");
});

test("refuses links and codes after a process of an earlier version changed the password", async (t) => {
  const api = await startMailFlows(t);
  await store(api, accountsCollection, { email_verified_at: "2026-03-01T12:00:00.000Z" });
  const [mail, login] = [await api.reset(), await api.loginCode()];
  await store(api, accountsCollection, { generation: (await api.people.accounts.find(1))!.generation + 1 });
  assert.equal((await confirm(api, { token: mail.token })).json.code, "invalid_link");
  assert.equal((await api.post("/api/session/", { token: login.token })).status, 401);
});

test("refuses the link of a reset after a process of an earlier version moved the address", async (t) => {
  const api = await startMailFlows(t);
  const mail = await api.reset();
  const { collection } = api.people.accounts.users;
  const change: Change = { kind: "update", collection, key: 1, values: { email: "moved@example.com" } };
  assert.equal((await api.service.store.write({ changes: [change] })).kind, "written");
  assert.equal((await confirm(api, { token: mail.token })).json.code, "invalid_link");
  assert.equal((await confirm(api, { email, code: mail.values["code"] })).json.code, "invalid_link");
});

test("ends the links that a process of an earlier version stored", async (t) => {
  const api = await startMailFlows(t);
  const mail = await api.reset();
  await store(api, mailProofsCollection, { generation: null, outlives: null });
  assert.notEqual(await api.service.store.count(mailProofsCollection, null), 0);
  await change(api, password, words[0]!);
  assert.equal((await confirm(api, { token: mail.token })).json.code, "invalid_link");
});

test("accepts a link that a process of an earlier version stored", async (t) => {
  const api = await startMailFlows(t);
  const mail = await api.reset();
  await store(api, mailProofsCollection, { generation: null, outlives: null });
  assert.equal((await confirm(api, { token: mail.token })).status, 204);
});
