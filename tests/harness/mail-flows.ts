import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import {
  namedKeys,
  totp,
  type AccountsOptions,
  type APITokens,
  type NamedKeys,
  type People,
} from "../../src/door/auth.ts";
import {
  accounts,
  apiTokens,
  basicLogin,
  sessionLogin,
  tokenLogin,
  type ServiceOptions,
} from "../../src/door/index.ts";
import { mailLogin } from "../../src/features/auth/mail-login/feature.ts";
import { mailbox } from "../../src/features/auth/mailbox/feature.ts";
import { passwordReset } from "../../src/features/auth/password-reset/feature.ts";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import { readCookies, parseBase32 } from "./factors.ts";
import { email as ada, open, password, serve, type Answered, type Own } from "./own-logins.ts";
import { testMail, type SentMail, type TestMail } from "./test-mail.ts";

// A service with every login, password resets and login codes, whose mails a test delivers.

export type Headers = Readonly<Record<string, string>>;

export interface MailFlows extends Own {
  readonly people: People;
  readonly tokens: APITokens;
  readonly keys: NamedKeys;
  readonly mail: TestMail;
  post(path: string, body?: unknown, headers?: Headers): Promise<Answered>;
  /** Delivers the queued mails. Asserts that exactly one is composed, and returns it. */
  sent(): Promise<SentMail>;
  /**
   * Requests the reset of a password. Returns its mail. First moves the clock by a minute, so that no limit is reached.
   */
  reset(email?: string): Promise<SentMail>;
  /** Requests a login code. Returns its mail. First moves the clock by a minute, so that no limit is reached. */
  loginCode(email?: string): Promise<SentMail>;
  logIn(email?: string, word?: string): Promise<Headers>;
  /**
   * Adds a TOTP factor. Returns the headers of the renewed session, and a function that makes the codes of the factor.
   */
  addTOTP(id: number, session: Headers): Promise<{ readonly headers: Headers; code(): string }>;
}

export const MINUTE_MS = 60_000;

export const basic = (email: string, word: string): Headers => ({
  authorization: `Basic ${Buffer.from(`${email}:${word}`).toString("base64")}`,
});

/** Starts the service. Ada (1) has signed up by open registration. */
export async function startMailFlows(
  t: TestContext,
  options: AccountsOptions = {},
  more: Partial<ServiceOptions> = {},
): Promise<MailFlows> {
  const feature = accounts({ ...open, ...options });
  const mail = testMail();
  const box = mailbox(feature, mail.feature);
  const [tokens, keys] = [apiTokens(feature), namedKeys(feature)];
  const logins = [basicLogin(feature), sessionLogin(feature), tokenLogin(feature), tokens, keys, totp(feature)];
  const flows = [mail.feature, box, passwordReset(feature, box), mailLogin(feature, box)];
  const api = await serve(t, feature, [...logins, ...flows], more);
  const post = (path: string, body?: unknown, headers?: Headers) => api.ask("POST", path, body, headers);

  async function sent(): Promise<SentMail> {
    const mails = await mail.deliver(api.clock.now);
    assert.equal(mails.length, 1);
    return mails[0]!;
  }

  async function requested(path: string, email: string): Promise<SentMail> {
    api.clock.now += MINUTE_MS;
    const answer = await post(path, { email });
    assert.deepEqual([answer.status, answer.text], [202, "{}"]);
    return sent();
  }

  return {
    ...api,
    people: api.service.use(feature),
    tokens: api.service.use(tokens),
    keys: api.service.use(keys),
    mail,
    post,
    sent,
    reset: (email = ada) => requested("/api/password/reset/", email),
    loginCode: (email = ada) => requested("/api/login/code/", email),
    async logIn(email = ada, word = password) {
      const answer = await post("/api/session/", { username: email, password: word });
      assert.equal(answer.status, 201, answer.text);
      return readCookies(answer);
    },
    async addTOTP(id, session) {
      const made = await post(`/users/${id}/factors`, { kind: "totp", label: "Phone" }, session);
      assert.equal(made.status, 201, made.text);
      const secret = parseBase32(made.json.secret);
      const code = (): string => computeCode(secret, computeStep(api.clock.now));
      const confirmed = await post(`/users/${id}/factors/${made.json.id}/confirm`, { code: code() }, session);
      assert.equal(confirmed.status, 200, confirmed.text);
      api.clock.now += 30_000;
      return { headers: readCookies(confirmed), code };
    },
  };
}
