import { requireNoOptions } from "../../core/checking/options.ts";
import { problem } from "../../core/problem/problem.ts";
import { differenceText } from "../../feature/clock.ts";
import { defineFeature, type Feature } from "../../feature/feature.ts";
import { makeFailureReporter } from "../../feature/observers.ts";
import { builtInEndpoint, type EndpointDocumentation } from "../../http/declarations/endpoint.ts";
import { defineResponse } from "../../http/declarations/response.ts";
import { text } from "../../resource/kinds/fields.ts";

/** The parts that the health feature offers. */
export interface Health {
  /** Makes `/readyz` answer 503 from now on, so that a load balancer uses other processes. */
  stopping(): void;
}

/**
 * `GET /livez` answers 200 while the process runs. `GET /readyz` answers 200 while the store answers, otherwise 503.
 * Both need no authentication.
 *
 * @example
 * ```ts
 * import { health } from "latchkey/features";
 *
 * export const features = [health()];
 * ```
 */
export function health(...options: []): Feature<Health> {
  return defineFeature({
    name: "health",
    setUp({ store, service, observe }) {
      requireNoOptions(options);
      let isStopping = false;
      const message = "The process is not ready";
      const failures = makeFailureReporter((error) => observe({ kind: "notice", level: "error", message, error }));

      /** Throws if the store does not answer. The response does not contain the reason. It is logged once. */
      async function requireStore(): Promise<void> {
        try {
          await store.check();
          failures.well();
        } catch (error) {
          failures.failed(error);
          throw error;
        }
      }

      const open = { method: "GET", access: "open", query: "ignored", responses: { 200: healthy } } as const;
      return {
        offer: { stopping: () => void (isStopping = true) },
        tags: { system },
        endpoints: [
          builtInEndpoint({ ...open, path: "/livez", documentation: of("Whether the process runs"), handle: () => ok }),
          builtInEndpoint({
            ...open,
            path: "/readyz",
            documentation: of("Whether requests can be answered"),
            async handle() {
              if (isStopping)
                throw problem("unavailable", { detail: "The process is stopping.", headers: [["Retry-After", "1"]] });
              await requireStore();
              const clock = differenceText(service().clockAheadMs());
              return clock === null ? ok : healthy.reply(200, { status: "ok", clock }, { cache: "no-store" });
            },
          }),
        ],
      };
    },
  });
}

const system = "Health, keys and documentation.";

const healthy = defineResponse({ name: "health", fields: { status: text(), clock: text() }, optional: ["clock"] });

const ok = healthy.reply(200, { status: "ok" }, { cache: "no-store" });

function of(summary: string): EndpointDocumentation {
  return { summary, tag: "system", responses: { 200: { description: "It is so." } } };
}
