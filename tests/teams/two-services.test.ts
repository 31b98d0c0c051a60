import assert from "node:assert/strict";
import { test } from "node:test";
import { ownService } from "../harness/own-service.ts";
import { startTeams, teamMounts } from "../harness/teams-world.ts";
import { sharedDatabase } from "../harness/test-store.ts";

test("shows nothing to a removed member at the next request to another process on the same database", async (t) => {
  const database = await sharedDatabase(t);
  const first = await startTeams(t, { store: database.open() });
  const second = await ownService(t, { store: database.open(), mounts: teamMounts() });
  const seen = async (): Promise<readonly number[]> => {
    const paths = ["/tasks", "/tasks?search=plan", "/projects", "/memberships"];
    const lists = await Promise.all(paths.map((path) => second.get(path, { as: "ada" })));
    return lists.map(({ json }) => json.length);
  };
  const one = async (): Promise<readonly number[]> => {
    const writes = [
      await second.get("/tasks/3", { as: "ada" }),
      await second.get("/projects/2/notes", { as: "ada" }),
      await second.ask("PATCH", "/tasks/3", { as: "ada", body: { done: true } }),
      await second.ask("POST", "/tasks", { as: "ada", body: { project_id: 2, title: "late" } }),
    ];
    return writes.map(({ status }) => status);
  };

  for (let round = 0; round < 3; round++) {
    assert.deepEqual(await seen(), [2, 1, 1, 1]);
    const id = await first.join("ada", 2, "editor");
    assert.deepEqual((await seen()).slice(2), [2, 3]);
    assert.equal((await second.get("/tasks/3", { as: "ada" })).status, 200);
    assert.equal((await first.leave(2, id)).status, 204);
    assert.deepEqual(await seen(), [2, 1, 1, 1]);
    assert.deepEqual(await one(), [404, 404, 404, 403]);
  }
});
