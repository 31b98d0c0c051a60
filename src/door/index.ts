// oxlint-disable typescript/triple-slash-reference -- If a file exports a mount, its .d.ts file needs types of these doors (TS2742). An import would form a circle.
/// <reference path="./resources.ts" preserve="true" />
/// <reference path="./http.ts" preserve="true" />
/// <reference path="./auth.ts" preserve="true" />
/// <reference path="./features.ts" preserve="true" />
/// <reference path="./stores.ts" preserve="true" />
/// <reference path="./ops.ts" preserve="true" />
/**
 * The main entry point: everything that a first product needs. The other entry points contain the rest by subject. No
 * name is in two of them.
 *
 * @module latchkey
 */
import "../core/node-version.ts";

export { createService, type Service, type ServiceOptions } from "../composition/create-service.ts";
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
export { caller } from "../resource/declaration/field.ts";
export { defineResource, type RecordOf } from "../resource/resource.ts";
export { mount } from "../http/declarations/mount.ts";
export { defineEndpoint } from "../http/declarations/endpoint.ts";
export type { Context } from "../http/request/exchange.ts";
export {
  administrator,
  allOf,
  anyOf,
  confirmed,
  anyone,
  authenticated,
  nobody,
  not,
  owner,
  readOnly,
  scope,
  self,
} from "../access/permission/permission.ts";
export { accounts } from "../features/auth/accounts/accounts.ts";
export { apiTokens } from "../features/auth/api-tokens/feature.ts";
export { basicLogin } from "../features/auth/basic/feature.ts";
export { sessionLogin } from "../features/auth/session/feature.ts";
export { tokenLogin } from "../features/auth/tokens/feature.ts";
export { accepted, rejected, type Scheme } from "../access/scheme/scheme.ts";
export type { Identity } from "../core/identity.ts";
export { defineProblem } from "../resource/define-problem.ts";
export { problem } from "../core/problem/problem.ts";
export { Secret } from "../core/crypto/secret.ts";
export { listen } from "../http/bindings/node/node.ts";
