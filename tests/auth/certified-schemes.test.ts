import { formatOpaqueToken, parseOpaqueToken } from "../../src/core/crypto/opaque-token.ts";
import {
  accessTokens,
  accountsCollection,
  storeAPITokens,
  apiTokensCollection,
  basic,
  bearer,
  customHeader,
  derivedSigningKeys,
  makePasswords,
  makeRevocations,
  storeNamedKeys,
  namedKeysCollection,
  remoteUser,
  storeBindings,
  revocationsCollection,
  session,
  sessions,
  sessionsCollection,
  token,
} from "../../src/door/auth.ts";
import { Secret } from "../../src/door/index.ts";
import { accountsIn } from "../../src/testing/accounts.ts";
import { callOf, certifyScheme, type SchemeTools } from "../../src/testing/testing.ts";
import { admitted, admittedBy } from "../harness/admitted.ts";

const serverSecret = new Secret("a secret of the server, long enough");
const people = [{ username: "ada", password: "difference-engine" }, { username: "bob" }];

/** Revokes all credentials of ada, as a deactivation does. */
function deactivate({ store }: SchemeTools): Promise<unknown> {
  return store.write({
    changes: [{ kind: "update", collection: accountsCollection, key: 1, values: { active: false } }],
  });
}

const encodeBasic = (name: string, password: string) => Buffer.from(`${name}:${password}`).toString("base64");

certifyScheme("basic", async (tools) => {
  const { store, throttle } = tools;
  const accounts = await accountsIn(store, people);
  const passwords = makePasswords({ accounts, store, throttle, cores: 2 });
  const valid = encodeBasic("ada", "difference-engine");
  return {
    scheme: basic({ accounts, passwords }),
    valid,
    wrong: encodeBasic("ada", "analytical-engine"),
    unknown: encodeBasic("eve", "difference-engine"),
    malformed: ["YWRh", "%%%", `${valid}=`],
    revoke: () => deactivate(tools),
    secrets: [valid, encodeBasic("ada", "analytical-engine"), "difference-engine", "analytical-engine"],
  };
});

certifyScheme("session", async (tools) => {
  const { store, observe, now } = tools;
  const accounts = await accountsIn(store, people);
  await store.open([sessionsCollection]);
  const sessionStore = sessions({ store, idleSeconds: 3600, lifetimeSeconds: 3600, observe });
  const { id } = await sessionStore.create(admitted((await accounts.find(1))!, now), callOf({ now }));
  return {
    scheme: session({ sessions: sessionStore, accounts }),
    valid: id,
    wrong: "A".repeat(43),
    malformed: ["x", "short", "!".repeat(43)],
    lifetimeSeconds: 3600,
    revoke: () => sessionStore.end(id),
    // An id of 256 bits cannot be guessed, so the scheme treats an unknown id like the id of an expired session.
    countsGuesses: false,
  };
});

certifyScheme("token", async ({ store, observe, now }) => {
  const accounts = await accountsIn(store, people);
  await store.open([apiTokensCollection]);
  const tokens = storeAPITokens({ store, secret: serverSecret, observe });
  const [adas, bobs] = [
    await tokens.issue(await admittedBy(store, 1), now),
    await tokens.issue(await admittedBy(store, 2), now),
  ].map((issued) => parseOpaqueToken(issued.token)!);
  return {
    scheme: token({ tokens, accounts }),
    valid: formatOpaqueToken(adas!),
    wrong: formatOpaqueToken({ lookup: adas!.lookup, secret: bobs!.secret }),
    unknown: formatOpaqueToken({ lookup: "0".repeat(14), secret: bobs!.secret }),
    malformed: ["key_", `${formatOpaqueToken(adas!).slice(0, -1)}!`],
    revoke: () => tokens.revoke(1),
    secrets: [adas!.secret, bobs!.secret],
  };
});

certifyScheme("token with a named key", async ({ store, observe, now }) => {
  const accounts = await accountsIn(store, people);
  await store.open([apiTokensCollection, namedKeysCollection]);
  const keys = storeNamedKeys({ store, secret: serverSecret, observe });
  const expiresAt = new Date(now + 3600_000).toISOString();
  const { key, listed } = await keys.create(
    await admittedBy(store, 1),
    { name: "laptop", scopes: ["read"], expiresAt },
    now,
  );
  const { secret } = parseOpaqueToken(key)!;
  return {
    scheme: token({ tokens: keys, accounts }),
    valid: key,
    wrong: formatOpaqueToken({ lookup: listed.id, secret: "A".repeat(42) }),
    unknown: formatOpaqueToken({ lookup: "0".repeat(14), secret }),
    malformed: ["key_"],
    lifetimeSeconds: 3600,
    revoke: () => keys.revoke(1, listed.id),
    secrets: [key, secret],
  };
});

certifyScheme("bearer", async ({ store, now }) => {
  const accounts = await accountsIn(store, people);
  await store.open([revocationsCollection]);
  const revocations = makeRevocations({ store, accessSeconds: 300, endWithGeneration: [], endWithAccount: [] });
  await revocations.open();
  const keys = derivedSigningKeys(serverSecret);
  const account = (await accounts.find(1))!;
  const access = accessTokens({ keys, issuer: "here", lifetimeSeconds: 300, revocations });
  const valid = await access.issue(account, "family", now);
  const other = await access.issue({ ...account, role: "admin" }, "family", now);
  const nobodys = await access.issue({ ...account, id: 999 }, "family", now);
  const forged = (token: string): string => [...token.split(".").slice(0, 2), other.split(".")[2]!].join(".");
  const wrong = forged(valid);
  return {
    scheme: bearer({ access }),
    valid,
    wrong,
    // A forged token of an account that does not exist.
    unknown: forged(nobodys),
    malformed: ["a.b", "e30.e30"],
    lifetimeSeconds: 300,
    revoke: () => store.write({ changes: revocations.endFamily("family", now) }),
    secrets: [valid, wrong, ...valid.split(".").slice(1)],
  };
});

certifyScheme("remote-user", async (tools) => {
  const accounts = await accountsIn(tools.store, people);
  const secret = "what-only-the-proxy-knows";
  return {
    scheme: remoteUser({
      bindings: storeBindings({ store: tools.store, observe: tools.observe, accounts }),
      secret: new Secret(secret),
    }),
    valid: "ada",
    wrong: "eve",
    malformed: ["a:b"],
    headers: { "X-Remote-User-Secret": secret },
    revoke: () => deactivate(tools),
    countsGuesses: false,
    secrets: [secret],
  };
});

certifyScheme("custom-header", async (tools) => {
  const accounts = await accountsIn(tools.store, people);
  const valid = "a-token-of-32-characters-or-more";
  return {
    scheme: customHeader({ token: new Secret(valid), account: () => accounts.findByUsername("ada") }),
    valid,
    wrong: "a-token-of-32-characters-or-less",
    revoke: () => deactivate(tools),
  };
});
