import assert from "node:assert/strict";
import { isText } from "../../core/checking/members.ts";
import { Problem } from "../../core/problem/problem.ts";
import { carried, createCheck, CLOSED, OPEN, type BenchAnswer, type Bench, type SchemeCheck } from "./bench.ts";

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Promises about which credentials are accepted. */
export const verdictChecks: readonly SchemeCheck[] = [
  createCheck("has a valid name, and carriers with valid names", async ({ subject: { scheme } }) => {
    assert.match(scheme.name, /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, "the name is in lower case, with hyphens");
    assert.ok(scheme.carriers.length > 0, "there is a carrier");
    for (const carrier of scheme.carriers) {
      assert.match(
        carrier.in === "authorization" ? carrier.scheme : carrier.name,
        token,
        "the carrier's name is a token of HTTP",
      );
    }
  }),

  createCheck("accepts a valid credential in every carrier, and returns its identity", async (bench) => {
    const { scheme, valid } = bench.subject;
    for (const carrier of scheme.carriers) {
      const verdict = await bench.judge(valid, { carrier });
      assert.equal(verdict.kind, "accepted");
      if (verdict.kind !== "accepted") return;
      const { id, username, role, scopes, expiresAt } = verdict.identity;
      assert.equal(verdict.identity.scheme, scheme.name, "the identity names the scheme that accepted it");
      assert.ok(Number.isSafeInteger(id) && id > 0, `the identity's id is a user's id (1 or more), not ${id}`);
      assert.notEqual(username, "", "the identity has a name");
      assert.ok(isText(role) && role !== "", "the identity has a role");
      assert.ok(scopes === null || Array.isArray(scopes), "scopes are null or a list");
      assert.ok(expiresAt === null || expiresAt > bench.clock.now, "an accepted credential has not expired");
      assertAccepted(bench, await bench.present(valid, { carrier }));
    }
  }),

  createCheck("accepts a valid credential repeatedly and concurrently", async (bench) => {
    const answers = [
      await bench.present(bench.subject.valid),
      ...(await Promise.all(Array.from({ length: 10 }, () => bench.present(bench.subject.valid)))),
    ];
    for (const answer of answers) assertAccepted(bench, answer);
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1, "the identity is always the same");
  }),

  createCheck("treats a missing credential and one of another scheme as absent", async (bench) => {
    assert.equal((await bench.ask({}, OPEN)).status, 200);
    assertRefused(await bench.ask({}, CLOSED));
    const strange = { headers: [["Authorization", "Somebody-Elses x"]] } as const;
    assert.equal((await bench.ask(strange, OPEN)).status, 200);
    assertRefused(await bench.ask(strange, CLOSED));
  }),

  createCheck("refuses a wrong credential, also on open endpoints unless the credential is a cookie", async (bench) => {
    const { scheme, wrong, unknown } = bench.subject;
    for (const credential of unknown === undefined ? [wrong] : [wrong, unknown]) {
      for (const carrier of scheme.carriers) {
        const isCookie = carrier.in === "cookie";
        const { kind } = await bench.judge(credential, { carrier });
        assert.ok(kind === "rejected" || (isCookie && kind === "absent"), kind);
        assertRefused(await bench.present(credential, { carrier }));
        const open = await bench.present(credential, { carrier, path: OPEN });
        if (isCookie) assert.equal(open.status, 200);
        else assertRefused(open);
      }
    }
  }),

  createCheck(
    "refuses a wrong credential right after the valid one, and then accepts the valid one again",
    async (bench) => {
      const { valid, wrong } = bench.subject;
      assertAccepted(bench, await bench.present(valid));
      assertRefused(await bench.present(wrong));
      assertAccepted(bench, await bench.present(valid));
    },
  ),

  createCheck("returns the right verdict for each of several concurrent credentials", async (bench) => {
    const { valid, wrong } = bench.subject;
    const sent = [valid, wrong, valid, wrong, valid];
    const answers = await Promise.all(sent.map((credential) => bench.present(credential)));
    for (const [at, answer] of answers.entries()) {
      if (sent[at] === valid) assertAccepted(bench, answer);
      else assertRefused(answer);
    }
  }),

  createCheck("refuses a credential that is cut short, extended or changed in one character", async (bench) => {
    const { valid } = bench.subject;
    for (const changed of [
      valid.slice(0, -1),
      valid.slice(0, Math.ceil(valid.length / 2)),
      `${valid}x`,
      `${valid}0`,
      `x${valid}`,
      withAnother(valid, 0),
      withAnother(valid, Math.floor(valid.length / 2)),
      // Changes the second-last character, because the last bits of Base64 may be ignored.
      withAnother(valid, Math.max(0, valid.length - 2)),
    ]) {
      assertRefused(
        await bench.present(changed),
        `for a credential of ${changed.length} characters in place of ${valid.length}`,
      );
    }
  }),

  createCheck("refuses a malformed credential without counting a guess", async (bench) => {
    for (const credential of bench.subject.malformed ?? []) {
      for (let times = 0; times < 11; times++) assertRefused(await bench.present(credential));
    }
  }),

  createCheck("refuses an oversized credential", async (bench) => {
    // In a query, the credential makes the URL too long. The service then answers 414 before the scheme reads the
    // credential.
    const isLong = bench.subject.scheme.carriers[0]!.in === "query";
    for (const length of [8192, 8193, 12_000]) {
      const answer = await bench.present("x".repeat(length));
      if (isLong) assert.equal(answer.status, 414);
      else assertRefused(answer);
    }
  }),

  createCheck("accepts no hostile text, and throws no unexpected error for it", async (bench) => {
    for (const carrier of bench.subject.scheme.carriers) {
      for (const text of hostileTexts(bench.subject.valid)) {
        bench.clock.now += 61_000;
        const kind = await bench.judge(text, { carrier }).then((verdict) => verdict.kind, kindOfError);
        assert.ok(
          kind === "rejected" || kind === "absent" || kind === "problem",
          `${JSON.stringify(text.slice(0, 40))} is answered with ${kind}`,
        );
      }
    }
  }),

  createCheck("refuses a credential that is given twice", async (bench) => {
    const { scheme, valid, wrong, headers = {} } = bench.subject;
    for (const carrier of scheme.carriers) {
      const sent = [valid, wrong].map((credential) => carried(carrier, credential));
      for (const twice of [sent, sent.toReversed()]) {
        const fields = [...twice.flatMap((each) => each.headers ?? []), ...Object.entries(headers)];
        const query = twice.flatMap((each) => each.query ?? []);
        assert.equal((await bench.ask({ headers: fields, query })).status, 400);
      }
    }
  }),

  createCheck("refuses a credential from the moment of its expiry", async (bench) => {
    const { valid, lifetimeSeconds } = bench.subject;
    if (lifetimeSeconds === undefined) return;
    assertAccepted(bench, await bench.present(valid));
    bench.clock.now += lifetimeSeconds * 1000 - 1000;
    assertAccepted(bench, await bench.present(valid));
    bench.clock.now += 1000;
    for (let times = 0; times < 11; times++) assertRefused(await bench.present(valid));
  }),

  createCheck(
    "accepts a signature only with the signed body, and passes this body unchanged to the handler",
    async (bench) => {
      const { scheme, valid, body } = bench.subject;
      if (body === undefined || scheme.readsBody !== true) return;
      const answer = await bench.present(valid);
      assertAccepted(bench, answer);
      assert.equal((JSON.parse(answer.text) as { body: string }).body, body);
      for (const other of [`${body} `, "{}", ""]) assertRefused(await bench.present(valid, { body: other }));
    },
  ),

  createCheck("refuses a revoked credential immediately, even if it was just used", async (bench) => {
    const { subject } = bench;
    if (subject.revoke === undefined) return;
    assertAccepted(bench, await bench.present(subject.valid));
    await subject.revoke();
    assertRefused(await bench.present(subject.valid));
  }),
];

