import type { ServedMount } from "../../http/declarations/mount.ts";
import type { StoredRecord } from "../../store/store.ts";
import type { World } from "../world/world.ts";
import { nearMounts } from "./naming.ts";
import { chooseFew, fillPath, missingId, rowsOf } from "./rows.ts";

/** The paths of one endpoint, and the rows whose columns a query names. */
const MOST_PATHS = 40;
const QUERIED_ROWS = 4;

/** A path of an endpoint, with the rows that it may name. */
export interface FilledPath {
  readonly path: string;
  readonly named: readonly { readonly mount: ServedMount; readonly row: StoredRecord }[];
}

/** Returns the paths of an endpoint, for each of the rows that its path may name. */
export function fillWithRows(world: World, path: string): readonly FilledPath[] {
  const names = paramsIn(path);
  if (names.length === 0) return [{ path, named: [] }];
  const state = world.state();
  const filled = nearMounts(world, path).flatMap((mount) =>
    rowsOf(state, mount).map((row) => ({
      path: fillPath(path, Object.fromEntries(names.map((name) => [name, row[name] ?? row["id"]]))),
      mount,
      row,
    })),
  );
  return [...Map.groupBy(filled, (each) => each.path)]
    .slice(0, MOST_PATHS)
    .map(([each, named]) => ({ path: each, named }));
}

/** Returns the path of an endpoint for a row that does not exist. Returns null if the path names none. */
export function pathOfMissing(world: World, path: string): string | null {
  const names = paramsIn(path);
  const [row] = nearMounts(world, path).flatMap((mount) => rowsOf(world.state(), mount));
  if (names.length === 0 || row === undefined) return null;
  return fillPath(path, Object.fromEntries(names.map((name) => [name, missingId(row["id"])])));
}

function paramsIn(path: string): readonly string[] {
  return [...path.matchAll(/\{([a-z][a-z0-9_]*)(?::\w+)?\}/g)].map(([, name]) => name!);
}

/**
 * Returns the queries that an endpoint may read, though no declaration names its parameters: the ids and references of
 * rows, together and alone, words to search for, and words that ask for more.
 */
export function drawQueries(world: World, path: string): readonly string[] {
  const rows = nearMounts(world, path).flatMap((mount) =>
    chooseFew(rowsOf(world.state(), mount), QUERIED_ROWS).map((row) => parametersOf(world, mount, row)),
  );
  const alone = rows.filter((_, at) => at % QUERIED_ROWS === 1).flatMap((all) => [...all].map((each) => [each]));
  const all = [...alone, ...rows.map((each) => [...each]), words, demands];
  return [...new Set(all.map((each) => new URLSearchParams(each.map(([name, value]) => [name, value])).toString()))];
}

const words = ["q", "query", "search", "term", "text"].map((name) => [name, "zq"] as const);
const demands = [
  ...["all", "full", "admin", "hidden", "everyone"].map((name) => [name, "true"] as const),
  ["role", "admin"],
  ["scope", "all"],
  ["view", "admin"],
] as const;

/** Returns header fields that name a user, as code may take them from a proxy: for two users. */
export function drawHeaders(world: World): readonly Readonly<Record<string, string>>[] {
  const accounts = [...(world.state().get("accounts")?.values() ?? [])];
  return [accounts[0], accounts.at(-1)].flatMap((account) => {
    if (account === undefined) return [];
    const [id, username] = [String(account["id"]), String(account["username"])];
    const user = world
      .state()
      .get(world.usersTable)
      ?.get(account["id"] as number);
    const fields = world.identityFields.map(
      (name) => [`X-${name.replaceAll("_", "-")}`, String(user?.[name])] as const,
    );
    return [
      {
        ...Object.fromEntries(
          ["X-User-Id", "X-User", "X-Owner-Id", "X-Account-Id", "X-On-Behalf-Of"].map((name) => [name, id]),
        ),
        "X-Username": username,
        "X-Email": String(user?.["email"]),
        "X-Role": "admin",
        ...Object.fromEntries(fields),
      },
    ];
  });
}

/** Returns the parameters that name a row: its id, and what it refers to. */
function parametersOf(world: World, { resource }: ServedMount, row: StoredRecord): ReadonlyMap<string, string> {
  const { name, plural, fields } = resource;
  const id = String(row["id"]);
  const found = new Map([
    ["id", id],
    ["ids", id],
    [`${name}_id`, id],
    [name, id],
    [plural, id],
  ]);
  for (const [field, { kind }] of Object.entries(fields)) {
    const value = row[field];
    if (kind.references === undefined || value === null || value === undefined) continue;
    for (const each of [field, field.replace(/_id$/, "")]) found.set(each, String(value));
    if (!["users", "accounts"].includes(kind.references.resource)) continue;
    const account = world
      .state()
      .get("accounts")
      ?.get(value as number);
    const user = world
      .state()
      .get(world.usersTable)
      ?.get(value as number);
    found.set("user_id", String(value)).set("user", String(value));
    found.set("username", String(account?.["username"])).set("email", String(user?.["email"]));
  }
  return found;
}
