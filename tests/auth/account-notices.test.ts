import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Mail } from "../../src/door/features.ts";
import { anyone, defineFeature } from "../../src/door/index.ts";
import { noteMail } from "../../src/features/auth/notices/counts.ts";
import { english } from "../../src/features/mail/english.ts";
import { german } from "../../src/features/mail/german.ts";
import { createTemplates } from "../../src/features/mail/templates.ts";
import { addTOTP, startLogin } from "../harness/factors.ts";
import { adminPassword, basicHeader, serve, withMail } from "../harness/serve.ts";
import type { SentMail } from "../harness/test-mail.ts";
import { ada, as, password, startMailed } from "../harness/verified-emails.ts";

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

test("sends a notice about a password that an administrator sets, also about a one-time password", async (t) => {
  const api = await serve(t, { settings: withMail });
  const ben = await api.user("Ben");
  for (const [method, path, body] of [
    ["PATCH", `/users/${ben.id}`, { password: "another password of Ben" }],
    ["POST", `/users/${ben.id}/password`, undefined],
  ] as const) {
    const changed = await api.ask(method, path, { body, headers: api.admin });
    assert.ok(changed.status < 300, changed.text);

    const [mail, ...more] = await api.mails();

    assert.equal(more.length, 0);
    assert.deepEqual([mail!.to, mail!.subject], ["ben@example.com", "Your password was changed"], path);
    if (method === "POST") assert.doesNotMatch(`${mail!.text}${mail!.html}`, new RegExp(changed.json.password));
    api.clock.turn(60);
  }
  assert.equal((await api.post("/users/1/password", undefined, api.admin)).status, 409);
  assert.deepEqual(await api.mails(), []);
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
    api.clock.turn(60);
  }
  const own = await api.post(`/users/${ben.id}/keys`, { name: "mine", current_password: ben.password }, ben.headers);
  assert.equal(own.status, 201, own.text);
  assert.deepEqual(await api.mails(), []);
});

test("sends an account one notice of each kind in a minute, and names the number of events in the next one", async (t) => {
  const { mailed, makeCodes, texts } = await startNotices(t);
  for (let each = 0; each < 7; each++) await makeCodes();
  assert.deepEqual(texts(await mailed.sent()), ["recovery_codes_made ada@example.com 7"]);
  for (let each = 0; each < 3; each++) {
    await makeCodes();
    assert.deepEqual(await mailed.sent(), []);
  }
  assert.equal(
    (await mailed.ask("PATCH", "/users/2", { password: "another pass phrase", current_password: password }, as(ada)))
      .status,
    200,
  );
  assert.deepEqual(texts(await mailed.sent()), ["password_changed ada@example.com 1"]);
  mailed.clock.now += 60_000;
  await makeCodes();
  assert.deepEqual(texts(await mailed.sent()), ["recovery_codes_made ada@example.com 4"]);
  mailed.clock.now += 60_000;
  await makeCodes();
  assert.deepEqual(texts(await mailed.sent()), ["recovery_codes_made ada@example.com 1"]);
});

test("sends the next notice after the clock was an hour ahead", async (t) => {
  const { mailed, makeCodes, texts } = await startNotices(t);
  for (const ms of [30 * 60_000, -30 * 60_000, -24 * 3_600_000]) {
    mailed.clock.now += ms;
    await makeCodes();
    assert.deepEqual(texts(await mailed.sent()), ["recovery_codes_made ada@example.com 1"]);
  }
});

test("composes the same notice again if it could not be sent, also after a later one", async (t) => {
  const { mailed, makeCodes } = await startNotices(t);
  const { store } = mailed.service;
  const event = async () => {
    await makeCodes();
    const id = (await mailed.queuedAbout()).event as string;
    return (now: number) => noteMail(store, { user: 2, notice: "recovery_codes_made", event: id }, now);
  };
  const { now } = mailed.clock;
  const [first, second] = [await event(), await event()];
  assert.deepEqual([await first(now), await second(now), await first(now + 1000)], [2, null, 2]);
  const third = await event();
  assert.deepEqual([await third(now + 60_000), await first(now + 61_000), await third(now + 62_000)], [1, 2, 1]);
});

test("sends no notice to an address that its user chose and never proved, and one after the first proof", async (t) => {
  const api = await serve(t, { settings: { ...withMail, LATCHKEY_REGISTRATION: "open" } });
  const ann = await api.post("/users", { name: "Ann", email: "ann@example.com", password: "difference-engine" });
  assert.equal(ann.status, 201);
  const headers = basicHeader("ann@example.com", "difference-engine");
  const changed = { password: "analytical-engine", current_password: "difference-engine" };
  assert.equal((await api.patch(`/users/${ann.json.id}`, changed, headers)).status, 200);
  assert.deepEqual(await api.mails(), []);

  assert.equal((await api.post("/api/password/reset/", { email: "ann@example.com" })).status, 202);
  const [{ text } = { text: "" }] = await api.mails();
  const [, token] = /token=(\S+)/.exec(text) ?? [];
  assert.equal((await api.post("/api/password/reset/confirm/", { token, password: "amber lantern 43" })).status, 204);
  // One write queues both mails, so they may be sent in either order.
  assert.deepEqual(
    new Set(listSubjects(await api.mails())),
    new Set([
      ["ann@example.com", "Your password was changed"],
      ["ann@example.com", english["ways_ended"]!.subject],
    ]),
  );
});

