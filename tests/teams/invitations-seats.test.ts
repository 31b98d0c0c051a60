import assert from "node:assert/strict";
import { test } from "node:test";
import { sharesGroup } from "../../src/door/auth.ts";
import {
  accepted,
  administrator,
  anyOf,
  authenticated,
  defineFeature,
  defineResource,
  integer,
  mount,
  problem,
  reference,
  rejected,
  text,
  type Identity,
  type Scheme,
} from "../../src/door/index.ts";
import type { Change, Collection } from "../../src/door/stores.ts";
import { insertInvitation, invitationsCollection } from "../../src/features/auth/invitations/invitations.ts";
import { mailProofsCollection } from "../../src/features/auth/mailbox/proofs.ts";
import { accountsCollection } from "../../src/features/auth/records/accounts.ts";
import { table } from "../../src/http/declarations/table.ts";
import { codes, startSeats, team, type Seats } from "../harness/invited-seats.ts";
import { ben, asBen, newcomer } from "../harness/invited-teams.ts";
import { ada, as, root } from "../harness/verified-emails.ts";

// Invitations to groups with UUIDs, and to memberships with UUIDs, checks and references to several users.

const DAY_MS = 86_400_000;

async function change({ service }: Seats, ...changes: readonly Change[]): Promise<void> {
  assert.equal((await service.store.write({ changes })).kind, "written");
}

/** Returns the only row of a table. */
async function onlyRow({ service }: Seats, collection: Collection) {
  const rows = await service.store.list({ collection, where: null, sort: [{ column: "id" }], limit: 10 });
  assert.equal(rows.length, 1);
  return rows[0]!.record as Record<string, unknown> & { readonly id: string };
}

const show = ({ ask }: Seats, token: string, headers = {}) =>
  ask("GET", `/api/invitations/accept/?token=${token}`, undefined, headers);

async function join(seats: Seats): Promise<void> {
  assert.equal((await seats.post("/users", { ...newcomer, email: ben })).status, 201);
}

test("accepts an invitation with its UUIDs, beside older shapes of the group and of the memberships", async (t) => {
  const seats = await startSeats(t);
  const token = await seats.invite({ note: "hello" });
  assert.equal((await show(seats, token)).json.group, "One");

  const { status, json, headers } = await seats.accept({ token, ...newcomer });

  assert.equal(status, 201, JSON.stringify(json));
  assert.deepEqual([json.team_id, json.user_id, json.note, json.code], [seats.teamId, 3, "hello", "code"]);
  assert.equal(headers.get("location"), `/seats/${json.id}`);
});

test("lists the invitations to a group by its UUID, and refuses every other parameter", async (t) => {
  const seats = await startSeats(t);
  await seats.invite();
  const issue = async (query: string) => {
    const { status, json } = await seats.list(query);
    return [status, json.errors[0].pointer, json.errors[0].code, json.errors[0].detail];
  };

  assert.equal((await seats.list(`?team_id=${seats.teamId}`)).json.length, 1);
  assert.equal((await seats.list(`?team_id=${crypto.randomUUID()}`)).json.length, 0);
  assert.deepEqual(await issue("?team_id=1&team_id=2"), [400, "?team_id", "invalid", "Send it once."]);
  assert.deepEqual(await issue("?role=owner"), [400, "?role", "unknown_parameter", "There is no such parameter."]);
});

test("shows no invitation and accepts no link whose values are not valid any more", async (t) => {
  const seats = await startSeats(t);
  const token = await seats.invite();
  const { id } = await onlyRow(seats, invitationsCollection);
  await change(seats, {
    kind: "update",
    collection: invitationsCollection,
    key: id,
    values: { sent: { team_id: seats.teamId, role: "boss" } },
  });

  for (const headers of [as(ada), root]) {
    const { status, json } = await seats.list("", headers);
    assert.deepEqual([status, json], [200, []]);
  }
  assert.equal((await show(seats, token)).json.code, "invalid_link");
  assert.equal((await seats.accept({ token, ...newcomer })).json.code, "invalid_link");
  assert.equal((await seats.ask("DELETE", `/seats/invitations/${id}`, undefined, as(ada))).status, 404);
});

