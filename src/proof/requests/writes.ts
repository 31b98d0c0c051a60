import type { ServedMount } from "../../http/declarations/mount.ts";
import { isStored, isWritable } from "../../resource/declaration/field.ts";
import type { StoredRecord, Value } from "../../store/store.ts";
import type { Actor } from "../content/actors.ts";
import { fewValues } from "../content/values.ts";
import { findForgotten } from "../judging/forgotten.ts";
import type { World } from "../world/world.ts";
import { bodyFields, bodyLike, smallChange } from "./bodies.ts";
import { creations } from "./creations.ts";
import { chooseFew, collectionPath, rowsOf } from "./rows.ts";
import {
  forbiddenFields,
  isAllowed,
  isUserReference,
  namesIn,
  write,
  type Sent,
  type WriteRequest,
  type Writes,
} from "./write-request.ts";

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
    for (const row of chooseRows(writes, "delete"))
      yield write(writes, "delete", row, { method: "DELETE", isAllowed: isAllowed(writes, "delete", row) });
}

/** Returns rows that the actor may change, with one that names it, and others: one that it reads, and hidden ones. */
function chooseRows(
  { sight, newer, rows, actor }: Writes,
  action: "update" | "replace" | "delete",
): readonly StoredRecord[] {
  const may = rows.filter((row) => isAllowed({ sight, newer }, action, row));
  const left = rows.filter((row) => !may.includes(row));
  const read = left.filter((row) => sight.mayReadUnlimited(newer, row));
  const hidden = left.filter((row) => !read.includes(row));
  return [
    ...may.slice(0, 1),
    ...may.filter((row) => isOf(newer, row, actor)).slice(0, 1),
    ...may.filter((row) => !sight.mayReadUnlimited(newer, row)).slice(0, 1),
    ...may.filter((row) => findForgotten(sight, action, newer, row) !== null).slice(0, 1),
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

const JSON_PATCH = { "Content-Type": "application/json-patch+json" };

function* updates(writes: Writes): Generator<WriteRequest> {
  const { world, mount, sight } = writes;
  for (const row of chooseRows(writes, "update")) {
    const change = smallChange(world, mount, row, sight);
    if (change !== null) {
      const [[name, value]] = Object.entries(change.body) as [[string, Value]];
      const sent = {
        method: "PATCH",
        marks: change.marks,
        fields: namesIn(mount, change.body),
        isAllowed: isAllowed(writes, "update", row),
      };
      yield write(writes, "update", row, { ...sent, body: change.body });
      // A body may contain the id of its record, which is in the path.
      if (sent.isAllowed && !sight.mayRead(writes.newer, row))
        yield write(writes, "update", row, { ...sent, body: { id: row["id"], ...change.body } });
      yield write(writes, "update", row, {
        ...sent,
        headers: JSON_PATCH,
        body: [{ op: "add", path: `/${name}`, value }],
      });
      if (mount.arrays) yield* arraysOfChanges(writes, row, sent, change.body);
    }
    yield* forbiddenChanges(writes, row);
    yield* moves(writes, row);
  }
}

/** Returns a change in an array: alone, and if it is denied, also before one that is allowed. */
function* arraysOfChanges(writes: Writes, row: StoredRecord, sent: Sent, change: object): Generator<WriteRequest> {
  const { world, mount, rows, sight } = writes;
  const path = collectionPath(mount, row, world.state());
  const array = (body: readonly object[]): WriteRequest => ({
    ...write(writes, "update", row, { ...sent, body }),
    path,
    route: mount.resource.path,
  });
  const own = { id: row["id"], ...change };
  yield array([own]);
  const other = rows.find(
    (each) => isAllowed(writes, "update", each) && collectionPath(mount, each, world.state()) === path,
  );
  const further = other === undefined || sent.isAllowed === true ? null : smallChange(world, mount, other, sight);
  if (further === null) return;
  yield { ...array([own, { id: other!["id"], ...setByService(writes, other!), ...further.body }]), allowedAt: 1 };
}

/** Returns the fields that only the service sets, with their current values. A change may contain them. */
function setByService({ mount, newer, sight }: Writes, row: StoredRecord): Readonly<Record<string, unknown>> {
  if (!sight.mayRead(newer, row)) return {};
  return Object.fromEntries(
    Object.entries(mount.resource.fields).flatMap(([name, field]) => {
      const from = mount.older?.members.get(name)?.from ?? name;
      const isGiven = isStored(field) && !isWritable(field) && sight.mayReadField(newer, from, row);
      return isGiven && Object.hasOwn(row, from) ? [[name, row[from]] as const] : [];
    }),
  );
}

/** Returns changes of each field that the actor may not send, patches that read hidden fields, and guesses of them. */
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
    const guess = { fields: [from], isGuess: true };
    yield { ...patch({ op: "test", path: `/${name}`, value: row[from] }), ...guess };
    if (sight.mayWriteField(newer, from, row)) continue;
    // A field that only the service sets may be sent with its current value, but not by a guess.
    yield { ...patch({ op: "add", path: `/${name}`, value: row[from] }), ...guess };
    yield { ...write(writes, "update", row, { method: "PATCH", body: { [name]: row[from] } }), ...guess };
  }
}

function hiddenFields(
  { mount, newer, sight }: Writes,
  row: StoredRecord,
): readonly { readonly name: string; readonly from: string }[] {
  return Object.keys(mount.resource.fields).flatMap((name) => {
    const from = mount.older?.members.get(name)?.from ?? name;
    const field = newer.resource.fields[from];
    if (field === undefined || !isStored(field) || field.options.writeOnly === true) return [];
    // A key without the scope to read may change a row that it may not read.
    const isRead = sight.mayReadField(newer, from, row) && (sight.mayRead(newer, row) || sight.isOwn(newer, row));
    return isRead ? [] : [{ name, from }];
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
    const plain = { method: "PUT", body, marks, fields: namesIn(mount, body) };
    yield write(writes, "replace", row, { ...plain, isAllowed: isAllowed(writes, "replace", row) });
    for (const [name, value] of forbiddenFields(writes, row))
      yield write(writes, "replace", row, {
        method: "PUT",
        body: { ...body, [name]: value },
        fields: namesIn(mount, { [name]: value }),
      });
  }
}
