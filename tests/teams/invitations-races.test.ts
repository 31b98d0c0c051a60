import assert from "node:assert/strict";
import { test } from "node:test";
import type { Store } from "../../src/door/stores.ts";
import { accountsCollection } from "../../src/features/auth/records/accounts.ts";
import { asBen, ben, memberships, newcomer, signUp, startTeams } from "../harness/invited-teams.ts";
import { emptyStore } from "../harness/test-store.ts";

const word = "a good pass phrase 1";
const MINUTE_MS = 60_000;

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
