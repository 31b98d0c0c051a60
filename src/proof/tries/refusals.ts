import type { ServedMount } from "../../http/declarations/mount.ts";
import { isShown } from "../../resource/declaration/field.ts";
import type { StoredRecord } from "../../store/store.ts";
import type { ProveAnswer, ProveRequest } from "../asking/request.ts";
import { findRow } from "../content/state.ts";
import type { Sight } from "../judging/sight.ts";
import { collectionPath, rowsOf } from "../requests/rows.ts";
import type { World } from "../world/world.ts";
import type { Trial } from "./try.ts";

/**
 * Lists a read that is refused, or whose answer lacks something, although the declarations allow it: a proof of a
 * service that refuses everything would prove nothing.
 */
export function reportRefusal({ world, findings }: Trial, request: ProveRequest, answer: ProveAnswer): void {
  const reason = findRefusal(world, request, answer);
  if (reason !== null) findings.listRefused(request, reason);
}

function findRefusal(world: World, request: ProveRequest, answer: ProveAnswer): string | null {
  const { whole } = request;
  if (request.isAllowed === true && answer.status === 400)
    return "it answers 400 to filters and sorts by fields that its permissions let the caller read";
  if (whole === undefined || answer.status >= 500) return null;
  const sight = world.sightOf(request.actor);
  const expected = whole.row === null ? rowsInList(world, sight, request, whole.mount) : rowOfPath(sight, whole);
  if (expected.length === 0) return null;
  if (answer.status !== 200) return `it answers ${answer.status}, although its permissions let the caller read`;
  if (answer.headers.has("link") && /rel="next"/.test(answer.headers.get("link")!)) return null;
  const body = JSON.parse(answer.text) as Shown | readonly Shown[];
  const shown = new Map([body].flat().map((record) => [record["id"], record]));
  for (const row of expected) {
    const record = shown.get(row["id"]);
    if (record === undefined) return "its answer lacks a record that its permissions show to the caller";
    // A list shows one set of fields for all rows, so it has no exception for the caller's own record.
    if (whole.row === null && sight.isOwn(whole.mount, row)) continue;
    const missing = visibleFields(sight, whole.mount, row).find((name) => !Object.hasOwn(record, name));
    const lacking = missing ?? missingRelation(world, sight, request, row, record);
    if (lacking !== undefined) return `its answer lacks ${lacking}, which its permissions show to the caller`;
  }
  return null;
}

type Shown = Readonly<Record<string, unknown>>;

function rowOfPath(sight: Sight, { mount, row }: NonNullable<ProveRequest["whole"]>): readonly StoredRecord[] {
  return row !== null && sight.may("read", mount.newer ?? mount, row) ? [row] : [];
}

function rowsInList(world: World, sight: Sight, request: ProveRequest, mount: ServedMount): readonly StoredRecord[] {
  const state = world.state();
  const path = request.path.split("?")[0];
  return rowsOf(state, mount).filter(
    (row) => sight.may("list", mount.newer ?? mount, row) && collectionPath(mount, row, state) === path,
  );
}

/** Returns the names of the fields that the answer has for this row. */
function visibleFields(sight: Sight, mount: ServedMount, row: StoredRecord): readonly string[] {
  return Object.entries(mount.resource.fields)
    .filter(([name, field]) => {
      const from = mount.older?.members.get(name)?.from ?? name;
      return isShown(field) && sight.mayReadField(mount.newer ?? mount, from, row);
    })
    .map(([name]) => name);
}

/** Returns the name of the relation if the record lacks it, or the related record that the caller may read. */
function missingRelation(
  world: World,
  sight: Sight,
  { expands }: ProveRequest,
  row: StoredRecord,
  record: Shown,
): string | undefined {
  if (expands === undefined) return undefined;
  const { name, kind, column, to } = expands;
  if (!Object.hasOwn(record, name)) return name;
  if (kind === "many") return lacksNested(world, sight, expands, { row, record }) ? name : undefined;
  if (kind !== "one" || record[name] !== null) return undefined;
  const target = findRow(world.state(), to.collection.name, row[column]);
  return target !== null && sight.may("read", to, target) ? name : undefined;
}

/** Returns true if a list of nested records lacks one that the caller may read. Lists that go on are not looked at. */
function lacksNested(
  world: World,
  sight: Sight,
  { name, column, to }: NonNullable<ProveRequest["expands"]>,
  { row, record }: { readonly row: StoredRecord; readonly record: Shown },
): boolean {
  if ((record[`${name}_next`] ?? null) !== null) return false;
  const shown = new Set((record[name] as readonly Shown[]).map(({ id }) => id));
  const actions = to.permissions.read === undefined ? (["list"] as const) : (["list", "read"] as const);
  return rowsOf(world.state(), to).some(
    (each) =>
      each[column] === row["id"] && actions.every((action) => sight.may(action, to, each)) && !shown.has(each["id"]),
  );
}
