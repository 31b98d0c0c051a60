// Projects with teams: members see their projects, owners change them, and the treasurers see the money. Whoever
// creates a project becomes its owner, and the last owner stays.
import {
  accounts,
  administrator,
  anyOf,
  apiTokens,
  authenticated,
  basicLogin,
  boolean,
  createService,
  decimal,
  defineResource,
  enumeration,
  listen,
  mount,
  owner,
  reference,
  Secret,
  sessionLogin,
  text,
  tokenLogin,
} from "latchkey";
import { hasRole, memberOf, sharesGroup } from "latchkey/auth";
import { consolePages, documentation } from "latchkey/features";
import { csv } from "latchkey/http";
import { olderShape } from "latchkey/resources";
import { isPostgresURL, postgresStore, sqliteStore } from "latchkey/stores";

const finance = anyOf(hasRole("finance"), administrator);
const money = { scale: 2, maximum: "9999999.99", optional: true } as const;

const project = defineResource({
  name: "project",
  fields: {
    name: text({ maxLength: 200 }),
    budget: decimal({ ...money, read: finance, write: finance }),
  },
  filters: { name: ["eq", "istarts"], budget: ["eq", "lt", "gt"] },
  sorts: ["name", "budget"],
});

const membership = defineResource({
  name: "membership",
  fields: {
    user_id: reference("users"), // a user with memberships cannot be deleted
    project_id: reference(project, { onDelete: "cascade" }),
    role: enumeration(["owner", "editor", "viewer"], { default: "viewer" }),
  },
  filters: { user_id: ["eq"], project_id: ["eq"], role: ["eq"] },
  unique: [["user_id", "project_id"]],
});

const task = defineResource({
  name: "task",
  fields: {
    project_id: reference(project, { onDelete: "cascade" }),
    title: text({ maxLength: 200 }),
    done: boolean({ default: false }),
    cost: decimal({ ...money, read: finance }), // editors send it without reading it
    tags: text({ maxLength: 200, optional: true }),
  },
  filters: {
    project_id: ["eq", "in"],
    title: ["eq", "ne", "starts", "icontains"],
    done: ["eq"],
    cost: ["eq", "lt", "lte", "gt", "gte", "null"],
    tags: ["eq", "contains", "null"],
  },
  sorts: ["project_id", "title", "done", "cost", "tags"],
  search: ["title", "tags"],
  scans: true,
});

const note = defineResource({ name: "note", within: project, fields: { line: text({ maxLength: 1000 }) } });

const member = anyOf(administrator, memberOf(membership));
const editor = anyOf(administrator, memberOf(membership, { where: { role: ["owner", "editor"] } }));
const leader = anyOf(administrator, memberOf(membership, { where: { role: "owner" } }));

const tasks = mount(task, {
  permission: { list: member, read: member, create: editor, replace: editor, update: editor, delete: editor },
  arrays: true,
  expand: { project: "project_id" },
  actions: {
    finish: {
      permission: editor,
      description: "Marks a task as done",
      handle: () => ({ values: { done: true } }),
    },
  },
});

const mounts = [
  mount(project, {
    permission: {
      list: member,
      read: member,
      create: authenticated,
      replace: leader,
      update: leader,
      delete: leader,
    },
    founder: { memberships: membership, values: { role: "owner" }, keep: true },
  }),
  mount(membership, {
    permission: {
      list: member,
      read: member,
      create: leader,
      replace: leader,
      update: leader,
      delete: anyOf(leader, owner("user_id")), // members may leave
    },
    expand: { user: "user_id", project: "project_id" },
  }),
  tasks,
  mount(note, { permission: member, writers: "readers" }),
  olderShape(tasks, {
    prefix: "/v1",
    fields: { project_id: "project_id", subject: "title", done: "done", price: "cost", tags: "tags" },
  }),
];

const teammates = anyOf(administrator, sharesGroup(membership));
const people = accounts({
  registration: "open",
  roles: ["user", "finance", "admin"],
  permissions: { list: teammates, read: teammates },
  rules: { email: { read: administrator } },
});

// A file, or the URL of a PostgreSQL database.
const database = (process.env["DATABASE"] ?? ":memory:").replace(/^sqlite:/, "");
const service = await createService({
  name: "teams",
  store: isPostgresURL(database) ? postgresStore({ url: new Secret(database) }) : sqliteStore({ path: database }),
  secret: new Secret(process.env["SECRET"] ?? `${crypto.randomUUID()}${crypto.randomUUID()}`),
  features: [
    people,
    basicLogin(people),
    sessionLogin(people),
    tokenLogin(people),
    apiTokens(people),
    documentation({ title: "Teams", version: "1" }),
    consolePages({ title: "Teams" }),
  ],
  formats: [csv()],
  mounts,
});

// The first administrator, whom no request could make.
const password = process.env["ADMIN_PASSWORD"];
const { accounts: found, logins } = service.use(people);
if (password !== undefined && (await found.findByUsername("admin")) === null) {
  const first = { name: "Admin", email: "admin@example.com", username: "admin", role: "admin" } as const;
  const passwordHash = await logins.passwords.hash(null, password);
  const changes = found.insertUser({ ...first, passwordHash, emailOrigin: "vouched", now: Date.now() });
  await service.store.write({ changes });
}
console.log((await listen(service, { port: Number(process.env["PORT"] ?? 8000) })).url);
