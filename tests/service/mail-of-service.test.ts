import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { outbox, type Mail, type SendMail } from "../../src/door/features.ts";
import { defineFeature, type Feature } from "../../src/door/index.ts";
import type { BuiltIn } from "../../src/service/built-in.ts";
import { createLatchkey, type Latchkey } from "../../src/service/latchkey.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { ConfigError, readSettings } from "../../src/service/settings/settings.ts";
import { assembleFor, migrateDatabase, planDatabase } from "../../src/service/system/migrate.ts";

interface Running {
  readonly latchkey: Latchkey;
  readonly sent: readonly Mail[];
}

async function run(t: TestContext, config: ConfigFile, environment: Record<string, string> = {}): Promise<Running> {
  const sent: Mail[] = [];
  const settings = readSettings({
    LATCHKEY_DATABASE: "sqlite::memory:",
    LATCHKEY_PASSWORD_COST: "m=19456,t=2,p=1",
    ...environment,
  });
  const latchkey = await createLatchkey({
    settings,
    config,
    overMail: () => async (mail) => void sent.push(mail),
  });
  t.after(() => latchkey.close());
  return { latchkey, sent };
}

const withMail = { LATCHKEY_MAIL_URL: "file:mails", LATCHKEY_MAIL_FROM: "no-reply@example.com" };

/**
 * Returns a feature that offers a function. The function queues a mail with a link, and waits until the mail is sent.
 */
function greeting({ mail, outbox: events }: BuiltIn): Feature<() => Promise<void>> {
  assert.ok(mail !== null);
  return defineFeature({
    name: "greeting",
    needs: [mail, events],
    setUp(host) {
      const mailer = host.use(mail);
      const queue = mailer.kind<string>({
        name: "greeting",
        compose: async (to) => ({
          to,
          template: "password_reset",
          values: { link: `${mailer.publicURL}${host.basePath}/reset?token=abc`, code: "01234567" },
        }),
      });
      return {
        offer: async (): Promise<void> => {
          await host.store.write({ changes: queue("ann@example.com", host.now()) });
          await host.use(events).deliverDue();
        },
      };
    },
  });
}

test("has an outbox and sends mails from the service's address if the settings name a way to send mail", async (t) => {
  const made: Feature<() => Promise<void>>[] = [];
  const config: ConfigFile = {
    api: { title: "Bookshop", version: "1" },
    features: (builtIn) => (made.push(greeting(builtIn)), made),
  };
  const { latchkey, sent } = await run(t, config, { ...withMail, LATCHKEY_BASE_PATH: "/v1", LATCHKEY_PORT: "0" });
  latchkey.listensAt("http://127.0.0.1:4321");

  await latchkey.use(made[0]!)();

  assert.equal(sent.length, 1);
  assert.equal(sent[0]!.from, "no-reply@example.com");
  assert.match(sent[0]!.text, /^http:\/\/127\.0\.0\.1:4321\/v1\/reset\?token=abc$/m);
  assert.match(sent[0]!.text, /at Bookshop/);
  const answer = await latchkey.fetch(new Request("http://127.0.0.1/v1/outbox"), { peer: "127.0.0.1" });
  assert.equal(answer.status, 401);
});

test("builds links from the public address if there is one, with and without the base path in it", async (t) => {
  for (const url of ["https://api.example", "https://api.example/v1"]) {
    const made: Feature<() => Promise<void>>[] = [];
    const { latchkey, sent } = await run(
      t,
      { features: (builtIn) => (made.push(greeting(builtIn)), made) },
      { ...withMail, LATCHKEY_BASE_PATH: "/v1", LATCHKEY_PUBLIC_URL: url },
    );
    latchkey.listensAt("http://127.0.0.1:4321");
    await latchkey.use(made[0]!)();
    assert.match(sent[0]!.text, /^https:\/\/api\.example\/v1\/reset\?token=abc$/m);
  }
});

test("sends mails with the function of the config file, in its language and with its templates", async (t) => {
  const received: Mail[] = [];
  const made: Feature<() => Promise<void>>[] = [];
  const config: ConfigFile = {
    mail: {
      send: async (mail) => void received.push(mail),
      language: "de",
      templates: { de: { password_reset: { subject: "Neu bei {service}", text: "{link}\n\n{code}" } } },
    },
    features: (builtIn) => (made.push(greeting(builtIn)), made),
  };
  const settings = readSettings(
    {
      LATCHKEY_DATABASE: "sqlite::memory:",
      LATCHKEY_MAIL_FROM: "no-reply@example.com",
      LATCHKEY_PUBLIC_URL: "https://api.example",
    },
    config,
  );
  const latchkey = await createLatchkey({ settings, config });
  t.after(() => latchkey.close());

  await latchkey.use(made[0]!)();

  assert.equal(received[0]?.subject, "Neu bei Latchkey");
  assert.equal(received[0].text, "https://api.example/reset?token=abc\n\n01234567\n");
});

