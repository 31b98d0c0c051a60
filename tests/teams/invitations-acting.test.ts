import assert from "node:assert/strict";
import { test } from "node:test";
import { tokenLogin } from "../../src/door/index.ts";
import { invitationsCollection } from "../../src/features/auth/invitations/invitations.ts";
import { startTeams } from "../harness/invited-teams.ts";
import { ada, as, root } from "../harness/verified-emails.ts";

test("refuses a token that acts for a user to send and accept invitations", async (t) => {
  const teams = await startTeams(t, { more: (people) => [tokenLogin(people)] });
  const token = await teams.invite({ email: "ben@example.com", project_id: 1 });
  const acted = await teams.post("/users/2/act", {}, root);
  assert.equal(acted.status, 201, acted.text);
  const acting = { authorization: `Bearer ${acted.json.access}` };
  assert.equal((await teams.ask("GET", "/memberships/1", undefined, acting)).status, 200);

  const answers = [
    await teams.post("/memberships/invitations", { email: "cid@example.com", project_id: 1 }, acting),
    await teams.accept({ token }, acting),
  ];

  for (const { status, json } of answers) assert.deepEqual([status, json.code], [403, "permission_denied"]);
  assert.equal((await teams.rows(invitationsCollection)).length, 1);
  assert.equal(
    (await teams.post("/memberships/invitations", { email: "cid@example.com", project_id: 1 }, as(ada))).status,
    202,
  );
});
