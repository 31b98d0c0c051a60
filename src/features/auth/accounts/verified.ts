import { problem } from "../../../core/problem/problem.ts";
import type { ServedMount } from "../../../http/declarations/mount.ts";
import { insert, storedOf, update } from "../../../http/declarations/table.ts";
import { writeDirectly } from "../../../http/mount/writes/direct.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import { readDraft } from "../../../resource/draft.ts";
import { keyOf, type Change, type Outcome, type WrittenValues } from "../../../store/store.ts";
import { allowChange, loginColumns } from "../people/login-change.ts";
import type { AccountsParts } from "../people/parts.ts";
import { accountsCollection, firstGeneration, type Account } from "../records/accounts.ts";
import { timeText } from "../records/conditions.ts";
import { giveName } from "../records/given-names.ts";
import type { Newcomer } from "../records/verifying.ts";
import { requireGoodPassword } from "./passwords/good-password.ts";
import { requireFree, requireMayProbe } from "./taken.ts";
import { followsEmail, requireMayName } from "./usernames.ts";

/** A newcomer with the choices of the person who has proved the address. */
interface ProvedNewcomer extends Newcomer {
  readonly password: string;
  /** Null: the username is the address. */
  readonly username: string | null;
}

/**
 * Creates a user whose address is proved, with the password and the username of their choice. `also` are more changes
 * for the transaction. Ends the request if the registration is closed now (400 `invalid_link`), the password is too
 * weak or a field is no longer valid (400), or a name is taken (409). The names are checked before the hash and count
 * as a probe.
 */
export async function createVerified(
  parts: AccountsParts,
  context: Context,
  newcomer: ProvedNewcomer,
  also: readonly Change[],
): Promise<Outcome> {
  if (parts.registration === "closed")
    throw problem("invalid_link", { detail: "Only administrators create users now." });
  const { email, password } = newcomer;
  const username = newcomer.username ?? email;
  await requireMayProbe(parts, context);
  if (newcomer.username !== null) requireMayName(parts, context, { username, email });
  const values = requireFields(parts, context, newcomer);
  await requireGoodPassword(parts, context, password, { username, email });
  await requireFree(parts, context, { id: null, email, username });
  const { now } = context.call;
  const account = {
    username,
    username_follows_email: newcomer.username === null || username.includes("@"),
    role: "user",
    active: true,
    password_hash: await parts.passwords.hash(context.call, password),
    generation: firstGeneration(now),
    created_at: timeText(now),
    last_login_at: null,
    username_origin: "chosen",
    email_verified_at: timeText(now),
    email_origin: "chosen",
  } as const;
  const insertion = insert(accountsCollection, { key: keyOf(0), values: account });
  const changes = [insertion, ...giveName(keyOf(0), username), ...also];
  return writeDirectly(placeUsers(parts), context, { before: null, values, changes });
}

/** Reads the fields of a sign-up again: the declaration may be newer than the mail, and defaults are computed now. */
function requireFields({ users }: AccountsParts, context: Context, { name, email, fields }: Newcomer): WrittenValues {
  const draft = readDraft(
    users.resource,
    { ...fields, name, email },
    {
      id: null,
      current: null,
      leavesAreText: false,
      context: { identity: null, now: context.now, requireIdentity: () => context.requireIdentity() },
    },
  );
  // A list of issues has a member `values` too.
  if ("transient" in draft) return draft.values as WrittenValues;
  // There is no current record, so no field can be hidden.
  throw invalid("hiddenField" in draft ? [] : draft);
}

/**
 * Gives a user another address that is proved. Changes the username too, if it follows the address. Returns null if the
 * user does not exist.
 */
export async function moveAddress(
  parts: AccountsParts,
  context: Context,
  { account, email }: { readonly account: Account; readonly email: string },
  also: readonly Change[],
): Promise<Outcome | null> {
  const { store, users } = parts;
  const row = await store.find(accountsCollection, account.id);
  const user = await store.find(users.collection, account.id);
  if (row === null || user === null) return null;
  const from = storedOf(user).email;
  const isRenamed = followsEmail(parts, row, from);
  const values = loginColumns(allowChange(account.id, ["email", "username"]), account.id, {
    email_verified_at: timeText(context.now),
    ...(isRenamed ? { username: email, username_origin: "chosen" as const } : {}),
  });
  return writeDirectly(placeUsers(parts), context, {
    before: user,
    values: { email },
    changes: [
      update(accountsCollection, { key: account.id, values, revision: row.revision }),
      ...(isRenamed ? giveName(account.id, email) : []),
      ...also,
      ...addressMoved(parts, account, { from, to: email }, context.now),
    ],
  });
}

/**
 * Returns the changes of an account whose address changes: older links and codes end, and the old address gets a
 * notice.
 */
export function addressMoved(
  { verifier, notify }: AccountsParts,
  account: Account,
  { from, to }: { readonly from: string; readonly to: string },
  now: number,
): readonly Change[] {
  if (from === to) return [];
  return [...(verifier.current?.endLinks(account, from) ?? []), ...notify("email_changed", account, now, from)];
}

/** Returns the users as a mount, for writes by other endpoints. */
function placeUsers({ users }: AccountsParts): ServedMount {
  return { ...users, parent: null, newer: null, relations: [], listedBy: [], referrers: [] };
}
