import type { ServedMount } from "../../http/declarations/mount.ts";
import { isStored } from "../../resource/declaration/field.ts";
import type { StoredRecord, Value } from "../../store/store.ts";
import type { ProveRequest } from "../asking/request.ts";
import type { Actor } from "../content/actors.ts";
import { fewValues } from "../content/values.ts";
import type { Sight } from "../judging/sight.ts";
import type { World } from "../world/world.ts";
import { bodyFields, bodyLike, smallChange } from "./bodies.ts";
import { chooseFew, collectionPath, rowPath, rowsOf } from "./rows.ts";

/** A request that may change rows of a mount. */
export interface WriteRequest extends ProveRequest {
  readonly mount: ServedMount;
  readonly action: "create" | "update" | "replace" | "delete";
  /** The row in the path. Null if it is new. */
  readonly row: StoredRecord | null;
  /** The marks of sent values, by the field that they were sent for. */
  readonly marks: ReadonlyMap<string, string>;
  /** The fields in the body, by their names in the newer shape. */
  readonly fields: readonly string[];
}

/** Returns the requests by which an actor changes the rows of a mount. */
export function* drawWrites(world: World, actor: Actor, mount: ServedMount): Generator<WriteRequest> {
  const sight = world.sightOf(actor);
  const rows = rowsOf(world.state(), mount);
  const writes: Writes = { world, actor, mount, newer: mount.newer ?? mount, sight, rows };
  const { permissions } = mount;
  if (permissions.create !== undefined) yield* creations(writes);
  if (permissions.update !== undefined) yield* updates(writes);
  if (permissions.replace !== undefined) yield* replacements(writes);
  if (permissions.delete !== undefined)
    for (const row of chooseRows(writes, "delete")) yield write(writes, "delete", row, { method: "DELETE" });
}

interface Writes {
  readonly world: World;
  readonly actor: Actor;
  readonly mount: ServedMount;
  readonly newer: ServedMount;
  readonly sight: Sight;
  readonly rows: readonly StoredRecord[];
}

type Sent = Pick<ProveRequest, "method" | "body" | "headers"> &
  Partial<Pick<WriteRequest, "marks" | "fields" | "path">>;

function write(
  { world, actor, mount }: Writes,
  action: WriteRequest["action"],
  row: StoredRecord | null,
  sent: Sent,
): WriteRequest {
  const { path } = mount.resource;
  return {
    actor,
    mount,
    action,
    row,
    route: row === null ? path : `${path}/{id}`,
    path: row === null ? path : rowPath(mount, row, world.state()),
    marks: new Map(),
    fields: [],
    ...sent,
  };
}

/** Returns rows that the actor may change, with one that names it, and others: one that it reads, and hidden ones. */
function chooseRows(
  { sight, newer, rows, actor }: Writes,
  action: "update" | "replace" | "delete",
): readonly StoredRecord[] {
  const may = rows.filter((row) => sight.may(action, newer, row) && sight.mayWriteWithin(newer, row));
  const left = rows.filter((row) => !may.includes(row));
  const read = left.filter((row) => sight.mayReadUnlimited(newer, row));
  const hidden = left.filter((row) => !read.includes(row));
  return [
    ...may.slice(0, 1),
    ...may.filter((row) => isOf(newer, row, actor)).slice(0, 1),
    ...may.filter((row) => !sight.mayReadUnlimited(newer, row)).slice(0, 1),
    ...read.slice(0, 1),
    ...chooseFew(hidden, 2),
  ].filter((row, at, all) => all.indexOf(row) === at);
}

/** Returns true if a reference of the row names the actor. */
function isOf({ resource }: ServedMount, row: StoredRecord, { userId }: Actor): boolean {
  return Object.entries(resource.fields).some(
    ([name, { kind }]) => isUserReference(kind.references?.resource) && userId !== null && row[name] === userId,
  );
}

