import assert from "node:assert/strict";
import { test } from "node:test";
import { namedKeys, sharesGroup } from "../../src/door/auth.ts";
import { documentation } from "../../src/door/features.ts";
import { administrator, allOf, anyOf, confirmed, problem } from "../../src/door/index.ts";
import type { Store } from "../../src/door/stores.ts";
import { INVITATION_SECONDS, invitationsCollection } from "../../src/features/auth/invitations/invitations.ts";
import { mailProofsCollection } from "../../src/features/auth/mailbox/proofs.ts";
import { accountsCollection } from "../../src/features/auth/records/accounts.ts";
import { membership, mountedMemberships, owners, startTeams, type Teams } from "../harness/invited-teams.ts";
import { emptyStore } from "../harness/test-store.ts";
import { ada, as, root } from "../harness/verified-emails.ts";

const ben = "ben@example.com";
const word = "a good pass phrase 1";
const newcomer = { name: "Ben", password: word };
const asBen = as(ben, word);
const MINUTE_MS = 60_000;

const memberships = mountedMemberships().collection;

/** Creates the user Ben (3). */
async function signUp({ post }: Teams, email = ben): Promise<void> {
  const { status, text } = await post("/users", { ...newcomer, email });
  assert.equal(status, 201, text);
}

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

  assert.equal(refused.status, 409);
  assert.equal(refused.json.code, "taken");
  assert.equal((await teams.ask("GET", "/users/3", undefined, as("Ben@Example.com", word))).json.name, "Benjamin");
  assert.equal((await teams.ask("GET", "/users/3", undefined, as(ben, "another pass phrase 2"))).status, 401);
  assert.equal((await teams.accept({ token }, asBen)).status, 201);
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

test("makes one membership of 50 acceptances at once", async (t) => {
  const teams = await startTeams(t);
  await signUp(teams);
  const token = await teams.invite({ email: ben, project_id: 1 });
  teams.clock.now += MINUTE_MS;
  const fresh = await teams.invite({ email: "cid@example.com", project_id: 1 });

  const known = await Promise.all(Array.from({ length: 50 }, () => teams.accept({ token }, asBen)));
  const unknown = await Promise.all(
    Array.from({ length: 50 }, () => teams.accept({ token: fresh, name: "Cid", password: word })),
  );

  for (const answers of [known, unknown]) {
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 201).length, 1, statuses.join());
    assert.ok(
      statuses.every((status) => [200, 201, 400, 409, 429, 503].includes(status)),
      statuses.join(),
    );
  }
  assert.equal((await teams.rows(memberships)).length, 3);
});

test("makes one membership of two links at once, without a unique set", async (t) => {
  const teams = await startTeams(t);
  await signUp(teams);
  const tokens: string[] = [];
  for (const role of ["viewer", "editor", "owner"]) {
    tokens.push(await teams.invite({ email: ben, project_id: 1, role }));
    teams.clock.now += MINUTE_MS;
  }

  const answers = await Promise.all(tokens.map((token) => teams.accept({ token }, asBen)));

  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal((await teams.rows(memberships)).length, 2);
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

test("keeps the account and the link if the work is interrupted after the first step", async (t) => {
  let fails = false;
  const teams = await startTeams(t, {
    memberships: {
      beforeWrite() {
        if (fails) throw new Error("The process ends here.");
        return {};
      },
    },
  });
  const token = await teams.invite({ email: ben, project_id: 1 });
  fails = true;
  assert.equal((await teams.accept({ token, ...newcomer })).status, 500);
  fails = false;

  assert.equal((await teams.accept({ token, ...newcomer })).json.code, "taken");
  assert.equal((await teams.accept({ token }, asBen)).status, 201);
});

test("sends an unknown address no mail if registration is closed", async (t) => {
  const teams = await startTeams(t, { registration: "closed" });
  await teams.post("/users", { ...newcomer, email: ben }, root);
  await teams.post("/memberships/invitations", { email: "nobody@example.com", project_id: 1 }, as(ada));
  assert.deepEqual(await teams.sent(), []);

  const token = await teams.invite({ email: ben, project_id: 1 });

  assert.equal((await teams.accept({ token }, asBen)).status, 201);
});

test("creates no account by a link if registration is closed by then", async (t) => {
  const teams = await startTeams(t, { registration: "closed" });
  await teams.post("/users", { ...newcomer, email: ben }, root);
  const token = await teams.invite({ email: ben, project_id: 1 });
  await teams.ask("DELETE", "/users/3", undefined, root);

  assert.equal((await teams.accept({ token, ...newcomer })).json.code, "invalid_link");
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

test("makes no member if the sender loses the right during the acceptance", async (t) => {
  const lost = { role: "viewer" };
  for (const change of [
    { collection: memberships, values: lost, key: 1 },
    { collection: accountsCollection, values: { active: false }, key: 2 },
  ]) {
    let isDone = false;
    const inner = await emptyStore();
    const store: Store = {
      ...inner,
      async write(transaction) {
        const isJoin = transaction.changes.some(
          ({ kind, collection }) => kind === "insert" && collection.name === "memberships",
        );
        if (isJoin && isArmed && !isDone) {
          isDone = true;
          assert.equal((await inner.write({ changes: [{ kind: "update", ...change }] })).kind, "written");
        }
        return inner.write(transaction);
      },
    };
    let isArmed = false;
    const teams = await startTeams(t, { store });
    const token = await teams.invite({ email: ben, project_id: 1 });
    isArmed = true;

    const refused = await teams.accept({ token, ...newcomer });

    assert.ok(isDone);
    assert.equal(refused.json.code, "invalid_link", refused.text);
    assert.equal((await teams.rows(memberships)).length, 1);
  }
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
