import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import { anyone, authenticated, boolean, defineResource, mount, reference, text } from "../../src/door/index.ts";
import { array, DeclarationError, olderShape, shownOnce, type FounderOptions } from "../../src/door/resources.ts";
import { defineProjects, startTeams } from "../harness/founders.ts";

const { project, membership } = defineProjects();
const club = defineResource({ name: "club", fields: { name: text() } });
const user = defineResource({ name: "user", fields: { name: text() } });
const other = defineResource({ name: "other", fields: { name: text() } });

const user_id = reference("users");
const project_id = reference(project, { onDelete: "cascade" });
const cascading = defineResource({
  name: "cascading",
  fields: { user_id: reference("users", { onDelete: "cascade" }), project_id, roles: array(text()) },
});
const required = defineResource({ name: "required", fields: { user_id, project_id, role: text() } });
const ofOther = defineResource({ name: "of_other", fields: { user_id, other_id: reference(other) } });
const named = defineResource({ name: "named", table: "named", id: "text", fields: { user_id, project_id } });
const once = defineResource({
  name: "once",
  id: "text",
  fields: { user_id, project_id, code: shownOnce({ owner: "user_id" }) },
});
const seat = defineResource({ name: "seat", within: club, fields: { user_id, project_id } });
const own = defineResource({ name: "own", within: user, fields: { project_id } });
const mixed = defineResource({
  name: "mixed",
  fields: {
    user_id,
    project_id,
    secret: text({ writeOnly: true, optional: true }),
    pin: text({ writeOnly: true, transient: true, optional: true }),
    note: text({ optional: true }),
  },
  computed: { noted: { as: boolean(), from: ({ note }) => note !== null } },
});

const found = (founder: object, permission: unknown = authenticated) =>
  mount(project, { permission, founder } as { permission: typeof authenticated; founder: FounderOptions });

/** Answers like this to every caller, also to unknown ones. */
const answering = (decision: ReturnType<Permission["decide"]>): Permission => ({
  name: "custom",
  narrows: ["create"],
  decide: () => decision,
});

const wrong: Readonly<Record<string, readonly [founder: object, message: RegExp, permission?: unknown]>> = {
  "no role that is declared": [
    { memberships: membership, values: { role: "boss" } },
    /founder: values\.role is 'boss': One of owner, editor, viewer is required/,
  ],
  "a wrong value of an optional field": [
    { memberships: membership, values: { role: "owner", note: 5 } },
    /founder: values\.note is 5: /,
  ],
  "null in a field that is not optional": [{ memberships: required, values: { role: null } }, /values\.role is null/],
  "no field of this name": [
    { memberships: membership, values: { rol: "owner" } },
    /has no field rol for a founder; did you mean role\?/,
  ],
  "another user": [{ memberships: membership, values: { user_id: 1 } }, /has no field user_id for a founder/],
  "another group": [{ memberships: membership, values: { project_id: 1 } }, /has no field project_id for a founder/],
  "a value that nobody sees": [{ memberships: mixed, values: { secret: "s" } }, /has no field secret for a founder/],
  "a value that is not stored": [{ memberships: mixed, values: { pin: "1" } }, /has no field pin for a founder/],
  "a computed value": [{ memberships: mixed, values: { noted: true } }, /has no field noted for a founder/],
  "no value of a required field": [
    { memberships: required, values: {} },
    /values: the field role of \/requireds is required/,
  ],
  "memberships without a user": [
    { memberships: project, values: {} },
    /founder: \/projects has no reference to a user/,
  ],
  "memberships of another group": [
    { memberships: ofOther, values: {} },
    /other_id of \/of_others does not refer to proj/,
  ],
  "memberships within another record": [
    { memberships: seat, values: {}, of: "project_id" },
    /memberships: \/clubs\/\{club_id\}\/seats is within clubs, and a new record of projects names none of these; take/,
  ],
  "memberships with ids that callers choose": [
    { memberships: named, values: {} },
    /the ids of \/nameds are texts that callers choose, so the service cannot create one/,
  ],
  "memberships that show a value once": [
    { memberships: once, values: {} },
    /\/onces shows code once, so only its own path can create one/,
  ],
  "memberships that another deletion would delete": [
    { memberships: cascading, values: { roles: [] }, keep: true },
    /keep: deleting a record that user_id of \/cascadings refers to would delete the membership of an owner/,
  ],
  "memberships that the deletion of a parent would delete": [
    { memberships: own, values: {}, keep: true },
    /keep: deleting a record that user_id of \/users\/\{user_id\}\/owns refers to would delete the membership of an owner/,
  ],
  "a kept value that cannot be compared": [
    { memberships: cascading, values: { roles: [] }, keep: true },
    /values\.roles: it holds JSON or a list/,
  ],
  "an unknown option": [
    { memberships: required, values: { role: "a" }, kept: true },
    /founder: there is no option kept; there are memberships, values, of, user, keep/,
  ],
  "unknown callers": [
    { memberships: membership, values: { role: "owner" } },
    /mount\(\/projects\): founder: the permission anyone lets unknown callers create a record/,
    anyone,
  ],
  "unknown callers with some rows": [
    { memberships: membership, values: { role: "owner" } },
    /founder: the permission custom lets unknown callers create a record/,
    answering({ only: { column: "id", operator: "eq", value: 1 } }),
  ],
  "no creation": [{ memberships: membership, values: { role: "owner" } }, /has no create/, { list: anyone }],
  "no permission": [{ memberships: membership, values: { role: "owner" } }, /has no create/, null],
};

