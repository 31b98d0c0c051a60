import assert from "node:assert/strict";
import { test } from "node:test";
import { namedKeys } from "../../src/door/auth.ts";
import { documentation } from "../../src/door/features.ts";
import { administrator, allOf, anyOf, confirmed, problem } from "../../src/door/index.ts";
import { INVITATION_SECONDS, invitationsCollection } from "../../src/features/auth/invitations/invitations.ts";
import { asBen, ben, memberships, newcomer, owners, signUp, startTeams } from "../harness/invited-teams.ts";
import { ada, as, root } from "../harness/verified-emails.ts";

const word = "a good pass phrase 1";
const MINUTE_MS = 60_000;

test("refuses wrong fields before the group, and a foreign or unknown group before its existence", async (t) => {
  const teams = await startTeams(t);
  await signUp(teams);
  const send = (body: object, headers = as(ada)) => teams.post("/memberships/invitations", body, headers);

  const wrong = await send({ email: "x", project_id: 2, role: "boss", user_id: 3, extra: 1 });

  assert.equal(wrong.status, 400);
  assert.deepEqual(wrong.json.errors.map((each: { pointer: string }) => each.pointer).toSorted(), [
    "/email",
    "/extra",
    "/role",
    "/user_id",
  ]);
  assert.equal((await send({ email: ben, role: "viewer" })).status, 400);
  assert.equal((await send({ email: ben, project_id: 1, note: "x" })).json.errors[0].code, "unknown_field");
  for (const project_id of [2, 99]) assert.equal((await send({ email: ben, project_id })).status, 403);
  assert.equal((await send({ email: ben, project_id: 1 }, asBen)).status, 403);
  assert.equal((await send({ email: ben, project_id: 99 }, root)).json.errors[0].pointer, "/project_id");
  assert.equal((await send({ email: ben, project_id: 1 }, {})).status, 401);
  assert.equal((await send({ email: ben, project_id: 1, note: "x" }, root)).status, 202);
  assert.equal((await teams.rows(invitationsCollection)).length, 1);
});

test("sends no invitation for a membership that the sender may not create", async (t) => {
  const teams = await startTeams(t);
  await signUp(teams);
  assert.equal((await teams.post("/memberships", { user_id: 3, project_id: 1, role: "editor" }, as(ada))).status, 201);
  const send = (role: string) =>
    teams.post("/memberships/invitations", { email: "cid@example.com", project_id: 1, role }, asBen);

  assert.equal((await send("owner")).status, 403);
  assert.equal((await send("editor")).status, 403);
  assert.equal((await send("viewer")).status, 202);
});

test("refuses programs and administrators who act for a user", async (t) => {
  const teams = await startTeams(t, { more: (people) => [namedKeys(people)] });
  await signUp(teams);
  const token = await teams.invite({ email: ben, project_id: 1 });
  const login = await teams.post("/api/session/", { username: ben, password: word });
  const cookie = login.headers.getSetCookie()[0]!.split(";")[0]!;
  const key = await teams.post("/users/3/keys", { name: "robot", scopes: ["read", "write"] }, { cookie });
  assert.equal(key.status, 201, key.text);
  const byKey = { authorization: `Token ${key.json.key}` };
  assert.equal((await teams.ask("GET", "/users/3", undefined, byKey)).status, 200);

  assert.equal((await teams.accept({ token }, byKey)).status, 403);
  assert.equal((await teams.accept({ token }, { cookie })).status, 201);
  await teams.ask("PATCH", "/memberships/2", { role: "owner" }, as(ada));
  const sent = await teams.post("/memberships/invitations", { email: "cid@example.com", project_id: 1 }, byKey);
  assert.equal(sent.status, 403);
  assert.equal((await teams.ask("GET", "/memberships/invitations", undefined, byKey)).status, 200);
});

test("keeps at most 100 open invitations for each group, also at once and if no mail is sent", async (t) => {
  const teams = await startTeams(t);
  const send = (at: number, project_id = 1, headers = as(ada)) =>
    teams.post("/memberships/invitations", { email: `user${at}@example.com`, project_id }, headers);
  for (let at = 0; at < 95; at++) assert.equal((await send(at)).status, 202);

  const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => send(100 + at)));

  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 202).length, 5, statuses.join());
  assert.ok(answers.every(({ status, json }) => status === 202 || (status === 409 && json.code === "too_many")));
  assert.equal((await teams.rows(invitationsCollection)).length, 100);
  assert.ok((await teams.sent()).length < 20);
  assert.equal((await send(1, 2, root)).status, 202);
  teams.clock.now += INVITATION_SECONDS * 1000;
  assert.equal((await send(1)).status, 202);
});

