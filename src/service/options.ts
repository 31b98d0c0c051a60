import type { SendMail } from "../door/features.ts";
import type { MetricFamily, Observer, Tracer } from "../door/ops.ts";
import { nearest, shownName } from "../door/resources.ts";
import type { Store } from "../door/stores.ts";
import { isObject } from "./objects.ts";
import type { ConfigFile } from "./settings/config-file/config-file.ts";
import { ConfigError } from "./settings/error.ts";
import { problemsOfConfig } from "./settings/reading.ts";
import type { Settings } from "./settings/settings.ts";

/** Options of `createLatchkey()`. */
export interface LatchkeyOptions {
  readonly settings: Settings;
  /** Your own resources, endpoints, schemes and formats. */
  readonly config?: ConfigFile;
  readonly observe?: Observer | null;
  readonly now?: () => number;
  /** Traces requests through their parts, as `await openTelemetry()` does. */
  readonly tracer?: Tracer | null;
  /** Returns more measurements of this process, for `/metrics`. */
  readonly measured?: () => readonly MetricFamily[];
  /** Returns the text of `/metrics` if several processes are one service. Default: the metrics of this process only. */
  readonly gatherMetrics?: () => Promise<string>;
  /**
   * The file for a generated password of the first administrator, readable by its owner only. Default: none, and
   * `firstAdministrator` contains the password.
   */
  readonly passwordFile?: string;
  /** Wraps the store. Default: no wrapper. */
  readonly over?: (store: Store) => Store;
  /** Wraps the sender of mails, if mail is on. Default: no wrapper. */
  readonly overMail?: (send: SendMail) => SendMail;
  /** True if the service runs for its developer, as `latchkey dev` does: administrators see the fold "API" open. */
  readonly isForDevelopment?: boolean;
  /** Makes the ids of new records with UUIDs, as in `createService`. Default: `draw`. */
  readonly makeUUID?: (draw: () => string) => string;
}

const members: Readonly<Record<keyof LatchkeyOptions, "object" | "function" | "text" | "flag" | "any">> = {
  settings: "object",
  config: "object",
  observe: "any",
  now: "function",
  tracer: "any",
  measured: "function",
  gatherMetrics: "function",
  passwordFile: "text",
  over: "function",
  overMail: "function",
  isForDevelopment: "flag",
  makeUUID: "function",
};
const kinds = { object: "object", function: "function", text: "string", flag: "boolean" } as const;

/** Throws `ConfigError` with all mistakes in the options of a service. */
export function requireLatchkeyOptions(options: unknown): void {
  const problems = isObject(options)
    ? collectProblems(options)
    : ["createLatchkey takes an object: { settings, config }."];
  if (problems.length > 0) throw new ConfigError(problems);
}

function collectProblems(options: Readonly<Record<string, unknown>>): readonly string[] {
  const optionNames = Object.keys(members);
  const { settings, config } = options;
  return [
    ...Object.keys(options)
      .filter((name) => !optionNames.includes(name))
      .map((name) => `createLatchkey has no option ${shownName(name)}. The nearest is ${nearest(name, optionNames)}.`),
    ...Object.entries(members)
      .filter(([name, kind]) => kind !== "any" && options[name] !== undefined && typeof options[name] !== kinds[kind])
      .map(([name, kind]) => `The option ${name} of createLatchkey is not ${kind === "object" ? "an" : "a"} ${kind}.`),
    ...(isObject(settings)
      ? []
      : ["createLatchkey has no settings. Write createLatchkey({ settings: readSettings(process.env) })."]),
    ...(isObject(config) ? problemsOfConfig(config) : []),
  ];
}
