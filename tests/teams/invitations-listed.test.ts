import assert from "node:assert/strict";
import { test } from "node:test";
import { INVITATION_SECONDS } from "../../src/features/auth/invitations/invitations.ts";
import { asBen, ben, newcomer, signUp, startTeams } from "../harness/invited-teams.ts";
import { ada, as, root } from "../harness/verified-emails.ts";

test("lists the open invitations whose memberships the caller may create, and ends them", async (t) => {
  const teams = await startTeams(t);
  await signUp(teams);
  await teams.post("/memberships", { user_id: 3, project_id: 1, role: "editor" }, as(ada));
  await teams.post("/memberships/invitations", { email: "Cid@example.com", project_id: 1, role: "owner" }, as(ada));
  teams.clock.now += 1;
  await teams.post("/memberships/invitations", { email: "dan@example.com", project_id: 1 }, asBen);
  teams.clock.now += 1;
  await teams.post("/memberships/invitations", { email: "eve@example.com", project_id: 2, note: "n" }, root);
  const list = async (headers: object, query = "") =>
    (await teams.ask("GET", `/memberships/invitations${query}`, undefined, headers as Record<string, string>)).json;

  const byAda = await list(as(ada));

  assert.deepEqual(
    byAda.map(({ id, ...rest }: { id: string }) => (assert.equal(typeof id, "string"), rest)),
    [
      {
        email: "Cid@example.com",
        fields: { project_id: 1, role: "owner" },
        sender: 2,
        expires_at: new Date(teams.clock.now - 2 + INVITATION_SECONDS * 1000).toISOString(),
      },
      {
        email: "dan@example.com",
        fields: { project_id: 1, role: "viewer" },
        sender: 3,
        expires_at: new Date(teams.clock.now - 1 + INVITATION_SECONDS * 1000).toISOString(),
      },
    ],
  );
  assert.deepEqual(
    (await list(asBen)).map((each: { email: string }) => each.email),
    ["dan@example.com"],
  );
  const all = await list(root);
  assert.equal(all.length, 3);
  assert.equal(all[2].fields.note, "n");
  assert.equal((await list(root, "?project_id=2")).length, 1);
  assert.equal((await list(root, "?project_id=x")).status, 400);
  assert.equal((await list(root, "?role=owner")).status, 400);
  const end = async (id: string, headers: object) =>
    (await teams.ask("DELETE", `/memberships/invitations/${id}`, undefined, headers as Record<string, string>)).status;
  assert.equal(await end(all[0].id, asBen), 404);
  assert.equal(await end(all[2].id, as(ada)), 404);
  assert.equal(await end("nothing", as(ada)), 404);
  assert.equal(
    (await teams.ask("DELETE", `/clubs/${teams.clubId}/members/invitations/${all[0].id}`, undefined, as(ada))).status,
    404,
  );
  assert.equal(await end(all[0].id, as(ada)), 204);
  assert.equal(await end(all[0].id, as(ada)), 404);
  assert.equal((await list(as(ada))).length, 1);
});

test("refuses the link of an ended invitation", async (t) => {
  const teams = await startTeams(t);
  const token = await teams.invite({ email: ben, project_id: 1 });
  const [open] = (await teams.ask("GET", "/memberships/invitations", undefined, as(ada))).json;
  await teams.ask("DELETE", `/memberships/invitations/${open.id}`, undefined, as(ada));

  assert.equal((await teams.accept({ token, ...newcomer })).json.code, "invalid_link");
});
