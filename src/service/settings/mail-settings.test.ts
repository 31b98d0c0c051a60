import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { inspect } from "node:util";
import type { MailSettings } from "./mail-settings.ts";
import type { Environment } from "./reading.ts";
import { ConfigError, readSettings } from "./settings.ts";

const folder = mkdtempSync(path.join(tmpdir(), "latchkey-mail-settings-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const from = { LATCHKEY_MAIL_FROM: "no-reply@example.com" };
const publicly = { LATCHKEY_PUBLIC_URL: "https://api.example" };
const smtp = { ...from, ...publicly, LATCHKEY_MAIL_URL: "smtp://shop@mail.example:587" };

function read(environment: Environment): MailSettings | null {
  return readSettings({ LATCHKEY_DATABASE: "sqlite::memory:", ...environment }).mail;
}

function describeProblems(environment: Environment): string {
  try {
    read(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  return "";
}

function passwordFile(content: string, mode = 0o600): string {
  const file = path.join(folder, `password-${String(mode)}-${content.length}`);
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

test("reads the URL of a mail server and the password from a file, and prints neither", () => {
  const mail = read({ ...smtp, LATCHKEY_MAIL_PASSWORD_FILE: passwordFile("p ass/word\n") });

  assert.equal(mail?.target.kind, "smtp");
  assert.equal(mail.password?.reveal().toString("utf8"), "p ass/word");
  assert.equal(mail.from, "no-reply@example.com");
  assert.doesNotMatch(inspect(mail, { depth: 9 }), /p ass|shop@/);
});

test("accepts a folder for mails without a public address", () => {
  assert.deepEqual(read({ ...from, LATCHKEY_MAIL_URL: "file:mails" })?.target, { kind: "file", folder: "mails" });
  assert.deepEqual(read({ ...from, LATCHKEY_MAIL_URL: "file:///var/mails" })?.target, {
    kind: "file",
    folder: "/var/mails",
  });
  assert.deepEqual(read({ ...from, LATCHKEY_MAIL_URL: "file:/var/mails" })?.target, {
    kind: "file",
    folder: "/var/mails",
  });
});

for (const [what, environment, problem] of [
  ["no sender", { ...publicly, LATCHKEY_MAIL_URL: "smtp://mail.example" }, /^LATCHKEY_MAIL_FROM is missing\./],
  ["no public address", { ...from, LATCHKEY_MAIL_URL: "smtps://mail.example" }, /^LATCHKEY_PUBLIC_URL is missing\./],
  ["a sender alone", from, /^LATCHKEY_MAIL_FROM is set without LATCHKEY_MAIL_URL\./],
  [
    "a sender with a header",
    { ...smtp, LATCHKEY_MAIL_FROM: "a@example.com\nBcc: b@example.com" },
    /LATCHKEY_MAIL_FROM is .* Write an address/,
  ],
  [
    "an unknown way",
    { ...from, LATCHKEY_MAIL_URL: "http://hidden@mail.example" },
    /LATCHKEY_MAIL_URL names no mail server\./,
  ],
  ["a relative file URL", { ...from, LATCHKEY_MAIL_URL: "file://mails" }, /LATCHKEY_MAIL_URL names no folder\./],
  ["a user without a password", smtp, /LATCHKEY_MAIL_URL: there is a user and no password\. Add the password\./],
  [
    "two passwords",
    { ...smtp, LATCHKEY_MAIL_URL: "smtp://a:hidden@mail.example", LATCHKEY_MAIL_PASSWORD_FILE: passwordFile("x\n") },
    /LATCHKEY_MAIL_URL: it has a password, and another one is given\. Keep one\./,
  ],
  [
    "a password file that is open to everyone",
    { ...smtp, LATCHKEY_MAIL_PASSWORD_FILE: passwordFile("hidden\n", 0o644) },
    /LATCHKEY_MAIL_PASSWORD_FILE: .* is open to everyone \(mode 0644\)\. Close it with: chmod o= /,
  ],
  [
    "an empty password file",
    { ...smtp, LATCHKEY_MAIL_PASSWORD_FILE: passwordFile("\n") },
    /LATCHKEY_MAIL_PASSWORD_FILE: .* is not a password/,
  ],
  [
    "a password file that is missing",
    { ...smtp, LATCHKEY_MAIL_PASSWORD_FILE: path.join(folder, "none") },
    /LATCHKEY_MAIL_PASSWORD_FILE: .* cannot be read \(ENOENT\)/,
  ],
  [
    "a password file that is missing, beside a wrong address",
    { ...from, LATCHKEY_MAIL_URL: "http://mail.example", LATCHKEY_MAIL_PASSWORD_FILE: path.join(folder, "none") },
    /LATCHKEY_MAIL_URL[^]*LATCHKEY_MAIL_PASSWORD_FILE: .* cannot be read \(ENOENT\)/,
  ],
  [
    "a password file for a folder",
    { ...from, LATCHKEY_MAIL_URL: "file:mails", LATCHKEY_MAIL_PASSWORD_FILE: passwordFile("x\n") },
    /LATCHKEY_MAIL_PASSWORD_FILE is set, but LATCHKEY_MAIL_URL names no mail server, so no password is needed/,
  ],
] as const)
  test(`refuses ${what}, without showing a password`, () => {
    const said = describeProblems(environment);

    assert.match(said, problem);
    assert.doesNotMatch(said, /hidden/);
  });
