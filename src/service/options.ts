import type { MetricFamily, Observer, Tracer } from "../door/ops.ts";
import { nearest, shownName } from "../door/resources.ts";
import type { Store } from "../door/stores.ts";
import { isObject } from "./objects.ts";
import { ConfigError } from "./settings/error.ts";
import { problemsOfConfig } from "./settings/reading.ts";
import type { Settings } from "./settings/settings.ts";
import type { ConfigFile } from "./system/config-file.ts";

/** What `createLatchkey()` is made of. */
export interface LatchkeyOptions {
  readonly settings: Settings;
  /** The user's own resources, endpoints, schemes and formats. */
  readonly config?: ConfigFile;
  readonly observe?: Observer | null;
  readonly now?: () => number;
  /** Follows requests through their parts, as `await openTelemetry()` does. */
  readonly tracer?: Tracer | null;
  /** What else this process has measured, for `/metrics`. */
  readonly measured?: () => readonly MetricFamily[];
  /** The text of `/metrics` where several processes are one service; of this process alone where it is left out. */
  readonly gatherMetrics?: () => Promise<string>;
  /** The file into which the first administrator's password goes where one is drawn, for its owner alone; where it is left out, `firstAdministrator` has it. */
  readonly passwordFile?: string;
  /** What stands between the service and its store; nothing where it is left out. */
  readonly over?: (store: Store) => Store;
  /** Makes the ids of new records with UUIDs, as in `createService`. Default: `draw`. */
  readonly makeUUID?: (draw: () => string) => string;
}

const members: Readonly<Record<keyof LatchkeyOptions, "object" | "function" | "text" | "any">> = {
  settings: "object",
  config: "object",
  observe: "any",
  now: "function",
  tracer: "any",
  measured: "function",
  gatherMetrics: "function",
  passwordFile: "text",
  over: "function",
  makeUUID: "function",
};
const kinds = { object: "object", function: "function", text: "string" } as const;

/** Throws `ConfigError` with everything that is wrong with what a service is to be made of. */
export function requireLatchkeyOptions(options: unknown): void {
  const problems = isObject(options) ? problemsOf(options) : ["createLatchkey takes an object: { settings, config }."];
  if (problems.length > 0) throw new ConfigError(problems);
}

function problemsOf(options: Readonly<Record<string, unknown>>): readonly string[] {
  const known = Object.keys(members);
  const { settings, config } = options;
  return [
    ...Object.keys(options)
      .filter((name) => !known.includes(name))
      .map((name) => `createLatchkey has no option ${shownName(name)}. The nearest is ${nearest(name, known)}.`),
    ...Object.entries(members)
      .filter(([name, kind]) => kind !== "any" && options[name] !== undefined && typeof options[name] !== kinds[kind])
      .map(([name, kind]) => `The option ${name} of createLatchkey is no ${kind}.`),
    ...(isObject(settings)
      ? []
      : ["createLatchkey has no settings. Write createLatchkey({ settings: readSettings(process.env) })."]),
    ...(isObject(config) ? problemsOfConfig(config) : []),
  ];
}
