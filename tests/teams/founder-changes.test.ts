import assert from "node:assert/strict";
import { test } from "node:test";
import { authenticated, decimal, defineResource, enumeration, mount, reference, text } from "../../src/door/index.ts";
import {
  keyOf,
  type Change,
  type Collection,
  type Key,
  type Row,
  type StoredRecord,
  type Where,
} from "../../src/door/stores.ts";
import type { ServedFounder, ServedMount } from "../../src/http/declarations/mount.ts";
import { keepOwners } from "../../src/http/mount/writes/keeping.ts";
import { isOwner } from "../../src/http/mount/writes/owners.ts";
import type { Exchange } from "../../src/http/request/exchange.ts";

// Each group keeps an owner because of these conditions of a transaction.

const project = defineResource({ name: "project", fields: { name: text() } });
const membership = defineResource({
  name: "membership",
  fields: {
    user_id: reference("users"),
    project_id: reference(project, { onDelete: "cascade" }),
    role: enumeration(["owner", "viewer"]),
    note: text({ optional: true }),
    share: decimal({ scale: 2, maximum: "100", optional: true }),
  },
});
const task = defineResource({ name: "task", fields: { project_id: reference(project) } });

const projects = mount(project, { permission: authenticated });
const memberships = mount(membership, { permission: authenticated });
const collection: Collection = memberships.collection;
const tasks: Collection = mount(task, { permission: authenticated }).collection;

const ofBen: Where = { column: "user_id", operator: "eq", value: 2 };
const owner: Where = { all: [{ column: "role", operator: "eq", value: "owner" }] };
const demoted = { role: "viewer" };

const is = (column: string, value: Key): Where => ({ column, operator: "eq", value });
const inGroups = (...groups: readonly Key[]): Where => ({ column: "project_id", operator: "in", value: groups });
const update = (key: number, values: Extract<Change, { kind: "update" }>["values"]): Change => ({
  kind: "update",
  collection,
  key,
  values,
});
const deleteAll = (where: Where, of = collection): Change => ({ kind: "deleteAll", collection: of, where });
const updateAll = (values: Extract<Change, { kind: "updateAll" }>["values"]): Change => ({
  kind: "updateAll",
  collection,
  where: ofBen,
  values,
});
const row = (id: number, project_id: Key, role = "owner"): Row => ({ revision: 1, record: { id, project_id, role } });

function foundedBy(values: ServedFounder["founder"]["values"], group: object = projects): ServedFounder {
  return {
    founder: { memberships: { resource: membership, user: "user_id", group: "project_id" }, values, keep: true },
    group: group as ServedMount,
    memberships: memberships as unknown as ServedMount,
  };
}

interface Keeping {
  /** The memberships in the store, in the order of their ids. */
  readonly rows?: readonly Row[];
  readonly writings?: Parameters<typeof keepOwners>[3];
  readonly group?: object;
  readonly requires?: readonly { readonly collection: Collection; readonly where: Where }[];
}

/** Returns the guarded transaction, and the number of times that the store was read. */
async function keep(changes: readonly Change[], { rows = [], writings = [], group, requires }: Keeping = {}) {
  let reads = 0;
  const store = {
    find: async (_: unknown, key: Key) => (reads++, rows.find(({ record }) => record["id"] === key) ?? null),
    async list({
      where,
      limit,
    }: {
      where: { all: readonly { column?: string; operator?: string; value?: number }[] };
      limit: number;
    }) {
      reads++;
      const after = where.all.find(({ column, operator }) => column === "id" && operator === "gt")?.value ?? 0;
      return rows.filter(({ record }) => (record["id"] as number) > after).slice(0, limit);
    },
  };
  const founder = foundedBy({ role: "owner" }, group);
  const mount = { ...memberships, guardedFounders: [founder] } as unknown as ServedMount;
  const exchange = { service: { store } } as unknown as Exchange;
  const transaction = { changes, ...(requires === undefined ? {} : { requires }) };
  const guarded = await keepOwners(mount, exchange, transaction, writings);
  const added = guarded.changes.slice(changes.length).map((change) => {
    assert.equal(change.kind, "require");
    return change;
  });
  return {
    isSame: guarded === transaction,
    reads,
    requires: guarded.requires ?? [],
    changes: guarded.changes.slice(0, changes.length),
    owners: added.filter(({ name }) => name === "last_owner"),
    checks: added.filter(({ name }) => name === "overtaken"),
  };
}

