/**
 * The service as a package, for latchkey.config.ts and for programs that embed the whole service.
 *
 * @module latchkey/service
 */
export { createLatchkey, type Latchkey } from "./latchkey.ts";
export type { LatchkeyOptions } from "./options.ts";
export { defineConfig, loadConfigFile, type ConfigFile } from "./settings/config-file/config-file.ts";
export { ConfigError, readSettings, type SchemeName, type Settings } from "./settings/settings.ts";