function* creations(writes: Writes): Generator<WriteRequest> {
  const { world, mount, newer, sight, rows, actor } = writes;
  const isLike = (row: StoredRecord): boolean => sight.may("create", newer, row) && sight.mayWriteWithin(newer, row);
  const may = rows.filter(isLike);
  const not = rows.filter((row) => !may.includes(row));
  const templates = [...may.slice(0, 1), ...chooseFew(not, 3)];
  for (const row of templates) {
    const { body, marks } = bodyLike(world, mount, row, sight, true);
    const sent = {
      method: "POST",
      path: collectionPath(mount, row, world.state()),
      marks,
      fields: namesIn(mount, body),
    } as const;
    yield write(writes, "create", null, { ...sent, body });
    for (const own of ownCopies(writes, body, actor)) yield write(writes, "create", null, { ...sent, body: own });
    if (mount.permissions.replace !== undefined && newer.collection.name !== world.usersTable)
      yield creationUnder(writes, row);
    if (mount.arrays && may[0] !== undefined)
      yield write(writes, "create", null, { ...sent, body: [bodyLike(world, mount, may[0], sight, true).body, body] });
  }
  yield* forbiddenCreations(writes, templates[0]);
}

/** Returns a creation under an id that the actor chooses. */
function creationUnder(writes: Writes, row: StoredRecord): WriteRequest {
  const { world, mount, sight } = writes;
  const { body, marks } = bodyLike(world, mount, row, sight, true);
  return {
    ...write(writes, "replace", null, { method: "PUT", body, marks, fields: namesIn(mount, body) }),
    path: `${collectionPath(mount, row, world.state())}/${newIds[mount.resource.id]}`,
    route: `${mount.resource.path}/{id}`,
  };
}

/** Ids that no row has, by the kind of key. */
const newIds = { integer: 1999, uuid: "01900000-0000-7000-8000-000000000001", text: "new-id" } as const;

/** Returns the body with each reference to a user set to the actor, and with each word of the other fields. */
function* ownCopies(
  { mount, rows }: Writes,
  body: Readonly<Record<string, unknown>>,
  { userId }: Actor,
): Generator<Readonly<Record<string, unknown>>> {
  if (userId === null) return;
  const users = bodyFields(mount).filter(
    ({ field, name }) => isUserReference(field.kind.references?.resource) && name in body,
  );
  if (users.length === 0) return;
  const own = { ...body, ...Object.fromEntries(users.map(({ name }) => [name, userId])) };
  yield own;
  for (const { name, from, field } of bodyFields(mount)) {
    if (!(name in body)) continue;
    for (const value of fewValues(field)?.slice(0, 6) ?? []) yield { ...own, [name]: value };
    if (field.kind.references === undefined || isUserReference(field.kind.references.resource)) continue;
    for (const value of new Set(rows.map((row) => row[from]))) yield { ...own, [name]: value };
  }
}

function isUserReference(resource: string | undefined): boolean {
  return resource === "users" || resource === "accounts";
}

/** Returns creations with each field that the actor may not send. */
function* forbiddenCreations(writes: Writes, row: StoredRecord | undefined): Generator<WriteRequest> {
  if (row === undefined) return;
  const { world, mount, sight } = writes;
  for (const [name, value] of forbiddenFields(writes, null)) {
    const { body } = bodyLike(world, mount, row, sight, true);
    yield write(writes, "create", null, {
      method: "POST",
      path: collectionPath(mount, row, world.state()),
      body: { ...body, [name]: value },
      fields: namesIn(mount, { ...body, [name]: value }),
    });
  }
}

/** Returns the fields that the actor may not send, each with a value. */
function forbiddenFields(
  { world, mount, newer, sight }: Writes,
  row: StoredRecord | null,
): readonly (readonly [string, Value])[] {
  return Object.entries(mount.resource.fields).flatMap(([name, field]): readonly (readonly [string, Value])[] => {
    const from = mount.older?.members.get(name)?.from ?? name;
    if (!isStored(field) || sight.mayWriteField(newer, from, row)) return [];
    const drawn = world.values.draw(field, 1);
    return drawn === null ? [] : [[name, drawn.value]];
  });
}

function namesIn({ older }: ServedMount, body: object): readonly string[] {
  return Object.keys(body).map((name) => older?.members.get(name)?.from ?? name);
}

const JSON_PATCH = { "Content-Type": "application/json-patch+json" };

