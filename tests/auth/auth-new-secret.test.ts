import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { ConfigError, readSettings } from "../../src/service/settings/settings.ts";
import { adminPassword, serve, type API } from "../harness/serve.ts";

const first = "the first secret of this server, 48 characters";
const second = "another secret, that has been made by a machine";
const third = "xQ7 a third one, with blanks inside, is one secret";
const admin = { username: "admin", password: adminPassword };

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-secrets-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a service over the same database, with these secrets in the file. */
async function withSecrets(t: TestContext, folder: string, ...secrets: readonly string[]): Promise<API> {
  const file = path.join(folder, "latchkey.secret");
  rmSync(file, { force: true });
  writeFileSync(file, `${secrets.join("\n")}\n`, { mode: 0o600 });
  // On SQLite only, because the secret file is next to the database file.
  return serve(t, { settings: { LATCHKEY_DATABASE: `sqlite:${folder}/latchkey.db` } });
}

/** Makes one credential of every kind. */
async function holdings(api: API) {
  const pair = (await api.post("/api/token/", admin)).json as { access: string; refresh: string };
  const session = (await api.post("/api/session/", admin)).headers.get("set-cookie")!.split(";")[0]!;
  const { token } = (await api.post("/api-token-auth/", admin)).json as { token: string };
  const { key } = (await api.post("/users/1/keys", { name: "a program" }, api.admin)).json as { key: string };
  const next = /<([^>]+)>; rel="next"/.exec(
    (await api.get("/users?limit=1", api.admin)).headers.get("link") ?? "",
  )![1]!;
  return { pair, session, token, key, next };
}

type Holdings = Awaited<ReturnType<typeof holdings>>;

/** Returns the status of a request with each credential. */
async function taken(api: API, { pair, session, token, key, next }: Holdings): Promise<Record<string, number>> {
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await api.get("/protected/", headers)).status;
  return {
    access: await status({ authorization: `Bearer ${pair.access}` }),
    session: await status({ cookie: session }),
    token: await status({ authorization: `Token ${token}` }),
    key: await status({ authorization: `Token ${key}` }),
    cursor: (await api.get(next, api.admin)).status,
    refresh: (await api.post("/api/token/refresh/", { refresh: pair.refresh })).status,
  };
}

const all = { access: 200, session: 200, token: 200, key: 200, cursor: 200, refresh: 200 };

test("keeps all credentials valid while the file has the old and the new secret, and later only sessions and the credentials of the new one", async (t) => {
  const folder = createFolder(t);
  const old = await withSecrets(t, folder, first);
  await old.user("Ann");
  const before = await holdings(old);
  assert.deepEqual(await taken(old, before), all);

  // In this first step, every process accepts the new secret and still signs with the old one.
  const learning = await withSecrets(t, folder, first, second);
  assert.deepEqual(await taken(learning, before), all);
  const signing = await withSecrets(t, folder, second, first);
  assert.deepEqual(await taken(signing, before), all);
  assert.equal((await signing.post("/api-token-auth/", admin)).json.token, before.token);
  const after = await holdings(signing);
  assert.equal(after.token, before.token);
  const ben = await signing.user("Ben");
  const tokenOfBen = (await signing.post(`/users/${ben.id}/token`, undefined, ben.headers)).json.token;
  assert.deepEqual(await taken(learning, after), all);

  const rid = await withSecrets(t, folder, second);
  const { token: _, ...others } = await taken(rid, after);
  const { token: __, ...allOthers } = all;
  assert.deepEqual(others, allOthers);
  assert.deepEqual(await taken(rid, before), {
    access: 401,
    session: 200,
    token: 401,
    key: 401,
    cursor: 400,
    refresh: 401,
  });
  assert.equal((await rid.get("/protected/", { authorization: `Token ${tokenOfBen}` })).json.user.id, ben.id);
});

