/**
 * The parts of resources that a first resource does not need: custom kinds, types, mounts and actions.
 *
 * @module latchkey/resources
 */
import "./index.ts";

export { nearest, shownName } from "../core/checking/nearest.ts";
export type {
  DecimalOptions,
  EnumerationOptions,
  IntegerOptions,
  JSONOptions,
  NamedReferenceOptions,
  ReferenceOptions,
  TextOptions,
} from "../resource/kinds/fields.ts";
export {
  collectColumnKinds,
  type ColumnKind,
  type InspectedColumn,
  type PlainOptions,
} from "../resource/kinds/column-kinds.ts";
export { array, type ArrayOptions } from "../resource/kinds/lists.ts";
export { references, type NamedReferencesOptions, type ReferencesOptions } from "../resource/kinds/references.ts";
export { shownOnce, type ShownOnceOptions } from "../resource/kinds/shown-once.ts";
export { number, type NumberOptions } from "../resource/kinds/numbers.ts";
export { url } from "../resource/kinds/texts.ts";
export { date, updatedAt, type UpdatedAtOptions } from "../resource/kinds/times.ts";
export type { IdKind } from "../resource/declaration/types.ts";
export { reservedNames } from "../resource/reserved.ts";
export { uuid } from "../resource/kinds/uuid.ts";
export { standardSchema, type StandardOptions } from "../resource/kinds/standard.ts";
export type { StandardSchema } from "../resource/kinds/standard-result.ts";
export { jsonSchema } from "../resource/json-schema/json-schema.ts";
export type { FromSchema } from "../resource/json-schema/types.ts";
export {
  defineField,
  Flaw,
  type FlawPart,
  type DraftContext,
  type Field,
  type FieldOptions,
  type Kind,
  type Random,
  type Tone,
} from "../resource/declaration/field.ts";
export {
  DeclarationError,
  type ColumnOf,
  type ComputedField,
  type DraftOf,
  type Fields,
  type Resource,
  type ResourceDeclaration,
  type StoredOf,
  type UserIdOf,
} from "../resource/resource.ts";
export { ExactNumber } from "../core/exact-numbers.ts";
export { parseExactly } from "../resource/parse-exactly.ts";
export type { ComputedFields } from "../resource/declaration/types.ts";
export type { Deprecation } from "../core/deprecation.ts";
export type { Draft } from "../resource/draft.ts";
export type { FounderOptions, FounderValues } from "../http/declarations/founder.ts";
export type {
  Mount,
  ServedMount,
  MountOptions,
  PermissionFor,
  PermissionsOf,
  Prepared,
  ResourceAction,
  Write,
  Written,
} from "../http/declarations/mount.ts";
export { olderShape, type ConvertedField, type OlderFields, type OlderOptions } from "../http/mount/older/older.ts";
export type { ActionResult } from "../http/declarations/given.ts";
export type { CollectionAction, CollectionCall, RecordAction, RecordCall } from "../http/declarations/action.ts";
export { requireDraft, type Target } from "../http/mount/writes/drafting.ts";
export { idempotencyCountsCollection } from "../http/mount/writes/idempotency.ts";
export { findByToken, type FoundByToken } from "../http/mount/find-by-token.ts";
export { readRecord, updateRecord } from "../http/mount/endpoints.ts";
export { declarationMistakes, type Declared } from "../http/declarations/declared.ts";
