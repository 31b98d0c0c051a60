import type { Eventually } from "../../eventually.ts";
import type { Action, Permission } from "../../permission/permission.ts";
import type { ProblemCode } from "../../problem/catalogue.ts";
import type { Draft } from "../../resource/draft.ts";
import { isShown } from "../../resource/field.ts";
import { DeclarationError, type Fields, type Resource } from "../../resource/resource.ts";
import type { Change, Collection, StoredRecord } from "../../store/store.ts";
import {
  aBoolean,
  aFunction,
  anObject,
  isObject,
  isPermission,
  isText,
  membersMistakes,
  oneOf,
  optional,
  permissionForm,
  permissionsMistakes,
  shown,
  type Check,
} from "../checking.ts";
import type { Context } from "../exchange.ts";
import { collectionOf } from "./collection.ts";

export type ResourceAction = Exclude<Action, "call">;

/** A write that is about to happen. */
export interface Write {
  readonly kind: "create" | "replace" | "update" | "delete";
  readonly context: Context;
  /** Null where the store hands one out. */
  readonly id: number | null;
  /** What is there now; null where nothing is. */
  readonly current: StoredRecord | null;
  /** What was sent; null for a deletion. */
  readonly draft: Draft | null;
}

/** What else belongs to a write. */
export interface Prepared {
  /** Stored in place of, or besides, what was sent. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Changes of the same transaction, after the record's own: `keyOf(0)` is its id. */
  readonly also?: readonly Change[];
  /**
   * What costs much, or conflicts with what others have: asked once the preconditions hold. Its changes stand behind `also`.
   */
  complete?(): Eventually<readonly Change[]>;
}

export interface MountOptions {
  /** Who may; one for all actions, or one for each. An action that is not named is not offered. */
  readonly permission: Permission | Readonly<Partial<Record<ResourceAction, Permission>>>;
  /** Writes must carry `If-Match` (428). */
  readonly requireIfMatch?: boolean;
  /** Answers that depend on nobody's identity may be kept by shared caches. */
  readonly cache?: "public";
  /** They tell of a person: what is kept of them for repeats is found by a `forget` in the transaction that deletes them. */
  readonly personal?: boolean;
  /** For the API's documentation: what `beforeWrite` refuses with, besides what every such write can end in. */
  readonly problems?: Readonly<Partial<Record<ResourceAction, readonly ProblemCode[]>>>;
  /** Looks at a write before it happens and adds to it. Throws a problem to refuse it. May be asked again when the record changed meanwhile. */
  beforeWrite?(write: Write): Eventually<Prepared>;
}

/** A resource as it is served. */
export interface Mount {
  readonly resource: Resource;
  readonly collection: Collection;
  readonly permissions: Readonly<Partial<Record<ResourceAction, Permission>>>;
  readonly requireIfMatch: boolean;
  readonly cache: "public" | "private";
  readonly personal: boolean;
  readonly problems: Readonly<Partial<Record<ResourceAction, readonly ProblemCode[]>>>;
  readonly beforeWrite: ((write: Write) => Eventually<Prepared>) | null;
  /** Makes what callers see of a stored record. */
  readonly show: (record: StoredRecord) => StoredRecord;
  /** The columns that callers see, `id` first. */
  readonly shown: readonly string[];
  /** What is kept of a record for those who repeat the write that left it. */
  readonly kept: readonly string[];
  /** Those of them that hold any JSON value. */
  readonly jsonMembers: readonly string[];
}

/** Serves a resource: list, create, read, replace, update and delete, each to whom the permissions allow. Throws `DeclarationError` where it cannot. */
export function mount<F extends Fields>(resource: Resource<F>, options: MountOptions): Mount {
  const mistakes = mountingMistakes(resource, options);
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
  const { permission } = options;
  const permissions = isPermission(permission)
    ? {
        list: permission,
        create: permission,
        read: permission,
        replace: permission,
        update: permission,
        delete: permission,
      }
    : permission;
  const collection = collectionOf(resource);
  const shown = [
    "id",
    ...collection.columns
      .map((column) => column.name)
      .filter((name) => name !== resource.parentColumn && isShown(resource.fields[name]!)),
  ];
  return Object.freeze({
    resource,
    collection,
    permissions,
    requireIfMatch: options.requireIfMatch ?? false,
    cache: options.cache ?? "private",
    personal: options.personal ?? false,
    problems: options.problems ?? {},
    beforeWrite: options.beforeWrite ?? null,
    shown,
    kept: resource.parentColumn === null ? shown : [...shown, resource.parentColumn],
    jsonMembers: shown.filter((name) => resource.fields[name]?.kind.column.type === "json"),
    show:
      shown.length === collection.columns.length + 1
        ? (record: StoredRecord) => record
        : (record: StoredRecord) => pick(record, shown),
  });
}

const mountMembers: Readonly<Record<keyof MountOptions, Check>> = {
  permission: (value) =>
    isPermission(value) || (isObject(value) && !("decide" in value))
      ? null
      : `${permissionForm}, or one for each action`,
  requireIfMatch: optional(aBoolean),
  personal: optional(aBoolean),
  cache: optional(oneOf("public")),
  problems: optional(anObject),
  beforeWrite: optional(aFunction),
};

/** What is wrong with what a resource is to be mounted with. */
function mountingMistakes(resource: unknown, options: unknown): readonly string[] {
  if (!isObject(resource) || !isText(resource["path"]))
    return [`mount: the resource is ${shown(resource)}; declare one with defineResource`];
  const place = `mount(${resource["path"]})`;
  if (!isObject(options)) return [`${place}: nobody said who may use it; write mount(resource, { permission: … })`];
  const { permission } = options;
  const own =
    isPermission(permission) || !isObject(permission) || "decide" in permission ? [] : permissionsMistakes(permission);
  return [...membersMistakes(options, mountMembers), ...own].map((mistake) => `${place}: ${mistake}`);
}

function pick(record: StoredRecord, names: readonly string[]): StoredRecord {
  const picked: Record<string, StoredRecord[string]> = {};
  for (const name of names) picked[name] = record[name]!;
  return picked;
}

/** A mount together with what it stands within, outermost last. */
export interface MountInPlace extends Mount {
  readonly parent: MountInPlace | null;
}

/** Finds for each mount the one it stands within. Throws where that is not mounted. */
export function placeMounts(mounts: readonly Mount[]): readonly MountInPlace[] {
  const placed = new Map<Resource, MountInPlace>();
  const place = (each: Mount): MountInPlace => {
    const known = placed.get(each.resource);
    if (known !== undefined) return known;
    const { within } = each.resource;
    const outer = within === null ? null : mounts.find((other) => other.resource === within);
    if (outer === undefined)
      throw new TypeError(
        `${each.resource.path} stands within ${within!.path}, which is not mounted. Mount ${within!.plural} too.`,
      );
    if (outer !== null && outer.permissions.read === undefined)
      throw new TypeError(
        `${each.resource.path} stands within ${outer.resource.path}, which nobody may read. Give ${outer.resource.plural} a permission for read.`,
      );
    const inPlace = { ...each, parent: outer === null ? null : place(outer) };
    placed.set(each.resource, inPlace);
    return inPlace;
  };
  return mounts.map(place);
}
