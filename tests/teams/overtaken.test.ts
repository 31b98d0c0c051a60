import assert from "node:assert/strict";
import { test } from "node:test";
import { races } from "../harness/raced-writes.ts";
import { startTeams } from "../harness/teams-world.ts";

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
