import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { MailConfig } from "../../src/service/settings/config-file/mail-config.ts";
import { serve, withMail, type API } from "../harness/serve.ts";

const verified = { ...withMail, LATCHKEY_REGISTRATION: "verified", LATCHKEY_LOGIN_CODES: "on" };
const page = "https://app.example/page?token={token}";
const purposes = ["reset", "login", "sign-up", "invitation", "email-change"];

function withoutConsole(t: TestContext, mail: MailConfig): Promise<API> {
  return serve(t, { settings: verified, config: { without: ["console"], mail } });
}

/** Returns the log lines about links that lead nowhere. */
function told({ observed }: API): readonly string[] {
  return observed.flatMap((each) => (each.kind === "notice" && each.message.includes("links") ? [each.message] : []));
}

test("logs the links in mails that lead to no page", async (t) => {
  const [line, ...more] = told(await withoutConsole(t, {}));

  assert.deepEqual(more, []);
  for (const purpose of purposes) assert.match(line!, new RegExp(`\\b${purpose}\\b`));
});

test("logs nothing about links if the console or the config file has their pages", async (t) => {
  const links = Object.fromEntries(purposes.map((purpose) => [purpose, page]));
  const own = await withoutConsole(t, { links });

  assert.deepEqual(told(own), []);
  assert.deepEqual(told(await serve(t, { settings: verified })), []);
  assert.deepEqual(told(await serve(t, { config: { without: ["console"] } })), []);
  await own.post("/users", { name: "Ann", email: "ann@example.com" });
  const [mail] = await own.mails();
  assert.match(mail!.text, /^https:\/\/app\.example\/page\?token=\S+$/m);
});

test("names the links that the config file leaves out", async (t) => {
  const [line] = told(await withoutConsole(t, { links: { reset: page, login: page } }));

  assert.match(line!, /\(sign-up, invitation, email-change\)/);
});
