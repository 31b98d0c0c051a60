import assert from "node:assert/strict";
import { test } from "node:test";
import { caseFold, fold, foldFor, isAlikeInFoldings } from "./fold.ts";

const letters: string[] = [];
for (let code = 0; code < 0x11_0000; code++) {
  const letter = code >= 0xd800 && code < 0xe000 ? "" : String.fromCodePoint(code);
  if (letter !== "" && (letter.toLowerCase() !== letter || letter.toUpperCase() !== letter)) letters.push(letter);
}
letters.push("\u0345");

test("two letters are equal after caseFold if Unicode's simple case folding makes them equal, for every letter", () => {
  const byFold = Map.groupBy(letters, caseFold);
  const wrong: string[] = [];
  const everyFold = [...byFold.keys()];
  for (const [folded, same] of byFold) {
    if ([...folded].length !== 1) continue;
    const ofUnicode = new RegExp(`^[${folded}]$`, "iu");
    // Canonical equivalence (NFC) makes more letters equal, for example the Ohm sign and omega.
    wrong.push(...same.filter((letter) => !ofUnicode.test(letter) && letter.normalize("NFC") === letter));
    wrong.push(...everyFold.filter((other) => other !== folded && ofUnicode.test(other)));
  }
  assert.ok(letters.length > 2800, String(letters.length));
  assert.deepEqual(wrong, []);
});

test("caseFold changes nothing if it is applied again, and makes equal texts of equal ones in each normal form", () => {
  for (const letter of letters)
    for (const text of [letter, `a${letter}`, `${letter}\u0323\u0307`, `${letter}\u0345\u0301`]) {
      const folded = caseFold(text);
      assert.equal(caseFold(folded), folded);
      for (const form of ["NFC", "NFD"] as const) assert.equal(caseFold(text.normalize(form)), folded, text);
    }
});

test("a unique column keeps the lower case that its stored values have, and another column is folded in whole", () => {
  assert.equal(foldFor({ unique: "folded" }, "ΑΣ ſ"), fold("ΑΣ ſ"));
  assert.equal(fold("ΑΣ ſ"), "ας ſ");
  assert.equal(foldFor({}, "ΑΣ ſ"), "ασ s");
  assert.equal(foldFor({ unique: true }, "µ"), "μ");
});

test("every text that caseFold makes equal to one that is alike in both foldings is equal to it in lower case too", () => {
  const wrong: string[] = [];
  for (let code = 0; code < 0x11_0000; code++) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const letter = String.fromCodePoint(code);
    for (const text of [letter, `a${letter}b`]) {
      const folded = caseFold(text);
      if (isAlikeInFoldings(folded) && fold(text) !== folded) wrong.push(text);
    }
  }
  assert.deepEqual(wrong, []);
  assert.deepEqual(["Grace@example.com", "smith", "MISS", "é"].map(isAlikeInFoldings), [true, false, false, false]);
});
