import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { groupInvitations, memberOf, type Permission } from "../../src/door/auth.ts";
import {
  administrator,
  allOf,
  anyOf,
  authenticated,
  caller,
  defineFeature,
  defineResource,
  enumeration,
  mount,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import { ada, as, password, root, startMailed, type Mailed } from "../harness/verified-emails.ts";

// An invitation shows other people no more than they may read. Projects are within an organization of a region. Members
// make memberships in their own name alone.

const region = defineResource({ name: "region", fields: { title: text() } });
const organization = defineResource({ name: "organization", within: region, fields: { title: text() } });
const project = defineResource({ name: "project", within: organization, fields: { name: text() } });
const projects = "/regions/1/organizations/1/projects";
const club = defineResource({ name: "club", fields: { name: text({ read: authenticated }) } });

async function start(
  t: TestContext,
  group: typeof project | typeof club,
  regions: Permission = administrator,
): Promise<Mailed> {
  const membership = defineResource({
    name: "membership",
    fields: {
      user_id: reference("users"),
      group_id: reference(group as typeof club, { onDelete: "cascade" }),
      role: enumeration(["owner", "viewer"], { default: "viewer" }),
      invited_by: reference("users", { default: caller }),
    },
    unique: [["user_id", "group_id"]],
  });
  const members = memberOf(membership, { user: "user_id" });
  const ofGroup = memberOf(membership, { user: "user_id", on: "id" });
  const mounts = [
    mount(region, { permission: regions }),
    mount(organization, { permission: authenticated }),
    mount(group as typeof club, { permission: anyOf(administrator, ofGroup) }),
    mount(membership, {
      permission: {
        list: anyOf(administrator, members),
        read: anyOf(administrator, members),
        create: anyOf(administrator, allOf(members, owner("invited_by"))),
      },
      invitations: { user: "user_id" },
    }),
  ];
  const mailed = await startMailed(t, { registration: "open", invitations: true }, (people, box) => [
    groupInvitations(people, box),
    defineFeature({ name: "groups", setUp: () => ({ offer: null, mounts }) }),
  ]);
  await mailed.post("/users", { name: "Ben", email: "ben@example.com", password }, root);
  await mailed.post("/regions", { title: "North" }, root);
  await mailed.post("/regions/1/organizations", { title: "Mills" }, root);
  await mailed.post(group === project ? projects : "/clubs", { name: "Codename" }, root);
  for (const user of [2, 3]) await mailed.post("/memberships", { user_id: user, group_id: 1, invited_by: 1 }, root);
  return mailed;
}

const invite = (mailed: Mailed) =>
  mailed.post("/memberships/invitations", { email: "cid@example.com", group_id: 1 }, as(ada));

test("judges an open invitation with the defaults of its sender, not with those of the reader", async (t) => {
  const mailed = await start(t, club);
  assert.equal((await invite(mailed)).status, 202);
  const list = async (email: string) =>
    (await mailed.ask("GET", "/memberships/invitations", undefined, as(email))).json;

  const [own] = await list(ada);

  assert.deepEqual(own.fields, { group_id: 1, role: "viewer", invited_by: 2 });
  assert.deepEqual(await list("ben@example.com"), []);
  const end = async (email: string) =>
    (await mailed.ask("DELETE", `/memberships/invitations/${own.id}`, undefined, as(email))).status;
  assert.equal(await end("ben@example.com"), 404);
  assert.equal(await end(ada), 204);
});

test("names no group on the page of a link that its sender may not read at its path", async (t) => {
  const [hidden, shown] = [await start(t, project), await start(t, project, authenticated)];
  assert.equal((await hidden.ask("GET", `${projects}/1`, undefined, as(ada))).status, 404);
  assert.equal((await shown.ask("GET", `${projects}/1`, undefined, as(ada))).status, 200);
  for (const mailed of [hidden, shown]) await invite(mailed);

  assert.equal((await open(hidden)).group, "Project 1");
  assert.equal((await open(shown)).group, "Codename");
});

test("shows no field with a rule on the page of a link", async (t) => {
  const mailed = await start(t, club);
  await invite(mailed);

  assert.equal((await open(mailed)).group, "Club 1");
});

async function open(mailed: Mailed): Promise<{ readonly group: string }> {
  const { token } = await mailed.onlyMail();
  return (await mailed.ask("GET", `/api/invitations/accept/?token=${token}`)).json;
}