test("sends no text of the sender, and one mail a minute to a mailbox", async (t) => {
  const teams = await startTeams(t);
  await teams.post("/memberships/invitations", { email: ben, project_id: 1 }, as(ada));
  await teams.post("/memberships/invitations", { email: "ben+x@example.com", project_id: 1 }, as(ada));

  const mail = await teams.onlyMail();

  assert.equal(mail.to, ben);
  assert.equal(mail.template, "membership");
  assert.deepEqual(Object.keys(mail.values), ["link"]);
  assert.match(mail.values["link"]!, /^https:\/\/shop\.example\/invitation\?token=[\w-]{65}$/);
  assert.equal((await teams.rows(invitationsCollection)).length, 2);
});

test("sends an unknown address no mail if registration is closed", async (t) => {
  const teams = await startTeams(t, { registration: "closed" });
  await teams.post("/users", { ...newcomer, email: ben }, root);
  await teams.post("/memberships/invitations", { email: "nobody@example.com", project_id: 1 }, as(ada));
  assert.deepEqual(await teams.sent(), []);

  const token = await teams.invite({ email: ben, project_id: 1 });

  assert.equal((await teams.accept({ token }, asBen)).status, 201);
});

test("asks the sender to confirm when the invitation is sent, and not when it is accepted, listed or ended", async (t) => {
  const create = allOf(confirmed({ within: 300 }), anyOf(administrator, owners));
  const teams = await startTeams(t, { create });
  const login = await teams.post("/api/session/", { username: ada, password: "difference-engine" });
  const cookie = login.headers.getSetCookie()[0]!.split(";")[0]!;
  const token = await teams.invite({ email: ben, project_id: 1 }, { cookie });
  teams.clock.now += 6 * MINUTE_MS;

  const late = await teams.post("/memberships/invitations", { email: "cid@example.com", project_id: 1 }, { cookie });

  assert.equal(late.json.code, "confirmation_required");
  assert.equal((await teams.ask("GET", "/memberships/invitations", undefined, { cookie })).json.length, 1);
  assert.equal((await teams.accept({ token, ...newcomer })).status, 201);
});

test("runs hooks at the acceptance with the sender as caller, and the maximum of the mount", async (t) => {
  const callers: (number | undefined)[] = [];
  const teams = await startTeams(t, {
    memberships: {
      maximum: { per: "project_id", records: 2 },
      problems: { create: ["conflict"] },
      beforeWrite({
        kind,
        draft,
        context,
      }: {
        kind: string;
        draft: { values: { role?: string } };
        context: { identity: { id: number; username: string } | null };
      }) {
        if (kind === "create") callers.push(context.identity?.id);
        if (draft?.values.role === "editor") throw problem("conflict", { detail: "No more editors." });
        return {};
      },
    },
  });
  callers.length = 0;
  const editor = await teams.invite({ email: ben, project_id: 1, role: "editor" });
  teams.clock.now += MINUTE_MS;
  const viewer = await teams.invite({ email: ben, project_id: 1 });
  assert.deepEqual(callers, []);

  const refused = await teams.accept({ token: editor, ...newcomer });

  assert.equal(refused.status, 409, refused.text);
  assert.equal((await teams.accept({ token: viewer }, asBen)).status, 201);
  assert.deepEqual(callers, [2, 2]);
  await signUp(teams, "cid@example.com");
  teams.clock.now += MINUTE_MS;
  const third = await teams.invite({ email: "cid@example.com", project_id: 1 });
  assert.equal((await teams.accept({ token: third }, as("cid@example.com", word))).json.code, "too_many");
  assert.equal((await teams.rows(memberships)).length, 2);
});

test("describes the calls in the API's documentation", async (t) => {
  const teams = await startTeams(t, { more: () => [documentation({ title: "Teams", version: "1" })] });

  const { paths } = (await teams.ask("GET", "/openapi.json")).json;

  const send = paths["/memberships/invitations"].post;
  const schema = send.requestBody.content["application/json"].schema;
  assert.deepEqual(Object.keys(schema.properties).toSorted(), ["email", "note", "project_id", "role"]);
  assert.deepEqual(schema.required.toSorted(), ["email", "project_id"]);
  assert.ok("202" in send.responses && "409" in send.responses && "403" in send.responses);
  assert.ok("get" in paths["/clubs/{club_id}/members/invitations"]);
  assert.ok("delete" in paths["/clubs/{club_id}/members/invitations/{invitation}"]);
  assert.deepEqual(Object.keys(paths["/api/invitations/accept/"]).toSorted(), ["get", "post"]);
});

test("accepts no link whose membership a hook gives a role that the sender may not give", async (t) => {
  let promotes = false;
  const beforeWrite = (): object => (promotes ? { values: { role: "owner" } } : {});
  const teams = await startTeams(t, { memberships: { beforeWrite } });
  await signUp(teams);
  await teams.post("/memberships", { user_id: 3, project_id: 1, role: "editor" }, as(ada));
  const token = await teams.invite({ email: "cid@example.com", project_id: 1 }, asBen);
  promotes = true;

  assert.equal((await teams.accept({ token, name: "Cid", password: word })).json.code, "invalid_link");
  promotes = false;
  assert.equal((await teams.accept({ token }, as("cid@example.com", word))).status, 201);
});
