import { randomBytes } from "node:crypto";
import { accepted, rejected, type Scheme, type Verdict } from "../../access/scheme/scheme.ts";
import { aBoolean, optional, text } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { Identity } from "../../core/identity.ts";
import type { NewUser } from "../../features/auth/people/contracts/accounts.ts";
import type { People } from "../../features/auth/people/people.ts";
import { identityOf } from "../../features/auth/records/accounts.ts";
import type { Store } from "../../store/store.ts";
import type { AskedHeaders } from "./asking.ts";

/** A user of the service under test. */
export interface TestUser {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly role: string;
}

/** The properties of a test user. Missing properties are generated. The user has no password. */
export type UserSketch = Partial<Pick<NewUser, "name" | "email" | "username" | "role" | "active">>;

/** The caller's identity in a service without accounts. An id is enough. */
export type IdentitySketch = Pick<Identity, "id"> & Partial<Identity>;

/** The limits of a test credential, and the facts about its login. */
export type CredentialSketch = Partial<Pick<Identity, "scopes" | "expiresAt" | "authTime" | "issuer">>;

const SCHEME = "test";
const HEADER = "X-Test-Caller";

/** Logs in callers for a test, and has the scheme that recognizes them. */
export interface Callers {
  readonly scheme: Scheme;
  /** Returns the header fields that a caller sends after the login. */
  login(who: TestUser | IdentitySketch, credential: CredentialSketch): AskedHeaders;
}

/**
 * Makes the scheme for tests. Each of its credentials is random, so no other program knows one. If the service has
 * accounts, the scheme reads the account at each request. So a change of the role applies at once, and a deactivated
 * user is refused.
 */
export function makeCallers(people: () => People | null, now: () => number): Callers {
  const verdicts = new Map<string, () => Eventually<Verdict>>();
  return {
    scheme: {
      name: SCHEME,
      carriers: [{ in: "header", name: HEADER }],
      proves: ["operator"],
      authenticate: (credential) => verdicts.get(credential)?.() ?? rejected("unknown"),
    },
    login(who, credential) {
      const drawn = randomBytes(16).toString("hex");
      const loggedIn = { authTime: now(), ...credential };
      const accounts = people()?.accounts ?? null;
      verdicts.set(drawn, async () => {
        if (accounts === null) return accepted({ ...unknownIdentity, username: `user ${who.id}`, ...loggedIn, ...who });
        const account = await accounts.find(who.id);
        if (account === null) return rejected("unknown");
        return account.active ? accepted(identityOf(account, SCHEME, loggedIn)) : rejected("inactive");
      });
      return { [HEADER]: drawn };
    },
  };
}

const sketchChecks: ChecksOf<UserSketch> = {
  name: optional(text),
  email: optional(text),
  username: optional(text),
  role: optional(text),
  active: optional(aBoolean),
};

const unknownIdentity = { role: "user", scheme: SCHEME, scopes: null, expiresAt: null, needs: 1 } as const;

/** Makes a user. `count` is the number of users so far. */
export async function makeUser(
  { people, store, now }: { readonly people: People; readonly store: Store; readonly now: number },
  sketch: UserSketch,
  count: number,
): Promise<TestUser> {
  requireOptions(sketch, sketchChecks, { of: "user" });
  const username = sketch.username ?? sketch.email ?? `user-${count + 1}@example.com`;
  const email = sketch.email ?? (username.includes("@") ? username : `${username}@example.com`);
  const role = sketch.role ?? "user";
  const { declared, insertUser } = people.accounts;
  if (!declared.roles.includes(role))
    throw new TypeError(`There is no role ${role}. The declared roles are ${declared.roles.join(", ")}.`);
  const user = { name: sketch.name ?? `User ${count + 1}`, email, username, role, passwordHash: null };
  const more = sketch.active === undefined ? {} : { active: sketch.active };
  const outcome = await store.write({ changes: insertUser({ ...user, ...more, emailOrigin: "vouched", now }) });
  if (outcome.kind !== "written")
    throw new TypeError(`The user ${username} cannot be made: ${JSON.stringify(outcome)}`);
  return { id: Number(outcome.rows[0]!.record["id"]), username, email, role };
}
