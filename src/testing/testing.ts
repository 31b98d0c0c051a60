/**
 * The door for those who write a store or a scheme of their own: the promises that ours keep, as tests.
 *
 * @module latchkey/testing
 */
import "../node-version.ts";

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
