import { existsSync } from "node:fs";
import path from "node:path";
import { configFileNames } from "../service/system/config-file.ts";

/** Without a config file the service declares nothing of its own, and a wrong folder looks like a wrong declaration. Null if there is one. */
export function missingConfigHint(): string | null {
  const folder = process.cwd();
  return configFileNames.some((name) => existsSync(path.join(folder, name)))
    ? null
    : `There is no ${configFileNames[0]} in ${folder}. If the service has one, run the command in its folder.`;
}
