import { composed } from "../../../core/crypto/composed.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { storedOf, table } from "../../../http/declarations/table.ts";
import { reference, text } from "../../../resource/kinds/fields.ts";
import { caseFold, fold, isAlikeInFoldings } from "../../../store/fold.ts";
import type { Collection, Row, Store, Where } from "../../../store/store.ts";

/*
 * Usernames are unique and found without regard to case. The unique column of the accounts compares them by lower case
 * (`fold`), which keeps a few letters apart that differ only in case. Stored usernames are never folded again, because
 * two users may have names that only differ in such letters. So a second table holds the names by Unicode's simple case
 * folding (`foldName`). Every new name is in it that may be equal to one with another lower case
 * (`mayEqualOtherLowerCase`). Upkeep adds the older names that the two foldings fold differently (`names-upkeep.ts`).
 * All other names are found without it. Addresses need no such table, because they are ASCII, where both foldings give
 * the same result.
 */

/** Usernames, folded by `foldName`. */
export const namesCollection = table({
  name: "folded_names",
  fields: {
    user_id: reference("accounts", { unique: true, onDelete: "cascade" }),
    // The name of the field in the answers (409 `taken`).
    username: text({ unique: true }),
  },
});

/**
 * Separates the folded name from the id of its user if another user has had an equal name for longer. No name has a
 * control character, so no other name is between a folded name and the same name with an id.
 */
const SHARED = "\n";
const AFTER_SHARED = "\u000b";

/** The number of equal names that a lookup reads. */
const MOST_EQUAL = 2;

/** An id that no row has, because ids start at 1. */
const UNUSED_ID = 0;

/**
 * Folds a username by the case folding of Unicode. Composes it again, because a capital and its mark may become one
 * small letter only as small letters: `Ϊ́` is `ΐ`.
 */
export function foldName(name: string): string {
  return composed(caseFold(name));
}

/** True if the two foldings differ for this name. */
export function differsInFolding(name: string): boolean {
  return foldName(name) !== fold(name);
}

/**
 * True if another name may be equal by case folding but not by lower case. The unique column of the accounts alone
 * keeps all other names apart, for example `grace@example.com`.
 */
export function mayEqualOtherLowerCase(name: string): boolean {
  return !isAlikeInFoldings(name);
}

/** Returns the folded name of a user in the form for names that another user has too. */
export function formatShared(name: string, userId: number): string {
  return `${foldName(name)}${SHARED}${userId}`;
}

/** Matches the folded names that are equal to this one and that another user has too. */
export function isShared(name: string): Where {
  return { column: "username", operator: "starts", value: foldName(name) + SHARED };
}

/** True if a stored folded name is the one of this name. */
export function isFoldedOf(stored: string, name: string): boolean {
  const folded = foldName(name);
  return stored === folded || stored.startsWith(folded + SHARED);
}

/** A username, and the id of its user. */
export interface UserName {
  readonly id: number;
  readonly username: string;
}

/** The store, and its accounts. */
export interface NamedAccounts<V extends UserName = UserName> {
  readonly store: Store;
  readonly accounts: Collection<V>;
}

/**
 * Returns the account with a username. If no username is equal by lower case, returns the account whose username is
 * equal by case folding, unless several are. Reads as many rows for an unknown name as for a known one, so both take
 * the same time.
 */
export function findByName<V extends UserName>(named: NamedAccounts<V>, name: string): Eventually<Row<V> | null> {
  const { store, accounts } = named;
  return after(store.findBy(accounts, "username", name), (exact) =>
    after(listFolded(named, name), (others) => {
      const ids = exact === null ? others : [storedOf(exact).id];
      return after(store.find(accounts, ids.length === 1 ? ids[0]! : UNUSED_ID), (row) =>
        row !== null && foldName(storedOf(row).username) === foldName(name) ? row : null,
      );
    }),
  );
}

/** True if a user other than `id` has a username that is equal to this one, by lower case or by case folding. */
export function isNameTaken(named: NamedAccounts, name: string, id: number | null): Eventually<boolean> {
  return after(named.store.findBy(named.accounts, "username", name), (exact) =>
    after(
      listFolded(named, name),
      (others) => (exact !== null && storedOf(exact).id !== id) || others.some((other) => other !== id),
    ),
  );
}

/**
 * Returns the ids of the users whose username is equal by case folding: all those that lower case alone does not find,
 * and some others.
 */
function listFolded({ store, accounts }: NamedAccounts, name: string): Eventually<readonly number[]> {
  const folded = foldName(name);
  const where: Where = {
    all: [
      { column: "username", operator: "gte", value: folded },
      { column: "username", operator: "lt", value: folded + AFTER_SHARED },
    ],
  };
  return after(store.list({ collection: namesCollection, where, sort: [], limit: MOST_EQUAL }), (rows) => {
    const ids = rows.map((row) => storedOf(row).user_id);
    if (folded === fold(name)) return ids;
    // An older name that is the same in both foldings is not in the table of folded names.
    return after(store.findBy(accounts, "username", folded), (row) =>
      row === null || ids.includes(storedOf(row).id) ? ids : [storedOf(row).id, ...ids],
    );
  });
}
