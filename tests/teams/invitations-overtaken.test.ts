import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { defineFeature, defineResource, mount, text, authenticated, problem, reference } from "../../src/door/index.ts";
import type { Change, Store, Transaction } from "../../src/door/stores.ts";
import { invitationsCollection } from "../../src/features/auth/invitations/invitations.ts";
import { accountsCollection } from "../../src/features/auth/records/accounts.ts";
import { namesCollection } from "../../src/features/auth/records/names.ts";
import { startSeats, team, type SeatOptions, type Seats } from "../harness/invited-seats.ts";
import { asBen, ben, newcomer } from "../harness/invited-teams.ts";
import { emptyStore } from "../harness/test-store.ts";
import { ada, as, root } from "../harness/verified-emails.ts";

// Requests that overtake the sending, the acceptance or the end of an invitation.

interface Raced {
  readonly seats: Seats;
  /** Does this work just before the next transaction with such a change. */
  before(isMeant: (change: Change) => boolean, work: () => Promise<unknown>): void;
  /** The number of transactions that insert a seat. */
  joins(): number;
  /** Finds no row with this id or a later one in this table from now on. */
  lose(table: string, id: number): void;
}

async function start(t: TestContext, options: SeatOptions = {}): Promise<Raced> {
  const inner = await emptyStore();
  let now: { readonly isMeant: (change: Change) => boolean; readonly work: () => Promise<unknown> } | null = null;
  let joins = 0;
  let lost: readonly [table: string, id: number] | null = null;
  const store: Store = {
    ...inner,
    async write(transaction: Transaction) {
      if (transaction.changes.some(isJoin)) joins++;
      if (now !== null && transaction.changes.some(now.isMeant)) {
        const { work } = now;
        now = null;
        await work();
      }
      return inner.write(transaction);
    },
    async find(collection, id) {
      if (lost !== null && collection.name === lost[0] && Number(id) >= lost[1]) return null;
      return inner.find(collection, id);
    },
  };
  const seats = await startSeats(t, { ...options, store });
  joins = 0;
  return {
    seats,
    before: (isMeant, work) => (now = { isMeant, work }),
    joins: () => joins,
    lose: (table, id) => (lost = [table, id]),
  };
}

const inserts =
  (table: string) =>
  ({ kind, collection }: Change): boolean =>
    kind === "insert" && collection.name === table;
const isJoin = inserts("seats");
const isSent = inserts(invitationsCollection.name);

async function join({ seats }: Raced): Promise<void> {
  assert.equal((await seats.post("/users", { ...newcomer, email: ben })).status, 201);
}

const end = async ({ ask, list }: Seats) =>
  ask("DELETE", `/seats/invitations/${(await list()).json[0].id}`, undefined, as(ada));

test("makes no member of a link whose invitation ends in the meantime", async (t) => {
  const raced = await start(t);
  await join(raced);
  const { seats } = raced;
  const token = await seats.invite();
  raced.before(isJoin, async () => assert.equal((await end(seats)).status, 204));

  const { status, json } = await seats.accept({ token }, asBen);

  assert.deepEqual([status, json.code], [400, "invalid_link"]);
});

for (const [name, sender] of Object.entries({ "an owner": as(ada), "an administrator": root }))
  test(`makes no member of a team that is deleted in the meantime, by ${name}`, async (t) => {
    const raced = await start(t);
    await join(raced);
    const { seats } = raced;
    const token = await seats.invite({}, sender);
    raced.before(isJoin, () => seats.ask("DELETE", `/teams/${seats.teamId}`, undefined, root));

    const { status, json } = await seats.accept({ token }, asBen);

    assert.deepEqual([status, json.code], [400, "invalid_link"]);
  });

test("answers 200 to a user who becomes a member in the meantime, with a unique set", async (t) => {
  const mate = defineResource({
    name: "mate",
    fields: { user_id: reference("users"), team_id: reference(team) },
    unique: [["user_id", "team_id"]],
  });
  const raced = await start(t, { mounts: [mount(mate, { permission: authenticated, invitations: true })] });
  await join(raced);
  const { seats } = raced;
  const values = { team_id: seats.teamId };
  assert.equal((await seats.post("/mates/invitations", { email: ben, ...values }, as(ada))).status, 202);
  const { token } = await seats.onlyMail();
  raced.before(inserts("mates"), () => seats.post("/mates", { user_id: 3, ...values }, root));

  assert.equal((await seats.accept({ token }, asBen)).status, 200);
});

test("answers 200 to a user who becomes a member in the meantime, also without a unique set", async (t) => {
  const raced = await start(t);
  await join(raced);
  const { seats } = raced;
  const token = await seats.invite();
  raced.before(isJoin, () => seats.post("/seats", { user_id: 3, team_id: seats.teamId, note: "first" }, root));

  const { status, json } = await seats.accept({ token }, asBen);

  assert.deepEqual([status, json.note], [200, "first"]);
});

test("makes no member of a link that is used in the meantime", async (t) => {
  const raced = await start(t);
  await join(raced);
  const { seats } = raced;
  const token = await seats.invite();
  raced.before(isJoin, async () => assert.equal((await seats.accept({ token }, asBen)).status, 201));

  const { status, json } = await seats.accept({ token }, asBen);

  assert.deepEqual([status, json.code], [400, "invalid_link"]);
});

