import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { SMTPServer } from "smtp-server";
import { placeFor } from "../harness/cli.ts";
import { renewed } from "../harness/self-signed.ts";

const from = { LATCHKEY_MAIL_FROM: "no-reply@example.com", LATCHKEY_PUBLIC_URL: "https://api.example" };

async function startServer(t: TestContext): Promise<number> {
  const server = new SMTPServer({
    ...renewed,
    authOptional: true,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _, done) =>
      password === "right" ? done(null, { user: username ?? "" }) : done(new Error("Wrong password")),
    onRcptTo: ({ address }, _, done) =>
      address === "none@example.com"
        ? done(Object.assign(new Error("No such mailbox"), { responseCode: 550 }))
        : done(),
    onData: (stream, _, done) => void stream.resume().on("end", () => done()),
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  t.after(() => new Promise<void>((resolve) => server.close(resolve)));
  return (server.server.address() as AddressInfo).port;
}

test("sends a test mail and shows the answer of the mail server, without the password", async (t) => {
  const port = await startServer(t);
  using place = placeFor({
    ...from,
    LATCHKEY_MAIL_URL: `smtp://shop@127.0.0.1:${port}`,
    LATCHKEY_MAIL_PASSWORD_FILE: "pw",
  });
  const file = path.join(place.folder, "pw");
  writeFileSync(file, "right\n");
  chmodSync(file, 0o600);

  const sent = await place.run(["mail", "test", "ann@example.com"]);
  assert.deepEqual(
    [sent.code, sent.out],
    [
      0,
      `A test mail to ann@example.com was sent through 127.0.0.1:${port}, from no-reply@example.com. Look into the mailbox and its spam folder.\n`,
    ],
    sent.errors,
  );
  const refused = await place.run(["mail", "test", "none@example.com"]);
  assert.equal(refused.code, 1);
  assert.match(refused.errors, /^No mail was sent through .*\. The server refused the mail: 550 .*No such mailbox\.$/m);
  writeFileSync(file, "hidden-password\n");
  const login = await place.run(["mail", "test", "ann@example.com"]);
  assert.match(login.errors, /The server refused the login: 535 .*Wrong password/);
  assert.doesNotMatch(login.errors + login.out, /hidden-password/);
});

test("reports why no mail server can be reached, and the mistake in the command line", async () => {
  using place = placeFor({ ...from, LATCHKEY_MAIL_URL: "smtp://127.0.0.1:9" });

  assert.match((await place.run(["mail", "test", "ann@example.com"])).errors, /The server refused the connection/);
  const wrong = await place.run(["mail", "test", "Ann <ann@example.com>"]);
  assert.deepEqual([wrong.code, /is not an email address/.test(wrong.errors)], [2, true]);
  using off = placeFor();
  const none = await off.run(["mail", "test", "ann@example.com"]);
  assert.deepEqual(
    [none.code, none.errors],
    [1, "No mail server is configured. Set LATCHKEY_MAIL_URL and LATCHKEY_MAIL_FROM.\n"],
  );
  using open = placeFor({ LATCHKEY_MAIL_URL: "smtp://mail.example" });
  const unset = await open.run(["mail", "test", "ann@example.com"]);
  assert.equal(unset.code, 78);
  assert.match(unset.errors, /LATCHKEY_MAIL_FROM is missing[^]*LATCHKEY_PUBLIC_URL is missing/);
});

test("writes a test mail into the folder, and needs no database", async () => {
  using place = placeFor({ LATCHKEY_MAIL_URL: "file:mails", LATCHKEY_MAIL_FROM: "no-reply@example.com" });

  const written = await place.run(["mail", "test", "ann@example.com"]);

  assert.equal(written.out, "A test mail to ann@example.com was written to the folder mails.\n", written.errors);
  const folder = path.join(place.folder, "mails");
  const files = readdirSync(folder);
  assert.equal(files.length, 1);
  assert.match(readFileSync(path.join(folder, files[0]!), "utf8"), /^To: ann@example\.com\r$/m);
  assert.deepEqual(readdirSync(place.folder), ["mails"]);
});
