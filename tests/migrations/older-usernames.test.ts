// A database of version 8a66b6e6, made by `tools/released/names.ts`. It compared usernames by lower case, so some
// of its users have names that are equal now. Each of them keeps the account, and no stored name changes.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { accountsCollection } from "../../src/door/auth.ts";
import { makeNamesUpkeep } from "../../src/features/auth/accounts/names-upkeep.ts";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import { arrive } from "../harness/arrive.ts";
import { parseBase32 } from "../harness/factors.ts";
import { askPostgres, startPostgres, type TestServer } from "../harness/postgres.ts";
import { basicHeader, serve, type API } from "../harness/serve.ts";

interface Known {
  readonly secret: string;
  readonly users: readonly {
    readonly username: string;
    readonly password: string;
    readonly id: number;
    /** The secret of a second factor. */
    readonly seed?: string;
  }[];
  readonly proxied: readonly { readonly username: string; readonly id: number }[];
  readonly factor: number;
}

const folder = join(import.meta.dirname, "../released/usernames/8a66b6e6");
const proxy = "10.0.0.1";
let server: Promise<TestServer> | null = null;
after(async () => (await server)?.stop());

async function takeOver(t: TestContext, engine: string): Promise<{ readonly api: API; readonly known: Known }> {
  const known = JSON.parse(readFileSync(join(folder, `${engine}.json`), "utf8")) as Known;
  const api = await serve(t, {
    settings: {
      LATCHKEY_DATABASE: engine === "sqlite" ? copied(t) : await restored(t),
      LATCHKEY_SECRET: known.secret,
      LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user",
      LATCHKEY_TRUSTED_PROXIES: proxy,
      LATCHKEY_REMOTE_USER_CREATE: "true",
    },
  });
  return { api, known };
}

function copied(t: TestContext): string {
  const place = mkdtempSync(join(tmpdir(), "latchkey-names-"));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  copyFileSync(join(folder, "sqlite.db"), join(place, "latchkey.db"));
  return `sqlite:${join(place, "latchkey.db")}`;
}

async function restored(t: TestContext): Promise<string> {
  const { makeDatabase, dropDatabase } = await (server ??= startPostgres());
  const url = await makeDatabase();
  t.after(() => dropDatabase(url));
  await askPostgres(url, readFileSync(join(folder, "postgres.sql"), "utf8"));
  return url;
}

/** Logs in with a password, and with the second factor if there is one. Returns the id of the user. */
async function logIn(api: API, username: string, { password, seed }: Known["users"][number], factor: number) {
  api.clock.turn(61);
  const first = await api.post("/api/token/", { username, password });
  const done =
    seed === undefined
      ? first
      : await confirm(first.json.login.pending, computeCode(parseBase32(seed), computeStep(api.clock.now)));
  const { json } = await api.get("/protected/", { authorization: `Bearer ${done.json.access}` });
  return json.user?.id;

  function confirm(pending: string, code: string) {
    return api.post("/api/login/", { pending, factor, code });
  }
}

async function remote(api: API, username: string): Promise<unknown> {
  const { status, json } = await arrive(api, "/protected/", {
    peer: proxy,
    headers: [
      ["X-Forwarded-Proto", "https"],
      ["X-Remote-User", Buffer.from(username).toString("latin1")],
      ["X-Remote-Email", "somebody@example.com"],
    ],
  });
  return status === 200 ? json.user.id : json.code;
}

async function readAccounts(api: API): Promise<readonly unknown[]> {
  const query = { collection: accountsCollection, where: null, sort: [{ column: "id" }], limit: 100 };
  const rows = await api.service.store.list(query);
  return rows.map(({ record: { id, username, username_origin } }) => ({ id, username, username_origin }));
}

for (const engine of ["sqlite", "postgres"])
  test(`logs each user of an older ${engine} database in to their own account, and rewrites no username`, async (t) => {
    const { api, known } = await takeOver(t, engine);
    const before = await readAccounts(api);
    const names = [...known.users, ...known.proxied].map(({ id, username }) => [id, username]);
    const stored = new Map((before as { id: number; username: string }[]).map(({ id, username }) => [id, username]));
    for (const [id, username] of names) assert.equal(stored.get(id as number), username);

    const check = async () => {
      for (const user of known.users) {
        for (const spelling of new Set([user.username, user.username.toLowerCase()])) {
          assert.equal(await logIn(api, spelling, user, known.factor), user.id, spelling);
          if (user.seed !== undefined) continue;
          const basic = await api.get("/protected/", basicHeader(spelling, user.password));
          assert.equal(basic.json.user?.id, user.id, spelling);
        }
      }
      for (const { username, id } of known.proxied) assert.equal(await remote(api, username), id, username);
      assert.equal(await remote(api, "ſMITH"), "identity_not_bound");
      assert.equal(await remote(api, "βοβ"), "identity_not_bound");
    };

    await makeNamesUpkeep({ store: api.service.store, observe: () => assert.fail() }).run();
    await check();
    assert.deepEqual(await readAccounts(api), before);

    // Alone, an older name is found under each spelling, and each spelling is taken.
    const alone = known.users.find(({ username }) => username === "second ſpelling")!;
    assert.equal(await logIn(api, "Second Spelling", alone, 0), alone.id);
    for (const username of ["Μ", "αΣ", "S", "second spelling", "βοβ", "smith", "ſMITH"]) {
      const reply = await api.post("/users", { name: "New", email: "new@example.com", username }, api.admin);
      assert.deepEqual([reply.status, reply.json.errors?.[0].pointer], [409, "/username"], username);
    }
  });
