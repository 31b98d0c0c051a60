import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Collection, Row, Store, Transaction } from "../../src/door/stores.ts";
import { mailLogin } from "../../src/features/auth/mail-login/feature.ts";
import { mailCountsCollection } from "../../src/features/auth/mailbox/limits.ts";
import { mailProofsCollection } from "../../src/features/auth/mailbox/proofs.ts";
import { makeProofTokens } from "../../src/features/auth/mailbox/tokens.ts";
import { passwordReset } from "../../src/features/auth/password-reset/feature.ts";
import { secret, type Answered } from "../harness/own-logins.ts";
import { emptyStore } from "../harness/test-store.ts";
import { ada, as, password, startMailed, type Headers, type Mailed } from "../harness/verified-emails.ts";

// Neither an answer nor a stored row nor the number of writes may reveal which addresses have an account. A difference
// of one write is a difference in time, because each write waits for the disk.

const MINUTE_MS = 60_000;
const unknown = "nobody@example.com";
const word = "a good pass phrase 1";

interface MailCall {
  readonly path: string;
  /** The path that redeems the link or the code. */
  readonly redeemed: string;
  readonly purpose: string;
  readonly headers?: Headers;
  /** An address with an account. */
  readonly known: string;
  ask(email: string): object;
  redeem(proof: object): object;
}

const ownChange: Pick<MailCall, "path" | "redeemed" | "purpose"> = {
  path: "/users/2/email",
  redeemed: "/api/email/confirm/",
  purpose: "email-change",
};

const calls: Readonly<Record<string, MailCall>> = {
  "a sign-up": {
    path: "/users",
    redeemed: "/api/email/confirm/",
    purpose: "sign-up",
    known: ada,
    ask: (email) => ({ name: "Ann", email }),
    redeem: (proof) => ({ ...proof, password: word }),
  },
  "a changed address": {
    ...ownChange,
    headers: as(ada),
    known: "root@example.com",
    ask: (email) => ({ email, current_password: password }),
    redeem: (proof) => proof,
  },
  "a changed address in capital letters": {
    ...ownChange,
    headers: as(ada),
    known: "ROOT@example.com",
    ask: (email) => ({ email, current_password: password }),
    redeem: (proof) => proof,
  },
  "a reset": {
    path: "/api/password/reset/",
    redeemed: "/api/password/reset/confirm/",
    purpose: "reset",
    known: ada,
    ask: (email) => ({ email }),
    redeem: (proof) => ({ ...proof, password: word }),
  },
  "a login by mail": {
    path: "/api/login/code/",
    redeemed: "/api/session/",
    purpose: "login",
    known: ada,
    ask: (email) => ({ email }),
    redeem: (proof) => proof,
  },
};

/** Columns that differ between any two mails: random ids, digests, and the address itself. */
const OWN_COLUMNS = ["id", "mailbox", "address"];

for (const [name, call] of Object.entries(calls)) {
  // These say for whom the mail is, and the caller sees them in no answer. The tests of the writes show that nothing
  // depends on them before a proof is right.
  const forWhom = call.path === "/users/2/email" || call.path === "/users" ? ["notice"] : ["user_id", "generation"];

  test(`stores equal rows for known and unknown addresses: ${name}`, async (t) => {
    const [known, strange] = await Promise.all([observe(t, call, call.known), observe(t, call, unknown)]);
    await Promise.all([known.ask(), strange.ask()]);
    const [one, other] = await Promise.all([known.proofs(), strange.proofs()]);
    assert.equal(one.length, 1);
    assert.deepEqual(
      one.map((row) => withoutColumns(row, [...OWN_COLUMNS, ...forWhom])),
      other.map((row) => withoutColumns(row, [...OWN_COLUMNS, ...forWhom])),
    );
    assert.deepEqual(await known.counts(), await strange.counts());
    assert.equal(await known.mailed.mail.queued(), await strange.mailed.mail.queued());
  });

  test(`answers and writes the same for known and unknown addresses: ${name}`, async (t) => {
    const [known, strange] = await Promise.all([observe(t, call, call.known), observe(t, call, unknown)]);
    const steps: readonly ((on: Observed) => Promise<Answered>)[] = [
      (on) => on.redeem({ email: on.email, code: "0000000 " }),
      (on) => on.ask(),
      (on) => on.redeem({ email: on.email, code: "00000000" }),
      // The mailbox has got a mail in this minute.
      (on) => on.ask(),
      (on) => on.redeem({ email: on.email, code: "00000000" }),
      ...Array.from({ length: 6 }, () => (on: Observed) => on.redeem({ email: on.email, code: "00000001" })),
      (on) => on.redeem({ token: "x".repeat(65) }),
    ];
    for (const [at, step] of steps.entries()) {
      const [one, other] = [await known.watch(() => step(known)), await strange.watch(() => step(strange))];
      assert.deepEqual(one, other, `step ${at}`);
      assert.ok(at === steps.length - 1 || one.writes > 0, `step ${at}`);
    }
  });

  test(`writes the same for a mailbox that has just got a mail: ${name}`, async (t) => {
    for (const email of [call.known, unknown]) {
      const observed = await observe(t, call, email);
      const first = await observed.watch(() => observed.ask());
      const changes = observed.lastChanges();
      assert.deepEqual(await observed.watch(() => observed.ask()), first);
      assert.deepEqual(observed.lastChanges(), changes);
      assert.ok((await observed.mailed.sent()).length <= 1);
      for (let minute = 0; minute < 5; minute++) {
        observed.mailed.clock.now += MINUTE_MS;
        assert.deepEqual(await observed.watch(() => observed.ask()), first, `minute ${minute}`);
      }
    }
  });

  test(`refuses the right code and the link of a mail that was not meant to be used: ${name}`, async (t) => {
    const email = call.path === "/users" || call.path === "/users/2/email" ? call.known : unknown;
    const observed = await observe(t, call, email);
    await observed.ask();
    const id = (await observed.proofs())[0]!.record["id"] as string;
    const tokens = makeProofTokens(secret);
    const wrong = await observed.watch(() => observed.redeem({ email, code: "00000000" }));
    assert.ok([400, 401].includes(wrong.status));
    assert.deepEqual(await observed.watch(() => observed.redeem({ email, code: tokens.deriveCode(id) })), wrong);
    const token = tokens.deriveToken(id, call.purpose);
    assert.equal((await observed.redeem({ token })).status, wrong.status);
  });
}

