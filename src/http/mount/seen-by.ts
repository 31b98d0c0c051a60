import { decideOn } from "../../access/permission/decision.ts";
import type { Identity } from "../../core/identity.ts";
import { isShown, isWritable, type Field, type FieldRule } from "../../resource/declaration/field.ts";
import type { Resource } from "../../resource/resource.ts";
import type { StoredRecord } from "../../store/store.ts";
import type { ServedMount, Mount } from "../declarations/mount.ts";
import type { Older, OlderMember } from "../declarations/older-shape.ts";
import type { Relation } from "../declarations/relations.ts";
import { permissionOf, rulesOf, isExempt, type ExemptPlace } from "../declarations/rules.ts";
import type { Exchange } from "../request/exchange.ts";
import { showOlder } from "./older/older.ts";
import { Question } from "./reads/expand/verdicts.ts";

/*
 * Rules of fields (`read`, `write`) make a mount look different to different callers. Every handler, format and page
 * gets the mount as its caller sees it, so none of them can forget a rule. The view for a set of denied rules is made
 * once. Its relations lead to views for the same set.
 */

/**
 * Returns the mount as this caller sees it: the mount itself if no rule denies something. Asks each rule once for each
 * request.
 */
export function seenBy(mount: ServedMount, exchange: Exchange): ServedMount {
  return resolveView(mount, new Set(collectRules(mount).filter((rule) => !allows(rule, exchange))));
}

/**
 * Returns the mount as the caller of a request to its own path sees it. Users always read their own name and address,
 * and send them when the user is created.
 */
export function seenAt(
  mount: ServedMount,
  exchange: Exchange,
  { isNew = exchange.action === "create" } = {},
): ServedMount {
  return viewAt(mount, { isOwn: isOwnRequest(exchange), isNew, allows: (rule) => allows(rule, exchange) });
}

/** True if the request can only reach the record whose id is the caller's. */
function isOwnRequest({ params, only, observedIdentity: identity }: Exchange): boolean {
  if (identity === null) return false;
  if (params["id"] !== undefined) return params["id"] === identity.id;
  return (
    only !== null && "operator" in only && only.column === "id" && only.operator === "eq" && only.value === identity.id
  );
}

/** Returns the view with the fields of the mount itself that the exemptions let the caller know. */
function viewAt(mount: ServedMount, at: ExemptPlace): ServedMount {
  const denied = collectRules(mount).filter((rule) => !at.allows(rule));
  const own = denied.filter((rule) => !isExempt(rule, at));
  const view = resolveView(mount, new Set(denied));
  if (own.length === denied.length) return view;
  const placesOf = (rules: readonly FieldRule[]): string =>
    collectRules(mount)
      .flatMap((rule, place) => (rules.includes(rule) ? [place] : []))
      .join();
  const name = `${placesOf(denied)} except ${placesOf(own)}`;
  // The view that is made above is in the cache of the mount.
  const cache = views.get(mount)!;
  const known = cache.get(name);
  if (known !== undefined) return known;
  // The related records are those of other users too, so the exemptions do not hold for them.
  const made = makeView(mount, new Set(own), view.relations);
  cache.set(name, made);
  return made;
}

/** Returns a record of a mount as this caller sees it, outside of a request to the mount, for example after a login. */
export function showTo(
  mount: Mount,
  record: StoredRecord,
  { identity, now, isOwn }: { readonly identity: Identity | null; readonly now: number; readonly isOwn: boolean },
): Readonly<Record<string, unknown>> {
  const request = { identity, action: "call", params: {}, now } as const;
  const isAllowed = (rule: FieldRule): boolean => decideOn(permissionOf(rule), request, null) === "allow";
  // Its relations are not shown.
  const alone: ServedMount = { ...mount, parent: null, newer: null, relations: [], listedBy: [], referrers: [] };
  return viewAt(alone, { isOwn, isNew: false, allows: isAllowed }).show(record);
}

function allows(rule: FieldRule, exchange: Exchange): boolean {
  const { ruled } = exchange;
  let isAllowed = ruled.get(rule);
  if (isAllowed === undefined) {
    isAllowed = decideOn(permissionOf(rule), new Question(exchange, "call", {}), null) === "allow";
    ruled.set(rule, isAllowed);
  }
  return isAllowed;
}

const collected = new WeakMap<ServedMount, readonly FieldRule[]>();

/** Returns the rules of all fields that a response of the mount may show. */
export function collectRules(mount: ServedMount): readonly FieldRule[] {
  let found = collected.get(mount);
  if (found === undefined) {
    const reached = new Set<ServedMount>();
    reach(mount, reached);
    found = [...new Set([...reached].flatMap(({ resource }) => rulesOf(resource)))];
    collected.set(mount, found);
  }
  return found;
}

function reach(mount: ServedMount, reached: Set<ServedMount>): void {
  if (reached.has(mount)) return;
  reached.add(mount);
  if (mount.newer !== null) reach(mount.newer, reached);
  for (const { to } of mount.relations) reach(to, reached);
}

const views = new WeakMap<ServedMount, Map<string, ServedMount>>();

function resolveView(mount: ServedMount, denied: ReadonlySet<FieldRule>): ServedMount {
  const places = collectRules(mount).flatMap((rule, at) => (denied.has(rule) ? [at] : []));
  if (places.length === 0) return mount;
  let cache = views.get(mount);
  if (cache === undefined) views.set(mount, (cache = new Map<string, ServedMount>()));
  const key = places.join();
  const known = cache.get(key);
  if (known !== undefined) return known;
  const relations: Relation<ServedMount>[] = [];
  const view = makeView(mount, denied, relations);
  cache.set(key, view);
  // Relations may form a circle, so they are linked after the view is known. An older shape names columns as the newer.
  for (const relation of mount.relations)
    if (relation.kind === "many" || isReadable(mount.newer ?? mount, relation.column, denied))
      relations.push({ ...relation, to: resolveView(relation.to, denied) });
  return view;
}

