import { aPermission, isPermission, permissionForm } from "../../access/permission/checking.ts";
import type { Permission } from "../../access/permission/permission.ts";
import {
  aBoolean,
  aFunction,
  anObject,
  type ValueCheck,
  isObject,
  isText,
  membersMistakes,
  namedMembers,
  buildChoiceCheck,
  optional,
  seen,
  shownWithoutText,
} from "../../core/checking/members.ts";
import { made } from "../../core/copy.ts";
import { aDeprecation, readDeprecation, type Deprecated, type Deprecation } from "../../core/deprecation.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { AnyProblem } from "../../core/problem/catalogue.ts";
import { isShown } from "../../resource/declaration/field.ts";
import {
  DeclarationError,
  type ColumnOf,
  type Fields,
  type RecordOf,
  type Resource,
  type StoredOf,
} from "../../resource/resource.ts";
import { buildTableName } from "../../resource/tables/table.ts";
import type { Collection, StoredRecord } from "../../store/store.ts";
import type { Offering } from "../request/core.ts";
import type { Context } from "../request/exchange.ts";
import { requireActions, type Actions, type ServedAction } from "./action.ts";
import { aFeatureList, columnMistakes, permissionsMistakes, sharesMistakes } from "./checking.ts";
import { buildCollection } from "./collection.ts";
import type { Deferral } from "./deferral.ts";
import { founderMistakes, readFounder, type Founder, type FounderOptions } from "./founder.ts";
import type { ActionAnswers, ActionsGive } from "./given.ts";
import { findInvitedColumns, invitationMistakes, invitationsOption } from "./invitations.ts";
import { buildLinks, type Link } from "./links.ts";
import { findColumnOn, findMembers, narrowedColumns, type MembershipColumns, type Memberships } from "./memberships.ts";
import type { Older } from "./older-shape.ts";
import { findOnceField, type OnceField } from "./once.ts";
import { arraysMistakes, problemsMistake, writersMistakes } from "./option-mistakes.ts";
import {
  resolvePermissions,
  writesMistakes,
  type AnyPermissions,
  type FittingPermissions,
  type PermissionsOf,
  type ResourceAction,
} from "./permissions.ts";
import { aTable, recordsMistakes, type Maximum } from "./records.ts";
import { relationMistakes, type Relation, type Relations, type RelationsOf } from "./relations.ts";
import { ruleMistakes } from "./rules.ts";
import { makeShow } from "./showing.ts";
import type { AfterWrite, BeforeWrite, Exactly, Prepared, Write, Written } from "./write.ts";

export type { PermissionFor, PermissionsOf, ResourceAction } from "./permissions.ts";
export type { AfterWrite, Prepared, Write, Written } from "./write.ts";

/** The options of a mounted resource. */
export interface MountOptions<
  R extends Resource = Resource,
  P = Eventually<Prepared<R>>,
  B = Readonly<Record<string, Fields>>,
  W = unknown,
  E = Relations,
  A = unknown,
  Q = PermissionsOf<R>,
  M extends Resource = Resource,
