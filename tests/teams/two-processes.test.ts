import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { startPostgres, type TestServer } from "../harness/postgres.ts";
import { startService, type ServiceProcess } from "../harness/service-process.ts";

const folder = mkdtempSync(path.join(tmpdir(), "latchkey-teams-"));
let postgres: TestServer;
before(async () => void (postgres = await startPostgres()));
after(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

const engines = {
  SQLite: async () => `sqlite:${path.join(folder, "teams.db")}`,
  PostgreSQL: () => postgres.makeDatabase(),
};

const program = path.join(import.meta.dirname, "../harness/teams-process.ts");

interface Answer {
  readonly status: number;
  readonly etag: string | null;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects by looking
  readonly json: any;
}

for (const [engine, makeDatabase] of Object.entries(engines))
  describe(`teams in two processes on one ${engine}`, () => {
    let processes: readonly ServiceProcess[];
    before(async () => {
      const settings = { LATCHKEY_DATABASE: await makeDatabase() };
      // One after the other, because the first process creates the tables.
      const first = await startService(settings, [process.execPath, program]);
      processes = [first, await startService(settings, [process.execPath, program])];
      await make("/users", { name: "administrator" });
    });
    after(() => Promise.all(processes.map((each) => each[Symbol.asyncDispose]())));

    async function ask(
      which: number,
      as: number,
      method: string,
      target: string,
      { body, etag = null }: { readonly body?: unknown; readonly etag?: string | null } = {},
    ): Promise<Answer> {
      const response = await fetch(processes[which]!.address + target, {
        method,
        headers: {
          "x-visitor": String(as),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(etag === null ? {} : { "if-none-match": etag }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const said = await response.text();
      const json: unknown = said === "" ? undefined : JSON.parse(said);
      return { status: response.status, etag: response.headers.get("etag"), json };
    }

    async function make(target: string, body: unknown): Promise<Answer["json"]> {
      const { status, json } = await ask(0, 1, "POST", target, { body });
      assert.equal(status, 201, JSON.stringify(json));
      return json;
    }

    /** Makes users, and a project that the administrator owns. Returns their ids. */
    async function makeProject(
      users: number,
    ): Promise<{ readonly project: number; readonly users: readonly number[] }> {
      const made = await make(
        "/users",
        Array.from({ length: users }, (_, at) => ({ name: `user ${at}` })),
      );
      const { id: project } = await make("/projects", { name: "One" });
      return { project, users: made.map(({ id }: { id: number }) => id) };
    }

    test("shows nothing to a removed member at the next request to the other process", async () => {
      const { project, users } = await makeProject(1);
      const member = users[0]!;
      const { id: task } = await make("/tasks", { project_id: project, title: "plan" });
      await make(`/projects/${project}/notes`, { line: "first" });
      const lists = ["/tasks", "/tasks?search=plan", "/projects", "/memberships"];
      const records = [`/tasks/${task}`, `/projects/${project}`, `/projects/${project}/notes`];

      for (let round = 0; round < 6; round++) {
        const [at, other] = round % 2 === 0 ? [0, 1] : [1, 0];
        const body = { user_id: member, project_id: project, role: "viewer" };
        const joined = await ask(at, 1, "POST", "/memberships", { body });
        assert.equal(joined.status, 201);
        const seen = new Map<string, string | null>();
        for (const target of [...lists, ...records]) {
          const answer = await ask(other, member, "GET", target);
          assert.equal(answer.status, 200, target);
          assert.notEqual(answer.json.length, 0, target);
          seen.set(target, answer.etag);
        }

        assert.equal((await ask(at, 1, "DELETE", `/memberships/${joined.json.id}`)).status, 204);

        // Each request is the next one for its path. Half of them send the tag of the answer that is no longer allowed.
        for (const target of lists) {
          const answer = await ask(other, member, "GET", target, round < 3 ? {} : { etag: seen.get(target)! });
          assert.deepEqual([answer.status, answer.json], [200, []], `${target}, round ${round}`);
        }
        for (const target of records) {
          const answer = await ask(other, member, "GET", target, round < 3 ? {} : { etag: seen.get(target)! });
          assert.equal(answer.status, 404, `${target}, round ${round}`);
        }
        const late = { project_id: project, title: "late" };
        assert.equal((await ask(other, member, "POST", "/tasks", { body: late })).status, 403);
        assert.equal((await ask(other, member, "PATCH", `/tasks/${task}`, { body: { title: "late" } })).status, 404);
      }
    });

    test("keeps exactly one owner when 200 leave at once at both processes", async () => {
      const { project, users } = await makeProject(200);
      const made = await make(
        "/memberships",
        users.map((user_id) => ({ user_id, project_id: project, role: "owner" })),
      );
      const [founding] = (await ask(0, 1, "GET", "/memberships?role=owner&limit=1000")).json.filter(
        (each: Record<string, unknown>) => each["project_id"] === project && each["user_id"] === 1,
      );
      assert.equal((await ask(0, 1, "DELETE", `/memberships/${founding.id}`)).status, 204);

      const answers = await Promise.all(
        users.map((user, at) => ask(at % 2, user, "DELETE", `/memberships/${made[at].id}`)),
      );

      const refused = answers.filter(({ status }) => status !== 204);
      assert.deepEqual(
        refused.map(({ status, json }) => [status, json.code]),
        [[409, "last_owner"]],
      );
      const left = (await ask(1, 1, "GET", "/memberships?role=owner&limit=1000")).json.filter(
        (each: Record<string, unknown>) => each["project_id"] === project,
      );
      assert.deepEqual(
        left.map((each: Record<string, unknown>) => each["id"]),
        [made[answers.indexOf(refused[0]!)].id],
      );
    });
  });
