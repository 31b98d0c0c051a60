import assert from "node:assert/strict";
import { test } from "node:test";
import { memberOf } from "../../src/door/auth.ts";
import {
  accounts,
  administrator,
  authenticated,
  createService,
  defineFeature,
  defineResource,
  integer,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import { DeclarationError, shownOnce } from "../../src/door/resources.ts";
import { secret } from "../harness/own-logins.ts";
import { emptyStore } from "../harness/test-store.ts";

const project = defineResource({ name: "project", fields: { name: text() } });
const user_id = reference("users");
const project_id = reference(project);
const membership = defineResource({
  name: "membership",
  fields: { user_id, project_id },
  unique: [["user_id", "project_id"]],
});
const everyone = { list: authenticated, read: authenticated, create: administrator } as const;

const wrong: readonly (readonly [object, RegExp])[] = [
  [{ fields: { project_id } }, /has no reference to a user; declare user_id/],
  [{ fields: { user_id } }, /has no reference to a group/],
  [{ fields: { user_id, project_id, invited_by: user_id } }, /has several references to a user: user_id, invited_by/],
  [{ fields: { user_id, project_id, email: text() } }, /rename the field email/],
  [{ fields: { user_id: reference("users", { optional: true }), project_id } }, /user_id is optional/],
  [{ fields: { user_id: reference("users", { readOnly: true, default: 1 }), project_id } }, /no caller sends user_id/],
  [
    { fields: { user_id, project_id, pin: text({ transient: true, writeOnly: true }) } },
    /the field pin is not stored, so no invitation can keep it/,
  ],
  [
    { id: "text", fields: { user_id, project_id, code: shownOnce({ owner: "user_id" }) } },
    /records that show a value once cannot be accepted/,
  ],
];

for (const [declaration, mistake] of wrong)
  test(`refuses invitations of memberships: ${mistake.source}`, () => {
    const resource = defineResource({ name: "membership", ...declaration } as never);
    assert.throws(() => mount(resource, { permission: everyone, invitations: true }), mistake);
  });

test("refuses invitations that no caller may send, and unclear options", () => {
  const permission = { list: memberOf(membership) };
  assert.throws(() => mount(membership, { permission, invitations: true }), /no caller may create these records/);
  for (const invitations of ["yes", 1, { of: 1 }, { group: "project_id" }])
    assert.throws(() => mount(membership, { permission: everyone, invitations } as never), DeclarationError);
  assert.equal(mount(membership, { permission: everyone, invitations: false }).invitations, null);
  assert.equal(mount(membership, { permission: administrator, invitations: true }).invitations?.group, "project_id");
  for (const none of [undefined, null])
    assert.throws(
      () => mount(membership, { permission: none as never, invitations: true }),
      (error) => error instanceof DeclarationError && error.message.includes("no caller may create these records"),
    );
  assert.throws(() => mount({} as never, { permission: everyone, invitations: true }), DeclarationError);
  const entry = defineResource({
    name: "entry",
    plural: "entries",
    fields: { user_id, invited_by: user_id, project_id },
  });
  const { invitations } = mount(entry, { permission: everyone, invitations: { user: "user_id" } });
  assert.deepEqual([invitations?.user, invitations?.group], ["user_id", "project_id"]);
});

test("invites to the group in the path of nested memberships, and to no other one", () => {
  const club = defineResource({ name: "club", fields: { name: text() } });
  const member = defineResource({ name: "member", within: club, fields: { user_id, project_id } });

  assert.equal(mount(member, { permission: everyone, invitations: true }).invitations?.group, "club_id");
  assert.throws(
    () => mount(member, { permission: everyone, invitations: { of: "project_id" } }),
    /nested memberships belong to the group in their path; name of: "club_id"/,
  );
});

test("does not start with invitations if no feature sends mails, or if two send invitations", async () => {
  const people = accounts();
  const mounts = [
    mount(project, { permission: everyone }),
    mount(membership, { permission: everyone, invitations: true }),
  ];
  const start = async (features: object[]) =>
    createService({
      store: await emptyStore(),
      secret,
      observe: null,
      features: [people, ...features] as never,
      mounts,
    });
  const sender = (name: string) =>
    defineFeature({ name, setUp: () => ({ offer: null, endpointsOfInvitations: () => [] }) });

  await assert.rejects(start([]), /mount\(\/memberships\): invitations need mail, and no feature sends them; add/);
  await assert.rejects(start([sender("one"), sender("two")]), /one and two both send invitations; keep one/);
  await (await start([sender("one")])).close();
});

test("asks no feature for the calls of invitations if no mount has them, and then lets several send them", async () => {
  let asked = 0;
  const sender = (name: string) =>
    defineFeature({ name, setUp: () => ({ offer: null, endpointsOfInvitations: () => (asked++, []) }) });
  const start = async (...mounts: unknown[]) =>
    createService({
      store: await emptyStore(),
      secret,
      observe: null,
      features: [accounts(), sender("one"), sender("two")],
      mounts: mounts as never,
    });

  await (await start(mount(project, { permission: everyone }))).close();
  assert.equal(asked, 0);
  for (const wrong of [null, "mount"]) await assert.rejects(start(wrong), DeclarationError);
});

test("refuses a path of invitations that an action or an endpoint has", async () => {
  const people = accounts();
  const taken = mount(membership, {
    permission: everyone,
    invitations: true,
    actions: { invitations: { on: "collection", permission: authenticated, handle: () => ({}) } },
  });
  const sender = defineFeature({
    name: "sender",
    setUp: () => ({
      offer: null,
      endpointsOfInvitations: () => [
        { method: "POST", path: "/memberships/invitations", access: authenticated, handle: () => ({ status: 204 }) },
      ],
    }),
  });
  const mounts = [mount(project, { permission: everyone }), taken];

  await assert.rejects(
    createService({ store: await emptyStore(), secret, observe: null, features: [people, sender], mounts }),
    /POST \/memberships\/invitations is there twice/,
  );
});

test("has no invitations for a resource that has none", () => {
  const plain = defineResource({ name: "plain", fields: { user_id, project_id, rank: integer({ default: 1 }) } });
  assert.equal(mount(plain, { permission: everyone }).invitations, null);
});
