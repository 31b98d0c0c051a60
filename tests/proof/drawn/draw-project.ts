import { drawFrom, type Draw } from "../../harness/draw.ts";
import { fieldRules } from "./draw-permissions.ts";
import { drawResource, type DrawnResource } from "./draw-resources.ts";

const imports = `import {
  administrator, allOf, anyOf, anyone, authenticated, boolean, caller, dateTime, decimal, defineResource, email,
  enumeration, integer, json, mount, not, owner, readOnly, reference, scope, self, text,
} from "latchkey";
import { callerField, defineUsers, hasRole, memberOf, sameAs, sharesGroup } from "latchkey/auth";
import { array, date, number, olderShape, references, updatedAt, url, uuid } from "latchkey/resources";
import { defineConfig } from "latchkey/service";`;

const money = 'scale: 2, maximum: "9999999.99", optional: true';

/**
 * Returns the text of a config file that depends on the seed alone. Its declarations have no hole: no caller can change
 * what it may not read, and only administrators and the owners of a group give rights.
 */
export function drawProject(seed: number): string {
  const draw = drawFrom(seed);
  const hasTenants = draw.below(2) === 0;
  const teams = draw.below(3) > 0 ? drawTeams(draw) : null;
  const resources: DrawnResource[] = [];
  const names = ["task", "book", "plan", "entry"].slice(0, 1 + draw.below(4));
  for (const name of names)
    resources.push(
      drawResource(draw, name, { memberships: teams === null ? null : "membership", hasTenants, others: resources }),
    );
  const mounts = [
    ...(teams === null ? [] : ["groupMount", "membershipMount"]),
    ...resources.flatMap((each) => each.mounts),
  ];
  return [
    imports,
    "",
    ...Object.entries(fieldRules).map(([name, rule]) => `const ${name} = ${rule};`),
    drawPeople(draw, hasTenants),
    ...(teams === null ? [] : [teams]),
    ...resources.flatMap(({ declared }) => declared),
    "",
    drawConfig(draw, mounts, teams !== null),
    "",
  ].join("\n");
}

function drawPeople(draw: Draw, hasTenants: boolean): string {
  const fields = [
    ...(hasTenants ? ["tenant: text({ maxLength: 40, optional: true })"] : []),
    ...(draw.below(2) === 0 ? [`salary: decimal({ ${money}, read: hr, write: hr })`] : []),
    ...(draw.below(2) === 0 ? ["nickname: text({ maxLength: 40, optional: true })"] : []),
  ];
  return [
    "const people = defineUsers({",
    '  roles: ["user", "hr", "editor", "admin"],',
    ...(fields.length === 0 ? [] : [`  fields: { ${fields.join(", ")} },`]),
    ...(hasTenants ? ['  identity: ["tenant"],', '  administered: ["tenant"],'] : []),
    "});",
  ].join("\n");
}

/**
 * Draws groups with memberships. Their owners make members. Administrators do so too only if they see every record of a
 * group anyway, because they would give themselves rights otherwise.
 */
function drawTeams(draw: Draw): string {
  const and = draw.pick(["", ", administrator"]);
  const leave = draw.pick(["leader", 'anyOf(leader, owner("user_id"))']);
  const budget = draw.pick(["", `budget: decimal({ ${money}, read: hr, write: hr }), `]);
  return [
    `const group = defineResource({ name: "group", fields: { ${budget}label: text({ maxLength: 80 }) } });`,
    "const membership = defineResource({",
    '  name: "membership",',
    "  fields: {",
    '    user_id: reference("users", { onDelete: "restrict" }),',
    '    group_id: reference(group, { onDelete: "cascade" }),',
    '    role: enumeration(["owner", "editor", "viewer"], { default: "viewer" }),',
    "  },",
    '  filters: { role: ["eq"], group_id: ["eq"] },',
    '  unique: [["user_id", "group_id"]],',
    "});",
    `const member = anyOf(memberOf(membership)${and});`,
    `const groupEditor = anyOf(memberOf(membership, { where: { role: ["owner", "editor"] } })${and});`,
    `const leader = anyOf(memberOf(membership, { where: { role: "owner" } })${and});`,
    "const groupMount = mount(group, {",
    `  permission: { list: member, read: member, create: authenticated, update: leader, replace: leader, delete: leader },`,
    `  founder: { memberships: membership, values: { role: "owner" }${draw.pick(["", ", keep: true"])} },`,
    "});",
    "const membershipMount = mount(membership, {",
    `  permission: { list: member, read: member, create: leader, update: leader, replace: leader, delete: ${leave} },`,
    '  expand: { user: "user_id", group: "group_id" },',
    ...(draw.below(3) === 0 ? ["  arrays: true,"] : []),
    "});",
  ].join("\n");
}

function drawConfig(draw: Draw, mounts: readonly string[], hasTeams: boolean): string {
  const see = draw.pick([
    "anyOf(administrator, self())",
    "anyOf(hr, self())",
    ...(hasTeams ? ["anyOf(administrator, sharesGroup(membership))"] : []),
  ]);
  const rules = draw.pick(["", "rules: { email: { read: administrator } }, ", "rules: { email: { read: hr } }, "]);
  return [
    "export default defineConfig({",
    '  without: ["orders", "protected"],',
    ...(draw.below(2) === 0 ? ['  registration: "open",'] : []),
    `  users: { ...people, ${rules}permissions: { list: ${see}, read: ${see} } },`,
    `  mounts: [${mounts.join(", ")}],`,
    "});",
  ].join("\n");
}