test("says that a source of values is not available, and hides no invitation then", async (t) => {
  const seats = await startSeats(t);
  await seats.invite();
  const { next } = codes;
  t.after(() => (codes.next = next));
  codes.next = () => {
    throw problem("unavailable");
  };

  assert.equal((await seats.list()).status, 503);
});

test("accepts no link whose data, invitation or memberships are changed", async (t) => {
  const seats = await startSeats(t);
  const token = await seats.invite();
  const proof = await onlyRow(seats, mailProofsCollection);
  const invitation = await onlyRow(seats, invitationsCollection);
  const changed = async (collection: Collection, key: string, values: object, was: object): Promise<void> => {
    await change(seats, { kind: "update", collection, key, values: values as never });
    assert.equal((await show(seats, token)).json.code, "invalid_link", JSON.stringify(values));
    await change(seats, { kind: "update", collection, key, values: was as never });
  };

  for (const data of [null, {}, { invitation: 7 }])
    await changed(mailProofsCollection, proof.id, { data }, { data: proof["data"] });
  for (const memberships of ["gone", "teams"])
    await changed(invitationsCollection, invitation.id, { memberships }, { memberships: "seats" });

  assert.equal((await show(seats, token)).status, 200);
});

test("accepts a link only for the address of the mail, which is that of the invitation", async (t) => {
  const seats = await startSeats(t);
  await join(seats);
  const token = await seats.invite();
  const proof = await onlyRow(seats, mailProofsCollection);
  const invitation = await onlyRow(seats, invitationsCollection);
  for (const [collection, { id }] of [
    [mailProofsCollection, proof],
    [invitationsCollection, invitation],
  ] as const) {
    const other = { kind: "update", collection, key: id, values: { address: "cid@example.com" } } as const;
    await change(seats, other);
    assert.equal((await seats.accept({ token }, asBen)).status, 403);
    await change(seats, { ...other, values: { address: ben } });
  }

  assert.equal((await show(seats, token, as(ada))).json.yours, false);
  assert.equal((await show(seats, token, asBen)).json.yours, true);
  assert.equal((await seats.accept({ token }, asBen)).status, 201);
});

test("accepts no link of a team that was deleted, also if its sender may make every member", async (t) => {
  const seats = await startSeats(t);
  const token = await seats.invite({}, root);
  assert.equal((await seats.ask("DELETE", `/teams/${seats.teamId}`, undefined, root)).status, 204);

  assert.equal((await show(seats, token)).json.code, "invalid_link");
});

test("accepts no link of an administrator who is none any more", async (t) => {
  const seats = await startSeats(t, { create: administrator });
  const token = await seats.invite({}, root);
  await change(seats, { kind: "update", collection: accountsCollection, key: 1, values: { role: "user" } });

  assert.equal((await show(seats, token)).json.code, "invalid_link");
});

test("ends no invitation that has expired, and none of other memberships", async (t) => {
  const mate = defineResource({ name: "mate", fields: { user_id: reference("users"), team_id: reference(team) } });
  const seats = await startSeats(t, {
    mounts: [mount(mate, { permission: authenticated, invitations: true })],
  });
  await seats.invite();
  const { id } = await onlyRow(seats, invitationsCollection);
  const end = async (path: string) =>
    (await seats.ask("DELETE", `${path}/invitations/${id}`, undefined, as(ada))).status;

  assert.equal(await end("/mates"), 404);
  seats.clock.now += 7 * DAY_MS;
  assert.equal(await end("/seats"), 404);
  seats.clock.now -= 1;
  assert.equal(await end("/seats"), 204);
});

test("finds the check of the memberships without the user, when an invitation is sent and accepted", async (t) => {
  const seats = await startSeats(t);
  const send = (body: object) =>
    seats.post("/seats/invitations", { email: ben, team_id: seats.teamId, ...body }, as(ada));

  const refused = await send({ role: "owner", note: "guest" });
  const token = await seats.invite({ note: "reserved" });

  assert.deepEqual([refused.status, refused.json.errors[0].pointer], [400, "/note"]);
  assert.equal((await seats.accept({ token, ...newcomer })).status, 201);
});