const groupsOf = ({ owners }: Awaited<ReturnType<typeof keep>>): readonly unknown[] =>
  owners.map(({ where }) => (where as { all: readonly { value: Key }[] }).all[0]!.value);

test("locks each group that loses an owner once and in one order, and then requires an owner in it", async () => {
  const rows = [row(1, 3), row(2, 1), row(3, 2), row(4, 1), row(5, 4, "viewer")];
  const given = { collection: tasks, where: is("id", 7) };
  const changes: readonly Change[] = [
    { kind: "delete", collection, key: 1 },
    update(2, demoted),
    update(3, { project_id: 9 }),
    { kind: "delete", collection, key: 4 },
    { kind: "delete", collection, key: 5 },
  ];

  const guarded = await keep(changes, { rows, requires: [given] });

  assert.deepEqual(guarded.changes, changes);
  assert.deepEqual(guarded.requires, [
    ...[3, 1, 2, 1].map((group, at) => ({
      collection,
      where: { all: [is("id", at + 1), is("project_id", group)] },
    })),
    { collection, where: { all: [is("id", 5), { not: owner }] } },
    ...[1, 2, 3].map((group) => ({ collection: projects.collection, where: is("id", group) })),
    given,
  ]);
  assert.deepEqual(
    guarded.owners,
    [1, 2, 3].map((group) => ({
      kind: "require",
      collection,
      where: { all: [is("project_id", group), ...(owner as { all: readonly Where[] }).all] },
      atLeast: 1,
      isGuarded: true,
      name: "last_owner",
    })),
  );
});

test("locks the owners too if the service may not lock their group", async () => {
  const existing = (...writes: readonly ("create" | "update" | "delete")[]) =>
    mount(defineResource({ name: "project", table: "their_project", writes, fields: { name: text() } }), {
      permission: { list: authenticated },
    });
  const isGuarded = async (group: object): Promise<unknown> => {
    const { owners } = await keep([{ kind: "delete", collection, key: 1 }], { rows: [row(1, 1)], group });
    return owners[0]!.isGuarded;
  };

  assert.equal(await isGuarded(projects), true);
  assert.equal(await isGuarded(existing("create", "update")), true);
  assert.equal(await isGuarded(existing("create", "delete")), false);
});

test("leaves a transaction alone that takes no owner away, and reads nothing for it", async () => {
  const without: readonly Change[] = [
    { kind: "insert", collection, values: { user_id: 2, project_id: 1, role: "owner" } },
    { kind: "delete", collection: tasks, key: 1 },
    deleteAll(is("id", 1), tasks),
  ];
  const harmless: readonly Change[] = [
    update(1, { note: "seen" }),
    update(2, { role: "owner" }),
    updateAll({ note: "seen" }),
    updateAll({ role: "owner" }),
  ];

  assert.deepEqual(await keep(without).then(({ isSame, reads }) => [isSame, reads]), [true, 0]);
  const guarded = await keep([...harmless, ...without], { rows: [row(1, 1), row(2, 2)] });

  assert.deepEqual(guarded.changes, [...harmless, ...without]);
  assert.deepEqual([guarded.reads, guarded.requires, guarded.owners, guarded.checks], [0, [], [], []]);
});

test("does not require an owner in a group that the transaction deletes", async () => {
  const rows = [row(1, 1), row(2, 2), row(3, 3)];
  const guarded = await keep(
    [
      { kind: "delete", collection: projects.collection, key: 1 },
      { kind: "update", collection: projects.collection, key: 2, values: { name: "Two" } },
      { kind: "delete", collection: tasks, key: 3 },
      deleteAll(ofBen),
    ],
    { rows },
  );

  assert.deepEqual(groupsOf(guarded), [2, 3]);
});

