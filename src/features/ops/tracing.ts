import type * as API from "@opentelemetry/api";
import type { Context, Span, Tracer as Spans } from "@opentelemetry/api";
import { requireArguments } from "../../core/checking/options.ts";
import { made } from "../../core/copy.ts";
import type { TraceContext } from "../../core/headers/traceparent.ts";
import type { Observation } from "../../core/observation.ts";
import { Problem } from "../../core/problem/problem.ts";
import type { Tracer } from "../../core/tracer.ts";

type OpenTelemetry = typeof API;

/**
 * Makes spans for OpenTelemetry: one for each request, and others in it for its permission, its store calls and its
 * password hashes. Returns null if `@opentelemetry/api` is not installed, or if no SDK was set up with it before. The
 * service then traces nothing, at no cost.
 */
export async function openTelemetry(): Promise<Tracer | null> {
  requireArguments("openTelemetry", arguments, {});
  const api = await loadAPI();
  if (api === null) return null;
  const provider = api.trace.getTracerProvider();
  const hasNoSDK = provider instanceof api.ProxyTracerProvider && provider.getDelegateTracer("latchkey") === undefined;
  return hasNoSDK ? null : createTracer(api, api.trace.getTracer("latchkey"));
}

async function loadAPI(): Promise<OpenTelemetry | null> {
  try {
    return await import("@opentelemetry/api");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND") return null;
    throw error;
  }
}

function createTracer(api: OpenTelemetry, spans: Spans): Tracer {
  /** Runs work as a part of a span. */
  const within = <T>(span: Span, around: Context, work: () => T): T =>
    api.context.with(api.trace.setSpan(around, span), work);
  const fail = (span: Span, error: unknown): void => {
    // A problem with a status below 500, for example 404, is a normal response and not a failure.
    const isAnswer = error instanceof Problem && error.status < 500;
    if (!isAnswer) span.setStatus({ code: api.SpanStatusCode.ERROR });
    if (error instanceof Error) span.setAttribute("error.type", error instanceof Problem ? error.code : error.name);
  };

  return made({
    request: ({ method, trace }, work) => {
      const around = chooseParent(api, trace);
      return within(spans.startSpan(method, { kind: api.SpanKind.SERVER }, around), around, work);
    },
    part(name, attributes, work) {
      const around = api.context.active();
      if (api.trace.getSpan(around)?.isRecording() !== true) return work();
      const span = spans.startSpan(name, { attributes }, around);
      try {
        const result = within(span, around, work);
        if (!(result instanceof Promise)) return (span.end(), result);
        const end = (): void => span.end();
        void result.catch((error: unknown) => fail(span, error)).then(end);
        return result;
      } catch (error) {
        fail(span, error);
        span.end();
        throw error;
      }
    },
    observe(observation) {
      const span = api.trace.getActiveSpan();
      if (span === undefined) return;
      if (observation.kind === "request") endRequest(api, span, observation);
      else if (observation.kind === "fault" && observation.error instanceof Error)
        span.recordException(observation.error);
    },
  });
}

/**
 * Returns the parent of a request's span. This is the span of the client, or the active span of this process if there
 * is one. An instrumentation of `node:http`, for example, has already started a span under that of the client.
 */
function chooseParent(api: OpenTelemetry, trace: TraceContext | null): Context {
  const active = api.context.active();
  if (trace === null || api.trace.getSpan(active) !== undefined) return active;
  return api.trace.setSpanContext(active, {
    traceId: trace.traceId,
    spanId: trace.parentId,
    traceFlags: trace.sampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE,
    isRemote: true,
    ...(trace.tracestate === null ? {} : { traceState: api.createTraceState(trace.tracestate) }),
  });
}

/**
 * Ends the span of a request. Its name and attributes follow OpenTelemetry's semantic conventions for HTTP, if these
 * define one.
 */
function endRequest(api: OpenTelemetry, span: Span, observed: Extract<Observation, { kind: "request" }>): void {
  const { method, route, status, code, userId } = observed;
  if (route !== null) span.updateName(`${method} ${route}`);
  span.setAttributes({
    "http.request.method": method,
    "url.path": observed.path,
    "http.response.status_code": status,
    "client.address": observed.address,
    "latchkey.request_id": observed.requestId,
    ...(route === null ? {} : { "http.route": route }),
    ...(code === null ? {} : { "error.type": code }),
    ...(userId === null ? {} : { "user.id": String(userId) }),
  });
  if (status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR });
  span.end();
}