export function assertAccepted({ subject }: Bench, { status, text }: BenchAnswer): void {
  assert.equal(status, 200, `a valid credential is answered with 200: ${text}`);
  assert.match(text, new RegExp(`"scheme":"${subject.scheme.name}"`));
}

export function assertRefused({ status }: BenchAnswer, what = "the refusal"): void {
  assert.ok(status === 401 || status === 403, `${what} is answered with 401 or 403, not ${status}`);
}

/** Describes an error. A problem ends a request on purpose. Any other error is a fault. */
function kindOfError(error: unknown): string {
  return error instanceof Problem && error.status < 500 ? "problem" : "an error";
}

const lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/**
 * Replaces one character by another letter or digit. Never by the same letter in another case, which some credentials
 * treat as equal.
 */
function withAnother(text: string, at: number): string {
  const next = (lettersAndDigits.indexOf(text.charAt(at)) + 1) % lettersAndDigits.length;
  return text.slice(0, at) + lettersAndDigits.charAt(next) + text.slice(at + 1);
}

function hostileTexts(valid: string): readonly string[] {
  const short = [
    "",
    " ",
    "\0",
    "\n",
    "\r\nX: y",
    "null",
    "undefined",
    "NaN",
    "-1",
    "[]",
    "{}",
    '{"a":1}',
    "true",
    "..",
    "../../x",
    "%00",
    "%",
    "=",
    "==",
    ":",
    "::",
    ",",
    ";",
    '"',
    "'",
    "'; --",
    "\\",
    "$",
    "${x}",
    "a.b.c",
    "...",
    "e30.e30.e30",
    "eyJhbGciOiJub25lIn0.e30.",
  ];
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  const beyond = ["ë", "\ud800", "\u202e", "😀", "\uffff", Buffer.from([0xff, 0xfe]).toString("latin1")];
  const encoded = [":", "a:b", "\0:\0", "\ufffd", names[0]!].map((text) => Buffer.from(text).toString("base64"));
  const long = ["A".repeat(8192), ":".repeat(8192), "é".repeat(100_000), `${valid}${" ".repeat(1_000_000)}x`];
  return [...short, ...names, ...names.map((name) => `${name}:${name}`), ...beyond, ...encoded, ...long];
}
