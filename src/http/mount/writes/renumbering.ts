import { isKeyOf, keyOf, type Change, type KeyOf, type WrittenValues } from "../../../store/store.ts";

/**
 * Returns the change with new indexes in each `keyOf`. The indexes change when the changes of several records become
 * one list.
 */
export function renumberKeys(change: Change, place: (made: number) => number): Change {
  const move = <T>(value: T): T | KeyOf => (isKeyOf(value) ? keyOf(place(value.keyOf)) : value);
  if (change.kind === "link") return { ...change, record: move(change.record) };
  const moved = change.kind === "insert" && change.key !== undefined ? { ...change, key: move(change.key) } : change;
  if (!("values" in moved)) return moved;
  const isData = (name: string): boolean =>
    moved.collection.columns.some((column) => column.name === name && column.type === "json");
  const values = Object.entries(moved.values).map(([name, value]) => [name, isData(name) ? value : move(value)]);
  return { ...moved, values: Object.fromEntries(values) as WrittenValues };
}
