import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { splitWords, WORDS_VERSION } from "./words.ts";

const rows: readonly (readonly [text: string, words: readonly string[]])[] = [
  ["Ada Lovelace", ["ada", "lovelace"]],
  ["ada.lovelace+news@mail.example.org", ["ada", "lovelace", "news", "mail", "example", "org"]],
  ["  -- O'Brien_2 -- ", ["o", "brien", "2"]],
  ["Ann ann ANN", ["ann"]],
  ["Éva ÉVA E\u0301va", ["eva"]],
  ["Straße STRASSE", ["strasse"]],
  ["ΟΔΟΣ οδός", ["οδοσ"]],
  ["İstanbul Yıldız", ["istanbul", "yildiz"]],
  ["Ёлка Йод", ["елка", "иод"]],
  ["한국어 \u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165", ["한국어"]],
  ["हिन्दी हनद", ["हिन्दी", "हनद"]],
  ["がき かき か\u3099き", ["がき", "かき"]],
  ["パン ハン ハ\u309aン", ["パン", "ハン"]],
  ["ไทย ไท้ย", ["ไทย", "ไท้ย"]],
  ["כָּתַב", ["כתב"]],
  ["가 각", ["가", "각"]],
  ["葛 葛\u{e0100} 葛\ufe00", ["葛"]],
  ["か\ufe00\u3099", ["が"]],
  ["1\ufe0f\u20e3 \u2764\ufe0f \u0301x", ["1", "x"]],
  ["e\u0301か\u3099e\u0301", ["eがe"]],
  ["東京、日本", ["東京", "日本"]],
  ["٣٤ 34", ["٣٤", "34"]],
  ["\u{10400}b \u{10428}b", ["\u{10428}b"]],
  ["😀 !?", []],
  ["", []],
];

for (const [text, words] of rows)
  test(`finds the words of ${JSON.stringify(text)}`, () => assert.deepEqual(splitWords(text), words));

test("returns the same word for a word that it has returned", () => {
  for (let code = 1; code < 0x3_0000; code++) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const [word] = splitWords(String.fromCodePoint(code));
    if (word !== undefined) assert.deepEqual(splitWords(word), [word], code.toString(16));
  }
});

test("uses only the first 500 characters of a word", () => {
  assert.deepEqual(splitWords("x".repeat(501)), ["x".repeat(500)]);
  assert.deepEqual(splitWords("\u{1f1e6}" + "\u{20000}".repeat(501)), ["\u{20000}".repeat(500)]);
});

test("returns at most one word for a letter with a hundred thousand marks", () => {
  for (const letter of ["e", "か", "ह", "1", ""]) {
    const words = splitWords(`${letter}${"\u0301\u0316".repeat(50_000)}`);

    assert.ok(words.length <= 1 && (words[0] ?? "").length <= 500, letter);
  }
});

test("returns the same word again for a word with any marks after a letter", () => {
  for (const letter of ["e", "か", "ह", "한"])
    for (const marks of ["\u3099", "\u3099\u0301", "\u0316\u0301\u093f", "\u0301".repeat(70), "\u034f\u3099"]) {
      const [word] = splitWords(`${letter}${marks}x`);
      assert.deepEqual(splitWords(word!), [word]);
      assert.deepEqual(splitWords(`${letter}${marks}x`.normalize("NFD")), [word]);
      assert.deepEqual(splitWords(`${letter}${marks}x`.toUpperCase()), [word]);
    }
});

test("has a new version if the rules for words change, so that stores index again", () => {
  const digest = hash("sha256", JSON.stringify(rows.map(([text]) => splitWords(text)))).slice(0, 12);

  assert.deepEqual({ [WORDS_VERSION]: digest }, { 3: "6d1a3f53195f" });
});
