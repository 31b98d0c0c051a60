/**
 * The module for your own tests: a service in memory, generated records, and assertions about problems. For authors of
 * a store or a scheme, it has the contract of the built-in stores and schemes as tests.
 *
 * @module latchkey/testing
 */
import "../core/node-version.ts";

export { certifyStore } from "./store-contract.ts";
export { certifyScheme, schemeChecks } from "./scheme-contract.ts";
export {
  certifyPermission,
  permissionChecks,
  type PermissionCheck,
  type PermissionExample,
  type PermissionSubject,
} from "./permission-contract.ts";
export type { SchemeCheck } from "./scheme-contract/bench.ts";
export type { MakeSubject, SchemeSubject, SchemeTools } from "./scheme-contract/subject.ts";
export { callOf, type CallSketch } from "./calls.ts";
export { admitAsOperator } from "../features/auth/gate/admission.ts";
export { totpCode } from "./totp-code.ts";
export {
  testLatchkey,
  testService,
  type TestClock,
  type TestLatchkeyOptions,
  type TestOptions,
  type TestService,
  type TestServiceOptions,
} from "./service/test-service.ts";
export type { CredentialSketch, IdentitySketch, TestUser, UserSketch } from "./service/callers.ts";
export type { Ask, AskedHeaders, Asker, TestReply } from "./service/asking.ts";
export { assertProblem, type ExpectedIssues } from "./service/problems.ts";
export { factory, type Factory, type FactoryOptions } from "./factories/factory.ts";