/**
 * Returns the declaration that has the rules of a field. A field of an older shape has the rules of the newer field.
 */
function ruledField({ resource, older }: ServedMount, name: string): Field | undefined {
  const newerName = older?.members.get(name)?.from;
  return newerName === undefined ? resource.fields[name] : older!.newer.resource.fields[newerName];
}

/** Returns true if the caller may read a field or column of the mount. Other columns, like `id`, have no rule. */
function isReadable(mount: ServedMount, name: string, denied: ReadonlySet<FieldRule>): boolean {
  return !denies(ruledField(mount, name)?.options.read, denied);
}

function denies(rule: FieldRule | undefined, denied: ReadonlySet<FieldRule | undefined>): boolean {
  return denied.has(rule);
}

function makeView(
  mount: ServedMount,
  denied: ReadonlySet<FieldRule>,
  relations: readonly Relation<ServedMount>[],
): ServedMount {
  const newer = mount.newer === null ? null : resolveView(mount.newer, denied);
  const older = newer === null ? null : viewOlder(mount.older!, newer, denied);
  const resource = viewResource(mount, denied);
  const shown = mount.shown.filter((name) => isReadable(mount, name, denied));
  const computed = mount.computed.filter((name) => isReadable(mount.newer ?? mount, name, denied));
  const isWhole = computed.length > 0;
  const members = older === null ? null : [...older.members.values()].filter(({ name }) => shown.includes(name));
  const needed = new Set(members?.map(({ from }) => from) ?? shown);
  const sources = isWhole ? mount.sources : mount.sources.filter((name) => name === "id" || needed.has(name));
  return Object.freeze({
    ...mount,
    resource,
    newer,
    older,
    relations,
    shown,
    computed,
    sources,
    show: makeShow(mount, { shown, isWhole, members }),
    declared: mount,
  });
}

/** The visible fields of a mount. */
interface Shown {
  readonly shown: readonly string[];
  /** True if a visible field is computed by a function, which needs the whole record. */
  readonly isWhole: boolean;
  /** The visible members of an older shape. Null for other mounts. */
  readonly members: readonly OlderMember[] | null;
}

/**
 * Returns the function that shows the visible fields. Computed fields are computed from the whole record. If none of
 * them is visible, the record may lack the hidden columns.
 */
function makeShow({ show }: ServedMount, { shown, isWhole, members }: Shown): ServedMount["show"] {
  if (members !== null && !isWhole) return (record) => showOlder(members, record);
  return (record: StoredRecord) => {
    const whole = isWhole ? show(record) : record;
    const visible: Record<string, unknown> = {};
    for (const name of shown) visible[name] = whole[name];
    return visible;
  };
}

function viewResource(mount: ServedMount, denied: ReadonlySet<FieldRule>): Resource {
  const { resource } = mount;
  const fields: Record<string, Field> = {};
  const concealed: Record<string, Field> = {};
  for (const [name, field] of Object.entries(resource.fields)) {
    const allowed = resolveAllowed(ruledField(mount, name)!, field, denied);
    if (allowed === null) fields[name] = field;
    else (allowed.read || allowed.write ? fields : concealed)[name] = { ...field, allowed };
  }
  if (Object.values(fields).every(({ allowed }) => allowed === undefined) && isEmpty(concealed)) return resource;
  const isOpen = (name: string): boolean => isReadable(mount, name, denied);
  const isKnown = ([name]: readonly [string, unknown]): boolean => !Object.hasOwn(concealed, name);
  const { filters, sorts, defaultSort, search, deprecations } = resource;
  return Object.freeze({
    ...resource,
    fields: Object.freeze(fields),
    concealed: Object.freeze(concealed),
    filters: new Map([...filters].filter(([name]) => isOpen(name))),
    sorts: sorts.filter(isOpen),
    defaultSort: defaultSort.filter(({ field }) => isOpen(field)),
    search: search.filter(isOpen),
    deprecations:
      deprecations === null ? null : { ...deprecations, fields: new Map([...deprecations.fields].filter(isKnown)) },
  });
}

/**
 * Returns what the rules of a field allow the caller. Returns null if they deny nothing. A field that no caller may
 * send does not exist for a caller who may not read it.
 */
function resolveAllowed(
  { options: { read, write } }: Field,
  field: Field,
  denied: ReadonlySet<FieldRule>,
): NonNullable<Field["allowed"]> | null {
  const [isRead, isSent] = [!denies(read, denied), !denies(write, denied)];
  if (isRead && isSent) return null;
  return { read: isRead && isShown(field), write: isSent && isWritable(field) };
}

function isEmpty(object: object): boolean {
  return Object.keys(object).length === 0;
}

/** Returns the older shape with the fields that the caller may read or send. */
function viewOlder(older: Older, newer: ServedMount, denied: ReadonlySet<FieldRule>): Older {
  const members = new Map<string, OlderMember>();
  for (const [name, member] of older.members) {
    const allowed = resolveAllowed(older.newer.resource.fields[member.from]!, member.field, denied);
    if (allowed === null) members.set(name, member);
    else if (allowed.read || allowed.write) members.set(name, { ...member, field: { ...member.field, allowed } });
  }
  return { ...older, newer, members };
}
