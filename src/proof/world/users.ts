import type { Service } from "../../composition/create-service.ts";
import { allPermissions } from "../../http/declarations/named-memberships.ts";
import { isStored } from "../../resource/declaration/field.ts";
import type { Value, WrittenValues } from "../../store/store.ts";
import type { Actor } from "../content/actors.ts";
import type { Cell, Marks } from "../content/marks.ts";
import type { ValueSource } from "../content/values.ts";
import type { ProvedService } from "./opening.ts";
import type { PlannedUser } from "./plan.ts";
import type { Ids } from "./records.ts";

/** A user of the world. */
export interface MadeUser extends PlannedUser {
  readonly id: number;
}

/** Makes the planned users, straight in the store. */
export async function makeUsers(
  { service, people }: ProvedService,
  planned: readonly PlannedUser[],
  values: ValueSource,
  marks: Marks,
  ids: Ids,
): Promise<readonly MadeUser[]> {
  const { insertUser, users } = people.accounts;
  const mount = service.mounts.find(
    ({ collection, older }) => collection.name === users.collection.name && older === null,
  )!;
  const made: MadeUser[] = [];
  for (const [turn, user] of planned.entries()) {
    const own: Record<string, Value> = {};
    const found = new Map<string, string>();
    for (const [name, field] of Object.entries(users.resource.fields)) {
      if (!isStored(field) || field.kind.references !== undefined || field.kind.members !== undefined) continue;
      const drawn = values.draw(field, turn);
      if (drawn === null) continue;
      own[name] = drawn.value;
      if (drawn.mark !== null) found.set(name, drawn.mark);
    }
    const { name, email } = own as { readonly name: string; readonly email: string };
    const more = {
      username: user.name,
      role: user.role,
      passwordHash: null,
      emailOrigin: "vouched",
      now: service.now(),
    } as const;
    const changes = insertUser({ name, email, ...more });
    const outcome = await service.store.write({ changes });
    if (outcome.kind !== "written") continue;
    const { id } = outcome.rows[0]!.record as { readonly id: number };
    const columns = new Set(users.collection.columns.map((column) => column.name));
    const further = Object.fromEntries(Object.entries(own).filter(([column]) => columns.has(column))) as WrittenValues;
    await service.store.write({
      changes: [{ kind: "update", collection: users.collection, key: id, values: further }],
    });
    for (const [field, mark] of found) marks.set(mark, { mount, id, field } satisfies Cell);
    made.push({ ...user, id });
  }
  ids.set(
    users.collection.name,
    made.map(({ id }) => id),
  );
  return made;
}

/**
 * Returns the actors: no credential, each user, two keys, and a token that acts for a user. If a permission requires a
 * confirmation, also two users with an old login.
 */
export function makeActors(users: readonly MadeUser[], { mounts, routes }: Service): readonly Actor[] {
  const plain = { credential: "login", scopes: null, actingId: null } as const;
  const all = users.map(({ name, id }): Actor => ({ name, userId: id, ...plain }));
  const holder = users.find(({ memberships }) => memberships.length > 0) ?? users.find(({ role }) => role === "user");
  const administrator = users.find(({ role }) => role === "admin");
  const has = (end: string): boolean => routes.some(({ path }) => path.endsWith(end));
  const keys = holder !== undefined && has("/keys") ? (["read", "write"] as const) : [];
  const confirms = mounts.some((mount) =>
    allPermissions(mount).some(({ problems = [] }) => problems.includes("confirmation_required")),
  );
  const old = confirms ? [holder, administrator].filter((user) => user !== undefined) : [];
  return [
    { name: "nobody", userId: null, credential: "none", scopes: null, actingId: null },
    ...all,
    ...old.map(({ name, id }): Actor => ({ name: `old-login-of-${name}`, userId: id, ...plain, isOld: true })),
    ...keys.map((scope): Actor => ({
      name: `key-${scope}-of-${holder!.name}`,
      userId: holder!.id,
      credential: "key",
      scopes: [scope],
      actingId: null,
    })),
    ...(administrator === undefined || keys.length === 0
      ? []
      : keys.map((scope): Actor => ({
          name: `key-${scope}-of-${administrator.name}`,
          userId: administrator.id,
          credential: "key",
          scopes: [scope],
          actingId: null,
        }))),
    ...(holder !== undefined && administrator !== undefined && has("/act")
      ? [
          {
            name: `admin-acting-for-${holder.name}`,
            userId: holder.id,
            credential: "acting",
            scopes: null,
            actingId: administrator.id,
          } as const,
        ]
      : []),
  ];
}
