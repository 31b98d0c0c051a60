/**
 * The contract of features, and the features that are not logins: health, metrics, documentation, the outbox.
 *
 * @module latchkey/features
 */
import "./index.ts";

export type {
  AccountPages,
  FindLinkUser,
  Host,
  LinkUser,
  MailLink,
  Parts,
  ServiceFacts,
  Upkeep,
  LoginLink,
} from "../feature/feature.ts";
export { outbox, type OutboxOptions } from "../features/outbox/outbox.ts";
export { JobError } from "../features/outbox/contract.ts";
export type {
  Delivery,
  Job,
  JobDelivery,
  Outbox,
  Queue,
  RecordEvent,
  Subscriber,
  Worker,
} from "../features/outbox/contract.ts";
export { mail, type MailOptions } from "../features/mail/mail.ts";
export { smtpSender, type SMTPOptions } from "../features/mail/smtp.ts";
export { readSender, type Sender } from "../features/mail/address.ts";
export { readSMTPURL, type SMTPServer } from "../features/mail/smtp-url.ts";
export { mailFiles } from "../features/mail/files.ts";
export type {
  Composed,
  Mail,
  Mailer,
  MailKind,
  MailTemplate,
  MailTemplates,
  QueueMail,
  SendMail,
  SendMailOptions,
} from "../features/mail/contract.ts";
export type { TemplatesByLanguage } from "../features/mail/templates.ts";
export type { Alongside, RecordWrite } from "../http/request/alongside.ts";
export { health, type Health } from "../features/ops/health.ts";
export { metrics, type MetricsOffer, type MetricsOptions } from "../features/ops/prometheus.ts";
export { consolePages } from "../features/console/console.ts";
export type { ConsoleOptions } from "../features/console/options.ts";
export type { Drawing, Drawn, Site, Template } from "../features/console/site.ts";
export { html, Markup, type PageContent } from "../core/html/markup.ts";
export type { Page } from "../core/html/page.ts";
export {
  rateLimits,
  tooManyRequests,
  type RateLimit,
  type RateLimitsOptions,
} from "../features/rate-limit/rate-limits.ts";
export type { LimitedEndpoint, LimitedRequest, LimitFields, RequestLimiter } from "../http/request/limiting.ts";
export { documentation, type DocumentationOptions } from "../features/openapi/documentation.ts";
export { docsPage, openapiDocument } from "../features/openapi/on-demand.ts";
export type { OpenAPIOptions } from "../features/openapi/options.ts";
