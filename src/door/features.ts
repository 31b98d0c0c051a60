/**
 * What a feature is, and those that are no login: health, metrics, documentation, the outbox.
 *
 * @module latchkey/features
 */
import "./index.ts";

export type { Host, Parts, ServiceFacts, Upkeep } from "../feature/feature.ts";
export { outbox, type Outbox, type OutboxOptions } from "../outbox/outbox.ts";
export type { Delivery, RecordEvent, Subscriber } from "../outbox/delivery.ts";
export type { Alongside, RecordWrite } from "../http/alongside.ts";
export { health, type Health } from "../ops/health.ts";
export { metrics, type MetricsOffer, type MetricsOptions } from "../ops/prometheus.ts";
export { consolePages } from "../console/console.ts";
export type { ConsoleOptions } from "../console/options.ts";
export type { Drawing, Drawn, Site, Template } from "../console/site.ts";
export { html, Markup, type PageContent } from "../html/markup.ts";
export { rateLimits, tooManyRequests, type RateLimit, type RateLimitsOptions } from "../rate-limit/rate-limits.ts";
export type { LimitedEndpoint, LimitedRequest, LimitFields, RequestLimiter } from "../http/limiting/limiting.ts";
export { documentation, type DocumentationOptions } from "../openapi/documentation.ts";
export { docsPage, openapiDocument } from "../openapi/on-demand.ts";
export type { OpenAPIOptions } from "../openapi/options.ts";
