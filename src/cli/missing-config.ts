import { existsSync } from "node:fs";
import path from "node:path";
import { configFileNames } from "../service/system/config-file.ts";

/**
 * Returns a hint if there is no config file. The service then has no declarations, and a wrong folder looks like a wrong declaration.
 * Returns null if there is one.
 */
export function missingConfigHint(): string | null {
  const folder = process.cwd();
  return configFileNames.some((name) => existsSync(path.join(folder, name)))
    ? null
    : `There is no ${configFileNames[0]} in ${folder}. If the service has one, run the command in its folder.`;
}
