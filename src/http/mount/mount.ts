import { aPermission, isPermission, permissionForm } from "../../access/permission/checking.ts";
import type { Permission } from "../../access/permission/permission.ts";
import {
  aBoolean,
  aFunction,
  type Check,
  isObject,
  isText,
  membersMistakes,
  namedMembers,
  oneOf,
  optional,
  seen,
  shownWithoutText,
} from "../../core/checking/members.ts";
import { made } from "../../core/copy.ts";
import { aDeprecation, readDeprecation, type Deprecated, type Deprecation } from "../../core/deprecation.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { AnyProblem } from "../../core/problem/definition.ts";
import { isShown } from "../../resource/kinds/field.ts";
import { DeclarationError, type Fields, type RecordOf, type Resource, type StoredOf } from "../../resource/resource.ts";
import type { Collection, StoredRecord } from "../../store/store.ts";
import type { Offering } from "../core.ts";
import { aFeatureList, columnMistakes, permissionsMistakes } from "../endpoint/checking.ts";
import { readActions, type Actions, type ServedAction } from "./actions/action.ts";
import type { ActionAnswers, ActionsGive } from "./actions/given.ts";
import { collectionOf } from "./collection.ts";
import { computerOf } from "./computing.ts";
import { linksOf, type Link } from "./links.ts";
import type { Older } from "./older/shape.ts";
import { arraysMistakes, problemsMistake, writersMistakes } from "./option-mistakes.ts";
import {
  permissionsOf,
  writesMistakes,
  type AnyPermissions,
  type FittingPermissions,
  type PermissionsOf,
  type ResourceAction,
} from "./permissions.ts";
import { relationMistakes, type Relation, type Relations, type RelationsOf } from "./relations.ts";
import type { AfterWrite, BeforeWrite, Exactly, Prepared, Write, Written } from "./writes/write.ts";

export type { PermissionFor, PermissionsOf, ResourceAction } from "./permissions.ts";
export type { AfterWrite, Prepared, Write, Written } from "./writes/write.ts";

/** How a resource is served. */
export interface MountOptions<
  R extends Resource = Resource,
  P = Eventually<Prepared<R>>,
  B = Readonly<Record<string, Fields>>,
  W = unknown,
  E = Relations,
  A = unknown,
  Q = PermissionsOf<R>,
> {
  /** Who may; one for all actions, or one for each. An action that is not named is not offered. */
  readonly permission: Q;
  /** Writes must carry `If-Match` (428). */
  readonly requireIfMatch?: boolean;
  /** Answers that depend on nobody's identity may be kept by shared caches. */
  readonly cache?: "public";
  /** They tell of a person: what is kept of them for repeats is found by a `forget` in the transaction that deletes them. */
  readonly personal?: boolean;
  /** POST takes an array of records too, and PATCH of the collection one of changes: all of it is done, or nothing. */
  readonly arrays?: boolean;
  /**
   * Who may write what stands within a record, besides what the permission says: whoever may change that record (`editors`, where it is left
   * out and records can be changed at all), or whoever may read it (`readers`), as for reviews, comments and bids.
   */
  readonly writers?: "editors" | "readers";
  /** The features that its hooks and actions use (`context.use`), by value: where one is not in the service, that does not start. */
  readonly needs?: readonly Offering<unknown>[];
  /** All of it will go: every answer says so in its headers. */
  readonly deprecated?: Deprecation;
  /** For the API's documentation: what `beforeWrite` refuses with, besides what every such write can end in. */
  readonly problems?: Readonly<Partial<Record<ResourceAction, readonly AnyProblem[]>>>;
  /** What it can do besides: `actions: { cancel: … }` is `POST /orders/{id}/cancel`. */
  readonly actions?: Actions<R, B> & ActionAnswers<A> & ActionsGive<R, W, A>;
  /**
   * What `?expand=` may put beside a record, by name: the record that a column refers to (`user: "user_id"`), or the first hundred of what
   * stands within it (`items: mountedItems`). Nobody is shown what they may not read at its own path.
   */
  readonly expand?: E & RelationsOf<R, E>;
  /** Looks at a write before it happens and adds to it. Throws a problem to refuse it. May be asked again when the record changed meanwhile. */
  beforeWrite?(write: Write<R>): P & Exactly<P, R>;
  /**
   * Hears of each write once it is on the disk, and of none twice: for what may be lost, such as caches. A process that ends in between
   * has told nobody. The answer waits for no promise, and is the same where this fails, which is a fault.
   */
  afterWrite?(written: Written<R>): Eventually<void>;
}

