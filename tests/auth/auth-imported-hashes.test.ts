import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { placeFor } from "../harness/cli.ts";
import { basicHeader, serve, type API, usualPasswordCost } from "../harness/serve.ts";

const password = "lètmein änd stay";

// Made with the named systems: Django 3.2 and bcrypt 3.2, as Debian ships them. Other formats:
// src/core/crypto/password-hash.test.ts.
const imported: { system: string; hash: string }[] = [
  {
    system: "Django's pbkdf2_sha256",
    hash: "pbkdf2_sha256$260000$BuE6lNIUpykjiX9qMQbYjL$y0e0YxvaTNpKVU5i2KZMNVtE950v/h392AErN10aq98=",
  },
  {
    system: "Django's argon2",
    hash: "argon2$argon2id$v=19$m=102400,t=2,p=8$OFkyOWVlQnpLWmlrR21mT2swbDJ2dg$2DKeEaiBQRRyiGUpxCn73w",
  },
  { system: "bcrypt", hash: "$2b$06$b1CCF9pVdo6J5aIP8Puc3.fKStSBAI4pMD7SwyVZdRIzPR03Xq3l2" },
];

/** The two kinds of login: each returns the status for a username and a password. */
const ways: Record<string, (api: API, username: string, password: string) => Promise<number>> = {
  "POST /api/token/": async (api, username, tried) =>
    (await api.post("/api/token/", { username, password: tried })).status,
  Basic: async (api, username, tried) => (await api.get("/protected/", basicHeader(username, tried))).status,
};

const rows = imported.flatMap(({ hash }, at) =>
  Object.keys(ways).map((_, way) => ({ email: formatEmail(at, way), hash })),
);

function formatEmail(at: number, way: number): string {
  return `user${at}.${way}@example.com`;
}

/**
 * Starts a service on a database into which `latchkey user import` wrote the users.
 * On SQLite alone: the test reads the hashes in the database file.
 */
async function serveImported(t: TestContext): Promise<{ api: API; storedHash: (username: string) => unknown }> {
  const place = placeFor();
  t.after(() => place[Symbol.dispose]());
  const csv = ["email,password_hash", ...rows.map(({ email, hash }) => `${email},"${hash}"`), ""].join("\n");
  writeFileSync(path.join(place.folder, "users.csv"), csv);
  assert.deepEqual(await place.json(["user", "import", "users.csv"]), {
    imported: rows.length,
    skipped: 0,
    refused: [],
  });
  const file = path.join(place.folder, "latchkey.db");
  const api = await serve(t, { settings: { ...usualPasswordCost, LATCHKEY_DATABASE: `sqlite:${file}` } });
  const database = new DatabaseSync(file, { readOnly: true });
  t.after(() => database.close());
  const find = database.prepare("SELECT password_hash FROM accounts WHERE username = ?");
  return { api, storedHash: (username) => find.get(username)?.["password_hash"] };
}

test("logs imported users in with their old password, and replaces their hashes", async (t) => {
  const { api, storedHash } = await serveImported(t);

  for (const [at, { system, hash }] of imported.entries()) {
    for (const [way, [name, logIn]] of Object.entries(ways).entries()) {
      await t.test(`${system}, by ${name}`, async () => {
        const email = formatEmail(at, way);

        assert.equal(await logIn(api, email, `${password} `), 401);
        assert.equal(storedHash(email), hash);

        assert.equal(await logIn(api, email, password), 200);
        const replaced = storedHash(email);
        assert.match(String(replaced), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);

        // Basic caches a verification for a minute. After that the new hash is used.
        api.clock.turn(61);
        assert.equal(await logIn(api, email, `${password} `), 401);
        assert.equal(await logIn(api, email, password), 200);
        assert.equal(storedHash(email), replaced);
      });
    }
  }
});
