import assert from "node:assert/strict";
import { test } from "node:test";
import {
  apiTokensCollection,
  namedKeys,
  namedKeysCollection,
  sessionsCollection,
  type Account,
  type Admission,
  type APITokens,
  type NamedKeys,
  type Proof,
  type SessionLogin,
  type TokenLogin,
} from "../../src/door/auth.ts";
import {
  accounts,
  apiTokens,
  authenticated,
  defineEndpoint,
  defineFeature,
  sessionLogin,
  tokenLogin,
  type Context,
} from "../../src/door/index.ts";
import type { Collection } from "../../src/door/stores.ts";
import { admitAsOperator } from "../../src/testing/testing.ts";
import { addTOTP } from "../harness/factors.ts";
import { outsideLogins, type OutsideOptions } from "../harness/outside-logins.ts";
import { open, serve as serveOwn, email, password } from "../harness/own-logins.ts";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: the verdicts of schemes are checked outside of the store.

const now = ({ now: at }: { readonly now: number }) => at;
const strong = (at: number) =>
  ({
    authTime: at,
    level: 2,
    proofs: [
      { method: "pwd", at },
      { method: "otp", at },
    ],
  }) as const;

const acting = { id: 1, username: "admin" };

/** Schemes whose identities claim more than their declaration says. */
const overstating = {
  easy: { proves: ["pwd"], claims: (call) => ({ authTime: now(call), needs: 1 }) },
  none: { proves: ["pwd"], isBare: true, claims: (call) => ({ authTime: now(call), needs: 0 }) },
  effortless: { claims: () => ({ needs: 1 }) },
  actor: { proves: "each", claims: (call) => ({ ...strong(now(call)), actor: acting }) },
  silent: { claims: (call) => strong(now(call)) },
  program: { proves: "program", claims: (call) => strong(now(call)) },
  level: { proves: "each", claims: (call) => ({ authTime: now(call), level: 2 }) },
  weak: { proves: "each", claims: (call) => ({ ...strong(now(call)), proofs: [{ method: "pwd", at: now(call) }] }) },
  listed: { proves: ["pwd"], claims: (call) => strong(now(call)) },
  bare: { isBare: true, claims: (call) => strong(now(call)) },
  plain: { isBare: true, proves: ["pwd"] },
} satisfies OutsideOptions["more"];

test("believes only the proofs that a scheme declares", async (t) => {
  const api = await serve(t, { config: { features: outsideLogins({ more: overstating }).features } });
  const plain = await api.user("Bob");
  const ann = await addTOTP(api, "Ann");

  for (const name of Object.keys(overstating)) {
    const headers = { [`x-${name}`]: ann.email };
    const read = await api.get("/protected/", headers);
    const isProgram = name === "program";
    assert.deepEqual([read.status, read.json.code], isProgram ? [200, undefined] : [401, "factor_required"], name);
    const made = await api.post(`/users/${ann.id}/keys`, { name }, headers);
    assert.deepEqual(
      [made.status, made.json.code],
      [401, isProgram ? "confirmation_required" : "factor_required"],
      name,
    );

    const own = { [`x-${name}`]: plain.email };
    const shown = (await api.get("/api/session/", own)).json;
    assert.ok((shown.level ?? 1) < 2, `${name} ${shown.level}`);
    // A login of unknown time is not fresh.
    const key = await api.post(`/users/${plain.id}/keys`, { name }, own);
    const expected = name === "actor" ? 403 : ["weak", "listed", "easy", "none"].includes(name) ? 201 : 400;
    assert.equal(key.status, expected, `${name} ${key.text}`);
  }
});

/**
 * More overstating schemes: their identities claim a time or a level without a proof, or proofs although another user
 * acts.
 */
const unproved = {
  timed: { proves: "each", claims: (call) => ({ authTime: now(call) }) },
  empty: { proves: "each", claims: (call) => ({ authTime: now(call), level: 2, proofs: [] }) },
  acting: { proves: "each", claims: (call) => ({ ...strong(now(call)), actor: acting }) },
} satisfies OutsideOptions["more"];

