import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { AccountsFeature } from "../../src/door/auth.ts";
import type { ServiceFacts } from "../../src/door/features.ts";
import {
  accounts,
  anyone,
  basicLogin,
  defineFeature,
  defineResource,
  problem,
  text,
  type Feature,
} from "../../src/door/index.ts";
import { requireDraft } from "../../src/door/resources.ts";
import type { Mailbox, Purpose } from "../../src/features/auth/mailbox/contract.ts";
import { mailbox, type MailboxOptions } from "../../src/features/auth/mailbox/feature.ts";
import { requireUnused } from "../../src/features/auth/mailbox/proofs.ts";
import { email as ada, open, serve, type Answered, type Own } from "../harness/own-logins.ts";
import { testMail, type SentMail, type TestMail } from "../harness/test-mail.ts";

const MINUTE_MS = 60_000;
const from = (address: string) => ({ "x-forwarded-for": address });

test("redeems the link of a mail once, and then refuses the code of the same mail too", async (t) => {
  const { ask, sent, use } = await started(t);
  await ask(ada);
  const mail = await sent();
  assert.deepEqual([mail.to, mail.template], [ada, "reset"]);
  assert.match(mail.values["code"]!, /^\d{8}$/);
  assert.deepEqual((await use({ token: mail.token })).json, { address: ada, user: 1 });
  assert.equal((await use({ token: mail.token })).json.code, "invalid_link");
  assert.equal((await use({ email: ada, code: mail.values["code"] })).json.code, "invalid_link");
});

test("redeems a code with a space in it, for the address in capital letters", async (t) => {
  const { ask, sent, use } = await started(t);
  await ask(ada);
  const code = (await sent()).values["code"]!;
  const spelt = { email: ada.toUpperCase(), code: `${code.slice(0, 4)} ${code.slice(4)}` };
  assert.deepEqual((await use(spelt)).json, { address: ada, user: 1 });
});

test("uses a link exactly once if fifty requests come at the same time", async (t) => {
  const { ask, sent, use } = await started(t);
  await ask(ada);
  const { token } = await sent();
  const statuses = (await Promise.all(Array.from({ length: 50 }, () => use({ token })))).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 1);
  assert.equal(statuses.filter((status) => status === 400).length, 49);
});

test("ends a link after half an hour and a code after ten minutes", async (t) => {
  const { ask, sent, use, clock } = await started(t);
  await ask(ada);
  const { token, values } = await sent();
  clock.now += 10 * MINUTE_MS;
  assert.equal((await use({ email: ada, code: values["code"] })).status, 400);
  clock.now += 20 * MINUTE_MS;
  assert.equal((await use({ token })).status, 400);
});

test("ends the code of a mail when a later mail is sent, and keeps the link valid", async (t) => {
  const { ask, sent, use, clock } = await started(t);
  await ask(ada);
  const first = await sent();
  clock.now += MINUTE_MS;
  await ask(ada);
  const second = await sent();
  assert.equal((await use({ email: ada, code: first.values["code"] })).status, 400);
  assert.equal((await use({ email: ada, code: second.values["code"] })).status, 200);
  assert.equal((await use({ token: first.token })).status, 200);
});

test("limits the mails to a mailbox to one a minute and five an hour, and gives the same response above these limits", async (t) => {
  const { ask, mail, clock } = await started(t);
  let count = 0;
  for (let minute = 0; minute < 60; minute++) {
    for (const spelling of [ada, ada.toUpperCase()]) assert.equal((await ask(spelling)).status, 202);
    count += (await mail.deliver(clock.now)).length;
    clock.now += MINUTE_MS;
  }
  assert.equal(count, 5);
  await ask(ada);
  assert.equal((await mail.deliver(clock.now)).length, 1);
});

test("sends one mail for ten concurrent requests", async (t) => {
  const { ask, mail, clock } = await started(t);
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask(ada)));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
  assert.equal((await mail.deliver(clock.now)).length, 1);
});

test("queues at most ten mails a minute that one client address requests", async (t) => {
  const { ask, mail } = await started(t);
  for (let each = 0; each < 15; each++) await ask(`user${each}@example.com`, from("192.0.2.1"));
  assert.equal(await mail.queued(), 10);
  await ask("another@example.com", from("192.0.2.2"));
  assert.equal(await mail.queued(), 11);
});

test("queues a mail for an address without a user too, but delivers no mail to that address", async (t) => {
  const { ask, mail, clock, use } = await started(t);
  await ask("stranger@example.com");
  assert.equal(await mail.queued(), 1);
  assert.deepEqual(await mail.deliver(clock.now), []);
  assert.equal((await use({ email: "stranger@example.com", code: "12345678" })).json.code, "invalid_link");
});

test("refuses the right code from a network that sent five wrong codes", async (t) => {
  const { ask, sent, use } = await started(t);
  await ask(ada);
  const { code } = (await sent()).values;
  const wrong = code === "00000000" ? "00000001" : "00000000";
  for (let last = 1; last <= 5; last++) await use({ email: ada, code: wrong }, from(`192.0.2.${last}`));
  assert.equal((await use({ email: ada, code }, from("192.0.2.99"))).status, 400);
  assert.equal((await use({ email: ada, code }, from("198.51.100.1"))).status, 200);
});

test("refuses the right code from any network after thirty wrong codes, and still accepts the link", async (t) => {
  const { ask, sent, use } = await started(t);
  await ask(ada);
  const { token, values } = await sent();
  const { code } = values;
  const wrong = code === "00000000" ? "00000001" : "00000000";
  await Promise.all(Array.from({ length: 40 }, (_, each) => use({ email: ada, code: wrong }, from(`10.${each}.0.1`))));
  assert.equal((await use({ email: ada, code }, from("198.51.100.1"))).status, 400);
  assert.equal((await use({ token })).status, 200);
});

