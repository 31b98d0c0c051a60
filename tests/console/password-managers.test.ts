import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../harness/serve.ts";

const page = { accept: "text/html" };

/** Returns the forms of a page with a password. */
function passwordForms(text: string): readonly string[] {
  return [...text.matchAll(/<form[^]*?<\/form>/g)]
    .map(([form]) => form)
    .filter((form) => form.includes('type="password"'));
}

test("names the user in each form with a password on the account page, and does not send the name", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const ben = await api.user("Ben");

  const own = passwordForms((await api.get(`/users/${ann.id}/account`, { ...page, ...ann.headers })).text);
  const others = passwordForms((await api.get(`/users/${ben.id}/account`, { ...page, ...api.admin })).text);

  assert.ok(own.length >= 3, `${own.length}`);
  for (const form of own) {
    const [field] = /<input[^>]*autocomplete="username"[^>]*>/.exec(form) ?? [""];
    assert.match(field, new RegExp(`value="${ann.email}"`));
    if (!field.includes('name="username"')) assert.doesNotMatch(field, / name=/);
    assert.doesNotMatch(form, /name="name"[^>]*autocomplete="off"/);
  }
  for (const form of others) assert.doesNotMatch(form, /autocomplete="username" value="admin"/);
});

test("takes the e-mail address as the username where a newcomer chooses a password", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_REGISTRATION: "open" } });

  const [form] = passwordForms((await api.get("/signup", page)).text);

  assert.match(form!, /name="email"[^>]*autocomplete="username"/);
  assert.match(form!, /name="name"[^>]*autocomplete="name"/);
});
