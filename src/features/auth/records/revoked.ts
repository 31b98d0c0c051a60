import type { Role } from "../../../core/identity.ts";
import { storedOf, table, type StoredIn } from "../../../http/declarations/table.ts";
import { dateTime, integer, text } from "../../../resource/kinds/fields.ts";
import type { Row } from "../../../store/store.ts";

/** Revocations of access tokens. Rows are only added. Every process follows the table and answers from memory. */
export const revocationsCollection = table({
  name: "revocations",
  fields: {
    user_id: integer({ optional: true }),
    generation: integer({ optional: true }),
    role: text({ optional: true }),
    family: text({ optional: true }),
    /** The number of the account's role changes. Access tokens with a lower number are invalid. */
    role_changes: integer({ optional: true }),
    /** The one token family that stays valid although its generation is invalid. */
    kept_family: text({ optional: true }),
    /** After this time, every access token that the row could revoke has expired. */
    expires_at: dateTime(),
  },
  indexes: [["expires_at"]],
});

/** The claims of an access token that a revocation can concern. */
export interface RevocableClaims {
  readonly sub: number;
  /** The account's generation. */
  readonly gen: number;
  readonly role: Role;
  /** The number of the account's role changes. */
  readonly roleChanges: number;
  /** The token family. */
  readonly fam: string;
}

interface EndedUser {
  generation: number;
  /** The only valid role. Null: any. */
  role: string | null;
  /** A token with fewer role changes is invalid. */
  roleChanges: number;
  /** The one family of an older generation that stays valid. */
  remainingFamily: string | null;
  expiresAt: number;
}

/** The revocations that this process has received. */
export interface View {
  take(row: Row<StoredIn<typeof revocationsCollection>>): void;
  /**
   * Returns true if the claims are revoked. First drops entries that expired by `until`, in milliseconds since the
   * epoch.
   */
  isEnded(claims: RevocableClaims, until: number): boolean;
  /** Drops the entries that expired by `until`. */
  forget(until: number): void;
}

export function makeView(): View {
  // New entries are at the end and usually expire last, so `forget` checks only the front. An expired entry behind it
  // may stay longer.
  const users = new Map<number, EndedUser>();
  const families = new Map<string, number>();

  const take: View["take"] = (row) => {
    const { family, user_id, generation, role, role_changes, kept_family, expires_at } = storedOf(row);
    const expiresAt = Date.parse(expires_at);
    if (family !== null) {
      families.delete(family);
      families.set(family, expiresAt);
    } else if (user_id !== null && generation !== null) {
      takeUser(user_id, { generation, role, roleChanges: role_changes ?? 0, remainingFamily: kept_family, expiresAt });
    }
  };

  function takeUser(userId: number, ended: EndedUser): void {
    const existing = users.get(userId);
    users.delete(userId);
    // Processes with different token lifetimes write different expiry times. The entry keeps the latest one.
    const expiresAt = Math.max(existing?.expiresAt ?? 0, ended.expiresAt);
    if (existing === undefined || ended.generation > existing.generation) {
      // Tokens of the new generation already have the new role. Only a kept family can have tokens with an older role.
      const before = ended.remainingFamily === null ? undefined : existing;
      const roleChanges = Math.max(ended.roleChanges, before?.roleChanges ?? 0);
      users.set(userId, { ...ended, role: ended.role ?? before?.role ?? null, roleChanges, expiresAt });
    } else {
      users.set(userId, {
        generation: existing.generation,
        role: ended.role ?? existing.role,
        roleChanges: Math.max(existing.roleChanges, ended.roleChanges),
        remainingFamily: existing.remainingFamily,
        expiresAt,
      });
    }
  }

  function forget(until: number): void {
    for (const [userId, ended] of users) {
      if (ended.expiresAt > until) break;
      users.delete(userId);
    }
    for (const [family, expiresAt] of families) {
      if (expiresAt > until) break;
      families.delete(family);
    }
  }

  return {
    take,
    isEnded(claims, until) {
      if (users.size === 0 && families.size === 0) return false;
      forget(until);
      const ended = users.get(claims.sub);
      return (ended !== undefined && isEnded(ended, claims)) || families.has(claims.fam);
    },
    forget,
  };
}

function isEnded(ended: EndedUser, { gen, role, roleChanges, fam }: RevocableClaims): boolean {
  if (gen < ended.generation && fam !== ended.remainingFamily) return true;
  // The token belongs to a later account with the same id, and the role of the entry does not apply to it.
  if (gen > ended.generation) return false;
  return roleChanges < ended.roleChanges || (ended.role !== null && ended.role !== role);
}
