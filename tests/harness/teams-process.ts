// A service with teams for tests that start several processes on one database (`LATCHKEY_DATABASE`). The header
// `X-Visitor` has the id of the caller. The first user is an administrator.
import { memberOf } from "../../src/door/auth.ts";
import {
  accepted,
  administrator,
  anyOf,
  createService,
  defineResource,
  enumeration,
  listen,
  mount,
  owner,
  reference,
  Secret,
  text,
  type Scheme,
} from "../../src/door/index.ts";
import { isPostgresURL, postgresStore, sqliteStore } from "../../src/door/stores.ts";

const visitor: Scheme = {
  name: "visitor",
  carriers: [{ in: "header", name: "X-Visitor" }],
  challenge: () => "Visitor",
  authenticate(sent) {
    const id = Number(sent);
    const role = id === 1 ? "admin" : "user";
    return accepted({ id, username: `user ${id}`, role, scheme: "visitor", scopes: null, expiresAt: null });
  },
};

const user = defineResource({ name: "user", fields: { name: text() } });
const project = defineResource({ name: "project", fields: { name: text() } });
const membership = defineResource({
  name: "membership",
  fields: {
    user_id: reference(user),
    project_id: reference(project, { onDelete: "cascade" }),
    role: enumeration(["owner", "viewer"]),
  },
  filters: { role: ["eq"] },
  unique: [["user_id", "project_id"]],
});
const task = defineResource({
  name: "task",
  fields: { project_id: reference(project), title: text() },
  search: ["title"],
});
const note = defineResource({ name: "note", within: project, fields: { line: text() } });

const members = anyOf(administrator, memberOf(membership));
const owners = anyOf(administrator, memberOf(membership, { where: { role: "owner" } }));

const database = process.env["LATCHKEY_DATABASE"]!;
const service = await createService({
  store: isPostgresURL(database)
    ? postgresStore({ url: new Secret(database), poolSize: 8 })
    : sqliteStore({ path: database.replace(/^sqlite:/, "") }),
  schemes: [visitor],
  observe: null,
  mounts: [
    mount(user, { permission: administrator, arrays: true }),
    mount(project, {
      permission: { list: members, read: members, create: administrator, delete: owners },
      founder: { memberships: membership, values: { role: "owner" }, keep: true },
    }),
    mount(membership, {
      permission: {
        list: members,
        read: members,
        create: owners,
        update: owners,
        delete: anyOf(owners, owner("user_id")),
      },
      arrays: true,
    }),
    mount(task, { permission: members }),
    mount(note, { permission: { list: members, create: members }, writers: "readers" }),
  ],
});
const { url } = await listen(service, { port: 0 });
process.stdout.write(`${url}\n`);
