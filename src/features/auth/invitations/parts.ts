import type { ServiceFacts } from "../../../feature/feature.ts";
import type { ServedMount } from "../../../http/declarations/mount.ts";
import { findReferencedTable } from "../../../resource/tables/references.ts";
import type { Key, Store } from "../../../store/store.ts";
import type { Purpose } from "../mailbox/contract.ts";
import type { AccountsContract } from "../people/contracts/accounts.ts";
import type { ChangingContract } from "../people/contracts/changing.ts";

/** The parts of invitations to groups of one service. */
export interface InvitingParts {
  readonly accounts: Pick<AccountsContract, "find" | "users">;
  readonly changing: Pick<ChangingContract, "acceptsSignUps" | "createUser">;
  readonly purpose: Purpose;
  readonly store: Store;
  /** The service's origins, compared exactly. */
  readonly ownOrigins: readonly string[];
  service(): ServiceFacts;
}

/** A mount of memberships that sends invitations. */
export interface InvitedMount {
  readonly mount: ServedMount;
  /** The column of the user. */
  readonly user: string;
  /** The column of the group. For nested memberships, it is the column of the parent. */
  readonly group: string;
}

/** Returns the mount with this table, if it sends invitations. Returns null otherwise. */
export function findInvitedMount({ service }: Pick<InvitingParts, "service">, table: string): InvitedMount | null {
  const mount = service()
    .servedMounts()
    .find(({ collection, older }) => older === null && collection.name === table);
  if (mount === undefined || mount.invitations === null) return null;
  const { user, group } = mount.invitations;
  return { mount, user, group };
}

/** Returns the mount of the groups. Returns null if it is not mounted. */
export function findGroups(
  { service }: Pick<InvitingParts, "service">,
  { mount, group }: InvitedMount,
): ServedMount | null {
  const to = findReferencedTable(mount.resource, group);
  return (
    service()
      .servedMounts()
      .find(({ collection, older }) => older === null && collection.name === to) ?? null
  );
}

/** Returns true if there is a group with this id. */
export async function isGroup(
  parts: Pick<InvitingParts, "service" | "store">,
  invited: InvitedMount,
  key: Key,
): Promise<boolean> {
  const groups = findGroups(parts, invited);
  return groups === null || (await parts.store.find(groups.collection, key)) !== null;
}

/** Returns the group in the values of a membership, or in the parameters of its path. */
export function groupIn(
  { mount, group }: Pick<InvitedMount, "mount" | "group">,
  values: Readonly<Record<string, unknown>>,
  params: Readonly<Record<string, Key>>,
): Key {
  return (isNestedIn({ mount, group }) ? params[group] : values[group]) as Key;
}

/** Returns true if the path of the memberships has their group. */
export function isNestedIn({ mount: { resource }, group }: Pick<InvitedMount, "mount" | "group">): boolean {
  return resource.parentColumn === group;
}