> {
  /** The permission: one for all actions, or one for each. An action without a permission is not offered. */
  readonly permission: Q;
  /** If true, a write without `If-Match` is refused (428). Default: false. */
  readonly requireIfMatch?: boolean;
  /**
   * `public` lets shared caches store responses that do not depend on an identity. Default: only the caller's own cache
   * may store them.
   */
  readonly cache?: "public";
  /** True for personal data. `forget` then also erases the copies of a record that are stored for repeated requests. */
  readonly personal?: boolean;
  /**
   * If true, POST also takes an array of records, and PATCH of the collection takes an array of changes. Either all
   * records are written or none. Default: false.
   */
  readonly arrays?: boolean;
  /**
   * For a nested resource: which callers may write records within a parent record, if the permission allows it too.
   * `editors` may change the parent record, or may read it if no caller can change it. `readers` may read the parent
   * record, for example to add reviews or bids. Default: `editors`.
   */
  readonly writers?: "editors" | "readers";
  /**
   * The largest number of records with the same value of a column, for example of the owner. A write that would make
   * one more is 409 `too_many`, also if several writes arrive at once. Changes that hooks and actions write themselves
   * are not counted.
   */
  readonly maximum?: { readonly per: ColumnOf<R>; readonly records: number };
  /**
   * For a group: the membership that is created together with a record, for the user who creates it. The `create`
   * permission of the memberships is not asked, and their hooks run. If the store assigns the id of the group, the hook
   * gets a placeholder for it (`keyOf`), which it may use in its changes.
   */
  readonly founder?: FounderOptions<M>;
  /** For memberships: says that any user may join a group without an invitation. Default: not said. */
  readonly joins?: "open";
  /**
   * For memberships, which refer to a user and to a group: true if members invite others by mail
   * (`POST /memberships/invitations`). Needs `groupInvitations()`. Names the columns if there are several references.
   * Default: false.
   */
  readonly invitations?: boolean | MembershipColumns;
  /**
   * The table of the records, if it was declared with `table()` and keeps its name. It has a column of the same type
   * for each stored field. Its other columns are not shown.
   */
  readonly table?: Collection;
  /**
   * The features that the hooks and actions use (`context.use`), as values and not by name. The service does not start
   * without them.
   */
  readonly needs?: readonly Offering<unknown>[];
  /** Marks the resource as deprecated. Every response says so in its header fields. */
  readonly deprecated?: Deprecation;
  /** The additional problems of `beforeWrite`, for the API's documentation. */
  readonly problems?: Readonly<Partial<Record<ResourceAction, readonly AnyProblem[]>>>;
  /** Additional actions: `actions: { cancel: … }` is `POST /orders/{id}/cancel`. */
  readonly actions?: Actions<R, B> & ActionAnswers<A> & ActionsGive<R, W, A>;
  /**
   * The relations for `?expand=`, by name: the record that a column refers to (`user: "user_id"`), or the first hundred
   * records within it (`items: mountedItems`). Callers see only the related records that they may read at the records'
   * own paths.
   */
  readonly expand?: E & RelationsOf<R, E>;
  /**
   * Checks a write and adds values to it. Throws a problem to refuse the write. May run again if the record changes in
   * the meantime.
   */
  beforeWrite?(write: Write<R>): P & Exactly<P, R>;
  /**
   * Called after the commit of each write, at most once. For work that may be lost, such as updating caches: not called
   * if the process exits right after the commit. The response does not wait for its promise, and its error is a fault
   * that does not change the response.
   */
  afterWrite?(written: Written<R>): Eventually<void>;
}

/** A mounted resource. */
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
  /**
   * Answers a POST from a caller without a credential, if a later request creates the record. Null: the POST creates
   * the record.
   */
  readonly deferral: Deferral | null;
  /** True if a creation can be a sign-up. Its answer shows the account to the person who signs up. */
  readonly signsUp?: true;
  /**
   * The conversion to the newer shape, if this mount serves an older shape (an earlier form of the resource). Null
   * otherwise.
   */
  readonly older: Older | null;
  /** Called before the body of a creation is read, for a mount that shows a value once. Null if there is none. */
  readonly guard: ((context: Context) => void) | null;
  /** The largest number of records with the same value of a column. Null if there is none. */
  readonly maximum: Maximum | null;
  /** The membership that the creator of a record gets. Null if there is none. */
  readonly founder: Founder | null;
  /** `open`: any user may join a group without an invitation. */
  readonly joins: "open" | null;
  /** The columns of the user and of the group, for memberships with invitations. Null if there are none. */
  readonly invitations: Memberships | null;
  /** The field that only the response to a creation shows (`shownOnce`). Null if there is none. */
  readonly once: OnceField | null;
  /** Returns the part of a stored record that callers see. */
  readonly show: (record: StoredRecord) => RecordOf<R>;
  /** The names of the shown fields, `id` first. */
  readonly shown: readonly string[];
  /** The columns that the shown fields need. */
  readonly sources: readonly string[];
  /** The shown fields without a column. */
  readonly computed: readonly string[];
  /** The tables of its relations to several records. */
  readonly links: readonly Link[];
  /** The columns of a record that are stored to answer a repeated write (`Idempotency-Key`). */
  readonly repeatColumns: readonly string[];
  /** The shown fields whose values are JSON. */
  readonly jsonMembers: readonly string[];
}