const whoAmI = defineEndpoint({
  method: "GET",
  path: "/who-am-i",
  access: authenticated,
  handle({ identity }) {
    const { level = null, proofs = null, authTime = null } = identity!;
    return {
      status: 200,
      body: { kind: "data", value: { level, methods: methodsOf(proofs), authTime }, element: "caller" },
    };
  },
});

const methodsOf = (proofs: readonly Proof[] | null) => proofs?.map(({ method }) => method) ?? null;

test("gives an endpoint only the level, the proofs and the time of login that a scheme may claim", async (t) => {
  const { features } = outsideLogins({ more: { ...overstating, ...unproved } });
  const api = await serve(t, { config: { features, endpoints: [whoAmI] } });
  const { email: username } = await api.user("Ann");
  const { now: at } = api.clock;
  const nothing = { level: 1, methods: null, authTime: null };
  const passwordAlone = { level: 1, methods: ["pwd"], authTime: at };

  for (const [name, expected] of Object.entries({
    easy: passwordAlone,
    none: passwordAlone,
    effortless: nothing,
    actor: nothing,
    silent: nothing,
    program: { ...nothing, level: null },
    level: nothing,
    weak: passwordAlone,
    listed: passwordAlone,
    bare: nothing,
    plain: { ...passwordAlone, authTime: null },
    timed: nothing,
    empty: nothing,
    acting: nothing,
  } satisfies Record<keyof typeof overstating | keyof typeof unproved, object>)) {
    const answer = await api.get("/who-am-i", { [`x-${name}`]: username });
    assert.deepEqual([answer.status, answer.json], [200, expected], name);
  }
});

interface Makers {
  readonly sessions: SessionLogin;
  readonly tokens: TokenLogin;
  readonly apiTokens: APITokens;
  readonly keys: NamedKeys;
}

type Make = (makers: Makers, context: Context, admission: Admission) => Promise<unknown>;

const key = { name: "laptop", scopes: null, expiresAt: null };

/** Each function that starts a login or makes a credential. */
const makers: Readonly<Record<string, Make>> = {
  "sessions.create": ({ sessions }, { call }, admission) => sessions.sessions.create(admission, call),
  "session-login, begin.start": ({ sessions }, context, admission) => sessions.begin.start(context, admission, {}),
  "session-login, begin.renew": ({ sessions }, context, admission) =>
    sessions.begin.renew!(context, admission, { id: context.requireIdentity().sessionId!, options: {} }),
  "pairs.issue": async ({ tokens }, { now }, admission) => tokens.pairs.issue(admission, now),
  "pairs.renew": async ({ tokens }, { now }, admission) => tokens.pairs.renew(admission, "family", now),
  "token-login, begin.start": ({ tokens }, context, admission) =>
    tokens.begin.start(context, admission, { cookie: false }),
  "token-login, begin.renew": ({ tokens }, context, admission) =>
    tokens.begin.renew!(context, admission, { id: "family", options: { cookie: false } }),
  "apiTokens.issue": ({ apiTokens: made }, { now }, admission) => made.issue(admission, now),
  "keys.create": ({ keys }, { now }, admission) => keys.create(admission, key, now),
};

/**
 * Values that are no `Admission`, the right to start one login. JavaScript code could pass them, because it has no
 * types.
 */
const impostors: Readonly<Record<string, (account: Account, real: Admission) => unknown>> = {
  nothing: () => undefined,
  null: () => null,
  "an id": ({ id }) => id,
  "an account": (account) => account,
  "a literal": (account) => ({ userId: account.id, generation: account.generation, proofs: [], level: 2 }),
  "a copy": (_, real) => ({ ...real }),
  "a copy by JSON": (_, real) => JSON.parse(JSON.stringify(real)) as unknown,
  "its prototype": (_, real) => Object.create(Object.getPrototypeOf(real) as object) as unknown,
  "an object that inherits from it": (_, real) => Object.create(real) as unknown,
  "a proxy": (_, real) => new Proxy(real, {}),
};