for (const [language, subject, first] of [
  ["en", english["ways_ended"]!.subject, /was confirmed for the first time at Latchkey on 2026-01-31 09:30 UTC/],
  [
    "de",
    german["ways_ended"]!.subject,
    /^Am 2026-01-31 09:30 UTC wurde Ihre Adresse bei Latchkey zum ersten Mal bestätigt/,
  ],
] as const)
  test(`tells users in their language (${language}) what the first proof of their address by a mail login ended`, async (t) => {
    const settings = { ...withMail, LATCHKEY_REGISTRATION: "open", LATCHKEY_LOGIN_CODES: "on" };
    const api = await serve(t, { settings, config: { mail: { language } } });
    const { email, json } = { email: "ann@example.com", json: { name: "Ann", password: "difference-engine" } };
    assert.equal((await api.post("/users", { ...json, email })).status, 201);
    for (const notices of [[[email, subject]], []]) {
      assert.equal((await api.post("/api/login/code/", { email })).status, 202);
      const [, code] = /^(\d{8})$/m.exec((await api.mails())[0]!.text)!;
      assert.equal((await api.post("/api/token/", { email, code })).status, 200);
      const mails = await api.mails();
      assert.deepEqual(listSubjects(mails), notices);
      for (const { text } of mails) assert.match(text, first);
      api.clock.turn(60);
    }
  });

test("sends no notice of a changed address to an old address that its user chose and never proved", async (t) => {
  const mailed = await startMailed(t, { registration: "open" });
  const made = await mailed.post("/users", { name: "Eve", email: "owner@example.com", password });
  assert.equal(made.status, 201);
  const body = { email: "eve@example.com", current_password: password };
  assert.equal((await mailed.post("/users/3/email", body, as("owner@example.com"))).status, 202);
  const { token } = await mailed.onlyMail();
  assert.equal((await mailed.post("/api/email/confirm/", { token }, as("owner@example.com"))).status, 200);
  assert.deepEqual(await mailed.sent(), []);
});

test("writes the number of events into notices in every language", () => {
  for (const language of ["en", "de"]) {
    const fill = (values: Readonly<Record<string, string>>) =>
      createTemplates({}, language).fill({ to: ada, template: "password_changed", values }, "Shop").text;
    const at = "2026-03-01 12:00 UTC";
    assert.match(fill({ at, times: "7" }), /\b7\b/);
    assert.equal(fill({ at }).split("\n\n").length + 1, fill({ at, times: "7" }).split("\n\n").length);
  }
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
      ["sign_up", "invitation", "password_reset", "login_code", "factor_code", "confirm_code", "email_change"],
    );
    for (const [name, { subject, text }] of Object.entries(templates)) {
      assert.doesNotMatch(subject, /\{(?!service\})/, name);
      const lines = text.split("\n");
      // A code for a waiting login has no link: a link could open in another browser, which cannot complete the waiting
      // login. An invitation to a group has no code, because the page of its link asks for the login.
      const asks = [lines.includes("{link}"), lines.includes("{code}")];
      const asked = /^(factor|confirm)_code$/.test(name) ? [false, true] : [asks[1], asks[1]];
      assert.deepEqual(asks, name === "membership" ? [true, false] : asked, name);
      assert.equal(text.match(/\{link\}|\{code\}/g)?.length ?? 0, asks.filter(Boolean).length, name);
      assert.doesNotMatch(text, /https?:|\{(?!link\}|code\}|service\}|at\}|times\})/, name);
    }
  }
});

/** Starts a service in which ada (2) can make recovery codes again and again. */
async function startNotices(t: TestContext) {
  const mailed = await startMailed(t, {}, (people) => [
    defineFeature({
      name: "codes",
      needs: [people],
      setUp(host) {
        const offered = host.use(people);
        return {
          offer: null,
          endpoints: [
            {
              method: "POST",
              path: "/codes",
              access: anyone,
              async handle(context) {
                const account = (await offered.accounts.find(2))!;
                await context.write({
                  changes: offered.confirming.notify("recovery_codes_made", account, context.call.now),
                });
                return { status: 204 };
              },
            },
          ],
        };
      },
    }),
  ]);
  return {
    mailed: {
      ...mailed,
      /** Returns the data of the newest queued mail. */
      queuedAbout: async () => (await mailed.mail.about()).at(-1) as Readonly<Record<string, unknown>>,
    },
    async makeCodes() {
      assert.equal((await mailed.post("/codes")).status, 204);
    },
    texts: (mails: readonly SentMail[]) =>
      mails.map(({ template, to, values }) => `${template} ${to} ${values["times"] ?? "1"}`),
  };
}