test("ends the proof of a taken address when the password of the asking user changes, like that of a free one", async (t) => {
  const call = calls["a changed address"]!;
  for (const email of [call.known, unknown]) {
    const observed = await observe(t, call, email);
    await observed.ask();
    const changed = { password: word, current_password: password };
    assert.equal((await observed.mailed.ask("PATCH", "/users/2", changed, as(ada))).status, 200);
    assert.deepEqual(await observed.proofs(), []);
  }
});

test("writes the same for wrong codes of an address without a mail, with several mails, and of an invited user", async (t) => {
  const observed = await observe(t, calls["a sign-up"]!, unknown);
  const guess = (email: string) => observed.watch(() => observed.redeem({ email, code: "00000000" }));
  const without = await guess(unknown);
  const change = { email: unknown, current_password: password };
  assert.equal((await observed.mailed.post("/users/2/email", change, as(ada))).status, 202);
  await observed.ask();
  const invited = { name: "Ben", email: "ben@example.com", invite: true };
  assert.equal((await observed.mailed.post("/users", invited, as("root"))).status, 201);
  for (const email of [unknown, unknown, invited.email, "other@example.com"])
    assert.deepEqual(await guess(email), without);
});

/** The visible parts of a request: its answer, and the number of transactions that it wrote. */
interface Watched {
  readonly status: number;
  /** Without the id of the request. */
  readonly body: string;
  readonly writes: number;
}

interface Observed {
  readonly mailed: Mailed;
  readonly email: string;
  /** Asks for a mail. */
  ask(): Promise<Answered>;
  redeem(proof: object): Promise<Answered>;
  watch(request: () => Promise<Answered>): Promise<Watched>;
  /** Returns the kinds of changes in the last transaction. */
  lastChanges(): readonly string[];
  /** Returns the stored proofs. */
  proofs(): Promise<readonly Row[]>;
  /** Returns the stored counts of mails, without their digests. */
  counts(): Promise<readonly object[]>;
}

/** Starts a service with every endpoint that sends mails, and counts its transactions that change rows. */
async function observe(t: TestContext, call: MailCall, email: string): Promise<Observed> {
  const written: Transaction[] = [];
  const store = await emptyStore();
  const counting: Store = {
    ...store,
    async write(transaction) {
      const outcome = await store.write(transaction);
      const changes = transaction.changes.filter(
        ({ kind }) => kind === "insert" || kind === "update" || kind === "add",
      );
      if (outcome.kind === "written" && changes.length > 0) written.push(transaction);
      return outcome;
    },
  };
  const mailed = await startMailed(
    t,
    { registration: "verified", invitations: true },
    (people, box) => [passwordReset(people, box), mailLogin(people, box)],
    counting,
  );
  // A remembered password, so that only the first request computes a hash.
  await mailed.ask("GET", "/users/2", undefined, as(ada));
  const list = (collection: Collection) =>
    store.list({ collection, where: null, sort: [{ column: "id" }], limit: 100 });
  return {
    mailed,
    email,
    ask: () => mailed.post(call.path, call.ask(email), call.headers),
    redeem: (proof) => mailed.post(call.redeemed, call.redeem(proof), call.headers),
    async watch(request) {
      const before = written.length;
      const { status, text } = await request();
      const body = text.replace(/"request_id":"[^"]*"/, "");
      return { status, body, writes: written.length - before };
    },
    lastChanges: () => written.at(-1)!.changes.map(({ kind, collection: { name } }) => `${kind} ${name}`),
    proofs: async () => list(mailProofsCollection),
    counts: async () =>
      (await list(mailCountsCollection))
        .map((row) => withoutColumns(row, ["id"]))
        .toSorted((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other))),
  };
}

function withoutColumns({ record }: Row, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}
