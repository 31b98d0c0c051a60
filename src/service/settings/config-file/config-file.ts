import { existsSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { IssuerDeclaration, OwnUserFields } from "../../../door/auth.ts";
import type { DocumentationOptions } from "../../../door/features.ts";
import type { Endpoint } from "../../../door/http.ts";
import type { Feature, ServiceOptions } from "../../../door/index.ts";
import { DeclarationError, type Fields, type Mount } from "../../../door/resources.ts";
import type { BuiltIn, OptionalFeature } from "../../built-in.ts";
import { isObject } from "../../objects.ts";
import { ConfigError } from "../error.ts";
import type { PlainSetting, SettingName, SettingValue } from "../table.ts";
import { describeCure } from "./config-cures.ts";
import type { MailConfig } from "./mail-config.ts";

/** The settings by name, as plain values. */
export type ConfigSettings = { readonly [K in SettingName]?: PlainSetting<SettingValue<K>> | undefined };

/** The content of `latchkey.config.ts`: settings that the environment does not set, and additions to the service. */
export interface ConfigFile extends Pick<ServiceOptions, "mounts" | "endpoints" | "schemes" | "formats"> {
  readonly settings?: ConfigSettings;
  /** `open` lets everyone create a user, and `verified` everyone who proves an address. Default: `closed`. */
  readonly registration?: SettingValue<"registration">;
  /** Additional fields of users, filters and sorts for lists of users, their roles, and who sees and changes users. */
  readonly users?: OwnUserFields;
  /** Other issuers whose tokens are accepted. Overridden by the file of `LATCHKEY_ISSUERS`. */
  readonly issuers?: readonly IssuerDeclaration[];
  /** The texts of mails, and a function that sends them. */
  readonly mail?: MailConfig;
  /** The name and description of the API in its documentation and at `GET /`. */
  readonly api?: DocumentationOptions;
  /** Custom features, or a function that creates them from the built-in ones that they need. */
  readonly features?: readonly Feature[] | ((builtIn: BuiltIn) => readonly Feature[]);
  /** Built-in features to remove. Their names and tables can then be used otherwise. */
  readonly without?: readonly OptionalFeature[];
}

/** The possible names of the file. A directory may contain only one of them. */
export const configFileNames = [
  "latchkey.config.ts",
  "latchkey.config.mts",
  "latchkey.config.js",
  "latchkey.config.mjs",
];

type Features = NonNullable<ConfigFile["features"]>;

/** The parts of a configuration whose types other code needs: a typed client, tests, `use`. */
interface TypedParts<M, E, F, U extends Fields> {
  readonly mounts?: M;
  readonly endpoints?: E;
  readonly features?: F;
  readonly users?: OwnUserFields<U>;
}

/** The types of the parts that are given. */
type GivenParts<M, E, F, U extends Fields> = GivenPart<"mounts", M, readonly Mount[]> &
  GivenPart<"endpoints", E, readonly Endpoint[]> &
  GivenPart<"features", F, Features> &
  GivenPart<"users", OwnUserFields<U>, OwnUserFields>;
/** A part that is not given has the general type. */
type GivenPart<Name extends string, Part, Any> = [Any] extends [Part] ? unknown : { readonly [K in Name]: Part };

/**
 * Returns the configuration, frozen. The compiler checks it and keeps the types of its mounts, endpoints, features and
 * fields of users.
 *
 * @example
 * ```ts
 * import { defineConfig } from "latchkey/service";
 *
 * export default defineConfig({ settings: { port: 8080 }, without: ["orders", "protected"] });
 * ```
 */
export function defineConfig<
  const M extends readonly Mount[] = readonly Mount[],
  const E extends readonly Endpoint[] = readonly Endpoint[],
  const F extends Features = Features,
  const U extends Fields = Fields,
>(config: ConfigFile & TypedParts<M, E, F, U>): ConfigFile & GivenParts<M, E, F, U>;
export function defineConfig(config: ConfigFile): ConfigFile {
  return Object.freeze(config);
}

/**
 * Runs the config file of a directory. Returns undefined if there is none. Throws `ConfigError` if it cannot be used.
 */
export async function loadConfigFile(directory: string): Promise<ConfigFile | undefined> {
  const input: unknown = directory;
  if (typeof input !== "string") throw new ConfigError(["loadConfigFile: name the directory of the config file."]);
  const [file, ...more] = configFileNames.filter((name) => existsSync(path.join(directory, name)));
  if (file === undefined) return undefined;
  if (more.length > 0) {
    throw new ConfigError([`${[file, ...more].join(" and ")} both exist. Keep one of them.`]);
  }
  const exported = await run(path.resolve(directory, file), file);
  // The members are checked later with the settings, so that all mistakes are reported together.
  if (!isObject(exported)) {
    throw new ConfigError([`${file} gives no configuration. End it with: export default { settings: { … } }`]);
  }
  return exported;
}

async function run(location: string, file: string): Promise<unknown> {
  try {
    const module = (await import(pathToFileURL(location).href)) as { readonly default?: unknown };
    return await module.default;
  } catch (cause) {
    if (cause instanceof DeclarationError) throw new ConfigError(cause.mistakes, { cause });
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    throw new ConfigError([`${file} cannot be run. ${reason}${await describeCure(cause, file)}`], { cause });
  }
}
