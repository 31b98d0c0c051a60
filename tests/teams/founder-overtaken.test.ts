import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { authenticated, defineResource, mount, text } from "../../src/door/index.ts";
import type { Change, Collection, Where } from "../../src/door/stores.ts";
import { defineProjects, mountProjects, startTeams, type Teams } from "../harness/founders.ts";
import type { Answered } from "../harness/own-logins.ts";
import { emptyStore } from "../harness/test-store.ts";

// Hooks that take memberships away, while another request makes one of them the last owner.

const ofBen: Where = { column: "user_id", operator: "eq", value: 2 };
const demoted = { role: "viewer" };
/** The third project has no owner but ada, and no membership of ben. */
const moved = { project_id: 3 };

type Take = (collection: Collection) => Change;

/** The changes that take the memberships of ben away. The first of them has the id 4. */
const takes: Readonly<Record<string, Take>> = {
  "deletes a membership": (collection) => ({ kind: "delete", collection, key: 4 }),
  "changes its role": (collection) => ({ kind: "update", collection, key: 4, values: demoted }),
  "moves it": (collection) => ({ kind: "update", collection, key: 4, values: moved }),
  "deletes all of a user": (collection) => ({ kind: "deleteAll", collection, where: ofBen }),
  "changes all roles of a user": (collection) => ({ kind: "updateAll", collection, where: ofBen, values: demoted }),
  "moves all of a user": (collection) => ({ kind: "updateAll", collection, where: ofBen, values: moved }),
};

interface Taking extends Teams {
  /** Takes memberships of ben away. `between` runs after the write was judged, and before it is committed. */
  take(between: () => Promise<void>): Promise<Answered>;
  /** The number of times that the hook was called. */
  calls(): number;
  owners(project: number): Promise<readonly unknown[]>;
}

/** Starts a service with a hook that takes memberships of ben away. Ada owns three projects. */
async function start(t: TestContext, take: Take): Promise<Taking> {
  let between: (() => Promise<void>) | null = null;
  let calls = 0;
  const store = await emptyStore();
  const write: typeof store.write = async (transaction) => {
    const now = transaction.changes.some(({ collection: { name } }) => name === "notes") ? between : null;
    if (now !== null) between = null;
    await now?.();
    return store.write(transaction);
  };
  const [projects, memberships] = mountProjects(defineProjects());
  const notes = mount(defineResource({ name: "note", fields: { body: text() } }), {
    permission: authenticated,
    beforeWrite: () => {
      calls++;
      return { changes: [take(memberships!.collection)] };
    },
  });
  const teams = await startTeams(t, { store: { ...store, write }, mounts: [projects!, memberships!, notes] });
  await teams.as("ada", "POST", "/projects", [{ name: "One" }, { name: "Two" }, { name: "Three" }]);
  return {
    ...teams,
    take(during) {
      between = during;
      return teams.as("cleo", "POST", "/notes", { body: "taken" });
    },
    calls: () => calls,
    async owners(project) {
      const { json } = await teams.as("ada", "GET", `/memberships?project_id=${project}`);
      return json.filter(({ role }: { role: string }) => role === "owner").map((each: { id: number }) => each.id);
    },
  };
}

async function join({ as, ids }: Taking, project_id: number, role: string): Promise<void> {
  const { status, text: sent } = await as("ada", "POST", "/memberships", { user_id: ids["ben"], project_id, role });
  assert.equal(status, 201, sent);
}

async function write({ as }: Teams, method: string, path: string, body?: unknown): Promise<void> {
  const { status, text: sent } = await as("ada", method, path, body);
  assert.ok(status < 300, sent);
}

for (const [name, take] of Object.entries(takes)) {
  test(`keeps an editor who becomes the last owner in the meantime: a hook ${name}`, async (t) => {
    const teams = await start(t, take);
    await join(teams, 1, "editor");

    const { status, json } = await teams.take(async () => {
      await write(teams, "PATCH", "/memberships/4", { role: "owner" });
      await write(teams, "DELETE", "/memberships/1");
    });

    assert.deepEqual([status, json.code], [409, "last_owner"]);
    assert.deepEqual(await teams.owners(1), [4]);
  });

  test(`keeps an owner who moves to a group of no other owner in the meantime: a hook ${name}`, async (t) => {
    const teams = await start(t, take);
    await join(teams, 1, "owner");

    const { status, json } = await teams.take(async () => {
      await write(teams, "PATCH", "/memberships/4", { project_id: 2 });
      await write(teams, "DELETE", "/memberships/2");
    });

    assert.deepEqual([status, json.code], [409, "last_owner"]);
    assert.deepEqual(await teams.owners(2), [4]);
  });

  test(`judges an editor again who becomes one of two owners in the meantime: a hook ${name}`, async (t) => {
    const teams = await start(t, take);
    await join(teams, 1, "editor");

    const { status, text: sent } = await teams.take(() => write(teams, "PATCH", "/memberships/4", { role: "owner" }));

    assert.equal(status, 201, sent);
    assert.equal(teams.calls(), 2);
    assert.deepEqual(await teams.owners(1), [1]);
  });

  test(`writes at once if the memberships stay: a hook ${name}`, async (t) => {
    const teams = await start(t, take);
    await join(teams, 1, "owner");

    const { status, text: sent } = await teams.take(() => write(teams, "PATCH", "/memberships/4", { note: "seen" }));

    assert.equal(status, 201, sent);
    assert.equal(teams.calls(), 1);
    assert.deepEqual(await teams.owners(1), [1]);
  });
}