test("reads no membership that the write has read, and requires nothing for one with its revision", async () => {
  const known = row(1, 1);
  const removal: Change = { kind: "delete", collection, key: 1, revision: 1 };

  const first = await keep([removal], { writings: [{ before: known }] });
  const second = await keep([deleteAll(ofBen, tasks), removal], { writings: [{ before: known, at: 1 }] });
  const unknown = await keep([removal], { rows: [known], writings: [{ before: null }] });
  const missing = await keep([removal]);

  for (const { reads, requires, owners } of [first, second])
    assert.deepEqual([reads, requires.length, owners.length], [0, 1, 1]);
  assert.deepEqual([unknown.reads, unknown.requires.length, unknown.owners.length], [1, 1, 1]);
  assert.deepEqual([missing.reads, missing.requires.length, missing.owners.length], [1, 0, 0]);
});

test("finds every group of many owners, and refuses to take owners from more than 1000 groups", async () => {
  const owners = (count: number, groupOf: (id: number) => number): readonly Row[] =>
    Array.from({ length: count }, (_, at) => row(at + 1, groupOf(at + 1)));

  const few = await keep([deleteAll(ofBen)], { rows: owners(2001, (id) => (id > 2000 ? 2 : 1)) });
  const most = await keep([deleteAll(ofBen)], { rows: owners(1000, (id) => id) });

  assert.deepEqual([groupsOf(few), few.reads], [[1, 2], 3]);
  assert.equal(groupsOf(most).length, 1000);
  await assert.rejects(
    keep([deleteAll(ofBen)], { rows: owners(1001, (id) => id) }),
    /One transaction takes owners from more than 1000 projects\./,
  );
});

test("narrows the changes of all matching memberships to the groups that are locked, and checks the others", async () => {
  const rows = [row(1, 1)];
  const check = (...groups: readonly Key[]) => ({
    kind: "require",
    collection,
    where: { all: [ofBen, owner, { not: inGroups(...groups) }] },
    atMost: 0,
    isGuarded: true,
    name: "overtaken",
  });
  const narrowed: Where = { all: [ofBen, { any: [{ not: owner }, inGroups(1)] }] };
  const others: readonly Change[] = [
    deleteAll(ofBen, tasks),
    { kind: "insert", collection: tasks, values: { project_id: 9 } },
    updateAll({ note: "seen" }),
    { kind: "insert", collection, values: { user_id: 3, project_id: 5, role: "owner" } },
    update(1, { note: "seen" }),
  ];

  const guarded = await keep([deleteAll(ofBen), ...others, updateAll(demoted)], { rows });

  assert.deepEqual(guarded.changes, [deleteAll(narrowed), ...others, { ...updateAll(demoted), where: narrowed }]);
  assert.deepEqual(guarded.checks, [check(1, 5), check(1, 5)]);
  assert.deepEqual(guarded.requires, [{ collection: projects.collection, where: is("id", 1) }]);
});

test("checks no other groups if the transaction makes owners of groups that it does not know", async () => {
  for (const making of [
    { kind: "insert", collection, values: { user_id: 3, project_id: keyOf(0), role: "owner" } },
    updateAll({ project_id: keyOf(0) }),
    update(7, { role: "owner" }),
    updateAll({ role: "owner" }),
  ] as const) {
    const guarded = await keep([deleteAll(ofBen), making], { rows: [row(1, 1)] });

    assert.deepEqual([groupsOf(guarded), guarded.checks], [[1], []]);
  }
});

test("compares the values of an owner as their columns do", () => {
  const share = (value: string | null, record: StoredRecord): boolean => isOwner(foundedBy({ share: value }), record);

  assert.deepEqual(
    [share("1.00", { share: "1.000" }), share("1.00", { share: "1.01" }), share("0.00", { share: null })],
    [true, false, false],
  );
  assert.deepEqual([share(null, { share: "0.00" }), share(null, { share: null })], [false, true]);
  assert.equal(isOwner(foundedBy({ role: "owner", share: null }), { role: "owner", share: null }), true);
  assert.equal(isOwner(foundedBy({ role: "owner", share: null }), { role: "owner", share: "1.00" }), false);
});
