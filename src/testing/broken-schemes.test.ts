import assert from "node:assert/strict";
import { scryptSync } from "node:crypto";
import { test } from "node:test";
import { absent, accepted, rejected, type Scheme, type Verdict } from "../access/scheme/scheme.ts";
import type { Call } from "../core/call/call.ts";
import { digest, sameBytes } from "../core/crypto/secret.ts";
import type { Identity } from "../core/identity.ts";
import { certifyScheme, schemeChecks } from "./scheme-contract.ts";
import type { SchemeSubject, SchemeTools } from "./scheme-contract/subject.ts";

const identity: Identity = { id: 1, username: "ada", role: "user", scheme: "badge", scopes: null, expiresAt: null };
const secret = "difference-engine";
const form = /^(\d{1,6}):([a-z-]{8,64})$/;
const malformed = rejected("malformed");

/** Returns a minimal valid scheme: `Authorization: Badge 17:difference-engine`. */
function badge({ now }: SchemeTools, role = "user"): SchemeSubject & { readonly badges: Map<string, Buffer> } {
  const badges = new Map([["17", digest(secret)]]);
  const endsAt = now + 3600_000;
  let isRevoked = false;
  const scheme: Scheme = {
    name: "badge",
    carriers: [{ in: "authorization", scheme: "Badge" }],
    challenge: () => 'Badge realm="gate"',
    authenticate(credential, call) {
      const [, number, presented] = form.exec(credential) ?? [];
      if (number === undefined || presented === undefined) return malformed;
      const proof = badges.get(number);
      if (!sameBytes(digest(presented), proof ?? digest("nobody's")))
        return rejected(proof === undefined ? "unknown" : "forged");
      if (isRevoked) return rejected("revoked");
      return call.now < endsAt ? accepted({ ...identity, role }) : rejected("expired");
    },
  };
  return {
    scheme,
    badges,
    valid: `17:${secret}`,
    wrong: "17:analytical-engine",
    unknown: `99:${secret}`,
    malformed: ["17", "seventeen:engine", `17:${secret}!`],
    lifetimeSeconds: 3600,
    revoke: async () => void (isRevoked = true),
    secrets: [secret, "analytical-engine"],
  };
}

certifyScheme("a good scheme", (tools) => badge(tools));
certifyScheme("a scheme whose users have a custom role", (tools) => badge(tools, "editor"));

type Authenticate = (credential: string, call: Call) => Verdict | Promise<Verdict>;

interface Broken {
  readonly what: string;
  /** The name of the check that must find the defect. */
  readonly check: string;
  /** Returns the members of the scheme that have the defect. `good` is the correct behavior. */
  readonly breaks: (good: Authenticate, tools: SchemeTools) => Partial<Scheme>;
}

/** Returns a defect that replaces each rejection of a well-formed credential. */
function insteadOfRejecting(change: (credential: string) => Verdict): Broken["breaks"] {
  return (good) => ({
    async authenticate(credential, call) {
      const verdict = await good(credential, call);
      return verdict.kind === "rejected" && verdict.reason !== "malformed" ? change(credential) : verdict;
    },
  });
}

/** Takes as long as a password hash. */
function work(): void {
  scryptSync("password", "salt", 32, { cost: 16_384 });
}

