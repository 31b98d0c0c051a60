// The permissions here decide against what they declare, as a fault of the service would. SQLite alone, because `latchkey
// prove` starts its service on SQLite in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { stateFacts, type PermissionFacts } from "../../src/access/permission/facts.ts";
import type { Permission } from "../../src/door/auth.ts";
import { authenticated, caller, defineResource, mount, owner, reference, text } from "../../src/door/index.ts";
import type { MountOptions } from "../../src/door/resources.ts";
import { proveConfig } from "../harness/prove-config.ts";

const without = ["orders", "protected"] as const;

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 100 }) },
});

/** Returns a permission that declares these facts, and decides otherwise. */
function contrary(facts: PermissionFacts, decision: "allow" | "deny"): Permission {
  const known: Permission = {
    name: "contrary",
    decide: ({ identity }) => (identity === null ? "deny" : decision),
  };
  return stateFacts(known, facts);
}

test("lists reads that are refused although the declarations allow them", async () => {
  const read = contrary({ kind: "authenticated" }, "deny");

  const report = await proveConfig({ without, mounts: [mount(note, { permission: { list: read, read } })] });

  const reason = "it answers 403, although its permissions let the caller read";
  assert.deepEqual(report.findings, []);
  assert.deepEqual(report.not_tried, [
    { path: "GET /notes", actor: "user", reason },
    { path: "GET /notes/{id}", actor: "user", reason },
  ]);
});

test("lists writes that are refused although the declarations allow them", async () => {
  const update = contrary({ kind: "authenticated" }, "deny");

  const report = await proveConfig({
    without,
    mounts: [mount(note, { permission: { list: authenticated, read: authenticated, update } })],
  });

  assert.deepEqual(report, {
    findings: [],
    not_tried: [
      {
        path: "PATCH /notes/{id}",
        actor: "user",
        reason: "it answers 403, although its permissions let the caller update",
      },
    ],
  });
});

test("finds a refused write that reveals a hidden record, and an answer that shows one", async () => {
  const read = contrary({ kind: "nobody" }, "allow");

  const { findings } = await proveConfig({
    without,
    mounts: [mount(note, { permission: { read, update: owner("owner_id") } })],
  });

  const sentences = findings.map(({ sentence }) => sentence);
  assert.ok(
    sentences.some((each) =>
      /^user learns that notes \d+ exists: the answer is \d+, and 404 for a missing record\.$/.test(each),
    ),
    sentences.join("\n"),
  );
  assert.ok(
    sentences.some((each) => /^The answer to user shows notes \d+, which it may not read\.$/.test(each)),
    sentences.join("\n"),
  );
});

test("finds the answer to a creation that shows a hidden record, unless nobody may read the records", async () => {
  const read = contrary({ kind: "nobody" }, "allow");
  const prove = (permission: MountOptions<typeof note>["permission"]) =>
    proveConfig({ without, mounts: [mount(note, { permission })] });

  const { findings } = await prove({ read, create: authenticated });
  const shown = /^The answer to user shows notes \d+, which it may not read\.$/;
  assert.ok(
    findings.some(({ method, sentence }) => method === "POST" && shown.test(sentence)),
    findings.map(({ sentence }) => sentence).join("\n"),
  );
  assert.deepEqual((await prove({ create: authenticated })).findings, []);
});

test("finds a record that is created under an id in the path", async () => {
  const create = contrary({ kind: "nobody" }, "allow");

  const { findings } = await proveConfig({
    without,
    mounts: [mount(note, { permission: { list: authenticated, read: authenticated, replace: authenticated, create } })],
  });

  assert.ok(findings.some(({ method, sentence }) => method === "PUT" && /creates notes \d+, which/.test(sentence)));
});

test("lists a hidden record that is denied in place of not found", async () => {
  const update = contrary({ kind: "owner", column: "owner_id" }, "deny");

  const report = await proveConfig({
    without,
    mounts: [mount(note, { permission: { read: owner("owner_id"), update } })],
  });

  const reasons = report.not_tried.map(({ path, reason }) => `${path}: ${reason}`);
  assert.ok(
    reasons.includes("PATCH /notes/{id}: it answers 403 in place of 404 for a record that is missing or hidden"),
    reasons.join("\n"),
  );
});

test("lists an array of changes that misses a record which the caller may change", async () => {
  const none: Permission<"owner_id"> = {
    name: "none",
    narrows: ["list", "read", "update"],
    columns: ["owner_id"],
    decide: ({ identity }) =>
      identity === null ? "deny" : { only: { column: "owner_id", operator: "eq", value: 99_999 } },
  };
  const permission = stateFacts(none, { kind: "owner", column: "owner_id" });

  const report = await proveConfig({
    without,
    mounts: [mount(note, { permission: { read: permission, update: permission }, arrays: true })],
  });

  const reasons = report.not_tried.map(({ path, reason }) => `${path}: ${reason}`);
  assert.ok(
    reasons.includes("PATCH /notes: it answers that a record is missing which its permissions let the caller update"),
    reasons.join("\n"),
  );
});
