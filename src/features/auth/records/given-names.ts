import { insert } from "../../../http/declarations/table.ts";
import type { Change, KeyOf, Outcome, Where } from "../../../store/store.ts";
import { accountsCollection } from "./accounts.ts";
import { equals, ofUser } from "./conditions.ts";
import { differsInFolding, foldName, isShared, mayEqualOtherLowerCase, namesCollection } from "./names.ts";

/**
 * Returns the changes that must accompany each write of a username. They store its case folding, and refuse the
 * transaction (409 `taken`) if another user has an equal name. `user` is the id, or a placeholder for the id of a new
 * user.
 *
 * The store makes folded names unique, so two new names at the same time cannot be equal. The two requirements find the
 * older names that are not in the table of folded names, or that several users have. A name that no other lower case
 * can equal needs none of this, because the store makes the usernames of accounts unique by lower case.
 */
export function giveName(user: number | KeyOf, username: string): readonly Change[] {
  const dropped = typeof user === "number" ? [dropName(user)] : [];
  if (!mayEqualOtherLowerCase(username)) return dropped;
  // The row of a new user never matches.
  const others = (column: string): readonly Where[] =>
    typeof user === "number" ? [{ not: equals(column, user) }] : [];
  const shared: Change = {
    ...free,
    collection: namesCollection,
    where: { all: [isShared(username), ...others("user_id")] },
  };
  const stored: Change = {
    ...free,
    collection: accountsCollection,
    where: { all: [equals("username", foldName(username)), ...others("id")] },
  };
  return [
    shared,
    ...(differsInFolding(username) ? [stored] : []),
    ...dropped,
    insert(namesCollection, { values: { user_id: user, username: foldName(username) } }),
  ];
}

/** True if a name of these changes is another user's. */
export function isTaken(outcome: Outcome): outcome is Extract<Outcome, { readonly kind: "taken" | "refused" }> {
  return outcome.kind === "taken" || (outcome.kind === "refused" && outcome.name === free.name);
}

/** The members of a requirement that no other user has an equal name. */
const free = {
  kind: "require",
  atMost: 0,
  isGuarded: true,
  name: "taken",
  issues: [{ pointer: "/username", code: "taken", detail: "This value is already taken." }],
} as const;

/** Returns the change that removes the folded name of a user. */
export function dropName(user: number): Change {
  return { kind: "deleteAll", collection: namesCollection, where: ofUser(user) };
}
