import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { mailLogin } from "../../src/features/auth/mail-login/feature.ts";
import { passwordReset } from "../../src/features/auth/password-reset/feature.ts";
import { ada, as, password, root, startMailed, type Headers, type Mailed } from "../harness/verified-emails.ts";

const MINUTE_MS = 60_000;
const word = "a good pass phrase 1";
const from = (address: string): Headers => ({ "x-forwarded-for": address, "x-forwarded-proto": "https" });

/** Starts a service with every endpoint that sends mails. */
function start(t: TestContext): Promise<Mailed> {
  return startMailed(t, { registration: "verified", invitations: true }, (people, box) => [
    passwordReset(people, box),
    mailLogin(people, box),
  ]);
}

const signUp = ({ post }: Mailed, email: string, headers?: Headers) => post("/users", { name: "Ann", email }, headers);
const reset = ({ post }: Mailed, email: string, headers?: Headers) => post("/api/password/reset/", { email }, headers);

test("counts the mails of each purpose apart, so that a stranger's requests do not keep a user's mail back", async (t) => {
  const mailed = await start(t);
  for (let minute = 0; minute < 6; minute++) {
    await signUp(mailed, ada);
    await signUp(mailed, `ada+${minute}@example.com`, from("192.0.2.1"));
    const change = { email: `ada+${minute}@example.com`, current_password: password };
    assert.equal((await mailed.post("/users/1/email", change, root)).status, 202);
    mailed.clock.now += MINUTE_MS;
  }
  await mailed.sent();
  await mailed.post("/api/login/code/", { email: ada });
  assert.equal((await mailed.onlyMail()).template, "login_code");
  await reset(mailed, ada);
  assert.equal((await mailed.onlyMail()).template, "password_reset");
});

test("sends the mails of a user although a stranger asks for other spellings of the mailbox, which get no mail", async (t) => {
  const mailed = await start(t);
  const shop = "vic+shop@example.com";
  await mailed.post("/users", { name: "Vic", email: shop, invite: true }, root);
  await mailed.sent();
  const unknown = [
    "ada+x@example.com",
    '"ada"@example.com',
    "ADA+y@Example.COM",
    "vic@example.com",
    "vic+1@example.com",
  ];
  for (const path of ["/api/password/reset/", "/api/login/code/"]) {
    for (const email of [...unknown, ...unknown]) {
      assert.equal((await mailed.post(path, { email }, from("192.0.2.1"))).status, 202);
      mailed.clock.now += MINUTE_MS;
    }
    assert.equal((await mailed.sent()).length, 0);
    for (const email of [ada, shop]) {
      await mailed.post(path, { email });
      assert.equal((await mailed.onlyMail()).to, email, path);
    }
  }
});

test("treats all spellings of a mailbox as one", async (t) => {
  const mailed = await start(t);
  const spellings = [
    "vic@example.com",
    "vic+1@example.com",
    "VIC+a+b@Example.COM",
    '"vic"@example.com',
    '"v\\ic+x y"@example.com',
    " vic+@example.com ",
  ];
  for (const [at, email] of spellings.entries())
    assert.equal((await signUp(mailed, email, from(`192.0.2.${at}`))).status, 202, email);
  assert.equal((await mailed.sent()).length, 1);
  for (const other of ["+vic@example.com", "vic.1@example.com", "vic@example.org", "vic-1@example.com"])
    await signUp(mailed, other);
  assert.equal((await mailed.sent()).length, 4);
});

test("redeems the code of an address with a tag for this address only", async (t) => {
  const mailed = await start(t);
  await signUp(mailed, "vic+shop@example.com");
  const { code } = (await mailed.onlyMail()).values;
  const confirm = (email: string) => mailed.post("/api/email/confirm/", { email, code, password: word });
  assert.equal((await confirm("vic@example.com")).status, 400);
  assert.equal((await confirm("vic+shop@example.com")).json.email, "vic+shop@example.com");
});

