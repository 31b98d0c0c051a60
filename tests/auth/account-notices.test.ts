import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mail } from "../../src/door/features.ts";
import { english } from "../../src/features/mail/english.ts";
import { german } from "../../src/features/mail/german.ts";
import { addTOTP, startLogin } from "../harness/factors.ts";
import { adminPassword, serve, withMail } from "../harness/serve.ts";

const listSubjects = (mails: readonly Mail[]) => mails.map(({ to, subject }) => [to, subject]);

test("sends users a notice when a second factor is added or removed, and when recovery codes are used or made", async (t) => {
  const api = await serve(t, { settings: withMail });
  const ann = await addTOTP(api, "Ann");
  assert.deepEqual(listSubjects(await api.mails()), [["ann@example.com", "A second step was added to your login"]]);

  const { pending } = (await startLogin(api, ann)).json.login;
  const recovery = { pending, factor: "recovery", code: ann.recoveryCodes[0] };
  assert.equal((await api.post("/api/login/", recovery)).status, 200);
  assert.deepEqual(listSubjects(await api.mails()), [["ann@example.com", "A recovery code was used"]]);

  const made = await api.post(`/users/${ann.id}/factors/recovery`, undefined, ann.headers);
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(listSubjects(await api.mails()), [["ann@example.com", "New recovery codes for your account"]]);

  const removed = await api.delete(`/users/${ann.id}/factors/${ann.factor}`, api.admin);
  assert.equal(removed.status, 204, removed.text);
  assert.deepEqual(listSubjects(await api.mails()), [["ann@example.com", "A second step was removed from your login"]]);
});

test("sends a notice about a changed password with the time of the change, but without a link, a code or the user's name", async (t) => {
  const api = await serve(t, { settings: withMail });
  const ben = await api.user("Ben");
  const body = { current_password: ben.password, password: "another password of Ben" };
  const changed = await api.patch(`/users/${ben.id}`, body, ben.headers);
  assert.equal(changed.status, 200, changed.text);

  const [mail, ...more] = await api.mails();

  assert.equal(more.length, 0);
  assert.equal(mail!.to, "ben@example.com");
  assert.match(mail!.text, /was changed on 2026-01-31 09:30 UTC\./);
  assert.doesNotMatch(`${mail!.text}${mail!.html}`, /https?:|\d{8}|Ben/);
});

test("sends users a notice about a token or a key that an administrator makes for them, and none about a key that they make", async (t) => {
  const api = await serve(t, { settings: withMail });
  const ben = await api.user("Ben");
  const login = await api.post("/api/token/", { username: "admin", password: adminPassword });
  const admin = { authorization: `Bearer ${login.json.access}` };

  for (const [path, body] of [
    ["token", undefined],
    ["token", undefined],
    ["keys", { name: "robot" }],
  ] as const) {
    const made = await api.post(`/users/${ben.id}/${path}`, body, admin);
    assert.ok(made.status === 201 || made.status === 200, made.text);
    assert.deepEqual(listSubjects(await api.mails()), [
      ["ben@example.com", "A token or a key was made for your account"],
    ]);
  }
  const own = await api.post(`/users/${ben.id}/keys`, { name: "mine", current_password: ben.password }, ben.headers);
  assert.equal(own.status, 201, own.text);
  assert.deepEqual(await api.mails(), []);
});

test("sends no notice of a change that was refused", async (t) => {
  const api = await serve(t, { settings: withMail });
  const ben = await api.user("Ben");
  const body = { current_password: "not the password of Ben", password: "another password of Ben" };
  assert.equal((await api.patch(`/users/${ben.id}`, body, ben.headers)).status, 400);

  assert.deepEqual(await api.mails(), []);
});

test("has every mail template in each language, and allows neither a link nor a code in notices", () => {
  for (const templates of [english, german]) {
    assert.deepEqual(Object.keys(templates), Object.keys(english));
    const proofs = Object.entries(templates).filter(([, { text }]) => text.includes("{code}"));
    assert.deepEqual(
      proofs.map(([name]) => name),
      ["sign_up", "invitation", "password_reset", "login_code", "factor_code", "email_change"],
    );
    for (const [name, { subject, text }] of Object.entries(templates)) {
      assert.doesNotMatch(subject, /\{(?!service\})/, name);
      const lines = text.split("\n");
      // `factor_code` has no link: a link could open in another browser, which cannot complete the waiting login.
      const asks = [lines.includes("{link}"), lines.includes("{code}")];
      assert.deepEqual(asks, name === "factor_code" ? [false, true] : [asks[1], asks[1]], name);
      assert.equal(text.match(/\{link\}|\{code\}/g)?.length ?? 0, asks.filter(Boolean).length, name);
      assert.doesNotMatch(text, /https?:|\{(?!link\}|code\}|service\}|at\})/, name);
    }
  }
});
