import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call } from "../../core/call/call.ts";
import type { Identity } from "../../core/identity.ts";
import { Problem } from "../../core/problem/problem.ts";
import { callOf } from "../../testing/calls.ts";
import { joinSchemes } from "./joining.ts";
import { makeSchemeSet } from "./scheme-set.ts";
import { absent, accepted, rejected, type Scheme, type Verdict } from "./scheme.ts";

const carriers = [{ in: "authorization", scheme: "Badge" }] as const;

function part(more: Partial<Scheme> & Pick<Scheme, "authenticate">): Scheme {
  return { name: "badge", shared: true, carriers, challenge: () => "Badge", ...more };
}

function whose(id: number): Verdict {
  const identity: Identity = {
    id,
    username: `user-${id}`,
    role: "user",
    scheme: "badge",
    scopes: null,
    expiresAt: null,
  };
  return accepted(identity);
}

/** Creates a scheme that accepts the credentials starting with `letter`, unless they end with `old`. */
function lettered(letter: string, id: number, more: Partial<Scheme> = {}): Scheme {
  return part({
    authenticate(credential) {
      if (!credential.startsWith(letter)) return rejected("unknown", "Nobody has this badge.");
      return credential.endsWith("old") ? rejected("expired", `${letter} has expired.`) : whose(id);
    },
    ...more,
  });
}

/** Creates a scheme that recognizes the credentials that start with `mark`. */
function marked(mark: string, id: number): Scheme {
  return part({
    recognizes: (credential) => credential.startsWith(mark),
    rejectedAs: "token_not_valid",
    authenticate: (credential) => (credential === `${mark}bad` ? rejected("forged", "Forged.") : whose(id)),
  });
}

const calmGuessing = { check: () => 10, fail: () => undefined };

async function ask(schemes: readonly Scheme[], credential: string): Promise<string> {
  const call: Call = callOf({ headers: { authorization: `Badge ${credential}` } });
  try {
    const { identity } = await makeSchemeSet({ schemes, throttle: calmGuessing, observe: null }).identify(call);
    return identity?.username ?? "nobody";
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return `${error.code}: ${error.detail}`;
  }
}

const a = lettered("a", 1);
const b = lettered("b", 2);
const m = marked("%", 3);

for (const [credential, answer] of [
  ["a1", "user-1"],
  ["b1", "user-2"],
  ["%1", "user-3"],
  ["a old", "invalid_token: a has expired."],
  ["b old", "invalid_token: b has expired."],
  ["%bad", "token_not_valid: Forged."],
  ["c1", "invalid_token: Nobody has this badge."],
] as const) {
  test(`returns the same result in any order of the parts of a shared scheme, for ${credential}: ${answer}`, async () => {
    for (const order of [
      [a, b, m],
      [b, m, a],
      [m, a, b],
    ])
      assert.equal(await ask(order, credential), answer);
  });
}

test("rejects a credential that no part recognizes", async () => {
  const modest = part({ authenticate: () => absent });

  assert.equal(await ask([m], "c1"), "token_not_valid: The token is invalid, expired or revoked.");
  assert.equal(await ask([m, modest], "c1"), "invalid_token: The token is invalid, expired or revoked.");
});

test("waits for the verdict of an asynchronous part", async () => {
  const slow = lettered("s", 4, {
    authenticate: async (credential) => (credential === "s1" ? whose(4) : rejected("unknown")),
  });

  assert.equal(await ask([slow, b], "b1"), "user-2");
  assert.equal(await ask([b, slow], "s1"), "user-4");
});

test("passes a part only the credentials from its own carriers", async () => {
  const elsewhere = part({ carriers: [{ in: "header", name: "X-Badge" }], authenticate: () => whose(9) });

  assert.equal(await ask([a, elsewhere], "b1"), "invalid_token: Nobody has this badge.");
});

test("ends the request with a fault if a part returns no verdict", async () => {
  const broken = part({ authenticate: () => undefined as unknown as Verdict });

  await assert.rejects(ask([broken, b], "b1"), /The scheme badge gave no verdict/);
});

test("does not join a single scheme, or a scheme that is not shared", () => {
  assert.deepEqual(joinSchemes([a]), [a]);
  assert.throws(
    () => makeSchemeSet({ schemes: [a, { ...b, shared: false }], throttle: calmGuessing, observe: null }),
    /Two schemes/,
  );
});

test("gives a joined scheme the rejection codes of all parts, one challenge, and each carrier once", () => {
  const [whole] = joinSchemes([m, a]);

  assert.deepEqual(whole!.carriers, carriers);
  assert.equal(whole!.rejectedAs, "invalid_token");
  assert.deepEqual(whole!.alsoRejectedAs, ["token_not_valid"]);
  assert.equal(whole!.challenge!(callOf(), null), "Badge");
});

test("checks each accepted identity of a shared scheme, also if it has one part or a part that recognizes", async () => {
  for (const schemes of [[a], [m], [a, b], [a, m]]) {
    const asked: number[] = [];
    const [joined] = joinSchemes(schemes, (_scheme, { id }) => {
      asked.push(id);
      return rejected("inactive");
    });
    for (const credential of ["a1", "%1"]) {
      const verdict = await joined!.authenticate(credential, callOf({}), joined!.carriers[0]!);
      assert.equal(verdict.kind, "rejected", `${schemes.length} ${credential}`);
    }
    assert.ok(asked.length > 0);
  }
});
