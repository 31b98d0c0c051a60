import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { isCommonPassword } from "../../src/core/crypto/common-passwords.ts";
import { valueOfJSON } from "../../src/core/exact-numbers.ts";
import { parseAuthorization } from "../../src/core/headers/authorization.ts";
import { parseETags } from "../../src/core/headers/etag.ts";
import { parseIdempotencyKey } from "../../src/core/headers/idempotency-key.ts";
import { formatLink } from "../../src/core/headers/link.ts";
import { parseMediaType } from "../../src/core/headers/media-type.ts";
import { parsePrefer } from "../../src/core/headers/prefer.ts";
import { Problem } from "../../src/core/problem/problem.ts";
import { splitWords } from "../../src/core/words/words.ts";
import { json, readJSON } from "../../src/http/formats/json.ts";
import { negotiate } from "../../src/http/formats/negotiate.ts";
import { readXML } from "../../src/http/formats/xml-reader.ts";
import { xml } from "../../src/http/formats/xml.ts";
import { runAtOnce } from "../../src/http/scheduling/slices.ts";
import { ConfigError, readSettings } from "../../src/service/settings/settings.ts";
import { leastCPUms } from "../harness/least-cpu.ts";
import { hostileJSON, hostileXML } from "../harness/long-bodies.ts";

// Quick tests beside each reader check its results. These tests check its CPU time, which a busy machine can increase.

function requireQuick(mostMs: number, work: () => unknown, what: string): void {
  const ms = leastCPUms(mostMs, work);
  assert.ok(ms < mostMs, `${what}: ${ms} ms`);
}

test("reads a MiB of any JSON in at most 40 ms of CPU time", () => {
  const numbers = JSON.stringify(Array.from({ length: 500_000 }, () => 1));
  for (const text of [
    `[1e5,${numbers}]`,
    `[1e-100,${numbers}]`,
    `[",12345678901234567890",${numbers}]`,
    `[${"123456789012345,".repeat(65_000)}1e100]`,
    `[${"0.30000000000000004,".repeat(52_000)}1]`,
    `[1e100,"${'\\\\\\"'.repeat(200_000)}"]`,
  ])
    requireQuick(40, () => valueOfJSON(text), text.slice(0, 30));
});

test("splits a text with a hundred thousand marks on one letter in less than 100 ms", () => {
  for (const letter of ["e", "か", "ह", "1", ""])
    requireQuick(100, () => splitWords(`${letter}${"\u0301\u0316".repeat(50_000)}`), letter);
});

for (const [name, parse] of Object.entries({
  parseAuthorization,
  parseETags,
  parseIdempotencyKey,
  parseMediaType,
  parsePrefer,
  formatLink: (text: string) => formatLink(text, "next"),
}))
  test(`reads long texts in less than a second in ${name}`, () => {
    const pieces = ['"', '\\"', '"\\', ",", " ", ", ", '"a",', "a=", 'a="', ";", "a;", "W/", "a", "\t,", "a, b "];
    const long = (piece: string): string => piece.repeat(16_384 / piece.length);

    requireQuick(
      1000,
      () => {
        for (const piece of pieces)
          for (const text of [`x ${long(piece)}`, long(piece), `"${long(piece)}`]) parse(text);
      },
      name,
    );
  });

test("negotiates long headers within 500 ms", () => {
  const longs = ["a/b,".repeat(4000), "a/b;q=1;".repeat(2000), `a/b;x="${'\\"'.repeat(8000)}`, ",".repeat(16000)];

  requireQuick(500, () => longs.map((long) => negotiate(long, [json, xml])), "negotiate");
});

test("reads or refuses each hostile body in less than a second", () => {
  const attempt = (read: () => unknown): void => {
    try {
      read();
    } catch (error) {
      assert.ok(error instanceof Problem, String(error));
    }
  };
  for (const body of hostileJSON)
    requireQuick(1000, () => attempt(() => readJSON(Buffer.from(body))), body.slice(0, 20));
  for (const body of hostileXML)
    requireQuick(1000, () => attempt(() => runAtOnce(readXML(Buffer.from(body)))), body.slice(0, 20));
});

test("looks up a password among the common ones in less than a millisecond", () => {
  const random = Array.from({ length: 2000 }, () => randomBytes(12).toString("base64"));

  requireQuick(2000, () => random.filter(isCommonPassword), "2,000 passwords");
});

test("refuses a long wrong host name within 500 ms", () => {
  for (const LATCHKEY_HOST of [`${"a-".repeat(126)}!`, `${"a.".repeat(125)}!`])
    requireQuick(
      500,
      () => assert.throws(() => readSettings({ LATCHKEY_DATABASE: "sqlite::memory:", LATCHKEY_HOST }), ConfigError),
      LATCHKEY_HOST,
    );
});
