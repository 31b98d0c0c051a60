import assert from "node:assert/strict";
import { test } from "node:test";
import { identityProviders } from "../../src/door/auth.ts";
import { consolePages } from "../../src/door/features.ts";
import { accounts, sessionLogin } from "../../src/door/index.ts";
import { identitiesCollection } from "../../src/features/auth/openid/identities.ts";
import { email, open, password, serve } from "../harness/own-logins.ts";
import { declare, origin } from "../harness/provider-logins.ts";

test("lists the identities of an account, unlinks them, and starts to link another one", async (t) => {
  const people = accounts(open);
  const sessions = sessionLogin(people);
  const providers = [
    declare("https://issuer.example"),
    declare("https://other.example", { id: "other", title: "Other" }),
  ];
  const features = [sessions, identityProviders(people, { sessions, providers }), consolePages({ title: "Notes" })];
  const { service, clock, ask, get } = await serve(t, people, features, { ownOrigins: [origin] });
  const values = {
    user_id: 1,
    identity: '["https://issuer.example","ada-1"]',
    issuer: "https://issuer.example",
    subject: "ada-1",
    created_at: new Date(clock.now).toISOString(),
  };
  await service.store.write({ changes: [{ kind: "insert", collection: identitiesCollection, values }] });
  const login = await ask("POST", "/api/session/", { username: email, password });
  const headers = {
    cookie: login.headers.getSetCookie()[0]!.split(";")[0]!,
    accept: "text/html",
    "sec-fetch-site": "same-origin",
  };

  const line = (await get("/login?next=/notes", { accept: "text/html" })).text.replaceAll(/\s+/g, " ");
  assert.match(line, /<a class="btn" href="\/api\/login\/company\/start\?next=%2Fnotes">Company<\/a>/);
  const account = (await get("/users/1/account", headers)).text.replaceAll(/\s+/g, " ");
  assert.match(account, /Identities at providers/);
  assert.match(
    account,
    /<bdi>Company<\/bdi>.*<bdi>ada-1<\/bdi>.*data-method="DELETE" data-path="\/users\/1\/identities\/1"/,
  );
  assert.match(account, /name="provider" value="other"/);
  assert.match(account, /Link Other/);

  const begun = await ask("POST", "/users/1/identities", { provider: "other" }, headers);
  assert.equal(begun.status, 200, begun.text);
  assert.match(
    begun.text,
    /<a class="btn main" href="\/api\/login\/other\/start\?link=[\w-]+">Go to the provider<\/a>/,
  );
});
