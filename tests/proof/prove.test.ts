// SQLite alone, because the command starts its service on SQLite in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineUsers, hasRole, memberOf, sameAs } from "../../src/door/auth.ts";
import type { Permission } from "../../src/door/auth.ts";
import {
  administrator,
  anyOf,
  authenticated,
  caller,
  decimal,
  defineEndpoint,
  defineResource,
  enumeration,
  mount,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import { uuid } from "../../src/door/resources.ts";
import { proveConfig } from "../harness/prove-config.ts";

const hr = anyOf(hasRole("hr"), administrator);
const users = defineUsers({ roles: ["user", "hr", "admin"] });
const without = ["orders", "protected"] as const;

const note = defineResource({
  name: "note",
  fields: { owner_id: reference("users", { default: caller }), body: text({ maxLength: 100 }) },
});
const own = anyOf(owner("owner_id"), administrator);

test("finds nothing if every permission holds", async () => {
  const report = await proveConfig({ without, mounts: [mount(note, { permission: own })] });

  assert.deepEqual(report, { findings: [], not_tried: [] });
});

test("gives the same report twice", async () => {
  const config = { without, mounts: [mount(note, { permission: forgetful })] };

  assert.deepEqual(await proveConfig(config), await proveConfig(config));
});

/** A permission that narrows reads, and forgets the other actions. */
const forgetful: Permission<"owner_id"> = {
  name: "forgetful",
  narrows: ["list", "read"],
  columns: ["owner_id"],
  decide({ identity, action }) {
    if (identity === null) return "deny";
    const isRead = action === "list" || action === "read";
    return isRead ? { only: { column: "owner_id", operator: "eq", value: identity.id } } : "allow";
  },
};

test("finds a record that is changed and cannot be read", async () => {
  const { findings } = await proveConfig({ without, mounts: [mount(note, { permission: forgetful })] });

  const [change] = findings.filter(({ method }) => method === "PATCH");
  assert.match(change!.sentence, /^user changes notes \d+, which it may not read\.$/);
  assert.match(change!.curl, /^curl -s -X PATCH -H 'X-Prove-Actor: user' /);
});

test("expects no creation under a chosen id from a permission that narrows, even if it narrows to all records", async () => {
  const filled: Permission<"body"> = {
    name: "filled",
    narrows: ["list", "read", "create", "replace"],
    columns: ["body"],
    decide: ({ identity }) =>
      identity === null ? "deny" : { only: { column: "body", operator: "null", value: false } },
  };
  const permission = { list: filled, read: filled, create: filled, replace: filled };

  const report = await proveConfig({ without, mounts: [mount(note, { permission })] });

  assert.deepEqual(report, { findings: [], not_tried: [] });
});

test("finds the value that a computed field shows of a hidden field", async () => {
  const person = defineResource({
    name: "person",
    plural: "people",
    fields: {
      name: text({ maxLength: 100 }),
      salary: decimal({ scale: 2, maximum: "9999999.99", optional: true, read: hr, write: hr }),
    },
    computed: { rich: { as: text(), from: ({ salary }) => (Number(salary) > 400_000 ? "yes" : "no") } },
  });

  const { findings } = await proveConfig({ without, users, mounts: [mount(person, { permission: authenticated })] });

  assert.deepEqual(
    [...new Set(findings.map(({ resource, field }) => `${resource}.${String(field)}`))],
    ["people.salary"],
  );
});

test("finds the value that a computed field shows of a hidden UUID", async () => {
  const person = defineResource({
    name: "person",
    plural: "people",
    fields: {
      name: text({ maxLength: 100 }),
      passport: uuid({ read: hr, write: hr, default: () => crypto.randomUUID() }),
    },
    computed: { copy: { as: text(), from: ({ passport }) => `no. ${passport}` } },
  });

  const report = await proveConfig({ without, users, mounts: [mount(person, { permission: authenticated })] });

  assert.deepEqual(report.not_tried, []);
  assert.match(report.findings[0]!.sentence, /^user sees passport of people 1, which its permissions hide\.$/);
});

test("finds an endpoint that ignores rows, unless it reveals them on purpose", async () => {
  const notes = mount(note, { permission: own });
  const endpointOf = (reveals: readonly `${string}.${string}`[]) =>
    defineEndpoint({
      method: "GET",
      path: "/first-notes",
      access: authenticated,
      reveals,
      async handle({ store }) {
        const rows = await store.list({
          collection: notes.collection,
          where: null,
          sort: [{ column: "id" }],
          limit: 9,
        });
        return { status: 200, body: { kind: "data", value: rows.map(({ record }) => record.body), element: "notes" } };
      },
    });

  const hidden = await proveConfig({ without, mounts: [notes], endpoints: [endpointOf([])] });
  const shown = await proveConfig({ without, mounts: [notes], endpoints: [endpointOf(["notes.body"])] });

  assert.deepEqual(
    [...new Set(hidden.findings.map(({ path, field }) => `${path} ${String(field)}`))],
    ["/first-notes body"],
  );
  assert.deepEqual(shown.findings, []);
});

test("finds an identity field that users set themselves", async () => {
  const tenants = defineUsers({ fields: { team: text({ maxLength: 40, optional: true }) }, identity: ["team"] });
  const secret = defineResource({ name: "secret", fields: { team: text({ maxLength: 40 }) } });

  const { findings } = await proveConfig({
    without,
    users: tenants,
    mounts: [mount(secret, { permission: sameAs(tenants, "team") })],
  });

  assert.match(findings[0]!.sentence, /^user gains the right to read secrets \d+ by its own write\.$/);
  assert.equal(findings[0]!.field, "team");
});

test("finds a membership that raises itself", async () => {
  const club = defineResource({ name: "club", fields: { title: text({ maxLength: 100 }) } });
  const membership = defineResource({
    name: "membership",
    fields: {
      user_id: reference("users"),
      club_id: reference(club, { onDelete: "cascade" }),
      role: enumeration(["owner", "member"], { default: "member" }),
    },
    unique: [["user_id", "club_id"]],
  });
  const member = memberOf(membership);
  const leader = memberOf(membership, { where: { role: "owner" } });

  const { findings } = await proveConfig({
    without,
    mounts: [
      mount(club, { permission: { list: member, read: member, update: leader } }),
      mount(membership, { permission: { list: member, read: member, update: owner("user_id") } }),
    ],
  });

  const raised = findings.find(({ field }) => field === "role");
  assert.match(raised!.sentence, /^member-of-memberships gains the right to update clubs 1 by its own write\.$/);
});

test("lists an endpoint that throws with its place, and goes on", async () => {
  const broken = defineEndpoint({
    method: "GET",
    path: "/broken",
    access: authenticated,
    handle() {
      throw new Error("This endpoint is broken.");
    },
  });

  const report = await proveConfig({ without, mounts: [mount(note, { permission: own })], endpoints: [broken] });

  assert.deepEqual(report.findings, []);
  assert.match(
    report.not_tried[0]!.reason,
    /^its code throws Error: This endpoint is broken\. \(.*prove\.test\.ts:\d+\)$/,
  );
});

test("refuses a name of a field in reveals that no resource has", async () => {
  const action = { permission: authenticated, reveals: ["notes.bodi"] as const, handle: () => ({}) };

  await assert.rejects(
    proveConfig({ without, mounts: [mount(note, { permission: own, actions: { show: action } })] }),
    /reveals names notes\.bodi, which no mounted resource has.*notes\.body/,
  );
});