const broken: readonly Broken[] = [
  {
    what: "has an invalid name",
    check: "has a valid name, and carriers with valid names",
    breaks: () => ({ name: "Badge Of Honour" }),
  },
  {
    what: "returns an identity with the name of another scheme",
    check: "accepts a valid credential in every carrier, and returns its identity",
    breaks: (good) => ({
      async authenticate(credential, call) {
        const verdict = await good(credential, call);
        return verdict.kind === "accepted" ? accepted({ ...identity, scheme: "basic" }) : verdict;
      },
    }),
  },
  {
    what: "declares a carrier that it does not read",
    check: "accepts a valid credential in every carrier, and returns its identity",
    breaks: (good) => ({
      carriers: [
        { in: "authorization", scheme: "Badge" },
        { in: "cookie", name: "badge" },
      ],
      authenticate: (credential, call, carrier) => (carrier.in === "cookie" ? absent : good(credential, call)),
    }),
  },
  {
    what: "accepts a credential only once",
    check: "accepts a valid credential repeatedly and concurrently",
    breaks(good) {
      const used = new Set<string>();
      return {
        authenticate: (credential, call) =>
          used.size === used.add(credential).size ? rejected("expired") : good(credential, call),
      };
    },
  },
  {
    what: "checks the number of a badge but not the secret",
    check: "refuses a wrong credential, also on open endpoints unless the credential is a cookie",
    breaks: (good) => ({
      authenticate: (credential, call) => (credential.startsWith("17:") ? accepted(identity) : good(credential, call)),
    }),
  },
  {
    what: "makes a challenge only for refused callers",
    check: "treats a missing credential and one of another scheme as absent",
    breaks: () => ({ challenge: (_call, rejection) => `Badge error="${rejection!.reason}"` }),
  },
  {
    what: "throws an error for a long credential",
    check: "refuses an oversized credential",
    breaks: (good) => ({
      authenticate(credential, call) {
        if (credential.length > 1024) throw new RangeError("The badge is too long.");
        return good(credential, call);
      },
    }),
  },
  {
    what: "treats wrong credentials as absent",
    check: "refuses a wrong credential, also on open endpoints unless the credential is a cookie",
    breaks: insteadOfRejecting(() => absent),
  },
  {
    what: "caches accepted badges by their number alone",
    check: "refuses a wrong credential right after the valid one, and then accepts the valid one again",
    breaks(good) {
      const knownNumbers = new Set<string>();
      return {
        async authenticate(credential, call) {
          const number = credential.split(":")[0]!;
          if (knownNumbers.has(number)) return accepted(identity);
          const verdict = await good(credential, call);
          if (verdict.kind === "accepted") knownNumbers.add(number);
          return verdict;
        },
      };
    },
  },
  {
    what: "stores the credential where the next request overwrites it",
    check: "returns the right verdict for each of several concurrent credentials",
    breaks(good) {
      let current = "";
      return {
        async authenticate(credential, call) {
          current = credential;
          await new Promise((resolve) => setImmediate(resolve));
          return good(current, call);
        },
      };
    },
  },
  {
    what: "compares only as many characters as were sent",
    check: "refuses a credential that is cut short, extended or changed in one character",
    breaks: (good) => ({
      authenticate: (credential, call) =>
        credential.length > 3 && `17:${secret}`.startsWith(credential)
          ? good(`17:${secret}`, call)
          : good(credential, call),
    }),
  },
  {
    what: "compares the length and the beginning",
    check: "refuses a credential that is cut short, extended or changed in one character",
    breaks: (good) => ({
      authenticate: (credential, call) =>
        credential.length === `17:${secret}`.length && credential.startsWith("17:d")
          ? good(`17:${secret}`, call)
          : good(credential, call),
    }),
  },
  {
    what: "counts a malformed credential as a guess",
    check: "refuses a malformed credential without counting a guess",
    breaks: (good) => ({
      authenticate: (credential, call) => (form.test(credential) ? good(credential, call) : rejected("unknown")),
    }),
  },
  {
    what: "decodes invalid text",
    check: "accepts no hostile text, and throws no unexpected error for it",
    breaks: (good) => ({ authenticate: (credential, call) => good(decodeURIComponent(credential), call) }),
  },
  {
    what: "finds a badge among the members that every object inherits",
    check: "accepts no hostile text, and throws no unexpected error for it",
    breaks(good) {
      const doors: Record<string, unknown> = { 17: secret };
      return {
        authenticate(credential, call) {
          const [door = "", sentSecret = ""] = credential.split(":");
          return door in doors && String(doors[door]).includes(sentSecret)
            ? accepted(identity)
            : good(credential, call);
        },
      };
    },
  },
  {
    what: "does not check the expiry",
    check: "refuses a credential from the moment of its expiry",
    breaks: (good, { now }) => ({
      authenticate: (credential, call) => good(credential, Object.create(call, { now: { value: now } }) as Call),
    }),
  },
  {
    what: "counts an expired credential as a guess",
    check: "refuses a credential from the moment of its expiry",
    breaks: insteadOfRejecting(() => rejected("unknown")),
  },
  {
    what: "caches its verdicts",
    check: "refuses a revoked credential immediately, even if it was just used",
    breaks(good) {
      const verdicts = new Map<string, Verdict | Promise<Verdict>>();
      return {
        authenticate(credential, call) {
          const verdict = verdicts.get(credential) ?? good(credential, call);
          verdicts.set(credential, verdict);
          return verdict;
        },
      };
    },
  },
  {
    what: "offers a challenge that no client can parse",
    check: "offers a challenge that clients can parse, with the name of an accepted scheme",
    breaks: () => ({ challenge: () => 'Badge realm="gate' }),
  },
  {
    what: "offers a challenge for a scheme that it does not accept",
    check: "offers a challenge that clients can parse, with the name of an accepted scheme",
    breaks: () => ({ challenge: () => 'Basic realm="gate"' }),
  },
  {
    what: "reads a header that it does not declare",
    check: "reads only the headers that it declares",
    breaks: (good) => ({
      authenticate: (credential, call) =>
        call.header("x-badge-of-the-house") === undefined ? good(credential, call) : accepted(identity),
    }),
  },
  {
    what: "repeats the credential in its detail",
    check: "keeps secrets out of answers, challenges, details, observations and errors",
    breaks: insteadOfRejecting((credential) => rejected("forged", `The badge ${credential} is wrong.`)),
  },
  {
    what: "throws an error with the credential in it",
    check: "keeps secrets out of answers, challenges, details, observations and errors",
    breaks: insteadOfRejecting((credential) => {
      throw new Error(`badge ${credential}: no match`);
    }),
  },
  {
    what: "reveals which badges exist",
    check: "uses the same words for an unknown and a wrong credential",
    breaks: (good) => ({
      async authenticate(credential, call) {
        const verdict = await good(credential, call);
        return verdict.kind === "rejected" && verdict.reason === "unknown"
          ? rejected("unknown", "There is no such badge.")
          : verdict;
      },
    }),
  },
  {
    what: "computes a hash only if the badge exists",
    check: "takes the same time for an unknown and a wrong credential",
    breaks: (good) => ({
      authenticate(credential, call) {
        if (credential.startsWith("17:")) work();
        return good(credential, call);
      },
    }),
  },
  {
    what: "computes a hash before it counts the guess",
    check: "throttles too many guesses, before any expensive work",
    breaks: (good) => ({
      authenticate(credential, call) {
        work();
        return good(credential, call);
      },
    }),
  },
  {
    what: "calls a guess malformed, so that it is not counted",
    check: "throttles too many guesses, before any expensive work",
    breaks: insteadOfRejecting(() => malformed),
  },
  {
    what: "refuses every caller while one is guessing",
    check: "accepts a credential that was used before, even while guesses are throttled",
    breaks: (good, { throttle }) => ({
      async authenticate(credential, call) {
        await throttle.check(call);
        return good(credential, call);
      },
    }),
  },
];

for (const { what, check, breaks } of broken) {
  test(`catches a scheme that ${what}: ${check}`, async () => {
    const named = schemeChecks.find(({ name }) => name === check);
    assert.ok(named, "the check is there");
    const make = (tools: SchemeTools): SchemeSubject => {
      const subject = badge(tools);
      const good: Authenticate = (credential, call) =>
        subject.scheme.authenticate(credential, call, subject.scheme.carriers[0]!);
      return { ...subject, scheme: { ...subject.scheme, ...breaks(good, tools) } };
    };

    await assert.rejects(named.run(make), assert.AssertionError);
  });
}
