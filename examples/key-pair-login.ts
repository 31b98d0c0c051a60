// Logging in by a key pair that never leaves the device: it signs a challenge, and a session begins.
import { createPublicKey, randomBytes, verify, type KeyObject } from "node:crypto";
import {
  accounts,
  authenticated,
  basicLogin,
  createService,
  defineEndpoint,
  defineFeature,
  defineResource,
} from "latchkey";
import { listen, problem, Secret, sessionLogin, text } from "latchkey";
import { rateLimits } from "latchkey/features";
import { requireDraft } from "latchkey/resources";
import { sqliteStore, type Collection } from "latchkey/stores";

const MINUTE_MS = 60_000;

const keys: Collection = {
  name: "device_keys",
  key: "text",
  columns: [
    { name: "user_id", type: "integer", references: { collection: "users", onDelete: "cascade" } },
    { name: "x", type: "text" },
    { name: "y", type: "text" },
  ],
  indexes: [["user_id"]],
};
const challenges: Collection = {
  name: "device_key_challenges",
  key: "text",
  columns: [{ name: "expires_at", type: "integer" }],
  indexes: [["expires_at"]],
};

/** The public key of the device: a point of P-256 (RFC 7518 §6.2). */
const coordinate = text({
  maxLength: 43,
  pattern: { matches: /^[\w-]{43}$/, detail: "32 bytes as Base64url are required." },
});
const deviceKey = defineResource({ name: "device_key", fields: { x: coordinate, y: coordinate } });
const proof = defineResource({
  name: "proof",
  fields: {
    device_key: text({ maxLength: 43 }),
    challenge: text({ maxLength: 43 }),
    signature: text({ maxLength: 86 }),
  },
});

const people = accounts({ registration: "open" });
const sessions = sessionLogin(people);
const json = ["application/json"];

const keyPairLogin = defineFeature({
  name: "key-pair-login",
  needs: [people, sessions],
  setUp(host) {
    const { accounts: found, logins, confirming, endings } = host.use(people);
    const login = host.use(sessions);
    const { throttle } = host;
    // A deactivated account loses its keys.
    endings.registerTable("account", keys);
    const drawn = (): string => randomBytes(32).toString("base64url");

    const add = defineEndpoint({
      method: "POST",
      path: "/api/device-keys/",
      access: authenticated,
      consumes: json,
      async handle(context) {
        await confirming.requireFreshLogin(context, undefined);
        const { x, y } = requireDraft(deviceKey, context, { id: null, current: null }).values;
        if (parsePublicKey(x, y) === null) throw problem("invalid", { detail: "This is no point of P-256." });
        const id = drawn();
        const values = { user_id: context.requireIdentity().id, x, y };
        await context.write({ changes: [{ kind: "insert", collection: keys, key: id, values }] });
        return { status: 201, body: { kind: "data", value: { device_key: id }, element: "device_key" } };
      },
    });
    const challenge = defineEndpoint({
      method: "POST",
      path: "/api/device-keys/challenge/",
      access: "open",
      logsIn: true,
      async handle(context) {
        const id = drawn();
        const values = { expires_at: context.now + MINUTE_MS };
        await context.write({ changes: [{ kind: "insert", collection: challenges, key: id, values }] });
        return {
          status: 201,
          cache: "no-store",
          body: { kind: "data", value: { challenge: id }, element: "challenge" },
        };
      },
    });
    const logIn = defineEndpoint({
      method: "POST",
      path: "/api/device-keys/session/",
      access: "open",
      logsIn: true,
      consumes: json,
      // It sets a cookie.
      guard: (context) => context.requireSameSite(),
      async handle(context) {
        await throttle.check(context.call);
        const { values } = requireDraft(proof, context, { id: null, current: null });
        const row = await context.store.find(keys, values.device_key);
        const challengeRow = await context.store.find(challenges, values.challenge);
        // Used up in any case, so that a challenge is never signed twice.
        const used = await context.write({
          changes: [{ kind: "delete", collection: challenges, key: values.challenge }],
        });
        const isInTime = used.kind === "written" && Number(challengeRow?.record["expires_at"]) > context.now;
        const isGood = row !== null && isInTime && isSigned(row.record, values.challenge, values.signature);
        const account = isGood ? await found.find(Number(row.record["user_id"])) : null;
        const proofs = [{ method: "hwk", at: context.now }] as const;
        if (account?.active === true)
          return logins.beginLogin(context, { account, proofs, begin: login.begin, options: {} });
        await throttle.fail(context.call);
        throw problem("invalid_credentials");
      },
    });
    return {
      offer: null,
      endpoints: [add, challenge, logIn],
      collections: [keys, challenges],
      upkeep: [
        {
          everySeconds: 60,
          due: (now) => [
            { kind: "deleteAll", collection: challenges, where: { column: "expires_at", operator: "lte", value: now } },
          ],
        },
      ],
    };
  },
});

/** Returns null if it is not a point of the curve. */
function parsePublicKey(x: string, y: string): KeyObject | null {
  try {
    return createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  } catch {
    return null;
  }
}

function isSigned(row: Readonly<Record<string, unknown>>, challenge: string, signature: string): boolean {
  const key = parsePublicKey(String(row["x"]), String(row["y"]));
  if (key === null) return false;
  const signed = { key, dsaEncoding: "ieee-p1363" } as const;
  return verify("sha256", Buffer.from(challenge), signed, Buffer.from(signature, "base64url"));
}

const service = await createService({
  name: "shop",
  store: sqliteStore({ path: process.env["DATABASE"] ?? ":memory:" }),
  secret: new Secret(process.env["SECRET"] ?? "of 32 characters or more, and kept"),
  features: [
    people,
    basicLogin(people),
    sessions,
    keyPairLogin,
    // Each costs a row for a minute.
    rateLimits({
      limits: [
        { name: "challenges", by: "address", limit: 30, windowSeconds: 60, at: ["/api/device-keys/challenge/"] },
      ],
    }),
  ],
});
console.log((await listen(service, { port: Number(process.env["PORT"] ?? 8000) })).url);
