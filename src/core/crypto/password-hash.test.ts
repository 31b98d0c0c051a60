import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { packCommonPasswords } from "../../../tools/passwords/packing.ts";
import { isCommonPassword } from "./common-passwords.ts";
import {
  decoyHash,
  hashPassword,
  FACTOR_MARK,
  isKnownFormat,
  markHash,
  needsUpgrade,
  parsePasswordCost,
  verifyPassword,
} from "./password-hash.ts";

const password = "lètmein änd stay";

const long = `${"p".repeat(71)}é and more than bcrypt reads`;

// The first two are the test vectors of Argon2's reference implementation. The named systems made the other hashes:
// Django 3.2, passlib 1.7, argon2-cffi 21.1 and bcrypt 3.2 as in Debian. Python's hashlib made the scrypt hash of
// Django 4.
const imported: { what: string; hash: string; password: string }[] = [
  {
    what: "argon2id",
    hash: "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
    password: "password",
  },
  {
    what: "argon2i",
    hash: "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA",
    password: "password",
  },
  {
    what: "Django's argon2",
    hash: "argon2$argon2id$v=19$m=102400,t=2,p=8$SWOzhA1TZEywvMgqBjO8Rg$wtHKHWHfVt9s868XpVi8ughh1Ml0Ia8hBiL+YMw7P/E",
    password,
  },
  {
    what: "Django's PBKDF2",
    hash: "pbkdf2_sha256$260000$Xq3SaltOfDjango$m8hu99PQl2ruiMx5Xl7nkwFTI6PEvlX8P6QCdbypeI4=",
    password,
  },
  {
    what: "Django's scrypt",
    hash: "scrypt$16384$Xq3SaltOfDjango$8$5$UKVuBcQ9O4WJ6OaKTJ7nvIMARpp7OFSmfYDJ5bx+P8H/Hc4uZ62Q+Kde8K/NQWtDl1IvJGNN/5EC4uKkX6Kc7w==",
    password,
  },
  {
    what: "argon2 of Django 3.2",
    hash: "argon2$argon2id$v=19$m=102400,t=2,p=8$OFkyOWVlQnpLWmlrR21mT2swbDJ2dg$2DKeEaiBQRRyiGUpxCn73w",
    password,
  },
  {
    what: "PBKDF2 of Django 3.2",
    hash: "pbkdf2_sha256$260000$BuE6lNIUpykjiX9qMQbYjL$y0e0YxvaTNpKVU5i2KZMNVtE950v/h392AErN10aq98=",
    password,
  },
  { what: "Django's bcrypt", hash: "bcrypt$$2b$12$x/jMIbbeiIwziSP8GAb1ved2XdpzxbGr9DJJbM6VB0QFsPCKvbBz.", password },
  {
    what: "Django's bcrypt_sha256",
    hash: "bcrypt_sha256$$2b$12$sgKq8HQ1tH6Ily8dSwbzKeMKBnlBKctcQ9AuxnES8iGTJmhua1uSi",
    password,
  },
  {
    what: "Django's bcrypt_sha256 of a long password",
    hash: "bcrypt_sha256$$2b$12$pg206sUq8iF71SKfwd/Mde.WcwNJfNWl6g31UcR5E4Eaim.cNqxDK",
    password: long,
  },
  {
    what: "passlib's Django bcrypt_sha256",
    hash: "bcrypt_sha256$$2b$06$gO87ATYSOE0Q43tvBNCVIOoS9P/RBv5URx66IolqcflrVe1UEribm",
    password,
  },
  {
    what: "passlib's Django PBKDF2",
    hash: "pbkdf2_sha256$29000$vf6AOAw6YzVS$0jAxPYI9X+aOgc+d6Ay+vz0B7Ls079fzWxtcJxfiLSc=",
    password,
  },
  { what: "passlib's bcrypt 2a", hash: "$2a$06$vxJek3HSm8V7PUySOPRkMuRql87WguU60gTIm/o6gddEpvql/2QDK", password },
  { what: "passlib's bcrypt 2b", hash: "$2b$06$TFgMPF1uhkfdfzxi08fDzuFeTyk/pVPTYpCj1zP0JEAPkRoT2u2mm", password },
  { what: "passlib's bcrypt 2y", hash: "$2y$06$6MqhRzord.Ju.Plnis7qV.vzUIWU81retFrb2rKKzF5Fr8lAICoVa", password },
  { what: "Python's bcrypt 2b", hash: "$2b$06$b1CCF9pVdo6J5aIP8Puc3.fKStSBAI4pMD7SwyVZdRIzPR03Xq3l2", password },
  { what: "Python's bcrypt 2a", hash: "$2a$06$mFbW8nGmj3eV4SL/i5O20OPvtp/kjss9ii8KJYpHZLaFqYHsQYbii", password },
  {
    what: "passlib's argon2id",
    hash: "$argon2id$v=19$m=102400,t=2,p=8$San13nvv3VsL4Zxzbq3VOg$h5GlcVRX3+yeUiaku2xB4w",
    password,
  },
  {
    what: "passlib's argon2i",
    hash: "$argon2i$v=19$m=102400,t=2,p=8$glCqNeb8H4OwFuIcA8CYMw$LKdWQ7yw3y8uCGxebA42fA",
    password,
  },
  {
    what: "passlib's scrypt",
    hash: "$scrypt$ln=14,r=8,p=1$BMD4v5cyphSiFAIAAACgVA$vCqWfysTutK8UK95l1K8nQ9yoTAMvhIG4zRCBNMskis",
    password,
  },
  {
    what: "argon2-cffi's argon2id",
    hash: "$argon2id$v=19$m=102400,t=2,p=8$SEcEHzbvfysbrMv6L6g3AA$lwfGv0prm8x7wNATpQw60w",
    password,
  },
  {
    what: "scrypt as PHC string",
    hash: "$scrypt$ln=14,r=8,p=1$c2l4dGVlbiBieXRlIHNsdA$QmhTEKZ2KB7w16VqO35FrJBP80pA78v6XAgpGLaSDMU",
    password,
  },
];

