import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import {
  mail,
  mailFiles,
  metrics,
  outbox,
  type Composed,
  type Mail,
  type MailOptions,
  type QueueMail,
} from "../../src/door/features.ts";
import { createService, defineFeature, type Service } from "../../src/door/index.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { mountedEvents } from "../../src/features/outbox/events.ts";

// On SQLite alone: mails are the same with both databases. `toolkit-jobs.test.ts` tests the queue on both.

type About = { readonly user: number };
const link = "https://api.example/reset?token=abc";
const reset: Composed = { to: "ann@example.com", template: "password_reset", values: { link, code: "01234567" } };

interface Running {
  readonly service: Service;
  readonly queue: QueueMail<About>;
  readonly sent: readonly Mail[];
  readonly publicURL: string;
  /** Returns the numbers of mails that were sent and dropped, and of failed tries. */
  counts(): readonly number[];
  /** Queues a mail and delivers it. */
  send(): Promise<void>;
  waiting(): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

async function run(
  t: TestContext,
  compose: (about: About) => Composed | null,
  { basePath = "", ...options }: Partial<MailOptions> & { readonly basePath?: string } = {},
): Promise<Running> {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const now = Date.parse("2026-01-31T09:30:00Z");
  const sent: Mail[] = [];
  const events = outbox();
  const mails = mail(events, {
    send: async (each) => void sent.push(each),
    from: "Example <no-reply@example.com>",
    publicURL: "https://api.example/",
    ...options,
  });
  const resets = defineFeature({
    name: "resets",
    needs: [mails],
    setUp: (host) => ({
      offer: host.use(mails).kind<About>({ name: "password-reset", compose: async (about) => compose(about) }),
    }),
  });
  const measured = metrics();
  const service = await createService({
    name: "shop",
    store: sqliteStore({ path: ":memory:" }),
    features: [events, mails, resets, measured],
    basePath,
    observe: null,
    now: () => now,
  });
  t.after(() => service.close());
  const queue = service.use(resets);
  return {
    service,
    queue,
    sent,
    publicURL: service.use(mails).publicURL,
    counts() {
      const families = service.use(measured).read();
      const found = families.find(({ name }) => name.endsWith("_mails_total"));
      return (found?.samples ?? []).map(([, value]) => value);
    },
    async send() {
      await service.store.write({ changes: queue({ user: 7 }, now) });
      await service.use(events).deliverDue();
    },
    async waiting() {
      const { collection } = mountedEvents;
      const rows = await service.store.list({ collection, where: null, sort: [{ column: "id" }], limit: 100 });
      return rows.map(({ record }) => record);
    },
  };
}

function splitLines(text: string): readonly string[] {
  return text.split("\n");
}

test("sends a mail with its link and its code on separate lines", async (t) => {
  const { sent, send } = await run(t, () => reset);

  await send();

  assert.equal(sent.length, 1);
  const [{ to, from, subject, text, html, id }] = sent as [Mail];
  assert.deepEqual(
    [to, from, subject, id],
    ["ann@example.com", "Example <no-reply@example.com>", "Choose a new password", "1"],
  );
  assert.ok(splitLines(text).includes(link));
  assert.ok(splitLines(text).includes("01234567"));
  assert.match(text, /your account at shop/);
  assert.match(html, /<a href="https:\/\/api\.example\/reset\?token=abc">/);
  assert.match(html, /<strong[^>]*>01234567<\/strong>/);
});

test("leaves out the paragraph of the code if a mail has only a link", async (t) => {
  const { sent, send } = await run(t, () => ({ ...reset, values: { link } }));

  await send();

  assert.match(sent[0]!.text, /token=abc/);
  assert.doesNotMatch(sent[0]!.text, /code|\{/);
});

test("queues the same row for a mail that will be sent and for a mail that will be dropped, and counts both", async (t) => {
  const rows: unknown[] = [];
  for (const composed of [reset, null]) {
    const { service, queue, waiting, sent, send, counts } = await run(t, () => composed);
    await service.store.write({ changes: queue({ user: 7 }, 0) });
    rows.push(await waiting());
    await send();
    assert.equal(sent.length, composed === null ? 0 : 2);
    assert.deepEqual(await waiting(), []);
    assert.deepEqual(counts(), composed === null ? [0, 2, 0] : [2, 0, 0]);
    t.mock.timers.reset();
  }
  assert.deepEqual(rows[0], rows[1]);
});

test("keeps a mail that the server refuses, and removes the link and the code from the stored error", async (t) => {
  const { send, waiting, counts } = await run(t, () => reset, {
    send: () => Promise.reject(new Error(`554 spam: ${link} abc 01234567`)),
  });

  await send();

  const [failedMail] = await waiting();
  assert.equal(failedMail?.["error"], "Error: 554 spam: [removed] [removed] [removed]");
  assert.deepEqual(failedMail["about"], { user: 7 });
  assert.deepEqual(counts(), [0, 0, 1]);
});

test("sends a mail in the language of its recipient, or in the language of the service if no template exists", async (t) => {
  for (const [wanted, language, subject] of [
    [undefined, "de", "Wählen Sie ein neues Passwort"],
    ["de-AT", "en", "Wählen Sie ein neues Passwort"],
    ["fr", "en", "Choose a new password"],
    ["en", "de", "Choose a new password"],
  ] as const) {
    const { sent, send } = await run(t, () => (wanted === undefined ? reset : { ...reset, language: wanted }), {
      language,
    });
    await send();
    assert.equal(sent[0]?.subject, subject);
    t.mock.timers.reset();
  }
});

test("uses the templates of the application, and replaces no placeholders within values", async (t) => {
  const { sent, send } = await run(
    t,
    () => ({ to: "ann@example.com", template: "welcome", values: { shop: "{link} <b>" } }),
    { templates: { en: { welcome: { subject: "At {shop}", text: "Hello from {shop}.", html: "<p>{shop}</p>" } } } },
  );

  await send();

  const [{ subject, text, html }] = sent as [Mail];
  assert.deepEqual([subject, text, html], ["At {link} <b>", "Hello from {link} <b>.\n", "<p>{link} &lt;b&gt;</p>"]);
});

test("refuses recipients, links and values that could add a header or a line", async (t) => {
  const wrong: readonly Composed[] = [
    { ...reset, to: "ann@example.com\r\nBcc: eve@example.com" },
    { ...reset, to: "ann@example.com, eve@example.com" },
    { ...reset, to: "Ann <ann@example.com>" },
    { ...reset, values: { link: `${link}\nBuy this`, code: "01234567" } },
    { ...reset, values: { link: "javascript:alert(1)", code: "01234567" } },
    { ...reset, values: { link, code: "Buy this" } },
    { ...reset, values: { link, shop: "a\u2028b" } },
    { ...reset, template: "unknown" },
  ];
  for (const composed of wrong) {
    const { sent, send, waiting } = await run(t, () => composed);
    await send();
    assert.deepEqual(sent, [], JSON.stringify(composed));
    assert.equal((await waiting()).length, 1);
    t.mock.timers.reset();
  }
});

test("offers the public address without the base path and the last slash", async (t) => {
  for (const [publicURL, basePath] of [
    ["https://api.example/v1/", "/v1"],
    ["https://api.example", "/v1"],
    [() => "https://api.example/", ""],
  ] as const) {
    const running = await run(t, () => reset, { publicURL, basePath });
    assert.equal(running.publicURL, "https://api.example");
    t.mock.timers.reset();
  }
});

test("stops the start for wrong options and templates", async (t) => {
  for (const [options, problem] of [
    [{ from: "a@example.com\r\nBcc: eve@example.com" }, /from is .*; it has to be an address/],
    [{ publicURL: "api.example" }, /publicURL is .*; it has to be the URL of the service/],
    [{ language: "English" }, /language is 'English'; it has to be a language/],
    [{ templates: { en: { welcome: { subject: "a\nb", text: "c" } } } }, /templates\.en\.welcome: subject has to be/],
    [{ templates: { en: { a: { subject: "{code}", text: "c" } } } }, /the subject has \{code\}/],
    [
      { templates: { en: { a: { subject: "b", text: "Here: {link}" } } } },
      /put \{link\} and \{code\} on separate lines/,
    ],
    [
      { templates: { en: { password_reset: { subject: "b", text: "{link}" } } } },
      /templates\.en\.password_reset: it has no \{code\}/,
    ],
    [
      { templates: { en: { password_changed: { subject: "b", text: "{name}" } } } },
      /templates\.en\.password_changed: there is no value name; there are service, at/,
    ],
  ] as const)
    await assert.rejects(
      run(t, () => reset, options).finally(() => t.mock.timers.reset()),
      problem,
    );
});

test("writes each mail to a file that only the user of the process can read", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-mail-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const mails = path.join(folder, "a/b");
  const { send } = await run(t, () => reset, { send: mailFiles(mails) });

  await send();

  const files = readdirSync(mails);
  assert.equal(files.length, 1);
  assert.match(files[0]!, /^2026-01-31T09-30-00\.000Z-1-[0-9a-f]{8}\.eml$/);
  const file = path.join(mails, files[0]!);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(mails).mode & 0o777, 0o700);
  const message = readFileSync(file, "utf8");
  const [head] = message.split("\r\n\r\n");
  assert.match(
    head!,
    /^From: "Example" <no-reply@example\.com>\r\nTo: ann@example\.com\r\nSubject: Choose a new password\r\n/,
  );
  assert.match(head!, /^Date: Sat, 31 Jan 2026 09:30:00 \+0000\r$/m);
  assert.match(head!, /^Auto-Submitted: auto-generated\r$/m);
  assert.match(message, /^https:\/\/api\.example\/reset\?token=abc\r$/m);
  assert.match(message, /^01234567\r$/m);
});
