import assert from "node:assert/strict";
import { test } from "node:test";
import { namedKeys, remoteUserLogin } from "../../src/door/auth.ts";
import {
  accounts,
  apiTokens,
  createService,
  rejected,
  Secret,
  sessionLogin,
  tokenLogin,
  type Feature,
  type Scheme,
} from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { sqliteStore } from "../../src/door/stores.ts";

// On SQLite alone: these services are refused before they open their store.

const secret = new Secret("a secret of thirty-two characters.");
const people = accounts();

/** Returns the mistakes that stop the start of a service with these features. */
async function readMistakes(...features: readonly Feature[]): Promise<string> {
  const started = createService({ store: sqliteStore({ path: ":memory:" }), secret, features });
  const error: unknown = await started.then(
    (service) => service.close(),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof DeclarationError, String(error));
  return error.message;
}

const slips: readonly (readonly [make: () => Feature, told: RegExp])[] = [
  // @ts-expect-error -- idleSecond
  [() => sessionLogin(people, { idleSecond: 60 }), /session-login: there is no option idleSecond; did you mean idle/],
  [() => sessionLogin(people, { lifetimeSeconds: 0 }), /lifetimeSeconds is 0; it has to be a whole number of seconds/],
  [() => tokenLogin(people, { accessSeconds: Number.NaN }), /token-login: accessSeconds is NaN; it has to be a whole/],
  // @ts-expect-error -- text
  [() => tokenLogin(people, { rotates: "no" }), /token-login: rotates is 'no'; it has to be true or false/],
  // @ts-expect-error -- enable
  [() => apiTokens(people, { enable: false }), /api-tokens: there is no option enable; did you mean enabled\?/],
  // @ts-expect-error -- enable
  [() => namedKeys(people, { enable: false }), /named-keys: there is no option enable; did you mean enabled\?/],
  // @ts-expect-error -- secrets
  [() => remoteUserLogin(people, { secrets: secret }), /remote-user-login: there is no option secrets/],
];

for (const [make, message] of slips)
  test(`refuses to start a login method with a wrong option: ${message.source.slice(0, 60)}`, async () => {
    assert.match(await readMistakes(people, make()), message);
  });

test("refuses to start accounts with a wrong option", async () => {
  // @ts-expect-error -- registation
  assert.match(await readMistakes(accounts({ registation: "open" })), /registation; did you mean registration\?/);
  // @ts-expect-error -- opne
  const misspelt = accounts({ registration: "opne" });
  assert.match(await readMistakes(misspelt), /one of closed, open, verified; did you mean open\?/);
});

test("refuses to start with a secret that can be guessed", async () => {
  for (const weak of ["", "secret", "x".repeat(31)]) {
    const options = { store: sqliteStore({ path: ":memory:" }), secret: new Secret(weak) };
    await assert.rejects(createService(options), /the secret has fewer than 32 bytes.*openssl rand -base64 48/);
  }
});

test("refuses to start if a scheme reads a cookie with the name of the refresh cookie", async () => {
  for (const [session, tokens] of [
    [sessionLogin(people, { cookie: "shop" }), tokenLogin(people, { refreshCookie: "shop" })],
    [sessionLogin(people), tokenLogin(people, { refreshCookie: "session" })],
  ] as const)
    assert.match(
      await readMistakes(people, session, tokens),
      /token-login: refreshCookie is (?:shop|session), and the scheme session reads a cookie of that name; rename one/,
    );
  const own: Scheme = {
    name: "own",
    carriers: [{ in: "cookie", name: "__Secure-refresh_token" }],
    authenticate: () => rejected("unknown"),
  };
  await assert.rejects(
    createService({
      store: sqliteStore({ path: ":memory:" }),
      secret,
      schemes: [own],
      features: [people, tokenLogin(people)],
    }),
    /refreshCookie is refresh_token, and the scheme own reads a cookie of that name; rename one/,
  );
});
