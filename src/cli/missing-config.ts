import { existsSync } from "node:fs";
import path from "node:path";
import { configFileNames } from "../service/settings/config-file/config-file.ts";

/**
 * Returns a hint if the current folder has no config file. If the command runs in a wrong folder, its other messages
 * are about missing declarations and do not show the cause. Returns null if there is a config file.
 */
export function missingConfigHint(): string | null {
  const folder = process.cwd();
  return configFileNames.some((name) => existsSync(path.join(folder, name)))
    ? null
    : `There is no ${configFileNames[0]} in ${folder}. If the service has one, run the command in its folder.`;
}
