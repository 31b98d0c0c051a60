import { readFileSync } from "node:fs";
import {
  administrator,
  after,
  defineEndpoint,
  expositionType,
  formatFamilies,
  processFamilies,
  seriesOf,
  watchEventLoop,
  type Endpoint,
  type Eventually,
  type EventLoopWatch,
  type Family,
  type Metrics,
} from "../index.ts";
import type { LoginParts } from "./parts.ts";

/** What this process has to tell, and what it looks at from time to time for that. */
export interface ServiceMetrics {
  read(): readonly Family[];
  /** Starts looking at the event loop; gives what ends it. */
  readonly start: EventLoopWatch["start"];
}

/** Everything that the service measures of itself: what `counted` has observed, and the state of its parts. */
export function serviceMetrics(
  counted: Pick<Metrics, "read">,
  { store, passwords, revocations }: LoginParts,
  inFlight: () => number,
): ServiceMetrics {
  const loop = watchEventLoop();
  const about = buildInfo();

  return {
    start: loop.start,
    read() {
      const age = revocations.ageMs();
      const connections = store.connections?.();
      const hashes = passwords.load();
      return [
        ...counted.read(),
        gauge("latchkey_requests_in_flight", "Requests that are being answered.", { "": inFlight() }),
        gauge("latchkey_password_hashes", "Password hashes that are computed, and that wait for their turn.", {
          running: hashes.running,
          waiting: hashes.waiting,
        }),
        {
          ...gauge(
            "latchkey_revocation_feed_age_seconds",
            "Age of the view of what was revoked; beyond 5 seconds access tokens are refused.",
            age === null ? {} : { "": age / 1000 },
          ),
          together: "max",
        },
        gauge(
          "latchkey_store_connections",
          "Connections to PostgreSQL in the pool.",
          connections === undefined ? {} : { busy: connections.busy, idle: connections.idle },
        ),
        gauge(
          "latchkey_store_connections_max",
          "The most connections that the pool may open.",
          connections === undefined ? {} : { "": connections.max },
        ),
        gauge(
          "latchkey_store_connections_awaited",
          "Statements and transactions that wait for a connection.",
          connections === undefined ? {} : { "": connections.waiting },
        ),
        ...loop.read(),
        ...processFamilies(),
        gauge("latchkey_processes", "Processes that these metrics are of.", { "": 1 }),
        about,
      ];
    },
  };
}

/** `GET /metrics`, for administrators. `tell` gives the text, of all processes where there are several. */
export function metricsEndpoint(tell: () => Eventually<string>): Endpoint {
  return defineEndpoint({
    method: "GET",
    path: "/metrics",
    access: administrator,
    produces: "text/plain",
    documentation: {
      summary: "Counts and latencies, for Prometheus",
      tag: "system",
      responses: { 200: { description: "Prometheus' text format.", schema: { type: "string" } } },
    },
    handle: () =>
      after(tell(), (content) => ({
        status: 200,
        cache: "no-store",
        body: { kind: "raw", type: expositionType, content },
      })),
  });
}

/** The text of this process alone. */
export function tellAlone({ read }: ServiceMetrics): string {
  return formatFamilies(read());
}

/** Values by state; the one under the empty name has no label. */
function gauge(name: string, help: string, states: Readonly<Record<string, number>>): Family {
  const samples = Object.entries(states).map(
    ([state, value]) => [seriesOf(name, state === "" ? {} : { state }), value] as const,
  );
  return { name, help, type: "gauge", samples };
}

function buildInfo(): Family {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  const labels = { version, node: process.versions.node };
  return {
    name: "latchkey_build_info",
    help: "Always 1; the labels say what runs.",
    type: "gauge",
    together: "max",
    samples: [[seriesOf("latchkey_build_info", labels), 1]],
  };
}