for (const { what, hash, password: right } of imported) {
  test(`verifies an imported hash of ${what}, and marks it for replacement`, async () => {
    assert.equal(isKnownFormat(hash), true);
    assert.equal(needsUpgrade(hash), true);
    assert.equal(await verifyPassword(hash, right), true);
    assert.equal(await verifyPassword(hash, `${right} `), false);
  });

  test(`verifies a hash of ${what} with the mark of a second factor, which no format reads as its own`, async () => {
    const marked = markHash(hash, 2);

    assert.deepEqual([markHash(marked, 1), markHash(marked, 0), markHash(hash, 0)], [marked, hash, hash]);
    assert.equal(needsUpgrade(marked), true);
    assert.equal(await verifyPassword(marked, right), true);
    assert.equal(await verifyPassword(marked, `${right} `), false);
    // Without its own mark, a version sees the same as this one sees behind the first of two marks.
    assert.equal(isKnownFormat(FACTOR_MARK + marked), false);
  });
}

test("compares only the first 72 bytes of a password with a bcrypt hash, and all bytes with Django's bcrypt_sha256", async () => {
  const plain = "$2b$06$GQHelZ/4DQB47mFQBGZlTePJ8jBQjeatuatlrcurZ92yitp1Xin5e";
  const digested = "bcrypt_sha256$$2b$12$pg206sUq8iF71SKfwd/Mde.WcwNJfNWl6g31UcR5E4Eaim.cNqxDK";

  assert.equal(await verifyPassword(plain, long), true);
  assert.equal(await verifyPassword(plain, `${long}, which nobody reads`), true);
  assert.equal(await verifyPassword(plain, long.slice(1)), false);
  assert.equal(await verifyPassword(digested, `${long}, and somebody does`), false);
});

test("hashes with Argon2id, 19 MiB, two passes and one lane", async () => {
  const hash = await hashPassword(password);

  assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.equal(needsUpgrade(hash), false);
  assert.equal(await verifyPassword(hash, password), true);
  assert.equal(await verifyPassword(hash, "letmein and stay"), false);
  assert.notEqual(await hashPassword(password), hash);
});

test("compares passwords byte for byte: two spellings of one character differ", async () => {
  const hash = await hashPassword("café au lait");

  assert.equal(await verifyPassword(hash, "café au lait".normalize("NFD")), false);
});

