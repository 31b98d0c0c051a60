import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { Secret } from "../../../core/crypto/secret.ts";
import { isPostgresURL, postgresURLMistakes, readAddress, serversInPlainText } from "./address.ts";

/** Returns the connection settings that `pg` takes from a URL. */
function read(text: string): Record<string, unknown> {
  const { servers } = readAddress(new Secret(text));
  const { host, port, user, password, database } = new pg.Client(servers[0]);
  return { host, port, user, password, database };
}

const socket = "/cloudsql/project:region:instance";

for (const [url, wanted] of [
  [`postgres://app:secret@/shop?host=${socket}`, { host: socket, user: "app", password: "secret", database: "shop" }],
  [`postgres://app@/shop?host=${socket}`, { host: socket, user: "app", database: "shop" }],
  [
    `postgresql://app:s%40%2F%C3%A9@/shop?host=%2Frun`,
    { host: "/run", user: "app", password: "s@/é", database: "shop" },
  ],
  [`postgres://app:100%@/shop?host=/run`, { host: "/run", user: "app", password: "100%", database: "shop" }],
  [`postgres://app:a@b@/shop?host=/run`, { host: "/run", user: "app", password: "a@b", database: "shop" }],
  [`postgres://app:s@:5433/shop?host=/run`, { host: "/run", port: 5433, user: "app", password: "s", database: "shop" }],
  [`postgres://:5433/shop?host=/run&user=app`, { host: "/run", port: 5433, user: "app", database: "shop" }],
  [`postgres://app:s@?host=/run`, { host: "/run", user: "app", password: "s" }],
  [`postgres://app:s@/shop?host=/run&port=1&user=x`, { host: "/run", port: 1, user: "x", password: "s" }],
  [`postgres://app:s@/shop`, { host: "localhost", user: "app", password: "s", database: "shop" }],
  [`postgres:///shop?host=/run`, { host: "/run", database: "shop" }],
  [`postgres://app:p@ss@127.0.0.1/shop`, { host: "127.0.0.1", user: "app", password: "p@ss", database: "shop" }],
  [`postgres://app:s@127.0.0.1/shop?application_name=a@b`, { host: "127.0.0.1", user: "app" }],
  [`postgres://127.0.0.1/shop?user=app&password=a@b`, { host: "127.0.0.1", user: "app", password: "a@b" }],
] as const)
  test(`reads ${url} the same as libpq`, () => {
    assert.ok(isPostgresURL(url));
    const found = read(url);
    assert.deepEqual({ ...found, ...wanted }, found);
    assert.deepEqual(serversInPlainText(new Secret(url)), []);
  });

for (const url of [
  "postgres://u:p@ss#w@127.0.0.1:5432/db",
  "postgres://app:hello#pass@127.0.0.1/x",
  "postgres://app:pass/word@127.0.0.1/x",
  "postgres://app:12/pass@127.0.0.1/x",
  "postgres://app:p@ss/word@127.0.0.1/x",
  "postgres://app:pass?word@127.0.0.1/x",
  "postgres://app:12?pass=word@127.0.0.1/x",
  "postgres://app:p@ss?word@127.0.0.1/x",
  "postgres://app:p@ss?w=d@127.0.0.1/x?sslmode=require",
  "postgres://app@127.0.0.1/x?password=pass#word",
  "postgres://app@127.0.0.1/x?password=pass#word&sslmode=require",
])
  test(`refuses ${url}, names the fix and shows no part of the URL`, () => {
    const secret = new Secret(url);

    assert.ok(isPostgresURL(url));
    assert.deepEqual(postgresURLMistakes(secret), [
      "a part of it ends too early; write #, / and ? in the password as %23, %2F and %3F, and @ in the name of the database as %40",
    ]);
    assert.deepEqual(serversInPlainText(secret), []);
    assert.throws(
      () => readAddress(secret),
      (error: Error) =>
        /%23, %2F and %3F/.test(error.message) && !/ss|word|127/.test(error.message.replace("password", "")),
    );
  });

for (const url of [
  "postgres://",
  "postgres:",
  "postgres://ann:hunter2@:5432/x",
  "postgres://h:99999/x",
  "postgres://a b",
])
  test(`does not accept ${url} as a URL of PostgreSQL`, () => {
    assert.equal(isPostgresURL(url), false);
  });
