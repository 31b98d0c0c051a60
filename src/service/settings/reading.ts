import { ownUserFieldsMistakes } from "../../door/auth.ts";
import { declarationMistakes, nearest, shownName } from "../../door/resources.ts";
import { optionalFeatures } from "../built-in.ts";
import { isObject } from "../objects.ts";
import type { ConfigFile } from "./config-file/config-file.ts";
import { problemsOfMail } from "./config-file/mail-config.ts";
import { settingsTable, type Setting, type SettingName, type SettingValue } from "./table.ts";
import type { Database } from "./values.ts";

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One setting after reading. */
export interface ResolvedSetting<T> {
  /**
   * The value of the setting. If it was not set, the default. If it was set incorrectly, the usable part of it, or else
   * the default.
   */
  readonly value: T;
  /** The source of the setting. */
  readonly from: "environment" | "config" | null;
  /** The name of the setting in messages: `LATCHKEY_PORT`, `settings.port in the config file`. */
  readonly label: string;
  /** True if it was set incorrectly, which is already reported. */
  readonly isWrong: boolean;
}

/** All settings. Those without a default may be null. */
export type Readings = {
  readonly [K in SettingName]: ResolvedSetting<
    (typeof settingsTable)[K]["default"] extends string ? SettingValue<K> : SettingValue<K> | null
  >;
};

interface FoundSetting {
  readonly from: "environment" | "config";
  readonly label: string;
  /** Null if the value in the config file is not a text, number, boolean or list. */
  readonly text: string | null;
  /** The value in the config file, unchanged. */
  readonly rawValue: unknown;
}

const prefix = "LATCHKEY_";
const members = [
  "settings",
  "registration",
  "users",
  "issuers",
  "mail",
  "api",
  "features",
  "without",
  "mounts",
  "endpoints",
  "schemes",
  "formats",
];
const apiMembers = ["title", "version", "description", "license"];

/** Returns the database with the prefix of its table names. */
export function databaseIn({ database, tablePrefix }: Readings): Database {
  return tablePrefix.value === null ? database.value : { ...database.value, tablePrefix: tablePrefix.value };
}

/**
 * Reads every setting. The environment has precedence over the config file. Adds every mistake in a single setting to
 * `problems`.
 */
export function readEach(environment: Environment, config: ConfigFile, problems: string[]): Readings {
  problems.push(...unknownNames(environment), ...problemsOfConfig(config));
  const entries = Object.entries<Setting>(settingsTable);
  const readings = entries.map(([key, setting]) => [key, read(key, setting, environment, config, problems)]);
  return Object.fromEntries(readings) as Readings;
}

function read(
  key: string,
  setting: Setting,
  environment: Environment,
  config: ConfigFile,
  problems: string[],
): ResolvedSetting<unknown> {
  const found = findInEnvironment(setting, environment) ?? findInConfig(key, config);
  const standard = { value: parseDefault(setting), from: null, label: setting.name, isWrong: false };
  if (found === null) return standard;
  const { from, label, text, rawValue } = found;
  const parsed =
    text === null ? { wrong: ["is not a text, a number, true, false or a list of texts."] } : setting.parse(text);
  const written = "value" in parsed && from === "config" ? findWrongType(rawValue, parsed.value) : null;
  if (written !== null) problems.push(`${label} ${written}`);
  if ("value" in parsed) return { value: parsed.value, from, label, isWrong: written !== null };
  const hint = isFromKubernetes(label, text ?? "") ? ` ${kubernetesCure}` : "";
  problems.push(...parsed.wrong.map((sentence) => `${label} ${sentence}${hint}`));
  const value = "besides" in parsed ? parsed.besides : standard.value;
  return { value, from, label, isWrong: true };
}

function parseDefault(setting: Setting): unknown {
  if (setting.default === null) return null;
  const parsed = setting.parse(setting.default);
  return "value" in parsed ? parsed.value : null;
}

function findInEnvironment({ name, alias = name }: Setting, environment: Environment): FoundSetting | null {
  const label = [name, alias].find((each) => (environment[each] ?? "") !== "");
  return label === undefined
    ? null
    : { from: "environment", label, text: environment[label]!, rawValue: environment[label] };
}

function findInConfig(key: string, config: ConfigFile): FoundSetting | null {
  // `registration` was a member of the config file before there was a setting of this name.
  if (key === "registration" && config.registration !== undefined) return foundIn("registration", config.registration);
  const settings: unknown = config.settings;
  if (!isObject(settings) || !Object.hasOwn(settings, key)) return null;
  return foundIn(`settings.${key}`, settings[key]);
}

function foundIn(place: string, rawValue: unknown): FoundSetting | null {
  // An empty list is a value: `schemes: []` must not enable the default schemes.
  if (rawValue === undefined || rawValue === "") return null;
  return { from: "config", label: `${place} in the config file`, text: writePlain(rawValue), rawValue };
}

/**
 * Returns the mistake if the config file uses another type, for example a text instead of a number. The type
 * `PlainSetting` requires the same.
 */
