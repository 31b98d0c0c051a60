import { loadConfigFile, type ConfigFile } from "../service/settings/config-file/config-file.ts";
import { ConfigError } from "../service/settings/error.ts";
import { databaseIn, readEach, type Readings } from "../service/settings/reading.ts";
import type { SettingName } from "../service/settings/table.ts";
import type { Database } from "../service/settings/values.ts";
import { requireLastingStore } from "../service/system/operator.ts";

/**
 * Reads the settings. Throws `ConfigError` if one of the needed settings is wrong. `problems` has the mistakes in all
 * other settings.
 */
export async function requireSettings(...needed: readonly SettingName[]): Promise<{
  readonly config: ConfigFile;
  readonly readings: Readings;
  readonly problems: string[];
}> {
  const config = (await loadConfigFile(process.cwd())) ?? {};
  const problems: string[] = [];
  const readings = readEach(process.env, config, problems);
  if (needed.some((name) => readings[name].isWrong)) throw new ConfigError(problems);
  return { config, readings, problems };
}

/**
 * Returns the database of the service and the declarations of the config file. Throws if the database is in memory,
 * because no other process can open it.
 */
export async function requirePlace(mayCreate: boolean): Promise<{
  readonly database: Database;
  readonly config: ConfigFile;
  /** True if the service sends mail. */
  readonly mail: boolean;
}> {
  const { config, readings } = await requireSettings("database", "tablePrefix");
  const database = databaseIn(readings);
  requireLastingStore(database, mayCreate);
  return { database, config, mail: readings.mailURL.value !== null || config.mail?.send !== undefined };
}
