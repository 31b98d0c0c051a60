// Databases of every released version, created by `tools/released/make.ts` with that version. All data of their clients
// stays valid.
import assert from "node:assert/strict";
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { addTOTPTo, startLogin } from "../harness/factors.ts";
import { askPostgres, startPostgres, type TestServer } from "../harness/postgres.ts";
import { basicHeader, serve, type API } from "../harness/serve.ts";

type Headers = Readonly<Record<string, string>>;
type Caller = "admin" | "ada";

/** The data that the clients of the database have. */
interface Known {
  readonly secret: string;
  readonly passwords: Readonly<Record<Caller, string>>;
  readonly login: { readonly username: string; readonly password: string };
  readonly cookie: string;
  readonly refresh: string;
  readonly usedRefresh: string;
  readonly itsSuccessor: string;
  readonly endedRefresh: string;
  readonly apiToken: string;
  readonly key: string;
  readonly endedKey: string;
  readonly createdAt: string;
  readonly next: string;
  readonly reads: readonly {
    readonly as: Caller;
    readonly path: string;
    readonly json: unknown;
    readonly etag: string;
  }[];
  readonly repeatable: Readonly<Record<Caller, readonly Repeatable[]>>;
}

interface Repeatable {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body: unknown;
  readonly status: number;
  readonly json: unknown;
  readonly etag: string;
}

const folder = join(import.meta.dirname, "../released");
let server: Promise<TestServer> | null = null;
after(async () => (await server)?.stop());

async function takeOver(
  t: TestContext,
  from: string,
): Promise<{ api: API; baseline: Known; as: Record<Caller, Headers> }> {
  const baseline = JSON.parse(readFileSync(`${from}.json`, "utf8")) as Known;
  const database = from.endsWith("postgres") ? await restored(t, `${from}.sql`) : await copied(t, `${from}.db`);
  const api = await serve(t, { settings: { LATCHKEY_DATABASE: database, LATCHKEY_SECRET: baseline.secret } });
  const { username, password } = baseline.login;
  return {
    api,
    baseline,
    as: { admin: basicHeader("admin", baseline.passwords.admin), ada: basicHeader(username, password) },
  };
}

async function copied(t: TestContext, file: string): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), "latchkey-released-"));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  copyFileSync(file, join(place, "latchkey.db"));
  return `sqlite:${join(place, "latchkey.db")}`;
}

async function restored(t: TestContext, file: string): Promise<string> {
  const { makeDatabase, dropDatabase } = await (server ??= startPostgres());
  const url = await makeDatabase();
  t.after(() => dropDatabase(url));
  await askPostgres(url, readFileSync(file, "utf8"));
  return url;
}

const databases = globSync("*/*.json", { cwd: folder }).map((file) => file.slice(0, -".json".length));

for (const name of databases.toSorted()) {
  const from = join(folder, name);

  test(`keeps every record of ${name}, and accepts an old ETag for a change`, async (t) => {
    const { api, baseline, as } = await takeOver(t, from);

    for (const { as: caller, path, json, etag } of baseline.reads) {
      const reply = await api.get(path, as[caller]);
      assert.deepEqual([path, reply.status, reply.json], [path, 200, json]);
      if (Array.isArray(json)) continue;
      // The ETags of 0.1 were revisions. So a read with an old ETag returns the record with its current ETag.
      const tag = reply.headers.get("etag")!;
      assert.equal((await api.get(path, { ...as[caller], "if-none-match": etag })).headers.get("etag"), tag);
      assert.equal((await api.get(path, { ...as[caller], "if-none-match": tag })).status, 304);
    }

    const { path, etag } = baseline.reads.find((read) => read.path === "/orders/1")!;
    const written = await api.patch(path, { status: "cancelled" }, { ...as.ada, "if-match": etag });
    assert.equal(written.status, 200);
    assert.equal((await api.patch(path, { status: "open" }, { ...as.ada, "if-match": etag })).status, 412);
  });

  test(`keeps every login of ${name} valid, and refuses the logins that had ended`, async (t) => {
    const { api, baseline, as } = await takeOver(t, from);
    const bearer = async (refresh: string): Promise<Headers> => {
      const reply = await api.post("/api/token/refresh/", { refresh });
      assert.equal(reply.status, 200, reply.text);
      return { authorization: `Bearer ${reply.json.access}` };
    };

    for (const headers of [
      as.ada,
      basicHeader("ADA", baseline.login.password),
      { cookie: baseline.cookie },
      { authorization: `Token ${baseline.apiToken}` },
      { authorization: `Token ${baseline.key}` },
      await bearer(baseline.refresh),
      await bearer(baseline.itsSuccessor),
    ])
      assert.equal((await api.get("/protected/", headers)).json.username, baseline.login.username);
    const token = await api.post("/api-token-auth/", baseline.login);
    const account = await api.get("/users/2/account", as.admin);
    const ended = [
      await api.post("/api/token/refresh/", { refresh: baseline.endedRefresh }),
      await api.post("/api/token/refresh/", { refresh: baseline.usedRefresh }),
      await api.get("/protected/", { authorization: `Token ${baseline.endedKey}` }),
    ];

    assert.equal(token.json.token, baseline.apiToken);
    assert.equal(account.json.created_at, baseline.createdAt);
    assert.deepEqual(
      ended.map(({ status }) => status),
      [401, 401, 401],
    );
  });

  test(`asks a user of ${name} for a second factor only after they added one`, async (t) => {
    const { api, baseline } = await takeOver(t, from);
    const { id } = (await api.get("/api/session/", { cookie: baseline.cookie })).json.user;
    const { login } = baseline;
    assert.equal((await api.post("/api/token/", login)).status, 200);

    const ada = await addTOTPTo(api, { id, email: login.username, password: login.password });

    for (const ended of [
      await api.get("/protected/", { cookie: baseline.cookie }),
      await api.post("/api/token/refresh/", { refresh: baseline.refresh }),
      await api.get("/protected/", basicHeader(login.username, login.password)),
    ])
      assert.equal(ended.status, 401);
    for (const program of [baseline.apiToken, baseline.key])
      assert.equal((await api.get("/protected/", { authorization: `Token ${program}` })).status, 200);
    const { pending } = (await startLogin(api, ada)).json.login;
    const done = await api.post("/api/login/", { pending, factor: ada.factor, code: ada.code() });
    assert.equal(done.status, 200, done.text);
  });

  test(`replays the responses to writes of ${name} with an idempotency key, and assigns no id twice`, async (t) => {
    const { api, baseline, as } = await takeOver(t, from);

    for (const caller of ["admin", "ada"] as const) {
      for (const { method, path, key, body, status, json, etag } of baseline.repeatable[caller]) {
        const again = await api.ask(method, path, { headers: { ...as[caller], "idempotency-key": key }, body });
        assert.deepEqual(
          [again.status, again.json, again.headers.has("etag"), again.headers.get("idempotency-replayed")],
          [status, json, etag !== null, "true"],
        );
        const other = await api.ask(method, path, {
          headers: { ...as[caller], "idempotency-key": key },
          body: { a: 1 },
        });
        assert.equal(other.status, 422);
      }
    }

    const ids: number[] = [];
    for (const name of ["seven", "nine", "ten"]) ids.push((await api.user(name)).id);
    assert.deepEqual(ids, [7, 9, 10]);
  });
}