function findWrongType(rawValue: unknown, value: unknown): string | null {
  const kind = describeKind(value);
  const found = describeKind(rawValue);
  return found === kind ? null : `is ${found}. Write ${kind}${kind === "a text" ? "" : `: ${JSON.stringify(value)}`}.`;
}

/**
 * Returns the type of a value in the config file. A value that is no list, number or boolean is a text, as in the
 * environment.
 */
function describeKind(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return "a number";
  return typeof value === "boolean" ? "true or false" : "a text";
}

function writePlain(value: unknown): string | null {
  if (Array.isArray(value)) return value.every((entry) => typeof entry === "string") ? value.join(",") : null;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  return null;
}

function unknownNames(environment: Environment): readonly string[] {
  const settingNames = Object.values<Setting>(settingsTable).map(({ name }) => name);
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && environment[name] !== undefined && !settingNames.includes(name))
    .map((name) => {
      const cure = isFromKubernetes(name, "") ? kubernetesCure : `The nearest is ${nearest(name, settingNames)}.`;
      return `${shownName(name)} is not a setting. ${cure}`;
    });
}

/** Returns every mistake in a configuration, each with its location and its fix. */
export function problemsOfConfig(config: ConfigFile): readonly string[] {
  const problems = Object.keys(config)
    .filter((name) => !members.includes(name))
    .map((name) =>
      Object.hasOwn(settingsTable, name)
        ? `${name} in the config file belongs in settings. Write settings: { ${name}: … }.`
        : `${shownName(name)} in the config file is unknown. The nearest is ${nearest(name, members)}; there are ${members.join(", ")}.`,
    );
  const settings: unknown = config.settings;
  if (settings !== undefined && !isObject(settings)) {
    problems.push("settings in the config file is not an object. Write settings: { port: 8080 }.");
  } else {
    const settingKeys = Object.keys(settingsTable);
    const unknown = Object.keys(settings ?? {}).filter((name) => !settingKeys.includes(name));
    problems.push(
      ...unknown.map(
        (name) =>
          `settings.${shownName(name)} in the config file is not a setting. The nearest is ${nearest(name, settingKeys)}.`,
      ),
    );
  }
  if (config.registration !== undefined && config.settings?.registration !== undefined)
    problems.push("registration and settings.registration in the config file are both given. Keep one of them.");
  problems.push(...problemsOfAPI(config.api), ...problemsOfMail(config.mail), ...problemsOfFeatures(config));
  const ofUsers =
    config.users === undefined ? [] : ownUserFieldsMistakes(config.users).map((mistake) => `users: ${mistake}`);
  problems.push(
    ...[...ofUsers, ...declarationMistakes(config)].map(
      (mistake) => `${mistake.replace(/^\w+(?:\[\d+\])?/, "$& in the config file")}${mistake.endsWith("?") ? "" : "."}`,
    ),
  );
  return problems;
}

function problemsOfAPI(api: unknown): readonly string[] {
  if (api === undefined) return [];
  const example = 'Write api: { title: "Bookshop", version: "1" }.';
  if (!isObject(api)) return [`api in the config file is not an object. ${example}`];
  const unknown = Object.keys(api).filter((name) => !apiMembers.includes(name));
  const missing = ["title", "version"].filter((name) => typeof api[name] !== "string" || api[name] === "");
  return [
    ...unknown.map(
      (name) => `api.${shownName(name)} in the config file is unknown. The nearest is ${nearest(name, apiMembers)}.`,
    ),
    ...missing.map((name) => `api.${name} in the config file is not a text. ${example}`),
  ];
}

function problemsOfFeatures({
  features,
  without,
}: {
  readonly features?: unknown;
  readonly without?: unknown;
}): readonly string[] {
  const problems: string[] = [];
  const isList =
    Array.isArray(features) && features.every((each) => isObject(each) && typeof each["setUp"] === "function");
  if (features !== undefined && !isList && typeof features !== "function")
    problems.push(
      "features in the config file is neither a list of features nor a function that gives one. Write features: [ … ].",
    );
  if (without !== undefined && !Array.isArray(without))
    return [...problems, 'without in the config file is not a list of names. Write without: ["orders"].'];
  const names: readonly unknown[] = without ?? [];
  const unknown = names.filter((name) => !optionalFeatures.some((each) => each === name));
  return [
    ...problems,
    ...unknown.map((name) => {
      const given = String(name);
      return `without in the config file names ${shownName(given)}, which is not an optional feature. The nearest is ${nearest(given, optionalFeatures)}.`;
    }),
  ];
}

const kubernetesCure =
  "Kubernetes makes such variables for a Service called latchkey: set enableServiceLinks: false in the pod, or rename the Service.";

/**
 * Returns true for the address of a Kubernetes Service: `…_SERVICE_HOST`, `…_PORT_8000_TCP_ADDR`, and `…_PORT` with a
 * value like `tcp://10.0.0.1:8000`.
 */
function isFromKubernetes(name: string, text: string): boolean {
  return (
    /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_\d+_(?:TCP|UDP)(?:_|$)/.test(name) ||
    /^(?:tcp|udp):\/\/[\d.:[\]a-f]+$/.test(text)
  );
}
