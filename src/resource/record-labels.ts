import type { Resource } from "./declaration/declaration.ts";
import { isShown, type Field } from "./declaration/field.ts";

/**
 * Returns the field with the name of a record: the declared one, or the first text of one line. Returns null if there
 * is none.
 */
export function findLabelField({ labelField, fields }: Pick<Resource, "labelField" | "fields">): string | null {
  const shown = Object.keys(fields).filter((name) => isShown(fields[name]!));
  if (labelField !== null) return shown.includes(labelField) ? labelField : null;
  return shown.find((name) => isLine(fields[name]!)) ?? null;
}

/** Returns true for a text of one line whose values differ. */
function isLine({ kind, options }: Field): boolean {
  if (kind.column.type !== "text" || kind.references !== undefined) return false;
  return kind.spelled !== true && !("multiline" in options && options.multiline === true);
}

/** Returns the words for one record of a resource: `Loan`, or `Loan 7` with its id. */
export function nameOne({ name, label }: Pick<Resource, "name" | "label">, id: unknown = ""): string {
  return `${label?.one ?? formatTitle(name)} ${String(id)}`.trim();
}

/** Returns a name as a title: with a capital first letter, and spaces instead of `_` and `-`. */
export function formatTitle(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`.replaceAll(/[_-]/g, " ");
}

/**
 * Returns the words for a field: its label, or its name made readable. `due_at` is "Due at", `assignee_id` "Assignee".
 */
export function nameField(name: string, field: Pick<Field, "options"> | null = null): string {
  return field?.options.label ?? formatTitle(name.replace(/(?<=.)_id$/, "").replace(/(?<=.)_ids$/, "s"));
}