test("queues at most sixty mails a minute for one IPv6 site, and ten for each of its networks", async (t) => {
  const mailed = await start(t);
  const ask = (at: number, network: number) =>
    reset(mailed, `user${at}@example.com`, from(`2001:db8:7:${network.toString(16)}::${at.toString(16)}`));
  for (let at = 1; at <= 15; at++) assert.equal((await ask(at, 1)).status, 202);
  assert.equal(await mailed.mail.queued(), 10);
  for (let at = 16; at < 90; at++) assert.equal((await ask(at, at)).status, 202);
  assert.equal(await mailed.mail.queued(), 60);
  await reset(mailed, "other@example.com", from("2001:db8:8::1"));
  assert.equal(await mailed.mail.queued(), 61);
  mailed.clock.now += MINUTE_MS;
  await ask(1, 1);
  assert.equal(await mailed.mail.queued(), 62);
});

test("counts sign-ups for the address of the client", async (t) => {
  const mailed = await start(t);
  const statuses = [];
  for (let at = 0; at < 12; at++)
    statuses.push((await signUp(mailed, `user${at}@example.com`, from("192.0.2.1"))).status);
  assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 202), 429, 429]);
  assert.equal((await signUp(mailed, "other@example.com", from("192.0.2.2"))).status, 202);
});

test("counts mails that an administrator sends to others for the mailbox only, and every other mail for the client", async (t) => {
  const mailed = await start(t);
  const headers = { ...root, ...from("192.0.2.1") };
  for (let at = 0; at < 15; at++)
    assert.equal(
      (await mailed.post("/users", { name: "Ben", email: `ben${at}@example.com`, invite: true }, headers)).status,
      201,
    );
  assert.equal((await mailed.sent()).length, 15);
  const change = (email: string, who: Headers) =>
    mailed.post(
      `/users/${who === root ? 1 : 2}/email`,
      { email, current_password: password },
      { ...who, ...from("192.0.2.1") },
    );
  // The administrator's own address, and the mail to the owner of a taken address.
  for (let at = 0; at < 5; at++) await change(`root${at}@example.com`, root);
  for (let at = 0; at < 3; at++) await change(`ben${at}@example.com`, root);
  // "You already have an account".
  for (let at = 0; at < 5; at++) await signUp(mailed, `ben${at + 5}@example.com`, from("192.0.2.1"));
  const templates = (await mailed.sent()).map(({ template }) => template);
  const count = (name: string) => templates.filter((each) => each === name).length;
  assert.deepEqual([count("email_change"), count("address_taken"), count("account_exists")], [5, 3, 2]);
});

test("sends the next mail after the clock was ahead, and counts neither mails of the future nor forgets the past", async (t) => {
  for (const ms of [MINUTE_MS + 1, 30 * MINUTE_MS, 24 * 60 * MINUTE_MS]) {
    const mailed = await start(t);
    mailed.clock.now += ms;
    await reset(mailed, ada);
    assert.equal((await mailed.sent()).length, 1);
    mailed.clock.now -= ms;
    await reset(mailed, ada);
    await reset(mailed, ada);
    assert.equal((await mailed.sent()).length, 1, `${ms} ms`);
    mailed.clock.now += ms + MINUTE_MS;
    await reset(mailed, ada);
    assert.equal((await mailed.sent()).length, 1, `${ms} ms`);
  }
});

test("sends the mails of a client after the clock was ahead", async (t) => {
  const mailed = await start(t);
  mailed.clock.now += 10 * MINUTE_MS;
  for (let at = 0; at < 12; at++) await reset(mailed, `user${at}@example.com`);
  assert.equal(await mailed.mail.queued(), 10);
  mailed.clock.now -= 10 * MINUTE_MS;
  await reset(mailed, ada);
  assert.equal(await mailed.mail.queued(), 11);
});

