import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { adminPassword, serve, type API } from "../harness/serve.ts";

// Nightly on PostgreSQL: the files of pages come from the package.

const browser = { host: "localhost:8000", accept: "text/html" };

/** Returns the compressed size of all styles and scripts of a page, in bytes. */
async function weigh(api: API, path: string, headers: Record<string, string> = browser): Promise<number> {
  const page = await api.get(path, headers);
  const files = [...page.text.matchAll(/(?:href|src)="([^"]*\.(?:css|js))"/g)].map(([, file = ""]) => file);
  const sizes = await Promise.all(files.map(async (file) => gzipSync((await api.get(file)).text, { level: 9 }).length));
  return sizes.reduce((sum, each) => sum + each, 0);
}

test("loads at most 12 kB of styles and scripts on the pages of accounts", async (t) => {
  const api = await serve(t);

  for (const path of ["/login", "/login/factor"]) assert.ok((await weigh(api, path)) <= 12_000, path);
});

test("shows the fold for developers on pages of data only, open for administrators under `latchkey dev`", async (t) => {
  const fold = (text: string): string | null => /<details class="api"[^>]*>/.exec(text)?.[0] ?? null;
  const closed = '<details class="api" data-keep="api">';
  const body = new URLSearchParams({ username: "admin", password: adminPassword }).toString();
  for (const [isForDevelopment, expected] of [
    [false, closed],
    [true, closed.replace(">", " open>")],
  ] as const) {
    const api = await serve(t, { isForDevelopment });
    const headers = {
      ...browser,
      "sec-fetch-site": "same-origin",
      "content-type": "application/x-www-form-urlencoded",
    };
    const login = await api.ask("POST", "/api/session/", { headers, body });
    const admin = { ...browser, cookie: login.headers.getSetCookie()[0]!.split(";")[0]! };
    const ann = await api.user("Ann");

    assert.equal(fold((await api.get("/users", admin)).text), expected);
    assert.equal(fold((await api.get("/users/999", admin)).text), expected);
    assert.equal(fold((await api.get("/users", { ...browser, ...ann.headers })).text), closed);
    assert.equal(fold((await api.get("/nothing", browser)).text), closed);
    for (const path of ["/login", "/login/factor"]) assert.equal(fold((await api.get(path, admin)).text), null, path);
  }
});