function* updates(writes: Writes): Generator<WriteRequest> {
  const { world, mount, sight } = writes;
  for (const row of chooseRows(writes, "update")) {
    const change = smallChange(world, mount, row, sight);
    if (change !== null) {
      const [[name, value]] = Object.entries(change.body) as [[string, Value]];
      const sent = { method: "PATCH", marks: change.marks, fields: namesIn(mount, change.body) };
      yield write(writes, "update", row, { ...sent, body: change.body });
      yield write(writes, "update", row, {
        ...sent,
        headers: JSON_PATCH,
        body: [{ op: "add", path: `/${name}`, value }],
      });
      if (mount.arrays)
        yield {
          ...write(writes, "update", row, { ...sent, body: [{ id: row["id"], ...change.body }] }),
          path: collectionPath(mount, row, world.state()),
          route: mount.resource.path,
        };
    }
    yield* forbiddenChanges(writes, row);
    yield* moves(writes, row);
  }
}

/** Returns changes of each field that the actor may not send, and patches that read hidden fields. */
function* forbiddenChanges(writes: Writes, row: StoredRecord): Generator<WriteRequest> {
  const { mount, newer, sight } = writes;
  for (const [name, value] of forbiddenFields(writes, row)) {
    const sent = { method: "PATCH", fields: namesIn(mount, { [name]: value }) };
    yield write(writes, "update", row, { ...sent, body: { [name]: value } });
    yield write(writes, "update", row, {
      ...sent,
      headers: JSON_PATCH,
      body: [{ op: "add", path: `/${name}`, value }],
    });
  }
  const to = bodyFields(mount).find(
    ({ field, from }) =>
      field.kind.column.type === "text" &&
      sight.mayWriteField(newer, from, row) &&
      sight.mayReadField(newer, from, row),
  );
  for (const { name, from } of hiddenFields(writes, row)) {
    const patch = (op: object): WriteRequest =>
      write(writes, "update", row, { method: "PATCH", headers: JSON_PATCH, body: [op] });
    if (to !== undefined) yield patch({ op: "copy", from: `/${name}`, path: `/${to.name}` });
    yield { ...patch({ op: "test", path: `/${name}`, value: row[from] }), fields: [from] };
  }
}

function hiddenFields(
  { mount, newer, sight }: Writes,
  row: StoredRecord,
): readonly { readonly name: string; readonly from: string }[] {
  return Object.keys(mount.resource.fields).flatMap((name) => {
    const from = mount.older?.members.get(name)?.from ?? name;
    const field = newer.resource.fields[from];
    return field === undefined || !isStored(field) || sight.mayReadField(newer, from, row) ? [] : [{ name, from }];
  });
}

/** Returns changes of the columns that decide about rights: another owner, another group, another role. */
function* moves(writes: Writes, row: StoredRecord): Generator<WriteRequest> {
  const { world, mount, newer, sight, rows } = writes;
  const structure = world.structure.get(newer.collection.name);
  for (const { name, from, field } of bodyFields(mount)) {
    if (
      structure?.has(from) !== true ||
      !sight.mayWriteField(newer, from, row) ||
      (from === "email" && newer.collection.name === world.usersTable)
    )
      continue;
    const values = fewValues(field) ?? [...new Set(rows.map((each) => each[from]))];
    const others = values.filter((value) => value !== row[from] && value !== null);
    for (const value of chooseValues(others))
      yield write(writes, "update", row, { method: "PATCH", body: { [name]: value }, fields: [from] });
  }
}

function chooseValues(values: readonly unknown[]): readonly unknown[] {
  return values.length <= 5
    ? values
    : [values[0], values[1], values[Math.floor(values.length / 2)], values.at(-2), values.at(-1)];
}

function* replacements(writes: Writes): Generator<WriteRequest> {
  const { world, mount, sight } = writes;
  for (const row of chooseRows(writes, "replace")) {
    if (mount.collection.name === world.usersTable) {
      const body = { ...bodyLike(world, mount, row, sight, false).body, email: row["email"] };
      yield write(writes, "replace", row, { method: "PUT", body, fields: namesIn(mount, body) });
      continue;
    }
    const { body, marks } = bodyLike(world, mount, row, sight, false);
    yield write(writes, "replace", row, { method: "PUT", body, marks, fields: namesIn(mount, body) });
    for (const [name, value] of forbiddenFields(writes, row))
      yield write(writes, "replace", row, {
        method: "PUT",
        body: { ...body, [name]: value },
        fields: namesIn(mount, { [name]: value }),
      });
  }
}
