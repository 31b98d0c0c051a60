import assert from "node:assert/strict";
import { test } from "node:test";
import { sharesGroup } from "../../src/door/auth.ts";
import { administrator, anyOf } from "../../src/door/index.ts";
import { invitationsCollection } from "../../src/features/auth/invitations/invitations.ts";
import { mailProofsCollection } from "../../src/features/auth/mailbox/proofs.ts";
import { accountsCollection } from "../../src/features/auth/records/accounts.ts";
import { asBen, ben, membership, memberships, newcomer, signUp, startTeams } from "../harness/invited-teams.ts";
import { ada, as, root } from "../harness/verified-emails.ts";

const word = "a good pass phrase 1";
const MINUTE_MS = 60_000;

test("makes a new user a member by the link of a mail", async (t) => {
  const teams = await startTeams(t);
  const token = await teams.invite({ email: ben, project_id: 1, role: "editor" });

  const accepted = await teams.accept({ token, ...newcomer });

  assert.equal(accepted.status, 201, accepted.text);
  assert.deepEqual(accepted.json, { id: 2, user_id: 3, project_id: 1, role: "editor" });
  assert.equal(accepted.headers.get("location"), "/memberships/2");
  assert.equal((await teams.ask("GET", "/memberships/2", undefined, asBen)).status, 200);
  const account = await teams.ask("GET", "/users/3/account", undefined, asBen);
  assert.equal(account.json.email_verified_at, new Date(teams.clock.now).toISOString());
  assert.deepEqual(await teams.rows(invitationsCollection), []);
  assert.deepEqual(await teams.rows(mailProofsCollection), []);
  assert.equal((await teams.accept({ token }, asBen)).json.code, "invalid_link");
});

test("makes a known user a member who is logged in with the invited address", async (t) => {
  const teams = await startTeams(t);
  await signUp(teams);
  const token = await teams.invite({ email: "BEN@example.com", project_id: 1 });

  for (let time = 0; time < 20; time++) {
    const shown = await teams.ask("GET", `/api/invitations/accept/?token=${token}`);
    assert.deepEqual(shown.json, {
      sender: "Ada",
      group: "Summer regatta",
      email: "BEN@example.com",
      account: true,
      yours: false,
    });
  }
  assert.equal((await teams.accept({ token })).status, 401);
  assert.equal((await teams.accept({ token }, as(ada))).status, 403);
  assert.equal((await teams.accept({ token }, root)).status, 403);
  const accepted = await teams.accept({ token }, asBen);

  assert.equal(accepted.status, 201, accepted.text);
  assert.equal(accepted.json.role, "viewer");
  assert.equal((await teams.accept({ token }, asBen)).json.code, "invalid_link");
});

test("accepts an invitation to a nested group with text ids, and answers 404 for a group that the caller may not read", async (t) => {
  const teams = await startTeams(t);
  await signUp(teams);
  const path = `/clubs/${teams.clubId}/members/invitations`;
  const foreign = await teams.post(path, { email: "cid@example.com" }, asBen);
  const unknown = await teams.post(`/clubs/${crypto.randomUUID()}/members/invitations`, { email: ben }, as(ada));
  const token = await teams.invite({ email: ben, role: "owner" }, as(ada), path);

  const accepted = await teams.accept({ token }, asBen);

  assert.deepEqual([foreign.status, unknown.status], [404, 404]);
  assert.equal(accepted.status, 201, accepted.text);
  assert.deepEqual(accepted.json, { id: 2, user_id: 3, role: "owner" });
  assert.equal(accepted.headers.get("location"), `/clubs/${teams.clubId}/members/2`);
  assert.equal((await teams.post(path, { email: "cid@example.com" }, asBen)).status, 202);
  assert.equal((await teams.ask("GET", path, undefined, asBen)).json.length, 1);
});

test("answers 200 to a member and changes nothing of the membership", async (t) => {
  const teams = await startTeams(t);
  await signUp(teams);
  await teams.post("/memberships", { user_id: 3, project_id: 1, role: "viewer" }, as(ada));
  const token = await teams.invite({ email: ben, project_id: 1, role: "owner" });
  const before = await teams.rows(memberships);

  const accepted = await teams.accept({ token }, asBen);

  assert.equal(accepted.status, 200, accepted.text);
  assert.equal(accepted.json.role, "viewer");
  assert.deepEqual(await teams.rows(memberships), before);
  await teams.ask("DELETE", "/memberships/2", undefined, as(ada));
  assert.equal((await teams.accept({ token }, asBen)).json.code, "invalid_link");
});

