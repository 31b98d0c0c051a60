/**
 * Serves tasks that only the members of their project see, and makes their rows before the first request. The number of
 * the user travels in `X-User`. Prints the address. For `teams.ts`.
 */
import { parseArgs } from "node:util";
import { memberOf } from "../src/door/auth.ts";
import {
  accepted,
  administrator,
  boolean,
  createService,
  dateTime,
  defineResource,
  integer,
  listen,
  mount,
  reference,
  rejected,
  Secret,
  text,
  type Scheme,
} from "../src/door/index.ts";
import { isPostgresURL, postgresStore, sqliteStore, type Change } from "../src/door/stores.ts";

const { values: options } = parseArgs({
  options: { database: { type: "string" }, tasks: { type: "string" }, projects: { type: "string" } },
});
const tasks = Number(options.tasks);
const projects = Number(options.projects);
const database = options.database!;

const user = defineResource({ name: "user", fields: { name: text() } });
const project = defineResource({ name: "project", fields: { name: text() } });
const membership = defineResource({
  name: "membership",
  fields: { user_id: reference(user), project_id: reference(project, { onDelete: "cascade" }) },
  unique: [["user_id", "project_id"]],
});
const task = defineResource({
  name: "task",
  fields: {
    project_id: reference(project, { onDelete: "cascade" }),
    title: text({ maxLength: 200 }),
    rank: integer(),
    due: dateTime(),
    done: boolean(),
  },
  filters: { project_id: ["eq", "in"], done: ["eq"] },
  sorts: ["title", "rank", "due", "done"],
});

/** The number of projects of each user, from the id 1. The projects of the last user are further ones. */
const memberships = [0, 1, 5, 1000, 10_000, 5].map((wanted) => Math.min(wanted, projects));

const visitor: Scheme = {
  name: "visitor",
  carriers: [{ in: "header", name: "X-User" }],
  challenge: () => "Visitor",
  authenticate: (name) => {
    const id = Number(name);
    if (!(id >= 1 && id <= memberships.length)) return rejected("unknown");
    return accepted({ id, username: name, role: "user", scheme: "visitor", scopes: null, expiresAt: null });
  },
};

const mounts = [
  mount(user, { permission: administrator }),
  mount(project, { permission: memberOf(membership) }),
  mount(membership, { permission: memberOf(membership) }),
  mount(task, { permission: memberOf(membership) }),
];
const service = await createService({
  store: isPostgresURL(database) ? postgresStore({ url: new Secret(database) }) : sqliteStore({ path: database }),
  schemes: [visitor],
  mounts,
  observe: null,
});
const [users, groups, members, rows] = mounts.map(({ collection }) => collection);
if ((await service.store.count(rows!, null)) === 0) await fill();
const { url } = await listen(service, { port: 0 });
console.log(url);
process.once("SIGTERM", () => void service.close().then(() => process.exit()));

async function fill(): Promise<void> {
  const last = memberships.at(-1)!;
  await insert(memberships.length, (at) => ({
    kind: "insert",
    collection: users!,
    values: { name: `user ${at + 1}` },
  }));
  await insert(projects + last, (at) => ({
    kind: "insert",
    collection: groups!,
    values: { name: `project ${at + 1}` },
  }));
  for (const [at, wanted] of memberships.entries()) {
    const isLast = at === memberships.length - 1;
    // The projects of a user are spread evenly.
    const step = Math.floor(projects / Math.max(wanted, 1));
    await insert(wanted, (nth) => ({
      kind: "insert",
      collection: members!,
      values: { user_id: at + 1, project_id: isLast ? projects + nth + 1 : nth * step + 1 },
    }));
  }
  await insert(tasks, (at) => taskOf((at % projects) + 1, (at * 7919) % tasks, Math.floor(at / projects) % 2 === 0));
  // The rows of the last user come last in each order.
  await insert(last * 20, (at) => taskOf(projects + (at % last) + 1, tasks + at, true));
}

function taskOf(project_id: number, rank: number, done: boolean): Change {
  const due = new Date(Date.UTC(2026, 0, 1) + rank * 60_000).toISOString();
  const title = `task ${String(rank).padStart(8, "0")}`;
  return { kind: "insert", collection: rows!, values: { project_id, title, rank, due, done } };
}

/** Inserts rows in transactions of 5,000. */
async function insert(count: number, make: (at: number) => Change): Promise<void> {
  for (let from = 0; from < count; from += 5000) {
    const length = Math.min(5000, count - from);
    const outcome = await service.store.write({ changes: Array.from({ length }, (_, at) => make(from + at)) });
    if (outcome.kind !== "written") throw new Error(JSON.stringify(outcome));
  }
}
