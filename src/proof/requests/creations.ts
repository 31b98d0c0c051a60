import type { StoredRecord } from "../../store/store.ts";
import type { Actor } from "../content/actors.ts";
import { fewValues, markOf } from "../content/values.ts";
import { allowsEveryRow } from "../judging/judge.ts";
import { bodyFields, bodyLike } from "./bodies.ts";
import { chooseFew, collectionPath, missingCollectionPath } from "./rows.ts";
import {
  forbiddenFields,
  isAllowed,
  isUserReference,
  namesIn,
  write,
  type WriteRequest,
  type Writes,
} from "./write-request.ts";

/** Returns creations like records of each kind, and with each field that the actor may not send. */
export function* creations(writes: Writes): Generator<WriteRequest> {
  const { world, mount, newer, sight, rows, actor } = writes;
  const may = rows.filter((row) => isAllowed(writes, "create", row));
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
    const isKnown = sight.mayReadParent(newer, row) || sight.mayWriteWithin(newer, row);
    const hidden = isKnown ? {} : { missingPath: missingCollectionPath(mount, row, world.state()) };
    yield write(writes, "create", null, { ...sent, ...hidden, body, isAllowed: may.includes(row) });
    for (const own of ownCopies(writes, body, actor)) yield write(writes, "create", null, { ...sent, body: own });
    if (mount.permissions.replace !== undefined && newer.collection.name !== world.usersTable)
      yield creationUnder(writes, row);
    if (mount.arrays && may[0] !== undefined)
      yield write(writes, "create", null, { ...sent, body: [bodyLike(world, mount, may[0], sight, true).body, body] });
  }
  yield* nearCopies(writes);
  yield* forbiddenCreations(writes, templates[0]);
}

/** The hidden rows that a creation comes near to. */
const NEAR_ROWS = 2;

/**
 * Returns creations by the actor with the dates, numbers and references of a hidden row, and with its texts: a hook that
 * compares rows then refuses them, and may say why.
 */
function* nearCopies(writes: Writes): Generator<WriteRequest> {
  const { world, mount, newer, sight, rows, actor } = writes;
  const hidden = rows.filter((row) => !sight.mayRead(newer, row));
  for (const row of chooseFew(hidden, NEAR_ROWS)) {
    const { body, marks } = bodyLike(world, mount, row, sight, true);
    const near = bodyFields(mount).filter(({ name, from }) => name in body && sight.mayReadField(newer, from, row));
    const own = near
      .filter(({ field }) => isUserReference(field.kind.references?.resource))
      .map(({ name }) => [name, actor.userId]);
    const isText = ({ field }: (typeof near)[number]): boolean => field.kind.column.type === "text";
    for (const copied of [near.filter((each) => !isText(each)), near.filter(isText)])
      if (copied.length > 0)
        yield write(writes, "create", null, {
          method: "POST",
          path: collectionPath(mount, row, world.state()),
          fields: namesIn(mount, body),
          marks: new Map([...marks, ...copied.flatMap(({ from }) => marksOf(row, from))]),
          body: {
            ...body,
            ...Object.fromEntries(copied.map(({ name, from }) => [name, row[from]])),
            ...(actor.userId === null ? {} : Object.fromEntries(own)),
          },
        });
  }
}

function marksOf(row: StoredRecord, column: string): readonly (readonly [string, string])[] {
  const mark = markOf(row[column]);
  return mark === null ? [] : [[mark, column]];
}

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

/** Returns a creation under an id that the actor chooses. Only an actor who reaches every row may choose one. */
function creationUnder(writes: Writes, row: StoredRecord): WriteRequest {
  const { world, mount, sight, rows } = writes;
  const { body, marks } = bodyLike(world, mount, row, sight, true);
  const reachesAll =
    rows.length > 1 &&
    rows.every((each) => isAllowed(writes, "create", each) && isAllowed(writes, "replace", each)) &&
    reachesEveryRow(writes, "create") &&
    reachesEveryRow(writes, "replace");
  return {
    ...write(writes, "replace", null, {
      method: "PUT",
      body,
      marks,
      fields: namesIn(mount, body),
      isAllowed: reachesAll,
    }),
    path: `${collectionPath(mount, row, world.state())}/${newIds[mount.resource.id]}`,
    route: `${mount.resource.path}/{id}`,
  };
}

/** Returns true if the permission of the action allows every row, and those of `read` every row above. */
function reachesEveryRow(writes: Writes, action: "create" | "replace" | "read", mount = writes.newer): boolean {
  const { sight, world } = writes;
  const permission = mount.permissions[action];
  const table = mount.collection.name;
  const question = { identity: sight.identity, action, params: {}, row: null, table, now: world.now };
  if (permission === undefined || !allowsEveryRow(permission, { ...question, state: world.state() })) return false;
  return mount.parent === null || reachesEveryRow(writes, "read", mount.parent);
}

/** Ids that no row has, by the kind of key. */
const newIds = { integer: 1999, uuid: "01900000-0000-7000-8000-000000000001", text: "new-id" } as const;
