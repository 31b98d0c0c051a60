import type { TestContext } from "node:test";
import { hasRole, type OwnUserFields } from "../../src/door/auth.ts";
import { csv } from "../../src/door/http.ts";
import { administrator, anyOf, defineResource, mount, reference, self, text } from "../../src/door/index.ts";
import type { ConfigFile } from "../../src/service/settings/config-file/config-file.ts";
import { serve, type API } from "./serve.ts";

const librarian = hasRole("librarian");
const staff = anyOf(administrator, librarian, self());

/** Users of a library: librarians list, read and change members. */
export const members = {
  roles: ["user", "librarian", "admin"],
  permissions: { list: staff, read: staff, replace: staff, update: staff },
} satisfies OwnUserFields;

/** The same users, whose addresses only administrators read. */
export const membersWithoutAddresses = {
  ...members,
  rules: { email: { read: administrator } },
} satisfies OwnUserFields;

/** The configuration of a library with loans, which refer to members. */
export function libraryConfig(users: OwnUserFields): ConfigFile {
  const loan = defineResource({
    name: "loan",
    fields: { title: text({ maxLength: 80 }), member_id: reference("users") },
    sorts: ["title"],
  });
  const loans = mount(loan, {
    permission: anyOf(administrator, librarian),
    expand: { member: "member_id" },
  });
  return { users, mounts: [loans], formats: [csv({ formulas: "exact" })] };
}

export type Member = Awaited<ReturnType<API["user"]>>;

/** A library with the administrator (1), the librarian Lea and the members Ben and Cleo. */
export interface Library {
  readonly api: API;
  readonly lea: Member;
  readonly ben: Member;
  readonly cleo: Member;
}

export interface LibraryOptions {
  readonly users?: OwnUserFields;
  readonly more?: ConfigFile;
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts a library. Ben has borrowed a book. */
export async function startLibrary(
  t: TestContext,
  { users = membersWithoutAddresses, more = {}, settings = {} }: LibraryOptions = {},
): Promise<Library> {
  const api = await serve(t, { settings, config: { ...libraryConfig(users), ...more } });
  const [lea, ben, cleo] = [await api.user("Lea"), await api.user("Ben"), await api.user("Cleo")];
  const named = await api.patch(`/users/${lea.id}/account`, { role: "librarian" }, api.admin);
  const lent = await api.post("/loans", { title: "Emma", member_id: ben.id }, api.admin);
  if (named.status !== 200 || lent.status !== 201) throw new Error(named.text + lent.text);
  return { api, lea, ben, cleo };
}
