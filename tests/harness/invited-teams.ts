import type { TestContext } from "node:test";
import {
  memberOf,
  groupInvitations,
  type AccountsOptions,
  type AccountsFeature,
  type Mailbox,
} from "../../src/door/auth.ts";
import type { Permission } from "../../src/door/auth.ts";
import {
  administrator,
  allOf,
  anyOf,
  authenticated,
  defineFeature,
  defineResource,
  enumeration,
  mount,
  reference,
  text,
  type Feature,
} from "../../src/door/index.ts";
import type { Collection, Store, StoredRecord } from "../../src/door/stores.ts";
import type { Mount } from "../../src/http/declarations/mount.ts";
import { ada, as, root, startMailed, type Headers, type Mailed } from "./verified-emails.ts";

// Projects with memberships by themselves, and clubs with members within them. Ada (2) owns project 1 and the club. An
// editor makes viewers only, and only administrators send the note of a membership.

export const project = defineResource({ name: "project", fields: { name: text() } });
export const club = defineResource({ name: "club", id: "uuid", fields: { title: text() } });

export const membership = defineResource({
  name: "membership",
  fields: {
    user_id: reference("users"),
    project_id: reference(project, { onDelete: "cascade" }),
    role: enumeration(["owner", "editor", "viewer"], { default: "viewer" }),
    note: text({ optional: true, read: administrator, write: administrator }),
  },
  unique: [["user_id", "project_id"]],
});

export const member = defineResource({
  name: "member",
  within: club,
  fields: { user_id: reference("users"), role: enumeration(["owner", "viewer"], { default: "viewer" }) },
  unique: [["user_id", "club_id"]],
});

/** Allows only memberships of viewers. */
const viewersOnly: Permission<"role"> = {
  name: "viewers only",
  narrows: ["create"],
  columns: ["role"],
  decide: () => ({ only: { column: "role", operator: "eq", value: "viewer" } }),
};

export interface TeamOptions extends AccountsOptions {
  /** More options of the mount of memberships. */
  readonly memberships?: object;
  /** The permission to create memberships. */
  readonly create?: Permission<"project_id or id of project" | "role">;
  readonly more?: (people: AccountsFeature, box: Feature<Mailbox>) => readonly Feature[];
  readonly store?: Store;
}

export interface Teams extends Mailed {
  readonly clubId: string;
  /** Invites and returns the token of the mail. */
  invite(body: object, headers?: Headers, path?: string): Promise<string>;
  accept(body: object, headers?: Headers): ReturnType<Mailed["ask"]>;
  rows(collection: Collection): Promise<readonly StoredRecord[]>;
}

export const owners = memberOf(membership, { where: { role: "owner" } });
export const byRank = anyOf(
  administrator,
  owners,
  allOf(memberOf(membership, { where: { role: "editor" } }), viewersOnly),
);

export const mountedMemberships = (options: object = {}, create: TeamOptions["create"] = byRank): Mount =>
  mount(membership, {
    permission: {
      list: anyOf(administrator, memberOf(membership)),
      read: anyOf(administrator, memberOf(membership)),
      create,
      update: anyOf(administrator, owners),
      delete: anyOf(administrator, owners),
    },
    invitations: true,
    ...options,
  });

const clubOwners = memberOf(member, { where: { role: "owner" } });

/** Starts a service with teams, which stops with the test. */
export async function startTeams(t: TestContext, options: TeamOptions = {}): Promise<Teams> {
  const { memberships = {}, create, more, store, ...accounts } = options;
  const teams = defineFeature({
    name: "teams",
    setUp: () => ({
      offer: null,
      mounts: [
        mount(project, {
          permission: {
            list: authenticated,
            read: anyOf(administrator, memberOf(membership)),
            create: administrator,
            delete: administrator,
          },
        }),
        mountedMemberships(memberships, create),
        mount(club, {
          permission: {
            read: anyOf(administrator, memberOf(member)),
            create: administrator,
            delete: administrator,
          },
        }),
        mount(member, {
          permission: { list: memberOf(member), read: memberOf(member), create: anyOf(administrator, clubOwners) },
          invitations: true,
        }),
      ],
    }),
  });
  const mailed = await startMailed(
    t,
    { registration: "open", invitations: true, ...accounts },
    (people, box) => [groupInvitations(people, box), teams, ...(more?.(people, box) ?? [])],
    store,
  );
  const add = async (path: string, body: object) => {
    const { status, text: answer, json } = await mailed.post(path, body, root);
    if (status !== 201) throw new Error(`${path}: ${status} ${answer}`);
    return json as { readonly id: string };
  };
  await add("/projects", { name: "Summer regatta" });
  await add("/projects", { name: "Winter" });
  await add("/memberships", { user_id: 2, project_id: 1, role: "owner" });
  const { id: clubId } = await add("/clubs", { title: "Harbour Club" });
  await add(`/clubs/${clubId}/members`, { user_id: 2, role: "owner" });
  const post = (path: string, body: object, headers?: Headers) => mailed.post(path, body, headers);
  return {
    ...mailed,
    clubId,
    async invite(body, headers = as(ada), path = "/memberships/invitations") {
      const { status, text: answer } = await post(path, body, headers);
      if (status !== 202) throw new Error(`${status} ${answer}`);
      const { token } = await mailed.onlyMail();
      return token!;
    },
    accept: (body, headers) => post("/api/invitations/accept/", body, headers),
    async rows(collection) {
      const found = await mailed.service.store.list({ collection, where: null, sort: [{ column: "id" }], limit: 1000 });
      return found.map(({ record }) => record);
    },
  };
}

/** The memberships of projects. */
export const memberships = mountedMemberships().collection;

/** The address and the choices of a person without an account. */
export const ben = "ben@example.com";
export const newcomer = { name: "Ben", password: "a good pass phrase 1" };

/** The headers of Ben, after the account exists. */
export const asBen = as(ben, newcomer.password);

/** Creates the user Ben (3), or a user with another address. */
export async function signUp({ post }: Teams, email = ben): Promise<void> {
  const { status, text: said } = await post("/users", { ...newcomer, email });
  if (status !== 201) throw new Error(`${email}: ${status} ${said}`);
}
