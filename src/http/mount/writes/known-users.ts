import { after, type Eventually } from "../../../core/eventually.ts";
import type { Draft } from "../../../resource/draft.ts";
import type { Key, Where } from "../../../store/store.ts";
import type { Prepared, ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import { decideReading } from "../reads/reading.ts";
import { refusal } from "./outcome.ts";

// Members of a group see each other (`sharesGroup`). So a caller who could make a member of any user could read any
// name, one guessed id after another.

/** The values of a membership before and after a write. */
interface UserChange {
  /** Null for a new membership. */
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Ends the request if it makes a member of a user whom the caller may not read. An unknown user cannot be read either,
 * so both get the same answer. Called before the hooks, so that they do not look for the user. `judge` ends the request
 * if it would be refused anyway.
 */
export async function requireKnownMember(
  mount: ServedMount,
  exchange: Exchange,
  change: UserChange,
  judge: () => Eventually<void>,
): Promise<void> {
  const column = await findUnknownMember(mount, exchange, change);
  if (column === null) return;
  await judge();
  throw refusal({ kind: "dangling", change: 0, column }, mount, exchange);
}

/** Like `requireKnownMember`, for a user whom a hook put in place of the sent one. */
export async function requireKnownAfterHook(
  mount: ServedMount,
  exchange: Exchange,
  { draft, prepared }: { readonly draft: Draft; readonly prepared: Prepared },
): Promise<void> {
  if (prepared.values === undefined) return;
  await requireKnownMember(mount, exchange, { before: draft.values, values: prepared.values }, () => undefined);
}

/** Returns the first column with a new user whom the caller may not read. Returns null if there is none. */
async function findUnknownMember(
  { sharedUsers }: ServedMount,
  exchange: Exchange,
  { before, values }: UserChange,
): Promise<string | null> {
  if (sharedUsers === undefined) return null;
  const { users, columns } = sharedUsers;
  const { identity } = exchange;
  if (identity?.role === "admin") return null;
  for (const column of columns) {
    const user = values[column];
    if (typeof user !== "number" || before?.[column] === user) continue;
    if (identity?.id !== user && !(await mayRead(users, exchange, user))) return column;
  }
  return null;
}

function mayRead(users: ServedMount, exchange: Exchange, id: Key): Eventually<boolean> {
  const decision = decideReading(users, exchange, id);
  // The store finds out whether the user exists. A caller who may read all users may know it.
  if (decision === "allow" || decision === "deny") return decision === "allow";
  const own: Where = { column: "id", operator: "eq", value: id };
  return after(exchange.service.store.count(users.collection, { all: [own, decision.only] }), (found) => found > 0);
}
