import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { createLatchkey } from "../../service/latchkey.ts";
import { readSettings } from "../../service/settings/settings.ts";
import { administratorLines, followable } from "./banner.ts";

test("shows the address of this machine for a service on all addresses", () => {
  assert.equal(followable("http://0.0.0.0:8000/api"), "http://127.0.0.1:8000/api");
  assert.equal(followable("https://[::]:8000"), "https://[::1]:8000");
  assert.equal(followable("http://192.0.2.7:8000/0.0.0.0:1"), "http://192.0.2.7:8000/0.0.0.0:1");
});

test("shows where an unused first password is, and reports a password in the settings that has no effect", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-banner-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const environment = {
    LATCHKEY_DATABASE: `sqlite:${folder}/a.db`,
    LATCHKEY_SECRET: "a secret of more than 32 characters",
  };
  let now = Date.parse("2026-01-01T00:00:00Z");
  const start = async (more: object = {}): Promise<readonly string[]> => {
    const settings = readSettings({ ...environment, ...more });
    const passwordFile = path.join(folder, "latchkey.password");
    const latchkey = await createLatchkey({ settings, config: {}, observe: null, now: () => now, passwordFile });
    await latchkey.close();
    return administratorLines(settings, latchkey);
  };
  const until = "2026-01-08T00:00:00.000Z";
  const file = path.join(folder, "latchkey.password");

  assert.deepEqual(await start(), [
    `  first administrator: admin, password in ${file} (valid until ${until} unless it is used before; read it and remove the file)`,
  ]);
  const unused = `  first administrator: admin, password in ${file}, not used yet (valid until ${until})`;
  assert.deepEqual(await start(), [unused]);
  const ignored =
    "  LATCHKEY_ADMIN_PASSWORD is ignored, because there is an administrator. To change a password: latchkey user password USER";
  assert.deepEqual(await start({ LATCHKEY_ADMIN_PASSWORD: "another password" }), [unused, ignored]);
  rmSync(file);
  assert.deepEqual(await start(), [
    `  first administrator: admin, password shown at the first start, not used yet (valid until ${until})`,
  ]);
  now = Date.parse(until);
  assert.deepEqual(await start(), [
    `  first administrator: admin, whose password expired unused at ${until}. Set a new one: latchkey user password admin`,
  ]);
});

test("does not mention a first password that a login has used or that the settings contain", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-banner-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const ownPassword of ["a password of my own", null]) {
    const settings = readSettings({
      LATCHKEY_DATABASE: `sqlite:${folder}/${ownPassword === null ? "drawn" : "given"}.db`,
      LATCHKEY_SECRET: "a secret of more than 32 characters",
      ...(ownPassword === null ? {} : { LATCHKEY_ADMIN_PASSWORD: ownPassword }),
    });
    const start = () => createLatchkey({ settings, config: {}, observe: null });
    const first = await start();
    const drawn = first.firstAdministrator?.drawn;
    const password = drawn !== null && drawn !== undefined && "password" in drawn ? drawn.password : ownPassword;
    const headers = { authorization: `Basic ${btoa(`admin:${password}`)}` };
    const used = await first.fetch(new Request("http://localhost/protected/", { headers }), { peer: "127.0.0.1" });
    assert.equal(used.status, 200);
    await first.close();

    const second = await start();
    await second.close();

    assert.equal(second.unusedPassword, null);
    assert.deepEqual(administratorLines({ ...settings, adminPassword: null }, second), []);
  }
});
