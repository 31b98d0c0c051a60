import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

const source = path.join(import.meta.dirname, "../..", "src");
const files = globSync("features/auth/**/*.ts", { cwd: source, exclude: ["**/*.test.ts"] }).toSorted();
const read = (file: string): string => readFileSync(path.join(source, file), "utf8");

/** The only files that allow a change of a login: the check of the caller, and proofs by mail. */
const allowing = [
  // A new password after a proof by mail, and `changing.changePassword`.
  "features/auth/accounts/passwords/changing.ts",
  // A new address after its proof by mail.
  "features/auth/accounts/verified.ts",
  "features/auth/people/fresh-proof.ts",
  "features/auth/people/login-change.ts",
];

test("allows a change of a login only in the check of the caller and after a proof by mail", () => {
  assert.deepEqual(
    files.filter((file) => /\ballowChange\b/.test(read(file))),
    allowing,
  );
});

/** The files that write a password hash. All but the last ones take the right to change a login. */
const writing = [
  "features/auth/people/login-change.ts",
  "features/auth/accounts/passwords/changing.ts",
  "features/auth/accounts/passwords/one-time-password.ts",
  "features/auth/accounts/users.ts",
  // New accounts.
  "features/auth/accounts/new-user.ts",
  "features/auth/accounts/verified.ts",
  // The end of every way into a prepared account.
  "features/auth/people/proved-address.ts",
  // The same password, with a hash of the present format or with the mark of a second factor.
  "features/auth/accounts/passwords/marking.ts",
  "features/auth/passwords/passwords.ts",
  "features/auth/factors/enrolling.ts",
  "features/auth/gate/gate.ts",
  "features/auth/factors/removing.ts",
];

test("writes passwords only in the listed files", () => {
  assert.deepEqual(
    // The table declares the column as a text.
    files.filter((file) => /\bpassword_hash\??:(?! text\()/.test(read(file))),
    writing.toSorted(),
  );
});

test("stores the folded form of a username wherever one is written", () => {
  // A new account, or a change of a login that may have a username.
  const writesName = /\binsert\(accountsCollection|username_origin: (?!enumeration\(|origin\b)/;
  assert.deepEqual(
    files.filter((file) => writesName.test(read(file)) && !/\bgiveName\(/.test(read(file))),
    // The declaration of the columns, and files that write only the origin of a username that stays.
    [
      "features/auth/people/login-change.ts",
      "features/auth/people/proved-address.ts",
      "features/auth/records/bindings.ts",
    ],
  );
});