test("names no user whom the sender may not read, when an invitation is sent and accepted", async (t) => {
  const mate = defineResource({
    name: "mate",
    fields: { user_id: reference("users"), invited_by: reference("users"), team_id: reference(team) },
  });
  const mates = anyOf(administrator, sharesGroup(mate, { user: "user_id" }), sharesGroup(mate, { user: "invited_by" }));
  const seats = await startSeats(t, {
    people: { permissions: { list: mates, read: mates } },
    mounts: [mount(mate, { permission: authenticated, invitations: { user: "user_id" } })],
  });
  await seats.post("/users", { ...newcomer, email: "cid@example.com" });
  const send = (invited_by: number) =>
    seats.post("/mates/invitations", { email: ben, team_id: seats.teamId, invited_by }, as(ada));

  for (const refused of [await send(3), await send(99)])
    assert.deepEqual([refused.status, refused.json.errors?.[0].pointer], [400, "/invited_by"], refused.text);
  assert.equal((await send(2)).status, 202);
  const { token } = await seats.onlyMail();
  const { id } = await onlyRow(seats, invitationsCollection);
  const sent = { team_id: seats.teamId, invited_by: 3 } as never;
  await change(seats, { kind: "update", collection: invitationsCollection, key: id, values: { sent } });

  assert.equal((await seats.accept({ token, ...newcomer })).json.code, "invalid_link");
});

test("accepts no link whose membership a hook gives another user whom the sender may not read", async (t) => {
  const mate = defineResource({
    name: "mate",
    fields: { user_id: reference("users"), invited_by: reference("users"), team_id: reference(team) },
  });
  const mates = anyOf(administrator, sharesGroup(mate, { user: "user_id" }), sharesGroup(mate, { user: "invited_by" }));
  const seats = await startSeats(t, {
    people: { permissions: { list: mates, read: mates } },
    mounts: [
      mount(mate, {
        permission: authenticated,
        invitations: { user: "user_id" },
        beforeWrite: () => ({ values: { invited_by: 3 } }),
      }),
    ],
  });
  await seats.post("/users", { ...newcomer, email: "cid@example.com" });
  const sent = await seats.post("/mates/invitations", { email: ben, team_id: seats.teamId, invited_by: 2 }, as(ada));
  assert.equal(sent.status, 202, sent.text);

  const { status, json } = await seats.accept({ token: (await seats.onlyMail()).token, ...newcomer });

  assert.deepEqual([status, json.code], [400, "invalid_link"]);
});

test("says that a parent is not available, and refuses no link then", async (t) => {
  let isDown = false;
  let isHidden = false;
  const club = defineResource({ name: "club", fields: { name: text() } });
  const mate = defineResource({ name: "mate", within: club, fields: { user_id: reference("users") } });
  const decide = (): "allow" | "deny" => {
    if (isDown) throw problem("unavailable");
    return isHidden ? "deny" : "allow";
  };
  const seats = await startSeats(t, {
    mounts: [
      mount(club, { permission: { read: { name: "of another service", decide }, create: administrator } }),
      mount(mate, { permission: authenticated, invitations: true }),
    ],
  });
  await seats.post("/clubs", { name: "Chess" }, root);
  assert.equal((await seats.post("/clubs/1/mates/invitations", { email: ben }, as(ada))).status, 202);
  const token = (await seats.onlyMail()).token!;
  isDown = true;
  assert.equal((await show(seats, token)).status, 503);
  isDown = false;
  isHidden = true;
  assert.equal((await show(seats, token)).json.code, "invalid_link");
  isHidden = false;
  assert.equal((await show(seats, token)).json.group, "Chess");
});

test("refuses callers who may create no membership, before it reads what they send", async (t) => {
  const seats = await startSeats(t, { create: administrator });

  const answers = [
    await seats.post("/seats/invitations", { nothing: true }, as(ada)),
    await seats.list(),
    await seats.ask("DELETE", "/seats/invitations/x", undefined, as(ada)),
  ];

  for (const { status, json } of answers) assert.deepEqual([status, json.code], [403, "permission_denied"]);
});

