import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: the name of the service reaches no store.

// The name that authenticator apps and browsers show, and the notice about passkeys that are off.

for (const { title, shown } of [
  { title: "Bookshop", shown: "Bookshop" },
  { title: "Star Trek: Büchershop", shown: "Star Trek Büchershop" },
  { title: "a%3Ab::c", shown: "a%3Abc" },
  { title: undefined, shown: "Latchkey" },
])
  test(`shows the title of the service in authenticators: ${title ?? "without a title"}`, async (t) => {
    const config = title === undefined ? {} : { api: { title, version: "1" } };
    const api = await serve(t, { settings: { LATCHKEY_PUBLIC_URL: "https://shop.example" }, config });
    const { id, email, headers } = await api.user("Ann");

    const app = await api.post(`/users/${id}/factors`, { kind: "totp" }, headers);
    const passkey = await api.post(`/users/${id}/factors`, { kind: "passkey" }, headers);

    const uri = new URL(app.json.uri);
    assert.equal(uri.searchParams.get("issuer"), shown);
    assert.equal(decodeURIComponent(uri.pathname.slice(uri.pathname.lastIndexOf("/") + 1)), `${shown}:${email}`);
    assert.equal(passkey.json.options.rp.name, title ?? "Latchkey");
  });

for (const { publicURL, without, isLogged } of [
  { publicURL: "https://203.0.113.7", isLogged: true },
  { publicURL: "https://[2001:db8::7]", isLogged: true },
  { publicURL: "https://shop.example", isLogged: false },
  { publicURL: "https://203.0.113.7", without: ["passkeys"] as const, isLogged: false },
])
  test(`${isLogged ? "logs" : "does not log"} that passkeys are off: ${publicURL}${without === undefined ? "" : ", without passkeys"}`, async (t) => {
    const config = without === undefined ? {} : { without };
    const api = await serve(t, { settings: { LATCHKEY_PUBLIC_URL: publicURL }, config });

    const notices = api.observed.filter(
      (each) => each.kind === "notice" && each.message.startsWith("Passkeys are off"),
    );

    assert.equal(notices.length, isLogged ? 1 : 0);
    assert.equal((await api.post("/api/login/passkey/")).status, isLogged || without !== undefined ? 404 : 200);
  });
