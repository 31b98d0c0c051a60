import type { TestContext } from "node:test";
import { memberOf, type Permission } from "../../src/door/auth.ts";
import { csv } from "../../src/door/http.ts";
import {
  administrator,
  anyOf,
  authenticated,
  boolean,
  defineResource,
  enumeration,
  mount,
  owner,
  reference,
  text,
  type ServiceOptions,
} from "../../src/door/index.ts";
import { olderShape } from "../../src/door/resources.ts";
import { ownService, type Own, type OwnAnswer } from "./own-service.ts";

export const user = defineResource({ name: "user", fields: { name: text({ maxLength: 200 }) } });
export const project = defineResource({
  name: "project",
  fields: { name: text({ maxLength: 200 }) },
  filters: { name: ["eq"] },
  sorts: ["name"],
});

const membershipFields = {
  user_id: reference(user),
  role: enumeration(["owner", "editor", "viewer"]),
  accepted: boolean({ default: true }),
} as const;

/** Memberships by themselves. */
export const membership = defineResource({
  name: "membership",
  fields: { ...membershipFields, project_id: reference(project, { onDelete: "cascade" }) },
  unique: [["user_id", "project_id"]],
});
/** Memberships that are nested in their project. */
export const nestedMembership = defineResource({
  name: "membership",
  within: project,
  fields: membershipFields,
  unique: [["user_id", "project_id"]],
});

export const task = defineResource({
  name: "task",
  fields: {
    project_id: reference(project, { onDelete: "cascade" }),
    title: text({ maxLength: 200 }),
    done: boolean({ default: false }),
  },
  filters: { project_id: ["eq", "in"], done: ["eq"], title: ["eq"] },
  sorts: ["title", "project_id"],
  search: ["title"],
});
export const note = defineResource({ name: "note", within: project, fields: { line: text() } });

type TeamRole = "owner" | "editor" | "viewer";

interface TeamsOptions {
  readonly isNested?: boolean;
  /** Called in each write of a task or a note, after it was judged and before it is committed. */
  readonly between?: () => Promise<void>;
}

/** Mounts projects with memberships, tasks and notes. */
export function teamMounts({ isNested = false, between = () => Promise.resolve() }: TeamsOptions = {}) {
  const beforeWrite = () => ({
    async complete() {
      await between();
      return [];
    },
  });
  const counted = { accepted: true };
  const roles = (...role: readonly TeamRole[]) =>
    role.length === 0 ? { where: counted } : { where: { ...counted, role } };
  const having = (...role: readonly TeamRole[]): Permission<"project_id or id of project"> =>
    isNested ? memberOf(nestedMembership, roles(...role)) : memberOf(membership, roles(...role));
  const members = anyOf(administrator, having());
  const writers = anyOf(administrator, having("owner", "editor"));
  const owners = anyOf(administrator, having("owner"));
  const mountedNotes = mount(note, { permission: authenticated, writers: "readers", beforeWrite });
  const permission = {
    list: members,
    read: members,
    create: owners,
    update: owners,
    delete: anyOf(owners, owner("user_id")),
  };
  const mountedMemberships = isNested
    ? mount(nestedMembership, { permission })
    : mount(membership, { permission, arrays: true, expand: { project: "project_id" } });
  const mountedProjects = mount(project, {
    permission: {
      list: members,
      read: members,
      create: administrator,
      replace: owners,
      update: owners,
      delete: owners,
    },
    expand: isNested ? { notes: mountedNotes, memberships: mountedMemberships } : { notes: mountedNotes },
  });
  const tasks = mount(task, {
    permission: { list: members, read: members, create: writers, replace: writers, update: writers, delete: writers },
    arrays: true,
    expand: { project: "project_id" },
    actions: {
      finish: {
        permission: writers,
        answer: "record",
        async handle() {
          await between();
          return { values: { done: true } };
        },
      },
    },
    beforeWrite,
  });
  return [
    mount(user, { permission: administrator }),
    mountedProjects,
    mountedMemberships,
    tasks,
    mountedNotes,
    olderShape(tasks, { prefix: "/v1", fields: { subject: "title", project_id: "project_id", done: "done" } }),
  ];
}

/** A service with two projects: Ada owns the first, Ben owns the second. */
export interface Teams extends Own {
  readonly isNested: boolean;
  /** Adds a member as the administrator. Returns the id of the membership. */
  join(person: "ada" | "ben" | "reader", projectId: number, role: string): Promise<number>;
  /** Removes a membership as the administrator. */
  leave(projectId: number, id: number): Promise<OwnAnswer>;
  /** Returns the path of the memberships of a project, or of one of them. */
  memberships(projectId: number, id?: number): string;
}

export const IDS = { root: 1, ada: 2, ben: 3, reader: 4 } as const;

/** Starts the service with its users and projects. */
export async function startTeams(
  t: TestContext,
  { isNested = false, store, ...options }: TeamsOptions & Partial<Pick<ServiceOptions, "store">> = {},
): Promise<Teams> {
  const own = await ownService(t, {
    mounts: teamMounts({ isNested, ...options }),
    formats: [csv()],
    ...(store === undefined ? {} : { store }),
  });
  const make = async (path: string, body: unknown): Promise<number> => {
    const { status, json, text: sent } = await own.ask("POST", path, { as: "root", body });
    if (status !== 201) throw new Error(`${path}: ${status} ${sent}`);
    return (json as { readonly id: number }).id;
  };
  for (const name of Object.keys(IDS)) await make("/users", { name });
  for (const name of ["first", "second"]) await make("/projects", { name });
  const memberships = (projectId: number, id?: number): string =>
    `${isNested ? `/projects/${projectId}` : ""}/memberships${id === undefined ? "" : `/${id}`}`;
  const teams: Teams = {
    ...own,
    isNested,
    memberships,
    join: (person, projectId, role) =>
      make(memberships(projectId), {
        user_id: IDS[person],
        role,
        ...(isNested ? {} : { project_id: projectId }),
      }),
    leave: (projectId, id) => own.ask("DELETE", memberships(projectId, id), { as: "root" }),
  };
  await teams.join("ada", 1, "owner");
  await teams.join("ben", 2, "owner");
  for (const project_id of [1, 2])
    for (const title of ["plan", "build"]) await make("/tasks", { project_id, title: `${title} ${project_id}` });
  for (const id of [1, 2]) await make(`/projects/${id}/notes`, { line: `note ${id}` });
  return teams;
}
