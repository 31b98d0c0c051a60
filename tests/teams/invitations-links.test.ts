import assert from "node:assert/strict";
import { test } from "node:test";
import { INVITATION_SECONDS } from "../../src/features/auth/invitations/invitations.ts";
import { ben, memberships, newcomer, signUp, startTeams, type Teams } from "../harness/invited-teams.ts";
import { as, root } from "../harness/verified-emails.ts";

const word = "a good pass phrase 1";
const MINUTE_MS = 60_000;

test("refuses wrong, changed, ended and expired links, and the links of other mails", async (t) => {
  const teams = await startTeams(t, { registration: "verified" });
  const token = await teams.invite({ email: ben, project_id: 1 });
  await teams.post("/users", { name: "Cid", email: "cid@example.com" });
  const { token: other } = await teams.onlyMail();
  const wrong = [other!, `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`, "x", "x".repeat(65)];
  for (const each of wrong) {
    assert.equal((await teams.accept({ token: each, ...newcomer })).json.code, "invalid_link");
    assert.equal((await teams.ask("GET", `/api/invitations/accept/?token=${each}`)).json.code, "invalid_link");
  }
  assert.equal((await teams.post("/api/email/confirm/", { token, password: word })).json.code, "invalid_link");
  assert.equal((await teams.ask("GET", "/api/invitations/accept/")).json.code, "invalid_link");
  assert.equal((await teams.ask("GET", `/api/invitations/accept/?token=${token}&x=1`)).status, 400);
  teams.clock.now += INVITATION_SECONDS * 1000 - 1;
  assert.equal((await teams.ask("GET", `/api/invitations/accept/?token=${token}`)).status, 200);
  teams.clock.now += 1;
  assert.equal((await teams.accept({ token, ...newcomer })).json.code, "invalid_link");
});

const losses: Readonly<Record<string, (teams: Teams) => ReturnType<Teams["ask"]>>> = {
  "is no member any more": ({ ask }) => ask("DELETE", "/memberships/1", undefined, root),
  "has a lower role": ({ ask }) => ask("PATCH", "/memberships/1", { role: "editor" }, root),
  "is deactivated": ({ ask }) => ask("PATCH", "/users/2/account", { active: false }, root),
  "has lost the group": ({ ask }) => ask("DELETE", "/projects/1", undefined, root),
  async "is deleted"({ ask, clubId }) {
    await ask("DELETE", "/memberships/1", undefined, root);
    await ask("DELETE", `/clubs/${clubId}`, undefined, root);
    return ask("DELETE", "/users/2", undefined, root);
  },
};

for (const [name, lose] of Object.entries(losses))
  test(`refuses the link of a sender who ${name}`, async (t) => {
    const teams = await startTeams(t);
    await signUp(teams, "cid@example.com");
    const token = await teams.invite({ email: ben, project_id: 1, role: "editor" });
    teams.clock.now += MINUTE_MS;
    const known = await teams.invite({ email: "cid@example.com", project_id: 1, role: "editor" });
    const lost = await lose(teams);
    assert.ok([200, 204].includes(lost.status), lost.text);

    for (const answer of [
      await teams.accept({ token, ...newcomer }),
      await teams.accept({ token: known }, as("cid@example.com", word)),
      await teams.ask("GET", `/api/invitations/accept/?token=${token}`),
    ]) {
      assert.equal(answer.status, 400, answer.text);
      assert.equal(answer.json.code, "invalid_link");
    }
    assert.equal((await teams.ask("GET", "/users", undefined, root)).json.length, name === "is deleted" ? 2 : 3);
    assert.ok((await teams.rows(memberships)).length <= 1);
  });

test("accepts the link again when the sender has the role again, because the refused try used nothing up", async (t) => {
  const teams = await startTeams(t);
  const token = await teams.invite({ email: ben, project_id: 1 });
  await teams.ask("PATCH", "/memberships/1", { role: "viewer" }, root);
  assert.equal((await teams.accept({ token, ...newcomer })).status, 400);
  await teams.ask("PATCH", "/memberships/1", { role: "owner" }, root);

  assert.equal((await teams.accept({ token, ...newcomer })).status, 201);
});