/**
 * Mounts a resource: list, create, read, replace, update and delete. Throws `DeclarationError` if the options are
 * wrong.
 *
 * @example
 * ```ts
 * import { administrator, anyOf, anyone, caller, defineResource, integer, mount, owner, text } from "latchkey";
 *
 * const book = defineResource({ name: "book", fields: { title: text(), owner_id: integer({ default: caller }) } });
 * const ours = anyOf(owner("owner_id"), administrator);
 * export const books = mount(book, {
 *   permission: { list: anyone, read: anyone, create: ours, update: ours, delete: ours },
 * });
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
  M extends Resource = Resource,
>(resource: R, options: MountOptions<R, P, B, W, E, A, Q, M> & FittingPermissions<R, Q>): Mount<R>;
export function mount(resource: Resource, options: MountOptions): Mount {
  const mistakes = mountingMistakes(resource, options);
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
  const served = requireActions(resource, options.actions);
  const permissions = resolvePermissions(options.permission, resource);
  const { maximum = null, cache = "private" } = options;
  const table = options.table?.name ?? buildTableName(resource);
  const { list } = permissions;
  const groups = list === undefined ? [] : findMembers(list).map((each) => findColumnOn(each, table));
  const listedBy = list === undefined ? [] : narrowedColumns(list, table);
  const narrowedBy = [...listedBy, ...(maximum === null ? [] : [maximum.per])];
  const collection = (options.table ?? buildCollection(resource, narrowedBy, groups)) as Collection<StoredOf<Resource>>;
  const missing = columnMistakes(
    [...Object.values(permissions), ...served.map(({ permission }) => permission)],
    collection,
  );
  const wrongShares = sharesMistakes(
    [...Object.values(permissions), ...served.map((each) => each.permission)],
    resource,
  );
  const misfits = [...missing, ...wrongShares, ...ruleMistakes({ resource, permissions, cache })];
  if (misfits.length > 0) throw new DeclarationError(misfits.map((mistake) => `mount(${resource.path}): ${mistake}`));
  const sources = [
    "id",
    ...collection.columns
      .map((column) => column.name)
      .filter((name) => Object.hasOwn(resource.fields, name) && isShown(resource.fields[name]!)),
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
      cache,
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
      deferral: null,
      older: null,
      guard: null,
      maximum,
      founder: readFounder(options.founder),
      joins: options.joins ?? null,
      invitations: findInvitedColumns(resource, options.invitations),
      once: findOnceField(resource),
      shown,
      sources,
      computed,
      links: buildLinks(resource, collection),
      repeatColumns: resource.parentColumn === null ? sources : [...sources, resource.parentColumn],
      jsonMembers: shown.filter((name) => resource.fields[name]?.kind.column.type === "json"),
      show: makeShow(resource, collection, sources),
    }),
  );
}

const mountMembers: Readonly<Record<keyof MountOptions, ValueCheck>> = {
  permission: seen((value) => {
    if (isPermission(value)) return aPermission(value);
    return isObject(value) && !("decide" in value) ? null : `${permissionForm}, or one for each action`;
  }),
  requireIfMatch: optional(aBoolean),
  personal: optional(aBoolean),
  arrays: optional(aBoolean),
  writers: optional(buildChoiceCheck("editors", "readers")),
  cache: optional(buildChoiceCheck("public")),
  maximum: optional(anObject),
  founder: optional(anObject),
  joins: optional(buildChoiceCheck("open")),
  invitations: invitationsOption,
  table: optional(aTable),
  needs: optional(aFeatureList),
  deprecated: optional(aDeprecation),
  problems: optional(problemsMistake),
  actions: optional(namedMembers),
  expand: optional(namedMembers),
  beforeWrite: optional(aFunction),
  afterWrite: optional(aFunction),
};

/** Returns the mistakes in the arguments of `mount`. */
function mountingMistakes(resource: unknown, options: unknown): readonly string[] {
  if (!isObject(resource) || !isText(resource["path"]))
    return [`mount: the resource is ${shownWithoutText(resource)}; declare one with defineResource`];
  const place = `mount(${resource["path"]})`;
  if (!isObject(options)) return [`${place}: it has no permission; write mount(resource, { permission: … })`];
  const { permission, expand } = options;
  const isForEach = isObject(permission) && !isPermission(permission);
  const own = isForEach && !("decide" in permission) ? permissionsMistakes(permission) : [];
  const isOffered = own.length > 0 || isPermission(permission) || Object.values(permission ?? {}).some(isPermission);
  const offersNothing =
    isObject(permission) && !isOffered && Object.keys(options["actions"] ?? {}).length === 0
      ? ["permission names no action, so nothing would be served; write permission: anyone, or { list: anyone }"]
      : [];
  return [
    ...membersMistakes(options, mountMembers),
    ...own,
    ...(isForEach && isObject(resource["fields"]) ? writesMistakes(resource as unknown as Resource, permission) : []),
    ...offersNothing,
    ...(isObject(expand) ? relationMistakes(resource as unknown as Resource, expand) : []),
    ...arraysMistakes(resource, options),
    ...writersMistakes(resource, options),
    ...recordsMistakes(resource as unknown as Resource, options),
    ...founderMistakes(resource as unknown as Resource, options),
    ...invitationMistakes(resource as unknown as Resource, options),
  ].map((mistake) => `${place}: ${mistake}`);
}

