import assert from "node:assert/strict";
import { test } from "node:test";
import { mailProofsCollection } from "../../src/features/auth/mailbox/proofs.ts";
import { startMailed } from "../harness/verified-emails.ts";

test("refuses the link of a sign-up whose fields are not valid any more, with the field", async (t) => {
  const mailed = await startMailed(t);
  assert.equal((await mailed.post("/users", { name: "Ben", email: "ben@example.com" })).status, 202);
  const { token } = await mailed.onlyMail();
  const { store } = mailed.service;
  const [row] = await store.list({
    collection: mailProofsCollection,
    where: null,
    sort: [{ column: "id" }],
    limit: 1,
  });
  const data = { ...(row!.record["data"] as object), name: "" };
  const key = row!.record["id"] as string;
  await store.write({ changes: [{ kind: "update", collection: mailProofsCollection, key, values: { data } }] });

  const { status, json } = await mailed.post("/api/email/confirm/", { token, password: "a good pass phrase 1" });

  assert.deepEqual([status, json.errors?.[0].pointer], [400, "/name"], JSON.stringify(json));
});
