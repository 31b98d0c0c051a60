import assert from "node:assert/strict";
import { test } from "node:test";
import { DeclarationError } from "../../../core/checking/declaration-error.ts";
import { Secret } from "../../../core/crypto/secret.ts";
import { postgresStore } from "../postgres.ts";
import { postgresURLMistakes, readAddress } from "./address.ts";

const url = (parameters: string): Secret => new Secret(`postgres://ann:hunter2@db.internal/shop?${parameters}`);

test("reports unknown, repeated and wrong URL parameters, each with the fix", () => {
  const rows: readonly (readonly [parameters: string, message: RegExp | null])[] = [
    ["ssl_mode=require", /^there is no parameter ssl_mode; did you mean sslmode\?$/],
    ["sslMode=require", /there is no parameter sslMode; did you mean sslmode\?/],
    ["sslmode=verify_full", /^sslmode: it has to be one of .*verify-full$/],
    ["sslmode=require&sslmode=disable", /^sslmode is given 2 times; keep one$/],
    ["application=x", /did you mean application_name\?/],
    ["schema=public", /there is no parameter schema; there are host/],
    ["pgbouncer=yes", /^pgbouncer: it has to be one of true, false$/],
    ["channel_binding=require", /^channel_binding: this client does not support require.*sslmode=verify-full/],
    ["target_session_attrs=standby", /write target_session_attrs=read-write/],
    ["connect_timeout=soon", /^connect_timeout: it has to be a whole number of seconds from 1 to 3600$/],
    ["statement_timeout=5s", /^statement_timeout: it has to be a whole number of milliseconds from 100/],
    ["lock_timeout=500&pgbouncer=true", /^lock_timeout: PgBouncer does not pass it on/],
    ["sslmode=require&application_name=shop&connect_timeout=3&statement_timeout=800&lock_timeout=90", null],
    ["sslmode=verify-full&sslrootcert=/etc/ca.crt&sslcert=/a&sslkey=/b&channel_binding=prefer", null],
    ["host=one,two&port=5432,5433&target_session_attrs=read-write&options=-c%20geqo=off&pgbouncer=true", null],
  ];
  for (const [parameters, expected] of rows) {
    const mistakes = postgresURLMistakes(url(parameters));

    if (expected === null) assert.deepEqual(mistakes, [], parameters);
    else assert.match(mistakes.join("\n"), expected, parameters);
  }
});

test("reports all mistakes in the URL and the options together, without the password", () => {
  assert.throws(
    () =>
      postgresStore({
        url: url("ssl_mode=require&statement_timeout=1"),
        poolSize: 0,
        connectTimeoutMs: Number.NaN,
        statementTimeoutMs: 5,
        lockTimeoutMs: -1,
      }),
    (thrown: unknown) => {
      assert.ok(thrown instanceof DeclarationError);
      assert.equal(thrown.mistakes.length, 6, thrown.message);
      assert.doesNotMatch(thrown.message, /hunter2/);
      return true;
    },
  );
  assert.throws(
    () => postgresStore({ url: url("pgbouncer=true"), lockTimeoutMs: 5 }),
    /lockTimeoutMs: PgBouncer does not pass it on; set it on the role/,
  );
});

test("reads the timeouts from the URL and removes them from the URL that `pg` gets", () => {
  const { timeouts, servers } = readAddress(url("connect_timeout=3&statement_timeout=800&lock_timeout=90"));

  assert.deepEqual(timeouts, { connectMs: 3000, statementMs: 800, lockMs: 90 });
  assert.deepEqual(servers, ["postgres://ann:hunter2@db.internal/shop?uselibpqcompat=true"]);
  assert.deepEqual(readAddress(url("")).timeouts, { connectMs: 4500, statementMs: 4000, lockMs: null });
});