/**
 * A field with a list of ids, in the records of the mount `of`. If a listed record is deleted, its id is removed from
 * the lists.
 */
export interface Listing {
  readonly of: ServedMount;
  readonly link: Link;
}

/** The mount of the users who see each other by memberships. */
export interface SharedUsers {
  readonly users: ServedMount;
  /** The columns of the memberships with the id of a user. */
  readonly columns: readonly string[];
}

/** A founder whose memberships are found in the service. */
export interface ServedFounder {
  readonly founder: Founder;
  readonly group: ServedMount;
  readonly memberships: ServedMount;
}

/** A mount that is linked to its parent and to the other mounts that it depends on. */
export interface ServedMount extends Omit<Mount, "show" | "collection"> {
  readonly collection: Collection;
  readonly parent: ServedMount | null;
  /** The mount of the newer shape, if this is an older shape. Null otherwise. */
  readonly newer: ServedMount | null;
  /** The relations that callers can expand. */
  readonly relations: readonly Relation<ServedMount>[];
  /** The lists of ids from which a record of this mount is removed when it is deleted. */
  readonly listedBy: readonly Listing[];
  /** The mounts whose records refer to records of this mount. */
  readonly referrers: readonly ServedMount[];
  /** The mounted tables of the memberships that its permissions name. Left out if there are none. */
  readonly memberships?: ReadonlyMap<Resource, Collection>;
  readonly show: (record: StoredRecord) => Readonly<Record<string, unknown>>;
  /** The membership that is created together with a record of this mount. */
  readonly founding?: ServedFounder;
  /** The users who see each other by these memberships (`sharesGroup`), and the columns with their ids. */
  readonly sharedUsers?: SharedUsers;
  /** The founders of the whole service whose groups keep an owner (`keep`). */
  readonly guardedFounders?: readonly ServedFounder[];
  /**
   * The shown fields that the service updates when a record is used, for example its last login. These updates cause no
   * conflict.
   */
  readonly noted?: readonly string[];
  /**
   * The mount with all fields, if this is its view for callers to whom the rules of fields deny something (`seenBy`).
   * Hooks, actions and checks get its records.
   */
  readonly declared?: ServedMount;
}

/** Returns the mount with all fields. Hooks, actions and the database work with it. */
export function withAllFields(mount: ServedMount): ServedMount {
  return mount.declared ?? mount;
}

/**
 * Returns true if rules hide values of the mount's records from the caller. An older shape may not have the hidden
 * fields, but its records are those of the newer shape.
 */
export function hidesValues(mount: ServedMount): boolean {
  const { declared, shown } = mount.newer ?? mount;
  return declared !== undefined && shown.length < declared.shown.length;
}
