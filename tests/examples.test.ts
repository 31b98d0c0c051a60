import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";

const root = path.join(import.meta.dirname, "..");
const fromSource = pathToFileURL(path.join(root, "tests/from-source.ts")).href;

/** Starts an example on a free port and gives the address that it prints. */
async function run(t: TestContext, example: string): Promise<string> {
  const child = spawn(process.execPath, ["--import", fromSource, path.join(root, "examples", example)], {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  for await (const chunk of child.stdout) return String(chunk).trim();
  throw new Error(`${example} ended without a word.`);
}

function linesOf(example: string): number {
  return readFileSync(path.join(root, "examples", example), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "").length;
}

const json = { "content-type": "application/json" };

test("ten lines are a resource that can be listed, made, read, changed and removed", async (t) => {
  const books = await run(t, "ten-line-resource.ts");
  assert.ok(linesOf("ten-line-resource.ts") <= 10);
  assert.match(books, /^http:\/\/127\.0\.0\.1:\d+\/books$/);

  const made = await fetch(books, { method: "POST", headers: json, body: '{"title":"Flatland","pages":96}' });

  assert.equal(made.status, 201);
  assert.equal(made.headers.get("location"), "/books/1");
  assert.deepEqual(await made.json(), { id: 1, title: "Flatland", pages: 96 });
  assert.equal((await fetch(books, { method: "POST", headers: json, body: '{"title":"","pages":0}' })).status, 400);
  assert.equal(await (await fetch(`${books}?title[starts]=Flat`)).text(), '[{"id":1,"title":"Flatland","pages":96}]');
  assert.equal((await fetch(`${books}/1`, { method: "PATCH", headers: json, body: '{"pages":97}' })).status, 200);
  assert.match(
    await (await fetch(`${books}/1`, { headers: { accept: "application/xml" } })).text(),
    /<book><id>1<\/id>/,
  );
  assert.equal((await fetch(`${books}/1`, { method: "DELETE" })).status, 204);
  assert.equal((await fetch(`${books}/1`)).status, 404);
});

test("twelve lines are a scheme and an endpoint that asks for it", async (t) => {
  const hello = await run(t, "twelve-line-scheme.ts");
  assert.ok(linesOf("twelve-line-scheme.ts") <= 12);

  const rung = (bell: string): Promise<Response> => fetch(hello, { headers: { "x-doorbell": bell } });

  assert.equal(await (await rung("ding-dong")).text(), '{"hello":"ada"}');
  for (const [answered, detail] of [
    [await rung("knock"), "Nobody opens."],
    [await fetch(hello), "Invalid or missing credentials."],
  ] as const) {
    assert.equal(answered.status, 403, "a scheme without a challenge has none to offer");
    assert.equal(((await answered.json()) as { detail: string }).detail, detail);
  }
});

test("fifteen lines are users who sign up and log in with a JWT", async (t) => {
  const home = await run(t, "fifteen-line-login.ts");
  assert.ok(linesOf("fifteen-line-login.ts") <= 15);
  const text = readFileSync(path.join(root, "examples", "fifteen-line-login.ts"), "utf8");
  assert.deepEqual(
    [...text.matchAll(/from "([^"]+)"/g)].map(([, from]) => from),
    ["latchkey"],
  );
  const post = (at: string, body: object): Promise<Response> =>
    fetch(home + at, { method: "POST", headers: json, body: JSON.stringify(body) });
  const login = { username: "ann@example.com", password: "the password of ann" };
  assert.equal((await post("/users", { name: "Ann", email: login.username, password: login.password })).status, 201);

  const { access, refresh } = (await (await post("/api/token/", login)).json()) as Record<string, string>;

  const hello = (token: string): Promise<Response> =>
    fetch(`${home}/hello`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(await (await hello(access!)).text(), '{"hello":"you"}');
  assert.equal((await fetch(`${home}/users/1`, { headers: { authorization: `Bearer ${access}` } })).status, 200);
  assert.equal((await post("/api/token/refresh/", { refresh })).status, 200);
  assert.equal((await hello(`${access}x`)).status, 401);
  assert.equal((await post("/api/token/", { ...login, password: "another" })).status, 401);
});

test("every example is run here", () => {
  const run = readFileSync(import.meta.filename, "utf8");

  assert.deepEqual(
    globSync("*", { cwd: path.join(root, "examples") }).filter((file) => !run.includes(`run(t, "${file}")`)),
    [],
  );
});
