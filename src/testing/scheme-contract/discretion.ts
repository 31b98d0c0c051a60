import assert from "node:assert/strict";
import { inspect } from "node:util";
import type { Rejection } from "../../access/scheme/scheme.ts";
import { createCheck, listHeaderFields, OPEN, type BenchAnswer, type Bench, type SchemeCheck } from "./bench.ts";
import { assertAccepted, assertRefused } from "./verdicts.ts";

/** The promises about secrets: which parts of a credential and of an account a service may show. */
export const discretionChecks: readonly SchemeCheck[] = [
  createCheck("offers a challenge that clients can parse, with the name of an accepted scheme", async (bench) => {
    const { scheme } = bench.subject;
    for (const rejection of [null, ...(await collectRejections(bench))]) {
      const challenge = scheme.challenge?.(bench.watchedCall(new Set()), rejection) ?? null;
      if (challenge === null) continue;
      assert.match(challenge, challengeForm, "a challenge has the syntax of RFC 9110 §11.3");
      const accepted = scheme.carriers.flatMap((carrier) =>
        carrier.in === "authorization" ? [carrier.scheme.toLowerCase()] : [],
      );
      const named = challenge.split(" ")[0]!.toLowerCase();
      assert.ok(accepted.length === 0 || accepted.includes(named), `${named} is a scheme of the carriers`);
    }
  }),

  createCheck("prevents shared caches from storing its answers", async (bench) => {
    const { scheme, valid, wrong } = bench.subject;
    for (const carrier of scheme.carriers) {
      const accepted = await bench.present(valid, { carrier });
      assertAccepted(bench, accepted);
      assert.match(
        accepted.headers.get("cache-control") ?? "",
        /^(?:private\b|no-store$)/,
        "an accepted answer is private",
      );
      const refused = await bench.present(wrong, { carrier });
      assertRefused(refused);
      assert.equal(refused.headers.get("cache-control"), "no-store", "a refused answer is not stored");
      for (const field of listHeaderFields(carrier))
        for (const { headers } of [accepted, refused])
          assert.ok(splitHeader(headers.get("vary")).includes(field), `Vary names ${field}`);
    }
  }),

  createCheck("reads only the headers that it declares", async (bench) => {
    const { scheme, headers = {} } = bench.subject;
    const declared = new Set([
      ...scheme.carriers.flatMap(listHeaderFields),
      ...Object.keys(headers).map((name) => name.toLowerCase()),
    ]);
    for (const carrier of scheme.carriers) {
      for (const credential of collectCredentials(bench)) {
        const read = new Set<string>();
        await bench.judge(credential, { carrier, call: bench.watchedCall(read) }).catch(() => null);
        assert.deepEqual(
          [...read].filter((name) => !declared.has(name)),
          [],
          "Vary cannot name an undeclared header",
        );
      }
    }
  }),

  createCheck("keeps secrets out of answers, challenges, details, observations and errors", async (bench) => {
    const { scheme, secrets = collectCredentials(bench).filter(isSecret) } = bench.subject;
    const outputs: string[] = [];
    const record = (value: unknown): number =>
      outputs.push(
        typeof value === "string" ? value : inspect(value, { depth: 12, maxStringLength: null, maxArrayLength: null }),
      );
    for (const credential of [...collectCredentials(bench), `${bench.subject.valid}x`]) {
      for (const path of [undefined, OPEN]) {
        const answer: BenchAnswer = await bench.present(credential, path === undefined ? {} : { path });
        record([...answer.headers].join("\n"));
        record(answer.text);
      }
      const verdict = await bench.judge(credential).catch((error: unknown) => ({ kind: "error", error }) as const);
      record(verdict);
      if (verdict.kind === "rejected") record(scheme.challenge?.(bench.watchedCall(new Set()), verdict) ?? "");
    }
    for (const observation of bench.observed) {
      record(observation);
      if ("error" in observation && observation.error instanceof Error) record(String(observation.error.stack));
    }
    for (const secret of secrets) {
      const where = outputs.find((text) => text.includes(secret));
      assert.equal(where, undefined, `the output contains a secret: ${where?.replaceAll(secret, "[secret]")}`);
    }
  }),

  createCheck("uses the same words for an unknown and a wrong credential", async (bench) => {
    const { unknown, wrong } = bench.subject;
    if (unknown === undefined) return;
    const [one, other] = [await bench.present(unknown), await bench.present(wrong)];
    assert.deepEqual(readRefusal(one), readRefusal(other));
  }),

  createCheck("takes the same time for an unknown and a wrong credential", async (bench) => {
    const { unknown, wrong } = bench.subject;
    if (unknown === undefined) return;
    const rounds: string[] = [];
    const longer = new Set<string>();
    // Measures up to three times, because a busy machine may disturb one measurement.
    for (let round = 0; round < 3; round++) {
      const [unknownMs, wrongMs] = await leastTimes(bench, [unknown, wrong]);
      const isSame =
        Math.abs(unknownMs! - wrongMs!) < 1 || Math.max(unknownMs!, wrongMs!) < 2 * Math.min(unknownMs!, wrongMs!);
      longer.add(unknownMs! > wrongMs! ? unknown : wrong);
      if (isSame || longer.size > 1) return;
      rounds.push(`${unknownMs!.toFixed(1)} ms for an unknown credential, ${wrongMs!.toFixed(1)} ms for a wrong one`);
    }
    assert.fail(`The time reveals which credentials exist: ${rounds.join("; ")}`);
  }),

  createCheck("throttles too many guesses, before any expensive work", async (bench) => {
    const { wrong, countsGuesses = true } = bench.subject;
    const before: number[] = [];
    for (let times = 0; times < 10; times++) {
      before.push(await cpuMs(async () => assertRefused(await bench.present(wrong))));
    }
    const later: number[] = [];
    for (let times = 0; times < 5; times++) {
      let answer: BenchAnswer | null = null;
      later.push(await cpuMs(async () => void (answer = await bench.present(wrong))));
      assertThrottled(answer!, countsGuesses);
    }
    // A CPU time of 5 ms or more shows that a hash was computed. A response without a hash takes much less.
    const isIdle = median(before) < 5 || median(later) < median(before) / 2;
    assert.ok(!countsGuesses || isIdle, "a throttled request causes no work");
  }),

  createCheck("accepts a credential that was used before, even while guesses are throttled", async (bench) => {
    const { valid, wrong } = bench.subject;
    assertAccepted(bench, await bench.present(valid));
    for (let times = 0; times < 12; times++) await bench.present(wrong);
    assertAccepted(bench, await bench.present(valid));
  }),
];

