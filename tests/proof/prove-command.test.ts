// The command starts its service on SQLite in memory, so it runs on SQLite alone.
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { placeFor, type Machine } from "../harness/cli.ts";
import { resolveModule } from "../harness/command.ts";

const door = pathToFileURL(resolveModule("door/index")).href;

const configure = ({ folder }: Machine, source: string): void =>
  writeFileSync(path.join(folder, "latchkey.config.mjs"), source);

test("prove and prove --lock end with 78 if the config file connects to another program", async () => {
  using place = placeFor();
  configure(place, `await fetch("http://127.0.0.1:4567/keys");\nexport default {};\n`);

  for (const args of [["prove"], ["prove", "--lock"]]) {
    const { code, errors } = await place.run(args);

    assert.equal(code, 78);
    assert.match(errors, /The start connects to 127\.0\.0\.1:4567, and latchkey prove refuses connections\./);
  }
});

test("prove writes no file, and prove --strict fails if something could not be tried", async () => {
  using place = placeFor({ LATCHKEY_MAIL_URL: "file:mails", LATCHKEY_MAIL_FROM: "no-reply@example.com" });
  configure(
    place,
    `import { administrator, defineResource, mount, text } from ${JSON.stringify(door)};
const old = defineResource({ name: "old", table: "old", fields: { title: text() } });
export default { without: ["orders", "protected"], registration: "open", mounts: [mount(old, { permission: administrator })] };
`,
  );

  const plain = await place.run(["prove"]);
  const strict = await place.run(["prove", "--strict"]);

  assert.deepEqual([plain.code, strict.code], [0, 1]);
  assert.equal(strict.out, plain.out);
  assert.match(strict.out, /Not tried:\n- \/olds: its records are in an existing table\n/);
  assert.deepEqual(readdirSync(place.folder), ["latchkey.config.mjs"]);
});
