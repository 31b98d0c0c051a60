import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { accountsCollection } from "../../src/door/auth.ts";
import {
  accounts,
  authenticated,
  basicLogin,
  defineResource,
  enumeration,
  integer,
  mount,
  reference,
  text,
  type Feature,
  type ServiceOptions,
} from "../../src/door/index.ts";
import { olderShape, type MountOptions } from "../../src/door/resources.ts";
import { open, password, serve, type Answered, type Own } from "./own-logins.ts";
import { basicHeader } from "./serve.ts";

/** Projects with memberships: the resources for tests of founders. */
export function defineProjects({ id = "integer" }: { readonly id?: "integer" | "uuid" } = {}) {
  const project = defineResource({ name: "project", id, fields: { name: text() } });
  const membership = defineResource({
    name: "membership",
    fields: {
      user_id: reference("users"),
      project_id: reference(project, { onDelete: "cascade" }),
      role: enumeration(["owner", "editor", "viewer"], { default: "viewer" }),
      level: integer({ default: 3 }),
      note: text({ optional: true }),
    },
    filters: { project_id: ["eq"], user_id: ["eq"] },
    unique: [["user_id", "project_id"]],
  });
  return { project, membership };
}

export type Projects = ReturnType<typeof defineProjects>;

/** The mounts of projects whose creator becomes the owner. */
export function mountProjects(
  { project, membership }: Projects,
  {
    memberships = {},
    projects = {},
  }: {
    readonly memberships?: Partial<MountOptions<Projects["membership"]>>;
    readonly projects?: Partial<MountOptions<Projects["project"]>>;
  } = {},
) {
  const ofProjects: MountOptions<Projects["project"]> = {
    permission: authenticated,
    arrays: true,
    founder: { memberships: membership, values: { role: "owner" }, keep: true },
    ...projects,
  };
  const ofMemberships: MountOptions<Projects["membership"]> = {
    permission: authenticated,
    arrays: true,
    ...memberships,
  };
  const mounted = mount(project, ofProjects);
  return [mounted, mount(membership, ofMemberships), olderShape(mounted, { prefix: "/v1", fields: { title: "name" } })];
}

/** A service with users, for tests of founders. */
export interface Teams {
  readonly api: Own;
  /** Sends a request as a user. */
  as(
    name: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answered>;
  /** The ids of the users by name. */
  readonly ids: Readonly<Record<string, number>>;
}

/** Starts a service with the users ada, ben and cleo, and an administrator root. */
export async function startTeams(
  t: TestContext,
  more: Partial<ServiceOptions>,
  features: readonly Feature[] = [],
  people = accounts(open),
): Promise<Teams> {
  const api = await serve(t, people, [basicLogin(people), ...features], more);
  const ids: Record<string, number> = { ada: 1 };
  for (const name of ["ben", "cleo", "root"]) {
    const made = await api.ask("POST", "/users", { name, email: `${name}@example.com`, password });
    assert.equal(made.status, 201, made.text);
    ids[name] = made.json.id;
  }
  await api.service.store.write({
    changes: [{ kind: "update", collection: accountsCollection, key: ids["root"]!, values: { role: "admin" } }],
  });
  return {
    api,
    ids,
    as: (name, method, path, body, headers = {}) =>
      api.ask(method, path, body, { ...basicHeader(`${name}@example.com`, password), ...headers }),
  };
}
