import { randomBytes } from "node:crypto";
import type { Service } from "../../door/index.ts";
import { openLatchkey } from "../latchkey.ts";
import type { ConfigFile } from "../settings/config-file/config-file.ts";
import type { Environment } from "../settings/reading.ts";
import { readSettings } from "../settings/settings.ts";

/**
 * Opens the service with its settings and config file over an empty database in memory. For commands that need its
 * declarations, not its data.
 */
export async function openInMemory(environment: Environment, config: ConfigFile): Promise<Service> {
  // Reads or creates no secret, because nothing is signed.
  const { LATCHKEY_SECRET_FILE: _, ...rest } = environment;
  const secret = randomBytes(32).toString("base64url");
  const settings = readSettings(
    { ...rest, LATCHKEY_DATABASE: "sqlite::memory:", LATCHKEY_SECRET: secret },
    { ...config, settings: { ...config.settings, secretFile: undefined } },
  );
  const { service } = await openLatchkey({ settings, config });
  return service;
}
