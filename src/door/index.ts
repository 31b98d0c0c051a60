/**
 * The public door: what a first product needs. What else there is stands in the doors beside it, by subject; no name stands in two.
 *
 * @module latchkey
 */
import "../node-version.ts";

export { createService, type Service, type ServiceOptions } from "../create-service/create-service.ts";
export { defineFeature, type Feature } from "../feature/feature.ts";
export {
  boolean,
  dateTime,
  decimal,
  email,
  enumeration,
  integer,
  json,
  reference,
  text,
} from "../resource/kinds/fields.ts";
export { caller } from "../resource/kinds/field.ts";
export { defineResource, type RecordOf } from "../resource/resource.ts";
export { mount } from "../http/mount/mount.ts";
export { defineEndpoint } from "../http/endpoint/endpoint.ts";
export type { Context } from "../http/exchange.ts";
export {
  administrator,
  allOf,
  anyOf,
  anyone,
  authenticated,
  nobody,
  not,
  owner,
  readOnly,
  scope,
  self,
} from "../permission/permission.ts";
export { accounts } from "../login/accounts/accounts.ts";
export { apiTokens } from "../login/api-tokens/api-tokens.ts";
export { basicLogin } from "../login/basic/basic.ts";
export { sessionLogin } from "../login/session/session.ts";
export { tokenLogin } from "../login/tokens/tokens.ts";
export { accepted, rejected, type Scheme } from "../scheme/scheme.ts";
export type { Identity } from "../identity.ts";
export { defineProblem } from "../problem/definition.ts";
export { problem } from "../problem/problem.ts";
export { Secret } from "../crypto/secret.ts";
export { listen } from "../bindings/node/node.ts";