for (const [name, [founder, message, permission]] of Object.entries(wrong))
  test(`stops the start for a founder with ${name}`, () => {
    assert.throws(
      () => found(founder, permission),
      (error) => error instanceof DeclarationError && message.test(error.message),
    );
  });

test("accepts owners who stay, and values without those that are not given", () => {
  const kept = { memberships: membership, values: { role: "owner", note: null }, keep: true };
  const plain = { memberships: membership, values: { role: "owner", note: undefined } };

  const founders = [found(kept), found(kept, { create: authenticated }), found(plain)].map(({ founder }) => founder);

  assert.deepEqual(
    founders.map((founder) => [founder?.values, founder?.keep]),
    [
      [{ role: "owner", note: null }, true],
      [{ role: "owner", note: null }, true],
      [{ role: "owner" }, false],
    ],
  );
});

test("accepts a founder whose owners need not stay, whatever deletes or compares them", () => {
  const [ofCascading, ofOwn] = [cascading, own].map((memberships) =>
    found({ memberships, values: memberships === cascading ? { roles: [] } : {}, keep: false }),
  );

  assert.deepEqual([ofCascading!.founder?.keep, ofOwn!.founder?.keep], [false, false]);
  assert.equal(found({ memberships: own, values: {} }).founder?.keep, false);
});

test("accepts a permission that asks every caller to confirm, and one that fails for unknown callers", () => {
  const failing: Permission = {
    ...answering("deny"),
    decide: () => {
      throw new TypeError("There is no caller.");
    },
  };
  const founder = { memberships: membership, values: { role: "owner" } };

  for (const permission of [answering({ confirm: { within: 300, level: 1 } }), answering("deny"), failing])
    assert.notEqual(found(founder, permission).founder, null);
});

test("does not compile a founder with a role or a field that is not declared", () => {
  const role = () =>
    // @ts-expect-error -- the role is not declared
    mount(project, { permission: authenticated, founder: { memberships: membership, values: { role: "boss" } } });
  const field = () =>
    // @ts-expect-error -- there is no such field
    mount(project, { permission: authenticated, founder: { memberships: membership, values: { rol: "owner" } } });

  for (const declare of [role, field]) assert.throws(declare, DeclarationError);
  assert.throws(() => mount(project, { permission: authenticated, joins: "closed" as never }), /joins/);
});

test("stops the start once if the memberships are not mounted, also with an older shape of the group", async (t: TestContext) => {
  const mounted = found({ memberships: membership, values: { role: "owner" } });
  const older = olderShape(mounted, { prefix: "/v1", fields: { title: "name" } });

  await assert.rejects(startTeams(t, { mounts: [mounted, older] }), ({ message }: Error) => {
    const said = message.match(/the founder of \S+ gets a membership of \S+, which is not mounted; mount \w+ too/g);
    assert.deepEqual(said, [
      "the founder of /projects gets a membership of /memberships, which is not mounted; mount memberships too",
    ]);
    return true;
  });
});
