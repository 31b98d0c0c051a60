import type { ServedMount } from "../../http/declarations/mount.ts";
import { isStored, isWritable, type Field } from "../../resource/declaration/field.ts";
import type { StoredRecord } from "../../store/store.ts";
import { isFew } from "../content/values.ts";
import type { Sight } from "../judging/sight.ts";
import type { World } from "../world/world.ts";

/** A body, with the marks of the values that only it has, by the field of the newer shape. */
export interface DrawnBody {
  readonly body: Readonly<Record<string, unknown>>;
  readonly marks: ReadonlyMap<string, string>;
}

/** One field of a mount in the names of a caller, with its name in the newer shape. */
interface BodyField {
  readonly name: string;
  readonly from: string;
  readonly field: Field;
}

/** Returns the fields that a body may have by the declaration, from any caller. */
export function bodyFields({ resource, older }: ServedMount): readonly BodyField[] {
  return Object.entries(resource.fields).flatMap(([name, field]) =>
    isWritable(field) && field.computed === undefined
      ? [{ name, from: older?.members.get(name)?.from ?? name, field }]
      : [],
  );
}

/** Returns true if a drawn value says nothing about rights: it may be any value. */
export function isFree(world: World, mount: ServedMount, { from, field }: BodyField): boolean {
  if (field.kind.references !== undefined || field.kind.members !== undefined || isFew(field)) return false;
  const isUnique = (field.options.unique ?? false) !== false;
  return isUnique || world.structure.get(mount.collection.name)?.has(from) !== true;
}

/** Returns a body like a row: with its references and words, and with new texts, numbers and dates. */
export function bodyLike(world: World, mount: ServedMount, row: StoredRecord, sight: Sight, isNew: boolean): DrawnBody {
  const newer = mount.newer ?? mount;
  const marks = new Map<string, string>();
  const body: Record<string, unknown> = {};
  for (const each of bodyFields(mount)) {
    const { name, from, field } = each;
    if (!sight.mayWriteField(newer, from, isNew ? null : row)) continue;
    const isNeeded = field.options.optional !== true && field.options.default === undefined;
    if (!isStored(field) && !isNeeded) continue;
    const value = isFree(world, newer, each) ? world.values.draw(field, 0) : null;
    if (value === null && !Object.hasOwn(row, from)) continue;
    body[name] = value === null ? row[from] : value.value;
    if (value?.mark !== undefined && value.mark !== null) marks.set(value.mark, from);
  }
  return { body, marks };
}

/** Returns a change of one field that says nothing about rights. Null: the caller may send no such field. */
export function smallChange(world: World, mount: ServedMount, row: StoredRecord, sight: Sight): DrawnBody | null {
  const newer = mount.newer ?? mount;
  const fields = bodyFields(mount).filter(
    ({ from, field }) => isStored(field) && sight.mayWriteField(newer, from, row),
  );
  const isBuiltInOfUsers = (from: string): boolean => mount.collection.name === world.usersTable && from === "email";
  const chosen =
    fields.find((each) => isFree(world, newer, each) && !isBuiltInOfUsers(each.from)) ??
    fields.find(({ field }) => isFew(field));
  if (chosen === undefined) return null;
  const drawn = world.values.draw(
    chosen.field,
    1 + Number(row[chosen.from] === world.values.draw(chosen.field, 1)?.value),
  );
  if (drawn === null) return null;
  return {
    body: { [chosen.name]: drawn.value },
    marks: drawn.mark === null ? new Map() : new Map([[drawn.mark, chosen.from]]),
  };
}