test("ends every other invitation of the address to the group when one is accepted", async (t) => {
  const teams = await startTeams(t);
  const first = await teams.invite({ email: ben, project_id: 1, role: "owner" });
  teams.clock.now += MINUTE_MS;
  const second = await teams.invite({ email: "Ben@example.com", project_id: 1 });
  assert.equal((await teams.accept({ token: second, ...newcomer })).status, 201);
  await teams.ask("DELETE", "/memberships/2", undefined, as(ada));

  assert.equal((await teams.accept({ token: first }, asBen)).json.code, "invalid_link");
  assert.deepEqual(await teams.rows(invitationsCollection), []);
});

test("checks name and password of a new account, and keeps the link usable", async (t) => {
  const teams = await startTeams(t);
  const token = await teams.invite({ email: ben, project_id: 1 });
  const pointers = async (body: object) =>
    (await teams.accept({ token, ...body })).json.errors.map((each: { pointer: string }) => each.pointer);

  assert.deepEqual(await pointers({ name: "Ben" }), ["/password"]);
  assert.deepEqual(await pointers({ password: word }), ["/name"]);
  assert.deepEqual(await pointers({ name: "Ben", password: "short" }), ["/password"]);
  assert.deepEqual(await pointers({ name: "Ben", password: "password1234" }), ["/password"]);
  assert.deepEqual(await pointers({ name: "", password: word }), ["/name"]);
  assert.equal((await teams.accept({ token, ...newcomer, role: "admin" })).json.errors[0].pointer, "/role");
  assert.equal((await teams.accept({ token, ...newcomer })).status, 201);
});

test("answers 409 if the address has an account by then, sets nothing, and accepts the link after the login", async (t) => {
  const teams = await startTeams(t);
  const token = await teams.invite({ email: ben, project_id: 1 });
  await teams.post("/users", { name: "Benjamin", email: "Ben@Example.com", password: word });

  const refused = await teams.accept({ token, name: "Ben", password: "another pass phrase 2" });

  assert.deepEqual([refused.status, refused.json.code], [409, "taken"]);
  assert.match(refused.json.errors[0].detail, /An account with this address exists now\./);
  assert.equal((await teams.ask("GET", "/users/3", undefined, as("Ben@Example.com", word))).json.name, "Benjamin");
  assert.equal((await teams.ask("GET", "/users/3", undefined, as(ben, "another pass phrase 2"))).status, 401);
  assert.equal((await teams.accept({ token }, asBen)).status, 201);
});

test("counts the address of the account now: a moved account does not accept, and its former one does", async (t) => {
  const teams = await startTeams(t);
  await signUp(teams);
  const token = await teams.invite({ email: ben, project_id: 1 });
  await teams.service.store.write({
    changes: [
      {
        kind: "update",
        collection: teams.service.use(teams.people).accounts.users.collection,
        key: 3,
        values: { email: "new@example.com" },
      },
    ],
  });

  assert.equal((await teams.accept({ token }, asBen)).status, 403);
});

test("refuses a session whose account needs a second factor", async (t) => {
  const teams = await startTeams(t);
  await signUp(teams);
  const token = await teams.invite({ email: ben, project_id: 1 });
  const login = await teams.post("/api/session/", { username: ben, password: word });
  const cookie = login.headers.getSetCookie()[0]!.split(";")[0]!;
  const changes = [{ kind: "update", collection: accountsCollection, key: 3, values: { factors: 1 } }] as const;
  assert.equal((await teams.service.store.write({ changes })).kind, "written");

  for (const headers of [asBen, { cookie }]) {
    const answer = await teams.accept({ token }, headers);
    assert.equal(answer.status, 401, answer.text);
  }
  assert.equal((await teams.rows(memberships)).length, 1);
});

test("lets a person join whom the sender may not make a member directly", async (t) => {
  const mates = sharesGroup(membership);
  const teams = await startTeams(t, {
    permissions: { list: anyOf(administrator, mates), read: anyOf(administrator, mates) },
  });
  await signUp(teams);
  const direct = (user_id: number) => teams.post("/memberships", { user_id, project_id: 1 }, as(ada));
  const [known, unknown] = [await direct(3), await direct(99)];
  const token = await teams.invite({ email: ben, project_id: 1 });
  assert.equal((await teams.ask("GET", "/users/3", undefined, as(ada))).status, 404);

  assert.deepEqual([known.status, known.json.errors], [unknown.status, unknown.json.errors]);
  assert.equal((await teams.accept({ token }, asBen)).status, 201);
  assert.equal((await teams.ask("GET", "/users/3", undefined, as(ada))).json.name, "Ben");
});

test("creates no account by a link if registration is closed by then", async (t) => {
  const teams = await startTeams(t, { registration: "closed" });
  await teams.post("/users", { ...newcomer, email: ben }, root);
  const token = await teams.invite({ email: ben, project_id: 1 });
  await teams.ask("DELETE", "/users/3", undefined, root);

  assert.equal((await teams.accept({ token, ...newcomer })).json.code, "invalid_link");
});
