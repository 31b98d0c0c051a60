import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { AccountsFeature, AccountsOptions } from "../../src/door/auth.ts";
import {
  accounts,
  basicLogin,
  createService,
  sessionLogin,
  type Feature,
  type Service,
  type ServiceOptions,
} from "../../src/door/index.ts";
import type { Store } from "../../src/door/stores.ts";
import type { Mailbox } from "../../src/features/auth/mailbox/contract.ts";
import { mailbox } from "../../src/features/auth/mailbox/feature.ts";
import { accountNotices } from "../../src/features/auth/notices/feature.ts";
import { verifiedEmail } from "../../src/features/auth/verified-email/feature.ts";
import { secret, type Answered } from "./own-logins.ts";
import { testMail, type SentMail, type TestMail } from "./test-mail.ts";
import { emptyStore } from "./test-store.ts";

// A service with verified addresses, made of toolkit parts: root (1) is its administrator, and ada (2) a user.

export const password = "difference-engine";
export const ada = "ada@example.com";

export interface Mailed {
  readonly service: Service;
  readonly people: AccountsFeature;
  readonly mail: TestMail;
  readonly clock: { now: number };
  post(path: string, body?: unknown, headers?: Headers): Promise<Answered>;
  ask(method: string, path: string, body?: unknown, headers?: Headers): Promise<Answered>;
  /** Returns the queued mails, oldest first. */
  sent(): Promise<readonly SentMail[]>;
  /** Returns the only queued mail. */
  onlyMail(): Promise<SentMail>;
}

export type Headers = Readonly<Record<string, string>>;

/** Returns the headers of a login with Basic. */
export function as(username: string, secretWord = password): Headers {
  return { authorization: `Basic ${Buffer.from(`${username}:${secretWord}`).toString("base64")}` };
}

export const root = as("root");

/** Starts a service with these options of `accounts()`, which stops with the test. */
export async function startMailed(
  t: TestContext,
  options: AccountsOptions = { registration: "verified", invitations: true },
  more: readonly Feature[] | ((people: AccountsFeature, box: Feature<Mailbox>) => readonly Feature[]) = [],
  store?: Store,
  rest: Partial<ServiceOptions> = {},
): Promise<Mailed> {
  const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
  const people = accounts({ passwordCost: { memoryKiB: 8, passes: 1, lanes: 1 }, ...options });
  const mail = testMail();
  const box = mailbox(people, mail.feature);
  const service = await createService({
    store: store ?? (await emptyStore()),
    secret,
    features: [
      people,
      basicLogin(people),
      sessionLogin(people),
      mail.feature,
      box,
      verifiedEmail(people, box),
      accountNotices(people, mail.feature),
      ...(typeof more === "function" ? more(people, box) : more),
    ],
    trustedProxies: ["10.0.0.1"],
    observe: null,
    now: () => clock.now,
    ...rest,
  });
  t.after(() => service.close());
  await addUser(service, people, { name: "Root", email: "root@example.com", username: "root", role: "admin" });
  await addUser(service, people, { name: "Ada", email: ada, username: ada, role: "user" });

  async function ask(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Answered> {
    const isText = typeof body === "string";
    const sent = body === undefined ? {} : { body: isText ? body : JSON.stringify(body) };
    const type = body === undefined || "content-type" in headers ? {} : { "content-type": "application/json" };
    const request = new Request(`http://127.0.0.1${path}`, { method, headers: { ...type, ...headers }, ...sent });
    const peer = "x-forwarded-for" in headers ? "10.0.0.1" : "127.0.0.1";
    const response = await service.fetch(request, { peer });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parse(text) };
  }

  return {
    service,
    people,
    mail,
    clock,
    ask,
    post: (path, body, headers) => ask("POST", path, body, headers),
    sent: () => mail.deliver(clock.now),
    async onlyMail() {
      const mails = await mail.deliver(clock.now);
      assert.equal(mails.length, 1, JSON.stringify(mails));
      return mails[0]!;
    },
  };
}

async function addUser(
  service: Service,
  people: AccountsFeature,
  user: { readonly name: string; readonly email: string; readonly username: string; readonly role: string },
): Promise<void> {
  const offered = service.use(people);
  const passwordHash = await offered.logins.passwords.hash(null, password);
  const changes = offered.accounts.insertUser({ ...user, passwordHash, emailOrigin: "vouched", now: service.now() });
  assert.equal((await service.store.write({ changes })).kind, "written");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