const refused: { what: string; hash: string }[] = [
  { what: "nothing", hash: "" },
  { what: "a plain password", hash: "correct horse" },
  { what: "Django's unusable password", hash: "!Xq3SaltOfDjangoXq3SaltOfDjango" },
  { what: "argon2d", hash: "$argon2d$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc" },
  {
    what: "argon2 with 4 GiB",
    hash: "$argon2id$v=19$m=4194304,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
  },
  {
    what: "argon2 with 999 passes",
    hash: "$argon2id$v=19$m=65536,t=999,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
  },
  {
    what: "PBKDF2 with 9,999,999 iterations",
    hash: "pbkdf2_sha256$9999999$salt$m8hu99PQl2ruiMx5Xl7nkwFTI6PEvlX8P6QCdbypeI4=",
  },
  { what: "PBKDF2 without iterations", hash: "pbkdf2_sha256$0$salt$m8hu99PQl2ruiMx5Xl7nkwFTI6PEvlX8P6QCdbypeI4=" },
  { what: "PBKDF2 with a hash cut short", hash: "pbkdf2_sha256$1000$salt$m8hu" },
  {
    what: "scrypt with 1 GiB",
    hash: "$scrypt$ln=20,r=8,p=1$c2l4dGVlbiBieXRlIHNsdA$QmhTEKZ2KB7w16VqO35FrJBP80pA78v6XAgpGLaSDMU",
  },
  {
    what: "scrypt with a cost that is no power of two",
    hash: "scrypt$16383$salt$8$1$QmhTEKZ2KB7w16VqO35FrJBP80pA78v6XAgpGLaSDMU=",
  },
  {
    what: "scrypt with 999 lanes",
    hash: "$scrypt$ln=14,r=8,p=999$c2l4dGVlbiBieXRlIHNsdA$QmhTEKZ2KB7w16VqO35FrJBP80pA78v6XAgpGLaSDMU",
  },
  { what: "bcrypt with cost 31", hash: "$2b$31$b1CCF9pVdo6J5aIP8Puc3.fKStSBAI4pMD7SwyVZdRIzPR03Xq3l2" },
  { what: "bcrypt with cost 3", hash: "$2b$03$b1CCF9pVdo6J5aIP8Puc3.fKStSBAI4pMD7SwyVZdRIzPR03Xq3l2" },
  { what: "bcrypt with its signed cost", hash: "$2b$+6$b1CCF9pVdo6J5aIP8Puc3.fKStSBAI4pMD7SwyVZdRIzPR03Xq3l2" },
  { what: "bcrypt of the broken kind", hash: "$2x$06$b1CCF9pVdo6J5aIP8Puc3.fKStSBAI4pMD7SwyVZdRIzPR03Xq3l2" },
  { what: "bcrypt cut short", hash: "$2b$06$b1CCF9pVdo6J5aIP8Puc3.fKStSBAI4pMD7SwyVZdRIzPR03Xq3l" },
  { what: "a million characters", hash: `$argon2id$v=19$m=65536,t=2,p=1$${"A".repeat(1_000_000)}$AAAA` },
];

for (const { what, hash } of refused) {
  test(`refuses ${what} as a hash, and accepts no password for it`, async () => {
    assert.equal(isKnownFormat(hash), false);
    assert.equal(await verifyPassword(hash, password), false);
  });
}

test("never throws while verifying, for any stored text", async () => {
  const pieces = fc.constantFrom(
    "$",
    "argon2id",
    "v=19",
    "m=8,t=1,p=1",
    "pbkdf2_sha256",
    "1",
    "scrypt",
    "ln=1,r=1,p=1",
    "2b",
    "04",
    "bcrypt",
    "c29tZXNhbHQ",
    "A",
    ",",
    "=",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(pieces, { maxLength: 10 }),
      async (parts) => !(await verifyPassword(parts.join(""), password)),
    ),
    { numRuns: 500 },
  );
});

test("recognizes the most common passwords, in any case", () => {
  for (const guess of ["password", "12345678", "PassWord1", "iloveyou", "qwertyuiop", "trustno1"])
    assert.equal(isCommonPassword(guess), true, guess);
  // Ranks 20,000, 50,000, 90,000 and 100,000 of the passwords that are long enough.
  for (const guess of ["sr20dett", "treetrun", "35543554", "smokey24"])
    assert.equal(isCommonPassword(guess), true, guess);
  for (const own of ["tr0ub4dor&3x", "12345678\n12345679", "", "assword", "\npassword\n"])
    assert.equal(isCommonPassword(own), false, own);
});

test("keeps the list of common passwords small, and refuses almost no random password", () => {
  const random = Array.from({ length: 2000 }, () => randomBytes(12).toString("base64"));

  const taken = random.filter(isCommonPassword).length;

  assert.ok(taken <= 2, `${taken} of 2,000 were taken for common ones`);
  assert.ok(statSync(new URL("./common-passwords.bin", import.meta.url)).size < 300_000);
});

test("packs common passwords to the same bytes in any order and case", () => {
  const words = Array.from({ length: 500 }, (_, at) => `password ${at}`);

  const packed = packCommonPasswords(words);

  assert.deepEqual(packCommonPasswords([...words.toReversed(), "PASSWORD 7"]), packed);
});

const costs: [text: string, taken: boolean][] = [
  ["m=19456,t=2,p=1", true],
  ["m=47104,t=1,p=1", true],
  ["m=12288,t=3,p=1", true],
  ["m=7168,t=5,p=4", true],
  ["m=262144,t=4,p=16", true],
  ["m=19455,t=2,p=1", false],
  ["m=47103,t=1,p=1", false],
  ["m=7167,t=64,p=1", false],
  ["m=262145,t=3,p=1", false],
  ["m=262144,t=5,p=1", false],
  ["m=19456,t=2,p=0", false],
  ["m=19456,t=2,p=17", false],
  ["m=19456,t=2", false],
  [" m=19456,t=2,p=1", false],
  ["m=9999999,t=999,p=99", false],
];

for (const [text, taken] of costs) {
  test(`${taken ? "accepts" : "refuses"} ${text} as the cost of a password hash`, () => {
    const cost = parsePasswordCost(text);

    assert.equal(cost !== null, taken);
    if (cost !== null) assert.ok(isKnownFormat(decoyHash(cost)) && !needsUpgrade(decoyHash(cost), cost));
  });
}