test("refuses senders who may not send the user of a membership", async (t) => {
  const user_id = reference("users", { write: administrator, default: 1 });
  const mate = defineResource({ name: "mate", fields: { user_id, team_id: reference(team) } });
  const secret = reference("users", { read: administrator, write: administrator, default: 1 });
  const spy = defineResource({ name: "spy", plural: "spies", fields: { user_id: secret, team_id: reference(team) } });
  const seats = await startSeats(t, {
    mounts: [
      mount(mate, { permission: authenticated, invitations: true }),
      mount(spy, { permission: authenticated, invitations: true }),
    ],
  });
  const hidden = await seats.post("/spies/invitations", { email: ben, team_id: seats.teamId }, as(ada));
  assert.equal(hidden.status, 403, hidden.text);
  const send = (headers: Readonly<Record<string, string>>) =>
    seats.post("/mates/invitations", { email: ben, team_id: seats.teamId }, headers);

  assert.equal((await send(as(ada))).status, 403);
  assert.equal((await send(root)).status, 202);
  assert.deepEqual((await seats.ask("GET", "/mates/invitations", undefined, as(ada))).json, []);
  assert.equal((await seats.ask("GET", "/mates/invitations", undefined, root)).json.length, 1);
});

test("refuses credentials without proofs of a person, those with scopes, and those that act for a user", async (t) => {
  const ofAda = { id: 2, username: ada, role: "user", scheme: "visitor", expiresAt: null } as const;
  const proofs = [{ method: "pwd", at: Date.parse("2026-03-01T12:00:00Z") }] as const;
  const callers: Readonly<Record<string, Identity>> = {
    program: { ...ofAda, scopes: null },
    scoped: { ...ofAda, scopes: ["read"], proofs, level: 1 },
    person: { ...ofAda, scopes: null, proofs, level: 1 },
  } as never;
  const visitor: Scheme = {
    name: "visitor",
    carriers: [{ in: "header", name: "X-Visitor" }],
    proves: "each",
    authenticate: (name: string) => (callers[name] === undefined ? rejected("unknown") : accepted(callers[name])),
  } as never;
  const actor = { id: 1, username: "root" };
  const agent = {
    ...visitor,
    name: "agent",
    carriers: [{ in: "header", name: "X-Agent" }],
    proves: ["pwd"],
    authenticate: () => accepted({ ...ofAda, scopes: null, actor }),
  } as Scheme;
  const seats = await startSeats(t, {
    features: [defineFeature({ name: "visitors", setUp: () => ({ offer: null, schemes: [visitor, agent] }) })],
  });
  const send = async (name: string) =>
    (await seats.post("/seats/invitations", { email: ben, team_id: seats.teamId }, { "x-visitor": name })).status;

  for (const name of ["program", "scoped"]) assert.equal(await send(name), 403, name);
  assert.equal(await send("person"), 202);
  const body = { email: ben, team_id: seats.teamId };
  const acting = await seats.post("/seats/invitations", body, { "x-agent": "root" });
  assert.equal(acting.status, 403);
  assert.match(acting.json.detail, /A token that acts for a user sends and accepts no invitations\./);
});

test("lists more invitations than one page of the database, in their order, and at most 1000", async (t) => {
  const seats = await startSeats(t);
  const invite = (at: number, sent: object) =>
    insertInvitation(
      {
        memberships: "seats",
        group: seats.teamId,
        params: {},
        senderId: 2,
        address: `user${at}@example.com`,
        sent: { team_id: seats.teamId, ...sent },
      },
      seats.clock.now + Math.floor(at / 3),
    ).changes.filter(({ kind }) => kind === "insert");
  const insert = async (from: number, to: number, sent: object = {}): Promise<void> =>
    change(seats, ...Array.from({ length: to - from }, (_, at) => from + at).flatMap((at) => invite(at, sent)));
  const numbers = async (): Promise<readonly number[]> =>
    (await seats.list()).json.map(({ email }: { email: string }) => Number(/\d+/.exec(email)![0]));

  await insert(0, 450);
  const listed = await numbers();
  assert.deepEqual(
    listed.map((at) => Math.floor(at / 3)),
    Array.from({ length: 450 }, (_, at) => Math.floor(at / 3)),
  );
  assert.equal(new Set(listed).size, 450);
  await insert(450, 1250);
  assert.equal((await numbers()).length, 1000);
});

test("judges at most 10,000 invitations for one list", async (t) => {
  const seats = await startSeats(t);
  const of = (role: string, at: number) =>
    insertInvitation(
      {
        memberships: "seats",
        group: seats.teamId,
        params: {},
        senderId: 2,
        address: ben,
        sent: { team_id: seats.teamId, role },
      },
      seats.clock.now + at,
    ).changes[0]!;
  for (let from = 0; from < 10_000; from += 1000)
    await change(seats, ...Array.from({ length: 1000 }, () => of("boss", 0)));
  await change(seats, of("guest", 1));

  assert.deepEqual((await seats.list()).json, []);
});

