import type { Permission } from "../../access/permission/contract.ts";
import { collectFacts, type MemberFacts } from "../../access/permission/facts.ts";
import type { ServedMount } from "../../http/declarations/mount.ts";
import { allPermissions } from "../../http/declarations/named-memberships.ts";
import { rulesOf } from "../../http/declarations/rules.ts";
import { buildTableName } from "../../resource/tables/table.ts";
import type { Value } from "../../store/store.ts";
import { fewValues } from "../content/values.ts";

/** A user of the world, and the groups that it belongs to. */
export interface PlannedUser {
  readonly name: string;
  readonly role: string;
  readonly memberships: readonly PlannedMembership[];
}

/** A membership of a planned user. */
export interface PlannedMembership {
  readonly table: string;
  /** The columns of the user and of the group. */
  readonly user: string;
  readonly group: string;
  /** The place of the group among the groups of the world. */
  readonly place: number;
  /** The values of the fields that permissions ask for. */
  readonly values: Readonly<Record<string, Value>>;
}

/** The groups of the world: most members are in the first one, and one user is in the second one only. */
const FIRST = 0;
const SECOND = 1;

/** Plans the users: two of each role, and for each kind of membership a user with each asked value. */
export function planUsers(mounts: readonly ServedMount[], roles: readonly string[]): readonly PlannedUser[] {
  const kinds = collectKinds(mounts);
  const weakest = kinds.map((kind) => membershipOf(kind, FIRST, kind.variants.at(-1)!));
  return [
    ...roles.flatMap((role) => [
      { name: role, role, memberships: role === "user" || role === "admin" ? [] : weakest },
      { name: `${role}-2`, role, memberships: [] },
    ]),
    ...kinds.flatMap((kind) => [
      ...kind.variants.map((values) => ({
        name: nameOf(kind, Object.values(values).join("-") || "member"),
        role: "user",
        memberships: [membershipOf(kind, FIRST, values)],
      })),
      {
        name: nameOf(kind, "other-member"),
        role: "user",
        memberships: [membershipOf(kind, SECOND, kind.variants[0]!)],
      },
      { name: nameOf(kind, "former-member"), role: "user", memberships: [] },
    ]),
  ];
}

/** The memberships that permissions ask for, with the combinations of values that differ for them. */
interface MembershipKind extends Pick<MemberFacts, "user" | "group"> {
  readonly table: string;
  readonly plural: string;
  readonly variants: readonly Readonly<Record<string, Value>>[];
}

function nameOf({ plural }: MembershipKind, value: string): string {
  return `${value.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}-of-${plural}`;
}

function membershipOf(
  { table, user, group }: MembershipKind,
  place: number,
  values: Readonly<Record<string, Value>>,
): PlannedMembership {
  return { table, user, group, place, values };
}

function collectKinds(mounts: readonly ServedMount[]): readonly MembershipKind[] {
  const kinds = new Map<string, MembershipKind>();
  const all = mounts.flatMap((mount) => collectPermissions(mount).flatMap(collectFacts));
  for (const facts of all) {
    if (facts.kind !== "member" && facts.kind !== "shares") continue;
    const { memberships, user, group } = facts;
    const table = buildTableName(memberships);
    const key = `${table} ${user} ${group}`;
    const asked = all.flatMap((each) =>
      each.kind === "member" && each.memberships === memberships && each.user === user ? each.where : [],
    );
    if (!kinds.has(key))
      kinds.set(key, { table, plural: memberships.plural, user, group, variants: variantsOf(memberships, asked) });
  }
  return [...kinds.values()];
}

/** Returns the values that a membership may have: each asked value of a field, beside the first one of the others. */
function variantsOf(
  { fields }: MemberFacts["memberships"],
  asked: MemberFacts["where"],
): readonly Readonly<Record<string, Value>>[] {
  const values = new Map<string, Value[]>();
  for (const { column, values: wanted } of asked) {
    const field = fields[column];
    const others = field === undefined ? [] : (fewValues(field) ?? []);
    values.set(column, [...new Set([...(values.get(column) ?? []), ...wanted, ...(others as Value[])])].slice(0, 8));
  }
  const first = Object.fromEntries([...values].map(([column, each]) => [column, each[0]!]));
  const further = [...values].flatMap(([column, [, ...rest]]) => rest.map((value) => ({ ...first, [column]: value })));
  return [first, ...further];
}

/** Returns every permission of a mount, with those of its actions and of the rules of its fields. */
export function collectPermissions(mount: ServedMount): readonly Permission<string>[] {
  return [...allPermissions(mount), ...rulesOf(mount.resource).map((rule) => rule as unknown as Permission<string>)];
}
