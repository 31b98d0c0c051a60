import { requireArguments } from "../../core/checking/options.ts";
import { counter, seriesOf, type MetricFamily } from "../../core/measurement.ts";
import { refusalReasons, type Observation, type Observer, type RefusalReason } from "../../core/observation.ts";
import { Histogram } from "./histogram.ts";

/** The counters of a process. */
export interface Metrics {
  readonly observe: Observer;
  /** Returns the metrics for `formatFamilies`. */
  read(): readonly MetricFamily[];
}

/** The methods that are used as labels. All other methods share one label. */
const methods = new Set(["GET", "HEAD", "QUERY", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** One route with one method. */
interface Series {
  readonly route: string;
  readonly method: string;
  readonly statuses: Map<number, number>;
  readonly latency: Histogram;
}

function seriesFor(routes: Map<string | null, Map<string, Series>>, route: string | null, method: string): Series {
  let ofRoute = routes.get(route);
  if (ofRoute === undefined) routes.set(route, (ofRoute = new Map<string, Series>()));
  let series = ofRoute.get(method);
  if (series === undefined) {
    // The path of a request without a route must not become a label, because the caller can choose any path.
    series = { route: route ?? "none", method, statuses: new Map(), latency: new Histogram() };
    ofRoute.set(method, series);
  }
  return series;
}

/** Counts observations. Uses no library, because this runs on every request and needs only a few additions. */
export function makeMetrics(): Metrics {
  requireArguments("makeMetrics", arguments, {});
  const routes = new Map<string | null, Map<string, Series>>();
  const problems = new Map<string, number>();
  const refusals = new Map<string, number>();
  // Each reason starts at zero, so that Prometheus sees the first refusal as an increase.
  const unserved = new Map<RefusalReason, number>(refusalReasons.map((reason) => [reason, 0]));
  const deprecated = countDeprecated();
  const counts = { ...none };

  function takeRequest(request: Extract<Observation, { kind: "request" }>): void {
    const { method, route, status, code, durationMs } = request;
    const series = seriesFor(routes, route, methods.has(method) ? method : "other");
    series.latency.record(durationMs / 1000);
    add(series.statuses, status);
    if (code !== null) add(problems, code);
    if (request.deprecated.length > 0) deprecated.take(request);
  }

  return {
    observe(observation) {
      switch (observation.kind) {
        case "request":
          takeRequest(observation);
          break;
        case "credential_rejected": {
          const { scheme, code, reason } = observation;
          add(refusals, seriesOf("latchkey_refusals_total", { scheme, code, reason }));
          break;
        }
        case "fault":
          counts.faults++;
          break;
        case "refused":
          add(unserved, observation.reason);
          break;
        case "refresh_reuse":
          counts.reuses++;
          break;
        case "passkey_counter_went_back":
          counts.copies++;
          break;
        case "passkey_refused":
          counts.passkeys++;
          break;
        case "identity_header_dropped":
          counts.dropped++;
          break;
        case "logins_ended":
          counts.ended++;
          break;
        case "identity_bound":
          counts.bound++;
          break;
        case "identity_not_bound":
          counts.notBound++;
          break;
        case "provider_login_failed":
          counts.providers++;
          break;
        case "notice":
          if (observation.level === "error") counts.errors++;
      }
    },
    read: () =>
      buildFamilies({
        series: [...routes.values()].flatMap((ofRoute) => [...ofRoute.values()]),
        problems,
        refusals,
        unserved,
        deprecated: deprecated.uses,
        counts,
      }),
  };
}

const none = {
  faults: 0,
  errors: 0,
  reuses: 0,
  copies: 0,
  dropped: 0,
  bound: 0,
  notBound: 0,
  ended: 0,
  providers: 0,
  passkeys: 0,
};

/** The counted values. */
interface CountedValues {
  readonly series: readonly Series[];
  readonly problems: ReadonlyMap<string, number>;
  readonly refusals: ReadonlyMap<string, number>;
  readonly unserved: ReadonlyMap<RefusalReason, number>;
  readonly deprecated: ReadonlyMap<string, number>;
  readonly counts: typeof none;
}

function buildFamilies({
  series,
  problems,
  refusals,
  unserved,
  deprecated,
  counts,
}: CountedValues): readonly MetricFamily[] {
  return [
    {
      name: "latchkey_requests_total",
      help: "Requests answered.",
      type: "counter",
      samples: series.flatMap(({ method, route, statuses }) =>
        [...statuses].map(([status, count]) => [
          seriesOf("latchkey_requests_total", { method, route, status: String(status) }),
          count,
        ]),
      ),
    },
    {
      name: "latchkey_request_duration_seconds",
      help: "Time from a request's head to its answer.",
      type: "histogram",
      samples: series.flatMap(({ method, route, latency }) =>
        latency.samples("latchkey_request_duration_seconds", { method, route }),
      ),
    },
    {
      name: "latchkey_problems_total",
      help: "Answers that were problems, by the code of the catalogue.",
      type: "counter",
      samples: [...problems].map(([code, count]) => [seriesOf("latchkey_problems_total", { code }), count]),
    },
    {
      name: "latchkey_refusals_total",
      help: "Credentials refused: the code that the scheme answers with, and why.",
      type: "counter",
      samples: [...refusals],
    },
    {
      name: "latchkey_refused_total",
      help: "Connections and requests that were refused before they were read.",
      type: "counter",
      samples: [...unserved].map(([reason, count]) => [seriesOf("latchkey_refused_total", { reason }), count]),
    },
    {
      name: "latchkey_deprecated_uses_total",
      help: "Requests of deprecated parts, by the id of their caller.",
      type: "counter",
      samples: [...deprecated],
    },
    counter("latchkey_faults_total", "Answers with status 500: bugs.", counts.faults),
    counter("latchkey_errors_total", "Errors outside of requests: the store, a feed, a file.", counts.errors),
    counter("latchkey_passkey_copies_total", "Passkeys whose signature counter went back.", counts.copies),
    counter("latchkey_refresh_reuses_total", "Refresh tokens used again after their grace time.", counts.reuses),
    counter("latchkey_identity_headers_dropped_total", "Identity headers from untrusted peers.", counts.dropped),
    counter("latchkey_logins_ended_total", "Times that the logins of a user were ended.", counts.ended),
    counter("latchkey_identities_bound_total", "Identities from outside that were bound to an account.", counts.bound),
    counter("latchkey_identities_not_bound_total", "Identities from outside that were refused.", counts.notBound),
    counter("latchkey_provider_logins_failed_total", "Logins at identity providers that failed.", counts.providers),
    counter("latchkey_passkeys_refused_total", "Answers of passkeys that were refused.", counts.passkeys),
  ];
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The maximum number of callers that are counted separately. Later callers are counted together, as `others`. */
const MAX_CALLERS = 100;

/** Counts the uses of deprecated parts. */
interface DeprecatedUses {
  take(request: Extract<Observation, { kind: "request" }>): void;
  /** The number of uses, by series. */
  readonly uses: ReadonlyMap<string, number>;
}

/**
 * Returns counters with a series for each deprecated part, route and caller. The caller is the id of one of the first
 * hundred users, `others` for later users, or `nobody` for requests without a user.
 */
function countDeprecated(): DeprecatedUses {
  const uses = new Map<string, number>();
  const callers = new Set<number>();
  const labelCaller = (userId: number | null): string => {
    if (userId === null) return "nobody";
    if (callers.size < MAX_CALLERS) callers.add(userId);
    return callers.has(userId) ? String(userId) : "others";
  };
  return {
    uses,
    take({ route, userId, deprecated }) {
      const caller = labelCaller(userId);
      for (const what of deprecated) {
        const series = seriesOf("latchkey_deprecated_uses_total", { what, route: route ?? "none", caller });
        uses.set(series, (uses.get(series) ?? 0) + 1);
      }
    },
  };
}
