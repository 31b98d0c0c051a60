import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMessage } from "./message.ts";
import { createTemplates } from "./templates.ts";

const mail = {
  id: "1",
  from: "no-reply@example.com",
  to: "ann@example.com",
  subject: "Hello",
  text: "a\n",
  html: "<p>a</p>\n",
  at: 0,
};

for (const subject of ["=?UTF-8?Q?Free_money?=", "Price =? sum", "Grüße"])
  test(`shows the subject ${subject} as written, because it is encoded`, () => {
    const [, header] = /^Subject: (.*)\r$/m.exec(formatMessage({ ...mail, subject }))!;

    const [, encoded] = /^=\?UTF-8\?B\?([\w+/=]+)\?=$/.exec(header!)!;
    assert.equal(Buffer.from(encoded!, "base64").toString("utf8"), subject);
  });

test("fills in values of up to 900 characters, so that no line of a mail is too long", () => {
  const { fill } = createTemplates({ en: { note: { subject: "Note", text: "{place}" } } }, "en");
  const fillWith = (length: number) =>
    fill({ to: "ann@example.com", template: "note", values: { place: "a".repeat(length) } }, "Shop");

  assert.equal(fillWith(900).text, `${"a".repeat(900)}\n`);
  assert.throws(() => fillWith(901), /The value place of a mail does not fit/);
});