/** A resource as it is served. */
export interface Mount<R extends Resource = Resource> {
  readonly resource: R;
  readonly collection: Collection<StoredOf<R>>;
  readonly permissions: Readonly<Partial<Record<ResourceAction, Permission<string>>>>;
  readonly requireIfMatch: boolean;
  readonly cache: "public" | "private";
  readonly personal: boolean;
  readonly arrays: boolean;
  readonly writers: "editors" | "readers";
  readonly needs: readonly Offering<unknown>[];
  readonly deprecations: readonly Deprecated[];
  readonly problems: Readonly<Partial<Record<ResourceAction, readonly AnyProblem[]>>>;
  readonly actions: readonly ServedAction[];
  readonly expand: Relations;
  readonly beforeWrite: BeforeWrite | null;
  readonly afterWrite: AfterWrite | null;
  /** The newer one, where this is an older shape of it; null where it is none. */
  readonly older: Older | null;
  /** Makes what callers see of a stored record. */
  readonly show: (record: StoredRecord) => RecordOf<R>;
  /** What callers see, by its names: `id` first. */
  readonly shown: readonly string[];
  /** The columns that it is made of. */
  readonly sources: readonly string[];
  /** Those of what is shown that have no column. */
  readonly computed: readonly string[];
  /** The tables of its relations to several records. */
  readonly links: readonly Link[];
  /** What is kept of a record for those who repeat the write that left it. */
  readonly kept: readonly string[];
  /** Those of them that hold any JSON value. */
  readonly jsonMembers: readonly string[];
}

/**
 * Serves a resource: list, create, read, replace, update and delete, each to whom the permissions allow. Throws `DeclarationError` where it cannot.
 *
 * @example
 * ```ts
 * import { administrator, anyOf, anyone, caller, defineResource, integer, mount, owner, text } from "latchkey";
 *
 * const book = defineResource({ name: "book", fields: { title: text(), owner_id: integer({ default: caller }) } });
 * const ours = anyOf(owner("owner_id"), administrator);
 * export const books = mount(book, { permission: { list: anyone, read: anyone, create: ours, update: ours, delete: ours } });
 * ```
 */
export function mount<
  const R extends Resource,
  const P = {},
  const B = {},
  const W = {},
  const E = {},
  const A = {},
  const Q extends AnyPermissions = PermissionsOf<R>,
>(resource: R, options: MountOptions<R, P, B, W, E, A, Q> & FittingPermissions<R, Q>): Mount<R>;
export function mount(resource: Resource, options: MountOptions): Mount {
  const mistakes = mountingMistakes(resource, options);
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
  const served = requireActions(resource, options.actions);
  const permissions = permissionsOf(options.permission, resource);
  const collection = collectionOf(resource, permissions.list?.columns);
  const missing = columnMistakes(
    [...Object.values(permissions), ...served.map(({ permission }) => permission)],
    collection,
  );
  if (missing.length > 0) throw new DeclarationError(missing.map((mistake) => `mount(${resource.path}): ${mistake}`));
  const sources = [
    "id",
    ...collection.columns
      .map((column) => column.name)
      .filter((name) => name !== resource.parentColumn && isShown(resource.fields[name]!)),
    ...(collection.computed ?? []).map(({ name }) => name),
  ];
  const computed = Object.keys(resource.fields).filter((name) => typeof resource.fields[name]!.computed === "function");
  const shown = [...sources, ...computed];
  return Object.freeze(
    made<Mount>({
      resource,
      collection,
      permissions,
      requireIfMatch: options.requireIfMatch ?? false,
      cache: options.cache ?? "private",
      personal: options.personal ?? false,
      arrays: options.arrays ?? false,
      writers: options.writers ?? "editors",
      needs: options.needs ?? [],
      deprecations: readDeprecation(`resource ${resource.path}`, options.deprecated),
      problems: options.problems ?? {},
      actions: served,
      expand: options.expand ?? {},
      beforeWrite: options.beforeWrite ?? null,
      afterWrite: options.afterWrite ?? null,
      older: null,
      shown,
      sources,
      computed,
      links: linksOf(resource, collection),
      kept: resource.parentColumn === null ? sources : [...sources, resource.parentColumn],
      jsonMembers: shown.filter((name) => resource.fields[name]?.kind.column.type === "json"),
      show: makeShow(resource, collection, sources),
    }),
  );
}

