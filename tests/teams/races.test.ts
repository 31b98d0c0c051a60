import assert from "node:assert/strict";
import { test } from "node:test";
import type { OwnAnswer } from "../harness/own-service.ts";
import { races } from "../harness/raced-writes.ts";
import { startTeams } from "../harness/teams-world.ts";

/** The number of rounds. In each, a write races with the removal of the membership that allows it. */
const ROUNDS = 100;

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
