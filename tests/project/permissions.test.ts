import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import "../harness/doors-of-source.ts";
import { formatLock } from "../../src/proof/lock/lock-file.ts";
import { permissionsOf } from "../../src/proof/lock/permissions-of.ts";
import { loadConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { lockedProjects, withProved } from "../harness/prove-config.ts";

for (const { name, folder, environment } of lockedProjects)
  test(`declares the permissions of permissions.lock in ${name}`, async () => {
    const config = (await loadConfigFile(folder)) ?? {};

    const lock = await withProved(config, environment, async (open) => {
      const { service } = await open(() => Promise.resolve(null));
      await service.close();
      return formatLock(permissionsOf({ ...service, formats: config.formats ?? [] }));
    });

    assert.equal(lock, readFileSync(path.join(folder, "permissions.lock"), "utf8"));
  });
