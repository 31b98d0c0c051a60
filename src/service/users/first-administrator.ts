import { randomBytes } from "node:crypto";
import { accountsCollection, type People } from "../../door/auth.ts";
import type { Change, Store } from "../../door/stores.ts";
import type { Settings } from "../settings/settings.ts";
import { firstEmail } from "../settings/values.ts";
import { draftPasswordFile } from "./password-file.ts";

/** The data that the operator sees once. */
export interface FirstAdministrator {
  readonly username: string;
  /** The generated password. Null if the operator gave one. */
  readonly drawn: DrawnPassword | null;
}

/** A generated password: itself, or the file that contains it. */
export type DrawnPassword = ({ readonly password: string } | { readonly file: string }) & {
  /** The end of its validity (RFC 3339), unless it is used before. */
  readonly until: string;
};

/** A generated password of the first administrator that no login has used. */
export interface UnusedPassword {
  readonly username: string;
  /** The end of its validity (RFC 3339). */
  readonly until: string;
}

/** The dependencies for creating an administrator. */
export interface AdministratorParts {
  readonly settings: Pick<Settings, "adminUsername" | "adminPassword">;
  readonly store: Store;
  readonly people: People;
}

const generatedPasswordDays = 7;

/**
 * Creates the first administrator. Returns null if there is one already. Two processes that start at the same time
 * create only one. A generated password is written into `passwordFile`, if it is set. Throws `ConfigError` if that
 * fails.
 */
export async function makeFirstAdministrator(
  parts: AdministratorParts,
  now: number,
  passwordFile: string | null,
): Promise<FirstAdministrator | null> {
  const { settings, store } = parts;
  const { passwords } = parts.people.logins;
  if (await hasAdministrator(store)) return null;
  const username = settings.adminUsername;
  if (settings.adminPassword !== null) {
    const configuredHash = await passwords.hash(null, settings.adminPassword.reveal().toString("utf8"));
    return (await insertAdministrator(parts, now, configuredHash)) ? { username, drawn: null } : null;
  }
  const password = randomBytes(15).toString("base64url");
  const passwordHash = await passwords.hash(null, password);
  const until = new Date(now + generatedPasswordDays * 86_400_000).toISOString();
  const draft = passwordFile === null ? null : draftPasswordFile(passwordFile, password);
  let isMade = false;
  try {
    isMade = await insertAdministrator(parts, now, passwordHash, until);
  } finally {
    if (!isMade) draft?.drop();
  }
  if (!isMade) return null;
  return { username, drawn: draft === null ? { password, until } : { file: draft.keep(), until } };
}

/**
 * Returns the username and the expiry of the first administrator's generated password. Returns null if none is waiting
 * for its first login.
 */
export async function findUnusedPassword({ settings, people }: AdministratorParts): Promise<UnusedPassword | null> {
  const account = await people.accounts.findByConfiguredName(settings.adminUsername);
  if (account?.role !== "admin" || account.passwordUntil === null || (account.passwordOnce ?? null) !== null)
    return null;
  return { username: account.username, until: account.passwordUntil };
}

/** Creates the administrator. Returns false if another process was faster. */
async function insertAdministrator(
  { settings, store, people }: AdministratorParts,
  now: number,
  passwordHash: string,
  passwordUntil?: string,
): Promise<boolean> {
  const username = settings.adminUsername;
  const address = people.accounts.users.resource.fields.email.kind;
  const email = address.parse(username) === username ? username : firstEmail;
  const user = {
    name: "Administrator",
    email,
    username,
    role: "admin",
    passwordHash,
    emailOrigin: "vouched",
    now,
  } as const;
  const outcome = await store.write({
    changes: [...people.accounts.insertUser(passwordUntil === undefined ? user : { ...user, passwordUntil }), onlyOne],
  });
  if (outcome.kind === "written") return true;
  // If another process was faster, the username is taken too. The database may report either error first.
  if (outcome.kind === "refused" || (await hasAdministrator(store))) return false;
  throw new Error(
    `The first administrator ${username} could not be created: ${outcome.kind}. Choose another LATCHKEY_ADMIN_USERNAME.`,
  );
}

async function hasAdministrator(store: Store): Promise<boolean> {
  return (await store.list({ collection: accountsCollection, where: isAdministrator, sort: [], limit: 1 })).length > 0;
}

const isAdministrator = { column: "role", operator: "eq", value: "admin" } as const;

const onlyOne: Change = {
  kind: "require",
  collection: accountsCollection,
  where: isAdministrator,
  atMost: 1,
  name: "has_admin",
};
