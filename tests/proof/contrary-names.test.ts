// The rules and permissions here decide against what they declare, as a fault of the service would. SQLite alone,
// because `latchkey prove` starts its service on SQLite in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { stateFacts, type PermissionFacts } from "../../src/access/permission/facts.ts";
import type { Permission } from "../../src/door/auth.ts";
import { anyone, authenticated, caller, defineResource, mount, owner, reference, text } from "../../src/door/index.ts";
import type { Report } from "../../src/proof/findings.ts";
import type { FieldRule } from "../../src/resource/declaration/field.ts";
import { proveConfig } from "../harness/prove-config.ts";

const without = ["orders", "protected"] as const;

/** Returns a permission that declares these facts, and decides otherwise for callers who are logged in. */
function contrary(facts: PermissionFacts, decision: "allow" | "deny"): Permission & FieldRule {
  const known: Permission = {
    name: "contrary",
    decide: ({ identity }) => (identity === null ? "deny" : decision),
  };
  return stateFacts(known, facts);
}

const sentencesOf = ({ findings }: Report): readonly string[] => findings.map(({ sentence }) => sentence);
const reasonsOf = (report: Report): readonly string[] =>
  report.not_tried.map(({ path, reason }) => `${path}: ${reason}`);

test("finds a related record that is shown although the field which refers to it is hidden", async () => {
  const note = defineResource({
    name: "note",
    fields: {
      owner_id: reference("users", { default: caller }),
      editor_id: reference("users", { optional: true, read: contrary({ kind: "nobody" }, "allow") }),
    },
  });

  const report = await proveConfig({
    without,
    mounts: [mount(note, { permission: owner("owner_id"), expand: { editor: "editor_id" } })],
  });

  const sentence = "user sees editor_id of notes as editor, although its permissions hide the field.";
  assert.ok(sentencesOf(report).includes(sentence), sentencesOf(report).join("\n"));
});

test("lists a field that is refused as unknown although the caller may read it", async () => {
  const note = defineResource({
    name: "note",
    fields: {
      owner_id: reference("users", { default: caller }),
      state: text({
        maxLength: 100,
        default: "new",
        read: contrary({ kind: "authenticated" }, "deny"),
        write: contrary({ kind: "nobody" }, "deny"),
      }),
    },
  });

  const report = await proveConfig({ without, mounts: [mount(note, { permission: owner("owner_id") })] });

  const reason = "it answers that there is no field state, although the caller may read it";
  assert.ok(reasonsOf(report).includes(`PATCH /notes/{id}: ${reason}`), reasonsOf(report).join("\n"));
});

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 100 }) },
});
const line = defineResource({ name: "line", within: note, fields: { body: text({ maxLength: 100 }) } });

test("lists expanded records that lack one which the caller may read", async () => {
  const none: Permission = {
    name: "none",
    narrows: ["list"],
    decide: ({ action }) => (action === "list" ? { only: { column: "id", operator: "eq", value: 99_999 } } : "allow"),
  };
  const lines = mount(line, { permission: { list: stateFacts(none, { kind: "anyone" }), read: anyone } });

  const report = await proveConfig({
    without,
    mounts: [mount(note, { permission: authenticated, expand: { lines } }), lines],
  });

  const reason = "its answer lacks lines, which its permissions show to the caller";
  assert.ok(reasonsOf(report).includes(`GET /notes: ${reason}`), reasonsOf(report).join("\n"));
});

test("finds a refused creation that reveals a hidden parent", async () => {
  const create: Permission = {
    name: "open for new notes",
    decide: ({ params }) => (Number(params["note_id"]) > 1000 ? "allow" : "deny"),
  };

  const report = await proveConfig({
    without,
    mounts: [
      mount(note, { permission: owner("owner_id") }),
      mount(line, { permission: { list: authenticated, create } }),
    ],
  });

  const sentence =
    "user learns from a creation of lines that its note exists: the answer is 403, and 404 within a missing one.";
  assert.ok(sentencesOf(report).includes(sentence), sentencesOf(report).join("\n"));
});
