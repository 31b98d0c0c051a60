import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { showingMails, withMail } from "../../src/cli/dev/dev-mail.ts";
import type { Mail, SendMail } from "../../src/door/features.ts";

const mail: Mail = {
  id: "1",
  from: "latchkey@localhost",
  to: "ann@example.com",
  subject: "Choose a new password",
  text: "Open this link:\n\nhttp://127.0.0.1:8000/reset?token=abc\n\nOr enter this code:\n01234567\n",
  html: "<p></p>",
  at: 0,
};

/** Sends the mail through `showingMails`. Returns the text that `showingMails` writes. */
async function shown(send: SendMail): Promise<string> {
  let written = "";
  const stream = new Writable({
    write(chunk, _, done) {
      written += String(chunk);
      done();
    },
  }) as unknown as NodeJS.WriteStream;
  await showingMails(stream)(send)(mail, { signal: new AbortController().signal }).catch(() => undefined);
  return written;
}

test("shows the link and the code of a mail after it was sent", async () => {
  const sent: Mail[] = [];

  assert.equal(
    await shown(async (each) => void sent.push(each)),
    "Mail to ann@example.com: Choose a new password\n  http://127.0.0.1:8000/reset?token=abc\n  01234567\n",
  );
  assert.deepEqual(sent, [mail]);
  assert.equal(await shown(() => Promise.reject(new Error("no room"))), "");
});

test("writes mails into a folder if no setting names a destination", () => {
  assert.deepEqual(withMail({ A: "b" }, {}), {
    A: "b",
    LATCHKEY_MAIL_URL: "file:mails",
    LATCHKEY_MAIL_FROM: "latchkey@localhost",
  });
  assert.deepEqual(withMail({ LATCHKEY_MAIL_FROM: "a@example.com" }, {}), {
    LATCHKEY_MAIL_URL: "file:mails",
    LATCHKEY_MAIL_FROM: "a@example.com",
  });
  assert.deepEqual(withMail({}, { settings: { mailFrom: "a@example.com" } }), { LATCHKEY_MAIL_URL: "file:mails" });
  assert.deepEqual(withMail({ LATCHKEY_MAIL_URL: "smtp://a" }, {}), { LATCHKEY_MAIL_URL: "smtp://a" });
  assert.deepEqual(withMail({}, { settings: { mailURL: "file:elsewhere" } }), {});
  assert.deepEqual(withMail({ LATCHKEY_MAIL_PASSWORD_FILE: "pw" }, {}), { LATCHKEY_MAIL_PASSWORD_FILE: "pw" });
});