test("keeps the codes of other purposes valid, also those that the same endpoint accepts", async (t) => {
  const mailed = await start(t);
  const email = "new@example.com";
  assert.equal((await mailed.post("/users/2/email", { email, current_password: password }, as(ada))).status, 202);
  const change = await mailed.onlyMail();
  mailed.clock.now += 1000;
  await signUp(mailed, email);
  const joined = await mailed.onlyMail();
  const confirm = (body: object, headers?: Headers) => mailed.post("/api/email/confirm/", { email, ...body }, headers);
  const first = await confirm({ code: change.values["code"] }, as(ada));
  assert.deepEqual([first.status, first.json.email], [200, email], first.text);
  assert.equal((await confirm({ code: joined.values["code"], password: word })).status, 409);
  await mailed.sent();

  await reset(mailed, "root@example.com");
  const { code } = (await mailed.onlyMail()).values;
  await mailed.post("/api/login/code/", { email: "root@example.com" });
  const login = await mailed.onlyMail();
  const session = await mailed.post("/api/session/", { email: "root@example.com", code: login.values["code"] });
  assert.equal(session.status, 201, session.text);
  const done = { email: "root@example.com", code, password: word };
  assert.equal((await mailed.post("/api/password/reset/confirm/", done)).status, 204);
});

test("takes the tries of a right code back from every mail that it was compared with", async (t) => {
  const mailed = await start(t);
  const email = "new@example.com";
  await mailed.post("/users/2/email", { email, current_password: password }, as(ada));
  await signUp(mailed, email);
  const codes = (await mailed.sent()).map(({ values }) => values["code"]);
  for (let at = 0; at < 12; at++) {
    // The password is missing, so the sign-up is not completed.
    const refused = await mailed.post("/api/email/confirm/", { email, code: codes[1] });
    assert.equal(refused.json.code, "invalid", refused.text);
  }
  const done = await mailed.post("/api/email/confirm/", { email, code: codes[0] }, as(ada));
  assert.equal(done.status, 200, done.text);
});

test("does not end the code of a mail if a later mail is above the limit", async (t) => {
  const mailed = await start(t);
  await reset(mailed, ada);
  const { code } = (await mailed.onlyMail()).values;
  await reset(mailed, ada);
  assert.deepEqual(await mailed.sent(), []);
  const done = await mailed.post("/api/password/reset/confirm/", { email: ada, code, password: word });
  assert.equal(done.status, 204, done.text);
});

test("answers a hundred requests for one mailbox at the same time, and sends one mail", async (t) => {
  const mailed = await start(t);
  const all = await Promise.all(Array.from({ length: 100 }, (_, at) => reset(mailed, ada, from(`10.1.${at}.1`))));
  assert.deepEqual([...new Set(all.map(({ status }) => status))], [202]);
  assert.equal((await mailed.sent()).length, 1);
});

test("accepts an address with white space around it wherever an address is sent", async (t) => {
  const mailed = await start(t);
  const spellings = (email: string) => [`${email} `, ` ${email}`, `\u00a0${email}\u3000`];
  for (const email of spellings(ada)) {
    mailed.clock.now += 13 * MINUTE_MS;
    await reset(mailed, email);
    const { code } = (await mailed.onlyMail()).values;
    const done = { email, code, password };
    assert.equal((await mailed.post("/api/password/reset/confirm/", done)).status, 204);
    await mailed.sent();
    await mailed.post("/api/login/code/", { email });
    const login = await mailed.onlyMail();
    assert.equal((await mailed.post("/api/session/", { email, code: login.values["code"] })).status, 201);
    assert.equal((await mailed.post("/api/session/", { username: email, password })).status, 201);
    await signUp(mailed, email);
    assert.equal((await mailed.onlyMail()).template, "account_exists");
    assert.equal((await mailed.post("/users", { name: "Eve", email }, root)).status, 409);
  }
  for (const [at, email] of spellings("new@example.com").entries()) {
    mailed.clock.now += 13 * MINUTE_MS;
    const changed = await mailed.ask("PATCH", "/users/2", { email: at === 0 ? email : `x${email.trim()} ` }, root);
    assert.equal(changed.json.email, at === 0 ? "new@example.com" : "xnew@example.com");
    await mailed.sent();
    await mailed.post("/users/1/email", { email: ` a${at}@example.com\u00a0`, current_password: password }, root);
    assert.equal((await mailed.onlyMail()).to, `a${at}@example.com`);
  }
});
