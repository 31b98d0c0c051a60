import { randomBytes } from "node:crypto";
import { accountsCollection, type Change } from "../index.ts";
import { insertUser } from "./new-user.ts";
import type { Parts } from "./parts.ts";

/** What the operator is told once. */
export interface FirstAdministrator {
  readonly username: string;
  /** Null where the operator gave it. */
  readonly drawnPassword: string | null;
}

/** Makes the first administrator, while there is none; null where there is one. Two processes that start at once make one. */
export async function makeFirstAdministrator(parts: Parts, now: number): Promise<FirstAdministrator | null> {
  const { settings, store, passwords, users } = parts;
  const isAdministrator = { column: "role", operator: "eq", value: "admin" } as const;
  if ((await store.count(accountsCollection, isAdministrator)) > 0) return null;
  const username = settings.adminUsername;
  const drawnPassword = settings.adminPassword === null ? randomBytes(15).toString("base64url") : null;
  const passwordHash = await passwords.hash(null, drawnPassword ?? settings.adminPassword!.reveal().toString("utf8"));
  const address = users.resource.fields["email"]!.kind;
  // A domain that is nobody's, for ever (RFC 2606 §2), and that validators take for an e-mail.
  const email = address.parse(username) === username ? username : "admin@example.invalid";
  const onlyOne: Change = {
    kind: "require",
    collection: accountsCollection,
    where: isAdministrator,
    atMost: 1,
    name: "has_admin",
  };
  const outcome = await store.write({
    changes: [
      ...insertUser(users, { name: "Administrator", email, username, role: "admin", passwordHash, now }),
      onlyOne,
    ],
  });
  if (outcome.kind === "refused") return null;
  if (outcome.kind !== "written")
    throw new Error(
      `The first administrator ${username} could not be made: ${outcome.kind}. Choose another LATCHKEY_ADMIN_USERNAME.`,
    );
  return { username, drawnPassword };
}
