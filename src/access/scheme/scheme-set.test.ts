import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call } from "../../core/call/call.ts";
import type { Identity } from "../../core/identity.ts";
import type { Observation } from "../../core/observation.ts";
import { Problem, problem } from "../../core/problem/problem.ts";
import { callOf, type CallSketch } from "../../testing/calls.ts";
import type { Throttle } from "../throttle/throttle.ts";
import { makeSchemeSet, type SchemeSet } from "./scheme-set.ts";
import { absent, accepted, rejected, type Carrier, type Rejection, type Scheme } from "./scheme.ts";

/**
 * Creates a scheme that accepts `user-1` and `user-2`, and returns `absent` for `other`. It rejects any other word,
 * with the word as the reason.
 */
function createScheme(name: string, carrier: Carrier, more: Partial<Scheme> = {}): Scheme {
  return {
    name,
    carriers: [carrier],
    authenticate(credential) {
      if (credential === "other") return absent;
      const id = /^user-(\d)$/.exec(credential)?.[1];
      if (id === undefined) return rejected(credential as Rejection["reason"], `${name}: ${credential}`);
      return accepted(identityNumber(Number(id), name));
    },
    ...more,
  };
}

function identityNumber(id: number, scheme: string): Identity {
  return { id, username: `user-${id}`, role: "user", scheme, scopes: null, expiresAt: null };
}

const alpha = createScheme(
  "alpha",
  { in: "authorization", scheme: "Alpha" },
  { challenge: (_, rejection) => `Alpha ${rejection?.reason ?? "none"}` },
);
const beta = createScheme("beta", { in: "header", name: "X-Beta" }, { missingDetail: "Invalid or missing beta." });
const gamma = createScheme("gamma", { in: "cookie", name: "gamma", hostPrefix: true });
const delta = createScheme("delta", { in: "proxy", name: "X-Delta-User" }, { challenge: () => "Delta" });
const secret = createScheme(
  "secret",
  { in: "authorization", scheme: "Secret" },
  { rejectedAs: "invalid_credentials", challenge: () => "Secret" },
);

/** Creates a throttle that counts in memory. These tests check when the scheme set counts a guess. */
function countingGuesses(limit = Infinity): Throttle & { count: number } {
  return {
    count: 0,
    check() {
      if (this.count >= limit) throw problem("too_many_attempts", { headers: [["Retry-After", "9"]] });
      return limit - this.count;
    },
    fail() {
      this.count++;
    },
  };
}

function createSchemeSet(
  schemes: readonly Scheme[],
  throttle: Throttle = countingGuesses(),
  seen: Observation[] = [],
): SchemeSet {
  return makeSchemeSet({ schemes, throttle, observe: (observation) => seen.push(observation) });
}

/** Returns the result of a scheme set as one comparable value. */
function ask(schemeSet: SchemeSet, sketch: CallSketch): string {
  try {
    const identified = schemeSet.identify(callOf(sketch));
    assert.ok(!(identified instanceof Promise));
    return identified.identity === null
      ? "nobody"
      : `${identified.identity.username} by ${identified.identity.scheme}${identified.ambient ? ", ambient" : ""}`;
  } catch (error) {
    return readCode(error);
  }
}