const name = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameter = `${name}[ \\t]*=[ \\t]*(?:${name}|"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\[\\t\\x20-\\x7e])*")`;
const challengeForm = new RegExp(
  `^${name}(?: +(?:[A-Za-z0-9._~+/-]+=*|${parameter}(?:[ \\t]*,[ \\t]*${parameter})*))?$`,
);

/**
 * Returns true if a text is long enough to search for it. A short malformed credential may be a part of ordinary words.
 */
function isSecret({ length }: string): boolean {
  return length >= 8;
}

function collectCredentials({ subject: { valid, wrong, unknown, malformed = [] } }: Bench): readonly string[] {
  return [valid, wrong, ...(unknown === undefined ? [] : [unknown]), ...malformed];
}

async function collectRejections(bench: Bench): Promise<readonly Rejection[]> {
  const rejections: Rejection[] = [];
  for (const credential of collectCredentials(bench)) {
    const verdict = await bench.judge(credential).catch(() => null);
    if (verdict?.kind === "rejected") rejections.push(verdict);
  }
  return rejections;
}

function assertThrottled({ status, headers }: BenchAnswer, countsGuesses: boolean): void {
  if (!countsGuesses) return assert.notEqual(status, 429, "throttles only guesses");
  assert.equal(status, 429, "the service answers 429 after ten guesses in a minute");
  assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/, "429 has Retry-After");
}

/** Measures the CPU time of a task on all threads. Other programs on the machine do not count. */
async function cpuMs(task: () => Promise<void>): Promise<number> {
  const start = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function splitHeader(header = ""): readonly string[] {
  return header.toLowerCase().split(/, */);
}

function readRefusal({ status, headers, text }: BenchAnswer): unknown {
  const { code, detail } = JSON.parse(text) as { code: string; detail: string };
  return { status, code, detail, challenge: headers.get("www-authenticate") };
}

/**
 * Returns the shortest times of alternating attempts, in milliseconds. A busy machine rarely affects the shortest ones.
 */
async function leastTimes(bench: Bench, credentials: readonly string[]): Promise<readonly number[]> {
  const times = credentials.map((): number[] => []);
  for (let round = 0; round < 7; round++) {
    for (const [at, credential] of credentials.entries()) {
      // Moves the clock past every window in which wrong credentials are counted.
      bench.clock.now += 120_000;
      const start = performance.now();
      await bench.judge(credential);
      times[at]!.push(performance.now() - start);
    }
  }
  return times.map((tries) => Math.min(...tries));
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!;
}