test("answers 409 at once if the database has another value of the membership, or a hook says so", async (t) => {
  const log = defineResource({ name: "log", fields: { line: text({ unique: true }) } });
  const logs = mount(log, { permission: authenticated });
  let refuses = false;
  const raced = await start(t, {
    mounts: [logs],
    seats: {
      problems: { create: ["conflict"] },
      beforeWrite: () => {
        if (refuses) throw problem("conflict");
        return { changes: [{ kind: "insert", collection: logs.collection, values: { line: "twice" } }] };
      },
    },
  });
  await join(raced);
  const { seats } = raced;
  const token = await seats.invite();

  for (const says of [false, true]) {
    refuses = says;
    const { status, json } = await seats.accept({ token }, asBen);
    assert.deepEqual([status, json.code], [409, "conflict"]);
  }

  assert.equal(raced.joins(), 1);
});

test("accepts no link of a hook that answers as for a request without a right", async (t) => {
  let refuses = false;
  const raced = await start(t, {
    seats: {
      beforeWrite: () => {
        if (refuses) throw problem("permission_denied");
        return {};
      },
    },
  });
  const { seats } = raced;
  const token = await seats.invite();
  refuses = true;

  const { status, json } = await seats.accept({ token, ...newcomer });

  assert.deepEqual([status, json.code], [400, "invalid_link"]);
});

test("refuses a user who is deleted in the meantime", async (t) => {
  const raced = await start(t);
  await join(raced);
  const { seats } = raced;
  const token = await seats.invite();
  raced.lose("users", 3);

  assert.equal((await seats.accept({ token }, asBen)).status, 403);
});

test("names a sender without a user by the name of the login", async (t) => {
  const raced = await start(t);
  const { seats } = raced;
  const token = await seats.invite();
  raced.lose("users", 2);

  const { json } = await seats.ask("GET", `/api/invitations/accept/?token=${token}`);

  assert.equal(json.sender, ada);
});

test("says that an account exists if the address or its name is taken in the meantime", async (t) => {
  for (const taken of [
    { name: "Benjamin", email: ben, password: newcomer.password },
    { name: "Benjamin", email: "b@example.com", username: ben, password: newcomer.password },
  ]) {
    const raced = await start(t);
    const { seats } = raced;
    const token = await seats.invite();
    raced.before(inserts(accountsCollection.name), () => seats.post("/users", taken, root));

    const { status, json } = await seats.accept({ token, ...newcomer });

    assert.deepEqual([status, json.code, json.errors?.[0].pointer], [409, "taken", "/email"], JSON.stringify(json));
    assert.match(json.errors[0].detail, /An account with this address exists now\./);
  }
});

test("says that an account exists if several users share its name in the meantime", async (t) => {
  const raced = await start(t);
  const { seats } = raced;
  const email = "kasi@example.com";
  const token = await seats.invite({ email });
  const shared: Change = {
    kind: "insert",
    collection: namesCollection,
    values: { user_id: 1, username: `${email}\n1` },
  };
  raced.before(inserts(accountsCollection.name), () => seats.service.store.write({ changes: [shared] }));

  const { status, json } = await seats.accept({ token, name: "Kasi", password: newcomer.password });

  assert.deepEqual([status, json.code, json.errors?.[0].pointer], [409, "taken", "/email"], JSON.stringify(json));
});

test("creates no account if a feature refuses it, or if it is deleted at once", async (t) => {
  let refuses = false;
  const porter = defineFeature({
    name: "porter",
    setUp: () => ({
      offer: null,
      alongside: ({ resource, kind }: { resource: { name: string }; kind: string }): readonly Change[] => {
        const where = { column: "id", operator: "eq", value: 0 } as const;
        return refuses && resource.name === "user" && kind === "create"
          ? [{ kind: "require", collection: accountsCollection, where, atLeast: 1, name: "closed_club" }]
          : [];
      },
    }),
  });
  const raced = await start(t, { features: [porter] });
  const { seats } = raced;
  const token = await seats.invite();
  refuses = true;
  assert.equal((await seats.accept({ token, ...newcomer })).json.code, "conflict");
  refuses = false;
  raced.lose(accountsCollection.name, 3);

  const { status, json } = await seats.accept({ token, ...newcomer });

  assert.deepEqual([status, json.code], [400, "invalid_link"]);
});

test("sends an invitation also if another request counts its mail in the meantime", async (t) => {
  const raced = await start(t);
  const { seats } = raced;
  const send = () => seats.post("/seats/invitations", { email: ben, team_id: seats.teamId }, as(ada));
  raced.before(isSent, send);

  assert.equal((await send()).status, 202);

  assert.equal((await seats.list()).json.length, 2);
});

test("sends no invitation of a sender who is deleted in the meantime", async (t) => {
  const raced = await start(t);
  const { seats } = raced;
  raced.before(isSent, async () => {
    const [own] = (await seats.ask("GET", "/seats", undefined, root)).json;
    for (const path of [`/seats/${own.id}`, "/users/2"])
      assert.equal((await seats.ask("DELETE", path, undefined, root)).status, 204);
  });

  const { status, json } = await seats.post("/seats/invitations", { email: ben, team_id: seats.teamId }, as(ada));

  assert.deepEqual([status, json.code], [403, "permission_denied"]);
});

test("answers 404 to the second of two requests that end an invitation", async (t) => {
  const raced = await start(t);
  const { seats } = raced;
  await seats.invite();
  const [{ id }] = (await seats.list()).json;
  const ask = () => seats.ask("DELETE", `/seats/invitations/${id}`, undefined, as(ada));
  raced.before(
    ({ kind, collection }) => kind === "delete" && collection.name === invitationsCollection.name,
    async () => assert.equal((await ask()).status, 204),
  );

  assert.equal((await ask()).status, 404);
});
