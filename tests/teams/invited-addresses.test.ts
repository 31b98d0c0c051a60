import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Collection, Row, Store, Transaction } from "../../src/door/stores.ts";
import { invitationsCollection } from "../../src/features/auth/invitations/invitations.ts";
import { mailCountsCollection } from "../../src/features/auth/mailbox/limits.ts";
import { mailProofsCollection } from "../../src/features/auth/mailbox/proofs.ts";
import { startTeams, type Teams } from "../harness/invited-teams.ts";
import { emptyStore } from "../harness/test-store.ts";
import { ada, as, root } from "../harness/verified-emails.ts";

// Neither an answer nor a stored row nor the number of writes may reveal which addresses have an account, or who is a
// member. See also tests/auth/known-addresses.test.ts.

const word = "a good pass phrase 1";
const addresses = {
  known: "ben@example.com",
  unknown: "nobody@example.com",
  "of a member": "cid@example.com",
  "of a deactivated account": "dan@example.com",
} as const;

/** Columns that differ between any two invitations: random ids, digests, and the address itself. */
const OWN_COLUMNS = ["id", "mailbox", "address"];

for (const registration of ["open", "closed"] as const)
  test(`answers, stores and writes the same for every address while registration is ${registration}`, async (t) => {
    const observed = await Promise.all(Object.values(addresses).map((email) => observe(t, email, registration)));

    const [first, ...others] = observed;
    assert.equal(first!.status, 202);
    assert.equal(first!.body, "{}");
    assert.equal(first!.invitations.length, 1);
    assert.equal(first!.proofs.length, 1);
    for (const other of others) assert.deepEqual(other, first);
  });

test("writes the same for a mailbox that has just got a mail", async (t) => {
  for (const email of Object.values(addresses)) {
    const { teams, written } = await start(t, "open");
    await send(teams, email);
    const changes = describe(written.at(-1)!);
    await send(teams, email);
    assert.deepEqual(describe(written.at(-1)!), changes);
  }
});

test("shows the sender the address as it was typed", async (t) => {
  const { teams } = await start(t, "open");
  for (const email of ["BEN@example.com", "NOBODY@example.com"]) await send(teams, email);

  const listed = await teams.ask("GET", "/memberships/invitations", undefined, as(ada));

  assert.deepEqual(listed.json.map((each: { email: string }) => each.email).toSorted(), [
    "BEN@example.com",
    "NOBODY@example.com",
  ]);
});

async function observe(t: TestContext, email: string, registration: "open" | "closed") {
  const { teams, written, list } = await start(t, registration);
  const before = written.length;
  const { status, text, headers } = await send(teams, email);
  return {
    status,
    body: text,
    cache: headers.get("cache-control"),
    writes: written.slice(before).map(describe),
    invitations: (await list(invitationsCollection)).map((row) => withoutColumns(row, OWN_COLUMNS)),
    // The data say whether the mail is sent. The sender sees them in no answer.
    proofs: (await list(mailProofsCollection)).map((row) => withoutColumns(row, [...OWN_COLUMNS, "data"])),
    counts: (await list(mailCountsCollection)).map((row) => withoutColumns(row, ["id"])),
    queued: await teams.mail.queued(),
  };
}

/** Starts a service, and counts its transactions that change rows. */
async function start(t: TestContext, registration: "open" | "closed") {
  const written: Transaction[] = [];
  const store = await emptyStore();
  const counting: Store = {
    ...store,
    async write(transaction) {
      const outcome = await store.write(transaction);
      if (outcome.kind === "written") written.push(transaction);
      return outcome;
    },
  };
  const teams = await startTeams(t, { registration, store: counting });
  for (const name of ["ben", "cid", "dan"]) {
    const user = { name, email: `${name}@example.com`, password: word };
    assert.equal((await teams.post("/users", user, root)).status, 201);
  }
  await teams.post("/memberships", { user_id: 4, project_id: 1 }, root);
  await teams.ask("PATCH", "/users/5/account", { active: false }, root);
  // A remembered password, so that only the first request computes a hash.
  await teams.ask("GET", "/users/2", undefined, as(ada));
  const list = (collection: Collection) =>
    store.list({ collection, where: null, sort: [{ column: "id" }], limit: 100 });
  return { teams, written, list };
}

const send = (teams: Teams, email: string) => teams.post("/memberships/invitations", { email, project_id: 1 }, as(ada));

function describe({ changes }: Transaction): readonly string[] {
  return changes.map(({ kind, collection: { name } }) => `${kind} ${name}`);
}

function withoutColumns({ record }: Row, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}
