import { buildLinkChanges } from "../../http/declarations/links.ts";
import type { ServedMount } from "../../http/declarations/mount.ts";
import { isStored } from "../../resource/declaration/field.ts";
import { findReferencedTable } from "../../resource/tables/references.ts";
import type { Change, Key, Store, Value, WrittenValues } from "../../store/store.ts";
import type { Marks } from "../content/marks.ts";
import type { ValueSource } from "../content/values.ts";
import type { PlannedMembership } from "./plan.ts";

/** The ids of the rows so far, by table. */
export type Ids = Map<string, Key[]>;

/** The parts that records are made with. */
export interface RecordParts {
  readonly store: Store;
  readonly values: ValueSource;
  readonly marks: Marks;
  readonly ids: Ids;
  /** The columns that hold a value of a field of users, by table: a permission compares both. */
  readonly sharedValues: ReadonlyMap<string, ReadonlyMap<string, readonly Value[]>>;
  /** Makes a key of a table whose keys the store does not issue. */
  readonly makeKey: (kind: "uuid" | "text") => string;
}

/** The least and the most rows of a resource. */
const LEAST_ROWS = 4;
const MOST_ROWS = 14;
const TRIES = 6;

/**
 * Makes the rows of a resource, straight in the store. Their references go through all users and groups. Returns the
 * reason if none could be made.
 */
export async function makeRecords(
  parts: RecordParts,
  mount: ServedMount,
  planned: readonly PlannedRow[],
): Promise<string | null> {
  const count = Math.min(
    MOST_ROWS,
    Math.max(LEAST_ROWS, ...referencedTables(mount).map((table) => parts.ids.get(table)?.length ?? 0)),
  );
  let problem: string | null = null;
  for (const row of planned) problem = (await makeRow(parts, mount, row.turn, row.values)) ?? problem;
  const left = planned.length > 0 ? 0 : count;
  for (let turn = 0; turn < left; turn++) problem = (await makeRow(parts, mount, turn, {})) ?? problem;
  return (parts.ids.get(mount.collection.name)?.length ?? 0) > 0 ? null : (problem ?? "no record could be made");
}

/** A row with given values: a membership. */
export interface PlannedRow {
  readonly turn: number;
  readonly values: WrittenValues;
}

/** Returns the membership rows that were planned for users. */
export function planRows(
  table: string,
  users: readonly { readonly id: Key; readonly memberships: readonly PlannedMembership[] }[],
  ids: Ids,
  groupTable: (column: string) => string | null,
): readonly PlannedRow[] {
  return users.flatMap(({ id, memberships }) =>
    memberships
      .filter((each) => each.table === table)
      .map(({ user, group, place, values }, turn): PlannedRow => {
        const groups = ids.get(groupTable(group) ?? "") ?? [];
        return { turn, values: { ...values, [user]: id, [group]: groups[place] ?? groups[0] ?? null } };
      }),
  );
}

function referencedTables({ resource }: ServedMount): readonly string[] {
  const names = [...(resource.parentColumn === null ? [] : [resource.parentColumn]), ...Object.keys(resource.fields)];
  return names.flatMap((name) => findReferencedTable(resource, name) ?? []);
}

async function makeRow(
  parts: RecordParts,
  mount: ServedMount,
  turn: number,
  given: WrittenValues,
): Promise<string | null> {
  let problem: string | null = null;
  for (let shift = 0; shift < TRIES; shift++) {
    const drawn = drawRow(parts, mount, turn, shift, given);
    if (typeof drawn === "string") return drawn;
    problem = await insertRow(parts, mount, drawn);
    if (problem === null) return null;
  }
  return problem;
}

interface DrawnRow {
  readonly values: Readonly<Record<string, Value>>;
  readonly marks: ReadonlyMap<string, string>;
}

function drawRow(
  parts: RecordParts,
  mount: ServedMount,
  turn: number,
  shift: number,
  given: WrittenValues,
): DrawnRow | string {
  const { resource, collection } = mount;
  const marks = new Map<string, string>();
  const values: Record<string, Value> = {};
  const shared = parts.sharedValues.get(collection.name);
  const columns = new Set(collection.columns.map(({ name }) => name));
  if (resource.parentColumn !== null) {
    const parent = refer(parts, resource.parentColumn, mount, turn, shift);
    if (parent === undefined) return "its parent has no records";
    values[resource.parentColumn] = parent;
  }
  let place = 0;
  for (const [name, field] of Object.entries(resource.fields)) {
    if (field.kind.once !== undefined) values[field.kind.once.column] = parts.makeKey("text");
    if (!isStored(field) || !columns.has(name)) continue;
    place += 1;
    const common = shared?.get(name);
    if (field.kind.references !== undefined || field.kind.members !== undefined) {
      const to = refer(parts, name, mount, turn, shift + (place > 2 ? turn : 0));
      if (to === undefined && field.options.optional !== true)
        return `${name} refers to records that could not be made`;
      values[name] = field.kind.members === undefined ? (to ?? null) : to === undefined ? [] : [to];
    } else if (common !== undefined && common.length > 0) {
      values[name] = common[(turn + shift) % common.length]!;
    } else {
      const drawn = parts.values.draw(field, turn + shift + (turn >> 1) * (place % 2));
      if (drawn === null && field.options.optional !== true)
        return `${name}: its kind ${field.kind.name} refuses every drawn value; declare an example`;
      values[name] = drawn?.value ?? null;
      if (drawn !== null && drawn.mark !== null) marks.set(name, drawn.mark);
    }
  }
  return { values: { ...values, ...(given as Readonly<Record<string, Value>>) }, marks };
}

function refer(
  { ids }: RecordParts,
  name: string,
  { resource, collection }: ServedMount,
  turn: number,
  shift: number,
): Key | undefined {
  const field = resource.fields[name];
  const table = findReferencedTable(resource, name) ?? field?.kind.members?.resource.replaceAll("-", "_") ?? null;
  if (table === null) return undefined;
  const from = ids.get(table === "accounts" ? "users" : table) ?? [];
  if (from.length === 0) return undefined;
  // Different references of one resource go through the records at different speeds, so that all pairs occur.
  return from[(turn + shift + collection.name.length) % from.length];
}

async function insertRow(parts: RecordParts, mount: ServedMount, { values, marks }: DrawnRow): Promise<string | null> {
  const { collection, resource, links } = mount;
  const key = collection.key === "integer" ? undefined : parts.makeKey(resource.id === "uuid" ? "uuid" : "text");
  const change: Change = { kind: "insert", collection, values, ...(key === undefined ? {} : { key }) };
  const linked = buildLinkChanges(links, { id: key ?? null, before: null, values });
  const outcome = await parts.store.write({ changes: [change, ...linked] });
  if (outcome.kind !== "written") return `the store refuses a drawn record (${outcome.kind})`;
  const id = (outcome.rows[0]!.record as { readonly id: Key }).id;
  parts.ids.set(collection.name, [...(parts.ids.get(collection.name) ?? []), id]);
  for (const [field, mark] of marks) parts.marks.set(mark, { mount, id, field });
  return null;
}