test("makes a new API token if the secret of the old token was removed, and returns the new one also after other secrets are added", async (t) => {
  const folder = createFolder(t);
  const one = await withSecrets(t, folder, second);
  const lost = (await one.post("/api-token-auth/", admin)).json.token as string;
  const other = await withSecrets(t, folder, third);

  assert.equal((await other.get("/protected/", { authorization: `Token ${lost}` })).status, 401);
  const made = (await other.post("/api-token-auth/", admin)).json.token as string;
  assert.notEqual(made, lost);
  const both = await withSecrets(t, folder, first, second, third);
  assert.equal((await both.post("/api-token-auth/", admin)).json.token, made);
  assert.equal((await both.get("/protected/", { authorization: `Token ${made}` })).status, 200);
  assert.equal((await both.get("/protected/", { authorization: `Token ${lost}` })).status, 401);
});

test("gives a refresh token the same successor in processes that sign with different secrets", async (t) => {
  const folder = createFolder(t);
  const old = await withSecrets(t, folder, first, second);
  const { refresh } = (await old.post("/api/token/", admin)).json;
  const young = await withSecrets(t, folder, second, first);

  const [one, other] = [
    (await old.post("/api/token/refresh/", { refresh })).json.refresh as string,
    (await young.post("/api/token/refresh/", { refresh })).json.refresh as string,
  ];
  const claims = (token: string): unknown => JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString());
  assert.deepEqual(claims(one), claims(other));
  assert.equal((await young.post("/api/token/refresh/", { refresh: one })).status, 200);
  assert.equal((await old.post("/api/token/refresh/", { refresh: other })).status, 200);
});

test("replays a stored response after the secret was changed", async (t) => {
  const folder = createFolder(t);
  const write = (api: API, name: string) =>
    api.post("/users", { name, email: "cy@example.com" }, { ...api.admin, "idempotency-key": "the-same-key" });
  const made = await write(await withSecrets(t, folder, first), "Cy");
  const later = await withSecrets(t, folder, second, first);

  const again = await write(later, "Cy");
  assert.deepEqual(
    [again.status, again.json.id, again.headers.get("idempotency-replayed")],
    [201, made.json.id, "true"],
  );
  assert.equal((await write(later, "Cyd")).status, 422);
});

test("reads a list of secrets line by line, and validates each one", (t) => {
  const folder = createFolder(t);
  const file = path.join(folder, "secrets");
  const read = (text: string): string => {
    writeFileSync(file, text, { mode: 0o600 });
    chmodSync(file, 0o600);
    try {
      const environment = { LATCHKEY_DATABASE: "sqlite::memory:", LATCHKEY_SECRET_FILE: file };
      return readSettings(environment)
        .secret.deriveEach("x")
        .map((key) => key.toString("hex", 0, 4))
        .join(" ");
    } catch (error) {
      if (error instanceof ConfigError) return error.problems.join("\n").replaceAll(file, "FILE");
      throw error;
    }
  };
  const alone = [first, second].map(read).join(" ");

  for (const text of [`${first}\n${second}`, `${first}\r\n${second}\r\n`, `\n\n${first}\n\n${second}\n\n`])
    assert.equal(read(text), alone, JSON.stringify(text));
  assert.match(read(""), /^LATCHKEY_SECRET_FILE: FILE is shorter than 32 characters/);
  assert.match(
    read(`${first}\nshort`),
    /^LATCHKEY_SECRET_FILE: FILE is shorter than 32 characters.* \(secret 2 of 2\)$/,
  );
  assert.match(read(`${first}\n  ${second}`), /white space at an end.* \(secret 2 of 2\)$/);
  assert.match(read(`${first}\n${"ab".repeat(20)}`), /repeats a few characters.* \(secret 2 of 2\)$/);
  assert.match(
    read(`${first}\n${second}\n${first}`),
    /^LATCHKEY_SECRET_FILE: FILE has the same secret twice, on line 3/,
  );
});
