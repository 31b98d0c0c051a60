import { aPermission } from "../../access/permission/checking.ts";
import { administrator, type Permission } from "../../access/permission/permission.ts";
import { aFunction, optional } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import { gauge, type MetricFamily } from "../../core/measurement.ts";
import { defineFeature, type Feature } from "../../feature/feature.ts";
import { makeMeasuring } from "../../feature/measuring.ts";
import { builtInEndpoint } from "../../http/declarations/endpoint.ts";
import { watchEventLoop } from "./event-loop.ts";
import { expositionType, formatFamilies } from "./exposition.ts";
import { makeMetrics } from "./metrics.ts";
import { processFamilies } from "./process.ts";

/** The members that the metrics feature offers. */
export interface MetricsOffer {
  /** Returns the counts and measurements of this process so far. */
  read(): readonly MetricFamily[];
}

/** Options of `metrics()`: the permission to read the metrics, and additional metrics. */
export interface MetricsOptions {
  /** The permission to read the metrics. Default: administrators. */
  readonly permission?: Permission;
  /** Returns more metrics, for example the version of the program or the state of other programs. */
  readonly families?: () => readonly MetricFamily[];
  /** Returns the metrics as text, for a service with several processes. Default: the metrics of this process only. */
  readonly gather?: () => Promise<string>;
}

const checks: ChecksOf<MetricsOptions> = {
  permission: optional(aPermission),
  families: optional(aFunction),
  gather: optional(aFunction),
};

/**
 * `GET /metrics`: counts and latencies in the Prometheus text format (version 0.0.4), with the measurements of each
 * feature.
 *
 * @example
 * ```ts
 * import { scope } from "latchkey";
 * import { metrics } from "latchkey/features";
 *
 * export const features = [metrics({ permission: scope("metrics") })];
 * ```
 */
export function metrics(options: MetricsOptions = {}): Feature<MetricsOffer> {
  return defineFeature({
    name: "metrics",
    setUp(host) {
      requireOptions(options, checks);
      const { permission = administrator, families = () => [], gather } = options;
      const { store } = host;
      const measuring = makeMeasuring(host.observe);
      const counted = makeMetrics();
      const loop = watchEventLoop();
      let stopLoop = (): void => undefined;
      const named = familyNamer(host.name);
      const read = (): readonly MetricFamily[] =>
        [
          ...counted.read(),
          ...measuring("feature metrics: families", families, new Set()),
          gauge("latchkey_requests_in_flight", "Requests that are being answered.", { "": host.service().inFlight() }),
          ...host.service().measure(),
          ...connectionFamilies(store.connections?.()),
          ...walFamilies(store.walBytes?.()),
          ...loop.read(),
          ...processFamilies(),
          gauge("latchkey_processes", "Processes in these metrics.", { "": 1 }),
        ].map(named);
      const formatNow = (): Eventually<string> => gather?.() ?? formatFamilies(read());
      return {
        offer: { read },
        observe: counted.observe,
        start: () => void (stopLoop = loop.start()),
        stop: () => stopLoop(),
        endpoints: [
          builtInEndpoint({
            method: "GET",
            path: "/metrics",
            access: permission,
            produces: "text/plain",
            documentation: {
              summary: "Counts and latencies, for Prometheus",
              tag: "system",
              responses: { 200: { description: "Prometheus' text format.", schema: { type: "string" } } },
            },
            handle: () =>
              after(formatNow(), (content) => ({
                status: 200,
                cache: "no-store",
                body: { kind: "raw", type: expositionType, content },
              })),
          }),
        ],
      };
    },
  });
}

/**
 * Returns the function that renames metric families. A name with the prefix `latchkey_` gets the name of the service as
 * its prefix. Other names stay the same.
 */
function familyNamer(service: string): (family: MetricFamily) => MetricFamily {
  const prefix = `${service.replaceAll("-", "_")}_`;
  if (prefix === OWN) return (family) => family;
  const rename = (text: string): string => (text.startsWith(OWN) ? prefix + text.slice(OWN.length) : text);
  return (family) => ({
    ...family,
    name: rename(family.name),
    samples: family.samples.map(([series, value]) => [rename(series), value] as const),
  });
}

/** The prefix of the service's own metric families before they are renamed. */
const OWN = "latchkey_";

/** Returns the size of the write-ahead log of a SQLite file, as a metric. Returns an empty list if there is no log. */
export function walFamilies(bytes: number | undefined): readonly MetricFamily[] {
  if (bytes === undefined) return [];
  const name = "latchkey_sqlite_wal_bytes";
  return [{ ...gauge(name, "Size of the write-ahead log beside the SQLite file.", { "": bytes }), together: "max" }];
}

function connectionFamilies(
  connections:
    | { readonly busy: number; readonly idle: number; readonly max: number; readonly waiting: number }
    | undefined,
): readonly MetricFamily[] {
  if (connections === undefined) return [];
  const { busy, idle, max, waiting } = connections;
  return [
    gauge("latchkey_store_connections", "Connections to PostgreSQL in the pool.", { busy, idle }),
    gauge("latchkey_store_connections_max", "The most connections that the pool may open.", { "": max }),
    gauge("latchkey_store_connections_awaited", "Statements and transactions that wait for a connection.", {
      "": waiting,
    }),
  ];
}