test("lets no other code make an `Admission` with the constructor of a real one", () => {
  const account = { id: 1, generation: 1 } as Account;
  const real = admitAsOperator(account, 0);
  const Made = real.constructor as unknown as new (...input: readonly unknown[]) => unknown;
  const proofs = [{ method: "operator", at: 0 }];

  for (const input of [
    [account, proofs],
    [account, proofs, []],
    [Symbol("gate"), account, proofs],
    [real, account, proofs],
    [],
  ])
    assert.throws(() => new Made(...input), /Only logins\.beginLogin and logins\.vouch make an Admission/);
  assert.throws(() => Reflect.construct(Made, [undefined, account, proofs, []], Object), /Only logins\.beginLogin/);
});

test("starts no login and makes no credential with a forged or an already used `Admission`", async (t) => {
  const people = accounts(open);
  const features = {
    sessions: sessionLogin(people),
    tokens: tokenLogin(people),
    apiTokens: apiTokens(people),
    keys: namedKeys(people),
  };
  const results: string[] = [];
  const tries = defineFeature({
    name: "tries",
    needs: [people, ...Object.values(features)],
    setUp(host) {
      const { requireAccount } = host.use(people).accounts;
      const { vouch } = host.use(people).logins;
      const made: Makers = {
        sessions: host.use(features.sessions),
        tokens: host.use(features.tokens),
        apiTokens: host.use(features.apiTokens),
        keys: host.use(features.keys),
      };
      return {
        offer: null,
        endpoints: [
          defineEndpoint({
            method: "POST",
            path: "/tries/{id}",
            access: authenticated,
            async handle(context) {
              const account = await requireAccount(context);
              for (const [name, make] of Object.entries(makers)) {
                for (const [what, impostor] of Object.entries(impostors)) {
                  const forgedAdmission = impostor(account, await vouch(context, account)) as Admission;
                  await assert.rejects(
                    async () => make(made, context, forgedAdmission),
                    /logins\.beginLogin and logins\.vouch make it/,
                    `${name} took ${what}`,
                  );
                }
                const spent = await vouch(context, account);
                if (!name.endsWith("renew")) await made.tokens.pairs.issue(spent, context.now);
                else await make(made, context, spent);
                await assert.rejects(async () => make(made, context, spent), /has started a login before/, name);
                results.push(name);
              }
              return { status: 204 };
            },
          }),
        ],
      };
    },
  });
  const api = await serveOwn(t, people, [...Object.values(features), tries]);
  const session = await api.ask("POST", "/api/session/", { username: email, password });
  const cookie = { cookie: session.headers.getSetCookie()[0]!.split(";")[0]! };

  const answer = await api.ask("POST", "/tries/1", undefined, cookie);

  assert.equal(answer.status, 204, answer.text);
  assert.deepEqual(results, Object.keys(makers));
  const { store } = api.service;
  const count = async (collection: Collection): Promise<number> =>
    (await store.list({ collection, where: null, sort: [], limit: 100 })).length;
  // Two sessions: the test's own login, and the session that `begin.renew` made with a real admission.
  assert.deepEqual(
    [await count(sessionsCollection), await count(apiTokensCollection), await count(namedKeysCollection)],
    [2, 0, 0],
  );
});

/** Checked by the compiler. Code that skips the gate does not compile. */
function misuses(made: Makers, context: Context, account: Account, admission: Admission): readonly unknown[] {
  const literal = { userId: 1, generation: 1, proofs: [], level: 2 } as const;
  return [
    // @ts-expect-error -- an account
    made.sessions.sessions.create(account, context.call),
    // @ts-expect-error -- a literal
    made.sessions.begin.start(context, literal, {}),
    // @ts-expect-error -- nothing
    made.sessions.begin.start(context),
    // @ts-expect-error -- an account
    made.tokens.pairs.issue(account, 0),
    // @ts-expect-error -- a literal
    made.tokens.pairs.renew(literal, "family", 0),
    // @ts-expect-error -- a literal
    made.tokens.begin.start(context, literal, { cookie: false }),
    // @ts-expect-error -- an id
    made.apiTokens.issue(1, 0),
    // @ts-expect-error -- an account
    made.keys.create(account, key, 0),
    // @ts-expect-error -- a copy
    made.keys.create({ ...admission }, key, 0),
    // @ts-expect-error -- only a token pair makes access tokens
    made.tokens.access.issue(account, "family", 0),
    // @ts-expect-error -- the package exports the class only as a type
    (): Admission => new Admission(account, []),
  ];
}
void misuses;