test("does not count a right code as a try if the request fails for another reason", async (t) => {
  const { ask, sent, use } = await started(t);
  await ask(ada);
  const { code } = (await sent()).values;
  for (let each = 0; each < 20; each++)
    assert.equal((await use({ email: ada, code, weak: "yes" })).json.code, "conflict");
  assert.equal((await use({ email: ada, code })).status, 200);
});

test("ends links and codes when the password or the address changes", async (t) => {
  const { ask, sent, use, api, clock } = await started(t);
  const basic = (word: string) => ({ authorization: `Basic ${Buffer.from(`${ada}:${word}`).toString("base64")}` });
  await ask(ada);
  const first = await sent();
  const changed = { password: "analytical-engine", current_password: "difference-engine" };
  assert.equal((await api.ask("PATCH", "/users/1", changed, basic("difference-engine"))).status, 200);
  assert.equal((await use({ token: first.token })).status, 400);
  clock.now += MINUTE_MS;
  await ask(ada);
  const second = await sent();
  const moved = { email: "lovelace@example.com", current_password: "analytical-engine" };
  const patched = await api.ask("PATCH", "/users/1", moved, basic("analytical-engine"));
  assert.equal(patched.status, 200, patched.text);
  assert.equal((await use({ token: second.token })).status, 400);
  assert.equal((await use({ email: ada, code: second.values["code"] })).status, 400);
});

test("makes links to the pages of the service, or to the pages in the option `links`", async (t) => {
  const own = await started(t);
  await own.ask(ada);
  assert.match((await own.sent()).values["link"]!, /^https:\/\/shop\.example\/reset\?token=[\w-]{65}$/);
  const app = await started(t, { links: { reset: "https://app.example/r/{token}" } });
  await app.ask(ada);
  assert.match((await app.sent()).values["link"]!, /^https:\/\/app\.example\/r\/[\w-]{65}$/);
  await assert.rejects(started(t, { links: { rest: "https://app.example/{token}" } }), /links names rest.*reset/);
  await assert.rejects(started(t, { links: { reset: "https://app.example/" } }), /URLs with \{token\}/);
});

test("drops and counts a mail whose link expired before the delivery", async (t) => {
  const { ask, mail, clock, expired } = await started(t);
  await ask(ada);
  clock.now += 30 * MINUTE_MS;
  assert.deepEqual(await mail.deliver(clock.now), []);
  assert.equal(expired(), 1);
});

interface Started {
  readonly api: Own;
  readonly clock: { now: number };
  readonly mail: TestMail;
  /** Requests a mail. */
  ask(email: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  /** Delivers the only queued mail. */
  sent(): Promise<SentMail>;
  use(proof: object, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  /** Returns how many mails expired before their delivery. */
  expired(): number | undefined;
}

async function started(t: TestContext, options: MailboxOptions = {}): Promise<Started> {
  const people = accounts(open);
  const mail = testMail();
  const box = mailbox(people, mail.feature, options);
  const askFeature = asking(people, box);
  const api = await serve(t, people, [mail.feature, box, askFeature, basicLogin(people)], {
    trustedProxies: ["127.0.0.1"],
  });
  const { clock } = api;
  return {
    api,
    clock,
    mail,
    ask: (email, headers) => api.ask("POST", "/ask", { email }, headers),
    use: (proof, headers) => api.ask("POST", "/use", proof, headers),
    expired() {
      const families = api.service.use(askFeature).measure();
      return families.find(({ name }) => name === "latchkey_expired_mails_total")?.samples[0]?.[1];
    },
    async sent() {
      const mails = await mail.deliver(clock.now);
      assert.equal(mails.length, 1);
      return mails[0]!;
    },
  };
}

const field = text({ maxLength: 300, optional: true });
const body = defineResource({
  name: "asked",
  plural: "asked",
  fields: { email: field, code: field, token: field, weak: field },
});

/**
 * A feature as an independent developer would write it. `/ask` sends a mail, and `/use` redeems the link or the code of
 * the mail.
 */
function asking(people: AccountsFeature, box: Feature<Mailbox>): Feature<Pick<ServiceFacts, "measure">> {
  return defineFeature({
    name: "asking",
    needs: [people, box],
    setUp(host) {
      const { accounts: all } = host.use(people);
      const purpose: Purpose = host.use(box).purpose({
        name: "reset",
        linkSeconds: 1800,
        codes: true,
        template: "reset",
        path: "/reset",
      });
      const post = { method: "POST", access: anyone, consumes: ["application/json"] } as const;
      return {
        offer: { measure: () => host.service().measure() },
        endpoints: [
          {
            ...post,
            path: "/ask",
            async handle(context) {
              const { email } = requireDraft(body, context, { id: null, current: null }).values;
              const user = await all.findByUsername(email!);
              await purpose.send(context, { address: user === null ? email! : user.username, user });
              return { status: 202, body: { kind: "data", value: {}, element: "asked" } };
            },
          },
          {
            ...post,
            path: "/use",
            async handle(context) {
              const { email, code, token, weak } = requireDraft(body, context, { id: null, current: null }).values;
              const proof = token === null ? { email: email!, code: code! } : { token };
              const { address, user, changes } = await purpose.redeem(context, proof);
              if (weak !== null) throw problem("conflict");
              requireUnused(await context.write({ changes }));
              return {
                status: 200,
                body: { kind: "data", value: { address, user: user?.id ?? null }, element: "used" },
              };
            },
          },
        ],
      };
    },
  });
}
