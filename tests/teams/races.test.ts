import assert from "node:assert/strict";
import { test } from "node:test";
import type { OwnAnswer } from "../harness/own-service.ts";
import { startTeams } from "../harness/teams-world.ts";

/** The number of rounds. In each, a write races with the removal of the membership that allows it. */
const ROUNDS = 100;

type Race = (round: number) => readonly [method: string, path: string, body?: unknown];

const races: Readonly<Record<string, Race>> = {
  create: (round) => ["POST", "/tasks", { project_id: 2, title: `created ${round}` }],
  patch: (round) => ["PATCH", "/tasks/3", { title: `patched ${round}` }],
  delete: (round) => ["DELETE", `/tasks/${5 + round}`],
  "array of new records": (round) => [
    "POST",
    "/tasks",
    [1, 2].map((at) => ({ project_id: 2, title: `array ${round} ${at}` })),
  ],
  "array of changes": (round) => ["PATCH", "/tasks", [3, 4].map((id) => ({ id, title: `changed ${round}` }))],
  "note below a project": (round) => ["POST", "/projects/2/notes", { line: `note ${round}` }],
  action: () => ["POST", "/tasks/4/finish"],
};

for (const [name, race] of Object.entries(races))
  test(`judges a write again if its membership is removed before the commit: ${name}`, async (t) => {
    let remove: (() => Promise<unknown>) | null = null;
    let times = 0;
    const teams = await startTeams(t, {
      async between() {
        times++;
        const removal = remove;
        remove = null;
        await removal?.();
      },
    });
    await teams.ask("POST", "/tasks", { as: "root", body: { project_id: 2, title: "to delete" } });
    const list = async (): Promise<string> =>
      (await teams.get("/tasks", { as: "root" })).text + (await teams.get("/projects/2/notes", { as: "root" })).text;
    const id = await teams.join("ada", 2, "editor");
    const before = await list();
    const [method, path, body] = race(0);
    remove = () => teams.leave(2, id);
    times = 0;

    const removed = await teams.ask(method, path, { as: "ada", body });

    assert.equal(times, Array.isArray(body) ? 2 : 1);
    assert.equal(removed.status, method === "POST" && path === "/tasks" ? 403 : 404, removed.text);
    assert.equal(await list(), before);
    // The role is enough for reading only.
    const viewer = await teams.join("ada", 2, "editor");
    remove = () => teams.ask("PATCH", teams.memberships(2, viewer), { as: "root", body: { role: "viewer" } });
    const changed = await teams.ask(method, path, { as: "ada", body });
    assert.equal(changed.status, name.startsWith("note") ? 201 : 403, changed.text);
    // Another membership, for example of an administrator, is not required.
    remove = null;
    const { status } = await teams.ask(method, path, { as: "root", body });
    assert.ok(status < 300, String(status));
  });

const lost: ReadonlySet<number> = new Set([403, 404]);

for (const [name, race] of Object.entries(races))
  test(`writes nothing after the answer to the removal of the membership: ${name}`, async (t) => {
    const teams = await startTeams(t);
    for (let round = 0; round < ROUNDS && name === "delete"; round++)
      await teams.ask("POST", "/tasks", { as: "root", body: { project_id: 2, title: `to delete ${round}` } });
    let won = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const id = await teams.join("ada", 2, "editor");
      const [method, path, body] = race(round);
      const write = (): Promise<OwnAnswer> => teams.ask(method, path, { as: "ada", body });

      // The removal starts a little earlier or later, so that it falls into each step of the write.
      const first = round % 2 === 0 ? write() : null;
      for (let turn = 0; turn < round % 7; turn++) await new Promise((resolve) => setImmediate(resolve));
      const removal = teams.leave(2, id);
      const racing = first ?? write();
      assert.equal((await removal).status, 204);
      const before = await snapshot();
      const { status, text } = await racing;
      const late = await write();

      if (status < 300) won++;
      else assert.ok(lost.has(status), `${name}, round ${round}: ${status} ${text}`);
      assert.ok(lost.has(late.status), `${name}, round ${round}: ${late.status}`);
      assert.equal(await snapshot(), before, `${name}, round ${round}: written after the removal was answered`);
    }
    t.diagnostic(`${won} of ${ROUNDS} writes came first`);

    async function snapshot(): Promise<string> {
      const tasks = await teams.get("/tasks?limit=1000&project_id=2", { as: "root" });
      const notes = await teams.get("/projects/2/notes?limit=1000", { as: "root" });
      return tasks.text + notes.text;
    }
  });