test("names a team without a readable name by its id", async (t) => {
  const named = async (groups: object, name: string): Promise<unknown> => {
    const seats = await startSeats(t, { groups });
    await change(seats, {
      kind: "update",
      collection: seats.service.mounts.find(({ resource }) => resource.name === "team")!.collection,
      key: seats.teamId,
      values: { name },
    });
    const { group } = (await show(seats, await seats.invite())).json;
    return group === `Team ${seats.teamId}` ? "by id" : group;
  };

  assert.equal(await named({}, "Two"), "Two");
  assert.equal(await named({}, " "), "by id");
  const byRoot = await startSeats(t);
  assert.equal((await show(byRoot, await byRoot.invite({}, root))).json.group, "One");
  const byStranger = await startSeats(t, { create: authenticated });
  await join(byStranger);
  const token = await byStranger.invite({ email: "cid@example.com" }, asBen);
  assert.equal((await show(byStranger, token)).json.group, `Team ${byStranger.teamId}`);
  const hidden = { list: administrator, read: administrator, create: administrator, delete: administrator };
  assert.equal(await named({ permission: hidden }, "Two"), "by id");
});

test("names a group without a text, and one whose name is a reference, by its id", async (t) => {
  const crew = defineResource({ name: "crew", fields: { size: integer() } });
  const branch = defineResource({
    name: "branch",
    plural: "branches",
    labelField: "team_id",
    fields: { team_id: reference(team) },
  });
  const fields = { user_id: reference("users") };
  const mate = defineResource({ name: "mate", fields: { ...fields, crew_id: reference(crew) } });
  const clerk = defineResource({ name: "clerk", fields: { ...fields, branch_id: reference(branch) } });
  const permission = administrator;
  const seats = await startSeats(t, {
    mounts: [
      mount(crew, { permission }),
      mount(branch, { permission }),
      mount(mate, { permission, invitations: true }),
      mount(clerk, { permission, invitations: true }),
    ],
  });
  const nameOf = async (path: string, body: object): Promise<unknown> => {
    seats.clock.now += 60_000;
    const sent = await seats.post(`${path}/invitations`, { email: ben, ...body }, root);
    assert.equal(sent.status, 202, sent.text);
    return (await show(seats, (await seats.onlyMail()).token!)).json.group;
  };
  await seats.post("/crews", { size: 3 }, root);
  await seats.post("/branches", { team_id: seats.teamId }, root);

  assert.equal(await nameOf("/mates", { crew_id: 1 }), "Crew 1");
  assert.equal(await nameOf("/clerks", { branch_id: 1 }), "Branch 1");
});

test("invites to a group in a table that only code writes", async (t) => {
  const gangs = table({ name: "gangs", fields: { title: text() } });
  const mate = defineResource({ name: "mate", fields: { user_id: reference("users"), gang_id: reference("gangs") } });
  const seats = await startSeats(t, {
    mounts: [mount(mate, { permission: authenticated, invitations: true })],
    features: [defineFeature({ name: "gangs", setUp: () => ({ offer: null, collections: [gangs] }) })],
  });
  await change(seats, { kind: "insert", collection: gangs, values: { title: "Sharks" } });
  const sent = await seats.post("/mates/invitations", { email: ben, gang_id: 1 }, as(ada));
  assert.equal(sent.status, 202, sent.text);
  const { token } = await seats.onlyMail();

  assert.equal((await seats.ask("GET", "/mates/invitations?gang_id=1", undefined, as(ada))).json.length, 1);
  assert.equal((await show(seats, token!)).json.group, "Mate");
  assert.equal((await seats.accept({ token, ...newcomer })).status, 201);
});

test("sends no mail to the address of a deactivated account", async (t) => {
  const seats = await startSeats(t);
  await join(seats);
  assert.equal((await seats.ask("PATCH", "/users/3/account", { active: false }, root)).status, 200);

  assert.equal((await seats.post("/seats/invitations", { email: ben, team_id: seats.teamId }, as(ada))).status, 202);

  assert.deepEqual(
    (await seats.sent()).filter(({ template }) => template === "membership"),
    [],
  );
});