function readCode(error: unknown): string {
  if (!(error instanceof Problem)) throw error;
  return `${error.status} ${error.code}: ${error.detail} [${error.headers.map((each) => each.join(" ")).join("; ")}]`;
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((first, at) => permutations(items.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}

test("returns the same result in any order of the schemes, for any credentials", () => {
  const states = [null, "user-1", "user-2", "other", "forged", "expired", "\u0007"];
  const schemeSets = permutations([alpha, beta, gamma, delta]).map((schemes) => createSchemeSet(schemes));
  const headerForms: ((value: string) => [string, string])[] = [
    (value) => ["Authorization", `Alpha ${value}`],
    (value) => ["X-Beta", value],
    (value) => ["Cookie", `gamma=${value}`],
    (value) => ["X-Delta-User", value],
  ];

  for (let combination = 0; combination < states.length ** 4; combination++) {
    const headers = headerForms.flatMap((buildHeader, at) => {
      const state = states[Math.floor(combination / states.length ** at) % states.length] ?? null;
      return state === null ? [] : [buildHeader(state)];
    });
    const sketch = { headers, trustedProxies: ["127.0.0.1"], peer: "127.0.0.1" };
    const answer = ask(schemeSets[0]!, sketch);
    const reversed = { ...sketch, headers: headers.toReversed() };
    for (const schemeSet of schemeSets) assert.equal(ask(schemeSet, sketch), answer, JSON.stringify(headers));
    assert.equal(ask(schemeSets[5]!, reversed), answer, JSON.stringify(headers));
  }
});

const answers: { title: string; headers: [string, string][]; answer: string }[] = [
  { title: "identifies no caller without a credential", headers: [], answer: "nobody" },
  {
    title: "identifies the caller of an accepted credential",
    headers: [["authorization", "Alpha user-1"]],
    answer: "user-1 by alpha",
  },
  {
    title: "reads the name of an authorization scheme in any case",
    headers: [["AUTHORIZATION", "aLPHA   user-1"]],
    answer: "user-1 by alpha",
  },
  {
    title: "ignores an unknown authorization scheme",
    headers: [["authorization", 'Digest username="ada", realm=x']],
    answer: "nobody",
  },
  { title: "ignores an empty Authorization header", headers: [["authorization", ""]], answer: "nobody" },
  { title: "ignores an empty header", headers: [["x-beta", ""]], answer: "nobody" },
  {
    title: "marks a cookie as ambient",
    headers: [["cookie", "a=1; gamma=user-1"]],
    answer: "user-1 by gamma, ambient",
  },
  {
    title: "identifies a user with two credentials by the one that is not a cookie",
    headers: [
      ["cookie", "gamma=user-1"],
      ["x-beta", "user-1"],
    ],
    answer: "user-1 by beta, ambient",
  },
  {
    title: "refuses credentials of two users",
    headers: [
      ["cookie", "gamma=user-1"],
      ["x-beta", "user-2"],
    ],
    answer: "400 conflicting_credentials: The request carries credentials of different users. []",
  },
  {
    title: "refuses a request with one rejected credential, and sends every challenge",
    headers: [
      ["authorization", "Alpha user-1"],
      ["x-beta", "expired"],
    ],
    answer:
      "401 invalid_token: beta: expired [WWW-Authenticate Alpha none; WWW-Authenticate Delta; WWW-Authenticate Secret]",
  },
  {
    title: "passes the rejection by a scheme to the challenge of that scheme only",
    headers: [["authorization", "Alpha forged"]],
    answer:
      "401 invalid_token: alpha: forged [WWW-Authenticate Alpha forged; WWW-Authenticate Delta; WWW-Authenticate Secret]",
  },
  {
    title: "reports the rejection if a request has both a rejection and a conflict",
    headers: [
      ["authorization", "Alpha user-1"],
      ["cookie", "gamma=user-2"],
      ["x-beta", "revoked"],
    ],
    answer:
      "401 invalid_token: beta: revoked [WWW-Authenticate Alpha none; WWW-Authenticate Delta; WWW-Authenticate Secret]",
  },
  {
    title: "ignores a rejected cookie next to an accepted credential",
    headers: [
      ["authorization", "Alpha user-1"],
      ["cookie", "gamma=revoked"],
    ],
    answer: "user-1 by alpha",
  },
  {
    title: "ignores a rejected cookie if there is no other credential",
    headers: [["cookie", "gamma=revoked"]],
    answer: "nobody",
  },
  {
    title: "ignores a cookie of more than 8 KiB",
    headers: [["cookie", `gamma=${"x".repeat(8193)}`]],
    answer: "nobody",
  },
  {
    title: "reports a conflict of two credentials also if a cookie is rejected",
    headers: [
      ["authorization", "Alpha user-1"],
      ["x-beta", "user-2"],
      ["cookie", "gamma=revoked"],
    ],
    answer: "400 conflicting_credentials: The request carries credentials of different users. []",
  },
  {
    title: "answers a wrong name and password with invalid_credentials",
    headers: [["authorization", "Secret password"]],
    answer:
      "401 invalid_credentials: secret: password [WWW-Authenticate Alpha none; WWW-Authenticate Delta; WWW-Authenticate Secret]",
  },
  {
    title: "refuses the name of an authorization scheme without a credential as malformed",
    headers: [["authorization", "Alpha"]],
    answer:
      "401 invalid_token: The credential is malformed. [WWW-Authenticate Alpha malformed; WWW-Authenticate Delta; WWW-Authenticate Secret]",
  },
  {
    title: "refuses a credential of more than 8 KiB as malformed",
    headers: [["authorization", `Alpha ${"x".repeat(8193)}`]],
    answer:
      "401 invalid_token: The credential is malformed. [WWW-Authenticate Alpha malformed; WWW-Authenticate Delta; WWW-Authenticate Secret]",
  },
  {
    title: "refuses a credential with characters beyond ASCII as malformed, with the message of the scheme",
    headers: [["x-beta", "user-1é"]],
    answer:
      "401 invalid_token: Invalid or missing beta. [WWW-Authenticate Alpha none; WWW-Authenticate Delta; WWW-Authenticate Secret]",
  },
];

for (const { title, headers, answer } of answers) {
  test(title, () => {
    assert.equal(ask(createSchemeSet([secret, gamma, delta, alpha, beta]), { headers }), answer);
  });
}

const duplicates: [string, string][][] = [
  [
    ["Authorization", "Alpha user-1"],
    ["authorization", "Alpha user-1"],
  ],
  [
    ["Authorization", "Unknown x"],
    ["authorization", "Alpha user-1"],
  ],
  [["Authorization", "Alpha user-1, Alpha user-1"]],
  [["Authorization", "Alpha user-1,Unknown x"]],
  [["Authorization", "Unknown x, Alpha user-1"]],
  [["Authorization", "Alpha forged, Alpha"]],
  [
    ["X-Beta", "user-1"],
    ["x-beta", "user-1"],
  ],
  [
    ["X-Beta", ""],
    ["x-beta", "user-1"],
  ],
  [["Cookie", "gamma=user-1; gamma=user-2"]],
  [
    ["Cookie", "gamma=user-1"],
    ["Cookie", "gamma=user-2"],
  ],
  [
    ["X-Beta", "forged"],
    ["Cookie", "gamma=user-1; gamma=user-2"],
  ],
];

for (const headers of duplicates) {
  test(`refuses two credentials at one place, before it checks any credential: ${JSON.stringify(headers)}`, () => {
    const throttle = countingGuesses(0);

    assert.match(ask(createSchemeSet([gamma, alpha, beta], throttle), { headers }), /^400 duplicate_credentials/);
    assert.equal(throttle.count, 0);
  });
}

test("counts a cookie that is sent twice with the same value as one credential", () => {
  assert.equal(
    ask(createSchemeSet([gamma]), { headers: { cookie: "gamma=user-1; gamma=user-1" } }),
    "user-1 by gamma, ambient",
  );
});

test("reads only the cookie with the __Host- prefix over TLS, and only the cookie without the prefix over cleartext", () => {
  const cookie = "gamma=user-1; __Host-gamma=user-2";

  assert.equal(ask(createSchemeSet([gamma]), { headers: { cookie }, encrypted: true }), "user-2 by gamma, ambient");
  assert.equal(ask(createSchemeSet([gamma]), { headers: { cookie } }), "user-1 by gamma, ambient");
});

test("sends every challenge in a separate header field if the call needs a caller", () => {
  const { status, code, headers } = createSchemeSet([delta, beta, alpha]).challenge(callOf());

  assert.deepEqual([status, code], [401, "not_authenticated"]);
  assert.deepEqual(headers, [
    ["WWW-Authenticate", "Alpha none"],
    ["WWW-Authenticate", "Delta"],
  ]);
});

test("answers 403 if no scheme has a challenge, and uses the message of the scheme if there is only one scheme", () => {
  assert.equal(
    readCode(createSchemeSet([beta]).challenge(callOf())),
    "403 authentication_failed: Invalid or missing beta. []",
  );
  assert.equal(
    readCode(createSchemeSet([beta, gamma]).challenge(callOf())),
    "403 authentication_failed: Invalid or missing credentials. []",
  );
  assert.equal(
    ask(createSchemeSet([beta, gamma]), { headers: { "x-beta": "unknown" } }),
    "403 authentication_failed: beta: unknown []",
  );
});

test("says why a cookie was rejected if the call needs a caller, and counts it as a guess only then", () => {
  const throttle = countingGuesses(1);
  const seen: Observation[] = [];
  const schemeSet = createSchemeSet([alpha, gamma], throttle, seen);
  const call = callOf({ headers: { cookie: "gamma=forged" } });

  const identified = schemeSet.identify(call);
  assert.ok(!(identified instanceof Promise));
  const { passedOver } = identified;

  assert.deepEqual([throttle.count, seen.length], [0, 1]);
  assert.equal(
    readCode(schemeSet.challenge(call, passedOver)),
    "401 invalid_token: gamma: forged [WWW-Authenticate Alpha none]",
  );
  schemeSet.countGuesses(call, passedOver);
  assert.equal(throttle.count, 1);
  assert.throws(() => schemeSet.countGuesses(call, passedOver), { code: "too_many_attempts" });
});

test("counts unknown and forged credentials as guesses, and no others", () => {
  for (const [reason, counts] of [
    ["unknown", 1],
    ["forged", 1],
    ["malformed", 0],
    ["expired", 0],
    ["revoked", 0],
    ["inactive", 0],
    ["password", 0],
  ] as const) {
    const throttle = countingGuesses();

    ask(createSchemeSet([beta], throttle), { headers: { "x-beta": reason } });

    assert.equal(throttle.count, counts, reason);
  }
});

test("answers 429 to wrong credentials after too many guesses, and still accepts a right credential", () => {
  const schemeSet = createSchemeSet([alpha, beta], countingGuesses(1));

  assert.match(ask(schemeSet, { headers: { "x-beta": "unknown" } }), /^401 invalid_token/);
  assert.match(ask(schemeSet, { headers: { "x-beta": "unknown" } }), /^429 too_many_attempts: .* \[Retry-After 9\]$/);
  assert.match(ask(schemeSet, { headers: { "x-beta": "expired" } }), /^401 invalid_token/);
  assert.equal(ask(schemeSet, { headers: { "x-beta": "user-1" } }), "user-1 by beta");
});

test("reports each rejection once, without the credential", () => {
  const seen: Observation[] = [];

  ask(createSchemeSet([alpha, beta], countingGuesses(), seen), {
    headers: { authorization: "Alpha forged", "x-beta": `expired` },
  });

  const common = { kind: "credential_rejected", requestId: "request-1", address: "127.0.0.1" };
  assert.deepEqual(seen, [
    { ...common, scheme: "alpha", code: "invalid_token", reason: "forged" },
    { ...common, scheme: "beta", code: "invalid_token", reason: "expired" },
  ]);
});

test("drops and reports an identity header field that does not come from a trusted proxy", () => {
  for (const name of ["X-Delta-User", "x_delta_user"]) {
    const seen: Observation[] = [];

    assert.equal(
      ask(createSchemeSet([delta], countingGuesses(), seen), {
        headers: { [name]: "user-1" },
        trustedProxies: ["10.0.0.1"],
      }),
      "nobody",
    );

    assert.deepEqual(seen, [
      { kind: "identity_header_dropped", requestId: "request-1", header: "x-delta-user", peer: "127.0.0.1" },
    ]);
  }
});

test("accepts an identity header field from a trusted proxy only in its exact spelling", () => {
  const from = (...headers: [string, string][]) =>
    ask(createSchemeSet([delta]), { headers, trustedProxies: ["127.0.0.1"] });

  assert.equal(from(["x-DELTA-user", "user-1"]), "user-1 by delta, ambient");
  assert.equal(from(["X_Delta_User", "user-1"]), "nobody");
  assert.equal(from(["X-Delta-User", ""]), "nobody");
});

test("refuses an identity header field that a trusted proxy sends twice, in any spelling", () => {
  for (const second of ["X-Delta-User", "x-delta-user", "X_Delta_User", "x-delta_USER"]) {
    const headers: [string, string][] = [
      ["X-Delta-User", "user-1"],
      [second, "user-1"],
    ];

    assert.match(
      ask(createSchemeSet([delta]), { headers, trustedProxies: ["127.0.0.1"] }),
      /^400 duplicate_credentials/,
      second,
    );
    assert.match(
      ask(createSchemeSet([delta]), { headers: headers.toReversed(), trustedProxies: ["127.0.0.1"] }),
      /^400/,
      second,
    );
  }
});

test("returns the same results if schemes are asynchronous", async () => {
  const slow = (scheme: Scheme): Scheme => ({
    ...scheme,
    authenticate: async (...parameters) => scheme.authenticate(...parameters),
  });
  const identify = async (schemeSet: SchemeSet, headers: [string, string][]) => {
    try {
      return (await schemeSet.identify(callOf({ headers }))).identity?.username;
    } catch (error) {
      return readCode(error);
    }
  };

  for (const { headers } of answers) {
    const expected = await identify(createSchemeSet([alpha, beta, gamma, secret]), headers);
    assert.deepEqual(
      await identify(createSchemeSet([slow(gamma), slow(secret), beta, slow(alpha)]), headers),
      expected,
    );
  }
});

test("ends the request with the problem that a scheme throws, also if another scheme rejects a credential", () => {
  const strict: Scheme = {
    ...alpha,
    authenticate: () => {
      throw problem("insecure_transport");
    },
  };
  const headers: [string, string][] = [
    ["authorization", "Alpha x"],
    ["x-beta", "forged"],
  ];

  for (const schemes of permutations([strict, beta]))
    assert.match(ask(createSchemeSet(schemes), { headers }), /^403 insecure_transport/);
});

test("refuses schemes with the same name or the same carrier, because their order would matter", () => {
  assert.throws(() => createSchemeSet([alpha, { ...beta, name: "alpha" }]), /Two schemes have the name alpha/);
  assert.throws(
    () => createSchemeSet([alpha, createScheme("omega", { in: "authorization", scheme: "ALPHA" })]),
    /alpha and omega both read Authorization: alpha/,
  );
  assert.throws(
    () => createSchemeSet([beta, createScheme("omega", { in: "proxy", name: "x-beta" })]),
    /both read the header x-beta/,
  );
  const [place] = beta.carriers;
  assert.throws(
    () => createSchemeSet([{ ...beta, carriers: [place!, place!] }]),
    /the scheme beta reads the header x-beta twice; leave one of its carriers out/,
  );
});

test("reads a cookie with and without its prefix if a scheme has a carrier for each", () => {
  const both = { carriers: ["gamma", "__Host-gamma"].map((name) => ({ in: "cookie", name }) as const) };
  const schemeSet = createSchemeSet([createScheme("both", both.carriers[0]!, both)]);

  for (const cookie of ["gamma=user-1", "__Host-gamma=user-1"])
    assert.equal(ask(schemeSet, { headers: { cookie } }), "user-1 by both, ambient");
});

test("lists in Vary every header field that the schemes read", () => {
  const { vary, varyWithAccept, carriers } = createSchemeSet([delta, gamma, beta, secret, alpha]);

  assert.equal(vary, "Authorization, X-Beta, X-Delta-User, Cookie");
  assert.equal(varyWithAccept, `Accept, ${vary}`);
  assert.equal(carriers.length, 5);
  assert.equal(createSchemeSet([]).varyWithAccept, "Accept");
});

test("identifies no caller without schemes", () => {
  const call: Call = callOf({ headers: { authorization: "Alpha user-1" } });

  assert.deepEqual(createSchemeSet([]).identify(call), { identity: null, ambient: false, passedOver: [] });
});