/** Starts a service with this sender. `reset` requests a reset of the administrator's password. */
async function runWith(t: TestContext, send: SendMail) {
  const config: ConfigFile = { mail: { send } };
  const environment = {
    LATCHKEY_DATABASE: "sqlite::memory:",
    LATCHKEY_MAIL_FROM: "no-reply@example.com",
    LATCHKEY_PUBLIC_URL: "https://api.example",
    LATCHKEY_ADMIN_USERNAME: "root@example.com",
    LATCHKEY_ADMIN_PASSWORD: "first-administrator",
  };
  const latchkey = await createLatchkey({ settings: readSettings(environment, config), config, observe: null });
  t.after(() => latchkey.close());
  const ask = async (method: string, path: string, body?: unknown): Promise<Response> =>
    latchkey.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method,
        headers: {
          "content-type": "application/json",
          ...(method === "GET" ? { authorization: `Basic ${btoa("root@example.com:first-administrator")}` } : {}),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
      { peer: "127.0.0.1" },
    );
  return { ask, reset: () => ask("POST", "/api/password/reset/", { email: "root@example.com" }) };
}

test("answers at once while the sending of a mail hangs, and aborts the sending when the service closes", async (t) => {
  const hanging = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const { reset } = await runWith(t, (_, { signal }) => {
    signal.addEventListener("abort", () => stopped.resolve());
    hanging.resolve();
    return new Promise(() => undefined);
  });
  t.after(() => stopped.promise);

  assert.equal((await reset()).status, 202);
  await hanging.promise;
  // The sending of the first mail hangs, but the service answers the next request.
  const next = await reset();

  assert.deepEqual([next.status, await next.text()], [202, "{}"]);
});

test("shows administrators a mail that the mail server refused, without its link and code", async (t) => {
  const refused = Promise.withResolvers<Mail>();
  const { ask, reset } = await runWith(t, (mail) => {
    refused.resolve(mail);
    return Promise.reject(new Error(`554 spam: ${mail.text}`));
  });

  assert.equal((await reset()).status, 202);
  const { text } = await refused.promise;
  const proofs = [/token=(\S+)/, /^(\d{8})$/m].map((pattern) => pattern.exec(text)?.[1] ?? "");
  let rows = "";
  while (!rows.includes("554 spam")) {
    await new Promise((resolve) => setImmediate(resolve));
    rows = await (await ask("GET", "/outbox")).text();
  }

  assert.ok(rows.includes('"attempts":1'));
  for (const proof of proofs) assert.ok(proof !== "" && !rows.includes(proof), proof);
});

test("reports mistakes in the mail of the config file", () => {
  const wrong: object = { sende: () => undefined, send: "smtp://mail.example" };
  const config = { mail: wrong };

  assert.throws(
    () => readSettings({ ...withMail, LATCHKEY_DATABASE: "sqlite::memory:" }, config),
    (error: unknown) =>
      error instanceof ConfigError &&
      error.problems.includes("mail.sende in the config file is unknown. The nearest is send.") &&
      error.problems.some((each) => each.startsWith("mail.send in the config file is not a function.")) &&
      error.problems.includes("LATCHKEY_MAIL_URL is set, and the config file has mail.send. Keep one of them."),
  );
});

test("plans and makes the tables of mail for a config file whose features need mail", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-mail-tables-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const database = { kind: "sqlite", path: path.join(folder, "a.db") } as const;
  const config: ConfigFile = { features: (builtIn) => [greeting(builtIn)] };

  const { made } = await migrateDatabase(await assembleFor(database, config, true));

  assert.ok(
    ["outbox", "outbox_leases", "mail_proofs"].every((name) => made.includes(name)),
    made.join(),
  );
  assert.deepEqual((await planDatabase(await assembleFor(database, config, true))).tables, []);
});

test("uses the outbox of the config file for mail, so that there is only one outbox", async (t) => {
  const own = outbox({ attempts: 3 });
  const made: Feature<() => Promise<void>>[] = [];
  const features = (builtIn: BuiltIn): readonly Feature[] => (made.push(greeting(builtIn)), [own, ...made]);
  const { latchkey, sent } = await run(t, { features }, withMail);

  await latchkey.use(made[0]!)();
  await latchkey.use(own).deliverDue();

  assert.equal(sent.length, 1);
});

test("has no mail without a mail setting, and has an outbox only if a feature needs one", async (t) => {
  const builtIn: BuiltIn[] = [];
  const { latchkey } = await run(t, { features: (each) => (builtIn.push(each), []) });
  assert.equal(builtIn[0]?.mail, null);
  const ask = { peer: "127.0.0.1" };
  const none = await latchkey.fetch(new Request("http://127.0.0.1/outbox"), ask);
  assert.equal(none.status, 404);

  const working = ({ outbox: events }: BuiltIn): Feature =>
    defineFeature({
      name: "working",
      needs: [events],
      setUp: (host) => ({ offer: host.use(events).worker({ name: "work", run: () => undefined }) }),
    });
  const other = await run(t, { features: (each) => [working(each)] });
  const there = await other.latchkey.fetch(new Request("http://127.0.0.1/outbox"), ask);
  assert.equal(there.status, 401);
});
