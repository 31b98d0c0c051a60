/**
 * Calls, replies, endpoints, formats and problems, and the bindings for Node and the Fetch API.
 *
 * @module latchkey/http
 */
import "./index.ts";

export type { ExplainedList } from "../http/mount/explaining.ts";
export type { Endpoint, EndpointDocumentation } from "../http/declarations/endpoint.ts";
export { invalid } from "../http/request/exchange.ts";
export type { Table } from "../http/declarations/table.ts";
export type { EndpointFacts, Method, ReceivedBody, Refusal } from "../http/request/facts.ts";
export {
  Call,
  type Arrival,
  type Body,
  type Cacheability,
  type Client,
  type Reply,
  type ReportedClient,
} from "../core/call/call.ts";
export type { Answer } from "../http/answer/writing.ts";
export { csv, formatCSVLine, type CSVOptions } from "../http/formats/csv.ts";
export { readJSON } from "../http/formats/json.ts";
export { formType } from "../http/formats/form.ts";
export { prefersRedirect } from "../http/answer/choosing-format.ts";
export type { DataBody, Format, ProblemDocument, ReadBody } from "../http/request/format.ts";
export type { FormKind, Offer, RequestedEndpoint, View } from "../http/request/view.ts";
export { readPage, type Listing, type PageQuery, type ReadPage } from "../http/answer/paging.ts";
export { catalogue, type CatalogueEntry, type ProblemCode } from "../core/problem/catalogue.ts";
export type { BodySchema } from "../http/declarations/body.ts";
export {
  defineResponse,
  listOf,
  type ReplyTo,
  type ResponseBody,
  type ResponseDeclaration,
  type ResponseMember,
  type Responses,
  type ResponseShape,
  type ResponseValue,
} from "../http/declarations/response.ts";
export type { AnyProblem, ProblemDefinition } from "../core/problem/catalogue.ts";
export type { ExtensionMember, ExtensionMembers, ExtensionsOf } from "../core/problem/extensions.ts";
export { Problem, type Issue, type ProblemOptions } from "../core/problem/problem.ts";
export type { TraceContext } from "../core/headers/traceparent.ts";
export { formatClearedCookie, formatSetCookie, type CookieToSet } from "../core/headers/set-cookie.ts";
export { after, type Eventually } from "../core/eventually.ts";
export type { Listener, ListenOptions } from "../http/bindings/node/node.ts";
export { requestListener, type Listen, type RequestListenerOptions } from "../http/bindings/node/request-listener.ts";
export type { FetchInfo } from "../http/bindings/web/web.ts";
export { parseBasePath } from "../http/base-path.ts";
export { parseOrigin } from "../core/headers/origin.ts";
export {
  ifNoneMatch,
  notModified,
  objectSchema,
  nullable,
  textSchema,
  timeSchema,
  type JSONSchema,
} from "../http/declarations/documentation.ts";
export {
  isTrusted,
  parseTrustedProxies,
  requireTrustedProxies,
  type TrustedProxies,
  type TrustedProxySetting,
} from "../core/call/trusted-proxies.ts";
export { isUnsafe } from "../core/call/cross-site.ts";
