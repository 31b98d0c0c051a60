// The command reads declarations and no database, so it runs on SQLite alone.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { placeFor, type Machine } from "../harness/cli.ts";

const configure = ({ folder }: Machine, config: object): void =>
  writeFileSync(path.join(folder, "latchkey.config.mjs"), `export default ${JSON.stringify(config)};\n`);
const readLock = ({ folder }: Machine): string => readFileSync(path.join(folder, "permissions.lock"), "utf8");

test("prove --check fails without a lock, and names the command that makes it", async () => {
  using place = placeFor();

  const { code, errors } = await place.run(["prove", "--check"]);

  assert.equal(code, 1);
  assert.match(errors, /There is no permissions\.lock here\. Make it: latchkey prove --lock/);
});

test("prove --lock writes the same bytes twice, and prove --check reports what has changed since", async () => {
  using place = placeFor();
  configure(place, { without: ["protected"] });

  await place.run(["prove", "--lock"]);
  const first = readLock(place);
  await place.run(["prove", "--lock"]);

  assert.equal(readLock(place), first);
  assert.match(first, /^any logged-in user may create items in orders, if they may edit the order$/m);
  assert.match(first, /^the user in user_id may delete orders$/m);
  assert.equal((await place.run(["prove", "--check"])).code, 0);

  configure(place, { registration: "open" });
  const { code, out } = await place.run(["prove", "--check"]);

  assert.equal(code, 1);
  assert.equal(
    out,
    [
      "any logged-in user may now call GET /protected/",
      "anyone may now create users, if the credential is not limited to scopes",
      "",
      "If these changes are right, write the lock: latchkey prove --lock",
      "",
    ].join("\n"),
  );
  assert.deepEqual(await place.json(["prove", "--check"]), {
    changes: [
      "any logged-in user may now call GET /protected/",
      "anyone may now create users, if the credential is not limited to scopes",
    ],
  });
});
