import type { Role } from "../../../core/identity.ts";
import type { Row } from "../../../store/store.ts";

/** What a revocation can hit in an access token. */
export interface RevocableClaims {
  readonly sub: number;
  /** The account's generation. */
  readonly gen: number;
  readonly role: Role;
  /** How often the account's role had been changed. */
  readonly roleChanges: number;
  /** The refresh family that the token came from. */
  readonly fam: string;
}

interface EndedUser {
  generation: number;
  /** The only role that still stands; null: any. */
  role: string | null;
  /** Fewer role changes than these are too few. */
  roleChanges: number;
  /** Of the generations that have ended, the one family that goes on. */
  keptFamily: string | null;
  expiresAt: number;
}

/** What is revoked, as far as this process has heard of it. */
export interface View {
  take(row: Row): void;
  /** After dropping what had expired by `until`, in milliseconds since the epoch. */
  isEnded(claims: RevocableClaims, until: number): boolean;
  /** Drops what had expired by then. */
  forget(until: number): void;
}

export function makeView(): View {
  // Both in the order in which their entries end, so that forgetting looks at the front only.
  const users = new Map<number, EndedUser>();
  const families = new Map<string, number>();

  function take({ record }: Row): void {
    const expiresAt = Date.parse(record["expires_at"] as string);
    const family = record["family"] as string | null;
    if (family !== null) {
      families.delete(family);
      families.set(family, expiresAt);
    } else {
      takeUser(record["user_id"] as number, {
        generation: record["generation"] as number,
        role: record["role"] as string | null,
        roleChanges: (record["role_changes"] as number | null) ?? 0,
        keptFamily: record["kept_family"] as string | null,
        expiresAt,
      });
    }
  }

  function takeUser(userId: number, ended: EndedUser): void {
    const known = users.get(userId);
    users.delete(userId);
    // Processes with other token lifetimes write other expiry times. The entry of the user lives as long as the longest.
    const expiresAt = Math.max(known?.expiresAt ?? 0, ended.expiresAt);
    if (known === undefined || ended.generation > known.generation) {
      // Tokens of a new generation were issued after the older roles were gone; only a family that was kept can have one of those.
      const before = ended.keptFamily === null ? undefined : known;
      const roleChanges = Math.max(ended.roleChanges, before?.roleChanges ?? 0);
      users.set(userId, { ...ended, role: ended.role ?? before?.role ?? null, roleChanges, expiresAt });
    } else {
      users.set(userId, {
        generation: known.generation,
        role: ended.role ?? known.role,
        roleChanges: Math.max(known.roleChanges, ended.roleChanges),
        keptFamily: known.keptFamily,
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
  if (gen < ended.generation && fam !== ended.keptFamily) return true;
  // An account that was made later under the same id has a role of its own.
  if (gen > ended.generation) return false;
  return roleChanges < ended.roleChanges || (ended.role !== null && ended.role !== role);
}