function requireActions(resource: Resource, declared: unknown): readonly ServedAction[] {
  const mistakes: string[] = [];
  const actions = readActions(declared, mistakes);
  if (mistakes.length > 0) throw new DeclarationError(mistakes.map((mistake) => `mount(${resource.path}): ${mistake}`));
  return actions;
}

const mountMembers: Readonly<Record<keyof MountOptions, Check>> = {
  permission: seen((value) => {
    if (isPermission(value)) return aPermission(value);
    return isObject(value) && !("decide" in value) ? null : `${permissionForm}, or one for each action`;
  }),
  requireIfMatch: optional(aBoolean),
  personal: optional(aBoolean),
  arrays: optional(aBoolean),
  writers: optional(oneOf("editors", "readers")),
  cache: optional(oneOf("public")),
  needs: optional(aFeatureList),
  deprecated: optional(aDeprecation),
  problems: optional(problemsMistake),
  actions: optional(namedMembers),
  expand: optional(namedMembers),
  beforeWrite: optional(aFunction),
  afterWrite: optional(aFunction),
};

/** What is wrong with what a resource is to be mounted with. */
function mountingMistakes(resource: unknown, options: unknown): readonly string[] {
  if (!isObject(resource) || !isText(resource["path"]))
    return [`mount: the resource is ${shownWithoutText(resource)}; declare one with defineResource`];
  const place = `mount(${resource["path"]})`;
  if (!isObject(options)) return [`${place}: nobody said who may use it; write mount(resource, { permission: … })`];
  const { permission, expand } = options;
  const own =
    isPermission(permission) || !isObject(permission) || "decide" in permission ? [] : permissionsMistakes(permission);
  const related = isObject(expand) ? relationMistakes(resource as unknown as Resource, expand) : [];
  const several = arraysMistakes(resource, options);
  const isOffered = own.length > 0 || isPermission(permission) || Object.values(permission ?? {}).some(isPermission);
  const offersNothing =
    isObject(permission) && !isOffered && Object.keys(options["actions"] ?? {}).length === 0
      ? ["permission names no action, so that nothing would be served; write permission: anyone, or { list: anyone }"]
      : [];
  return [
    ...membersMistakes(options, mountMembers),
    ...own,
    ...(isObject(permission) && !isPermission(permission) && isObject(resource["fields"])
      ? writesMistakes(resource as unknown as Resource, permission)
      : []),
    ...offersNothing,
    ...related,
    ...several,
    ...writersMistakes(resource, options),
  ].map((mistake) => `${place}: ${mistake}`);
}

/** A record of the store has `id` first, so that what is shown of it has too. */
function makeShow(resource: Resource, collection: Collection, names: readonly string[]): Mount["show"] {
  const show = showStored(collection, names);
  const compute = computerOf(resource);
  return compute === null ? show : (record) => ({ ...show(record), ...compute(show(record)) });
}

function showStored({ columns, computed = [] }: Collection, names: readonly string[]): Mount["show"] {
  if (names.length === columns.length + computed.length + 1) return (record) => record as RecordOf<Resource>;
  return (record) => {
    const picked: Record<string, unknown> = {};
    for (const name of names) picked[name] = record[name];
    return picked as RecordOf<Resource>;
  };
}

/** A list of ids in the records of a mount that loses those that go. */
export interface Listing {
  readonly of: MountInPlace;
  readonly link: Link;
}

/** A mount together with what it stands within, outermost last. */
export interface MountInPlace extends Omit<Mount, "show" | "collection"> {
  readonly collection: Collection;
  readonly parent: MountInPlace | null;
  /** Where the newer one stands, of an older shape. */
  readonly newer: MountInPlace | null;
  /** What may stand beside its records. */
  readonly relations: readonly Relation<MountInPlace>[];
  /** The lists that its records are taken out of when they go. */
  readonly listedBy: readonly Listing[];
  /** Those whose records refer to its own. */
  readonly referrers: readonly MountInPlace[];
  readonly show: (record: StoredRecord) => Readonly<Record<string, unknown>>;
  /** What is shown and noted by the service as the record is used. No change is refused because of it. */
  readonly noted?: readonly string[];
}
