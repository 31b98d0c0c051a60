import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { placeFor } from "../harness/cli.ts";

test("names the missing scheme if API tokens are off", async () => {
  using place = placeFor({ LATCHKEY_SCHEMES: "basic,session" });
  await place.run(["user", "create", "--name", "Ann", "--email", "ann@example.com", "--without-password"]);
  const off =
    "API tokens are off. Add token to the schemes: LATCHKEY_SCHEMES, or settings.schemes in the config file.\n";

  for (const name of ["create", "revoke"])
    assert.deepEqual(await place.run(["token", name, "ann@example.com"]), { code: 1, out: "", errors: off });
});

test("suggests the right option before it reports a missing option", async () => {
  using place = placeFor();
  const rows: readonly (readonly [args: readonly string[], errors: string])[] = [
    [
      ["user", "create", "--nam", "Ann"],
      "Unknown option '--nam'. Did you mean --name? latchkey --help shows every command.\n",
    ],
    [["--prot", "9000"], "Unknown option '--prot'. Did you mean --port? latchkey --help shows every command.\n"],
    [["--vresion"], "Unknown option '--vresion'. Did you mean --version? latchkey --help shows every command.\n"],
    [["user", "create", "--name", "Ann"], "Write --email ADDRESS too.\n"],
    [["user", "create", "--email", "ann@example.com"], "Write --name NAME too.\n"],
  ];

  for (const [args, errors] of rows) assert.deepEqual(await place.run(args), { code: 2, out: "", errors });
});

test("reports an undeclared role and a folder without a config file once", async () => {
  using place = placeFor();
  const config = path.join(place.folder, "latchkey.config.mjs");
  writeFileSync(config, 'export default { users: { roles: ["user", "editor", "admin"] } };');
  await place.run(["user", "create", "--name", "Ann", "--email", "ann@example.com", "--without-password"]);
  const result = await place.run(["user", "role", "ann@example.com", "editor"]);
  assert.equal(result.code, 0, result.errors);
  using elsewhere = placeFor({
    LATCHKEY_DATABASE: `sqlite:${path.join(place.folder, "latchkey.db")}`,
    LATCHKEY_SECRET_FILE: path.join(place.folder, "latchkey.secret"),
  });
  const message =
    "feature accounts: 1 accounts have the role editor, which is not declared. Declare it in roles and start, then give them another role and remove it";
  const hint = `There is no latchkey.config.ts in ${elsewhere.folder}. If the service has one, run the command in its folder.`;

  assert.deepEqual(await elsewhere.run(["user", "list"]), { code: 78, out: "", errors: `${message}\n${hint}\n` });
  assert.deepEqual(await elsewhere.run(["serve", "--port", "0"]), {
    code: 78,
    out: "",
    errors: `Latchkey cannot start. One declaration is wrong:\n- ${message}\n${hint}\n`,
  });
  writeFileSync(config, "export default {};");
  assert.deepEqual(await place.run(["user", "list"]), { code: 78, out: "", errors: `${message}\n` });
});

test("names the fix if no PostgreSQL server listens, and reports that MySQL is not supported", async () => {
  const down = "postgres://ann:secret@127.0.0.1:1/shop";
  for (const args of [["user", "list"], ["serve"]]) {
    using place = placeFor({
      LATCHKEY_DATABASE: down,
      LATCHKEY_PORT: "0",
      LATCHKEY_SECRET: "of more than 32 characters, and so on",
    });
    const { code, errors } = await place.run(args);
    assert.equal(code, 1);
    assert.match(
      errors,
      /LATCHKEY_DATABASE: PostgreSQL: connect ECONNREFUSED 127\.0\.0\.1:1\. No server listens there\. Start PostgreSQL, or correct the address\.\n$/,
    );
  }
  using place = placeFor({ LATCHKEY_DATABASE: "mysql://ann:secret@127.0.0.1/shop" });
  const { code, errors } = await place.run(["user", "list"]);
  assert.equal(code, 78);
  assert.match(
    errors,
    /^LATCHKEY_DATABASE names a database of mysql, which is not supported\. Write sqlite:PATH .* or postgres:\/\//,
  );
  assert.doesNotMatch(errors, /secret/);
});
