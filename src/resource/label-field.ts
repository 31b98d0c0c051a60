import { isText } from "../core/checking/members.ts";
import { shownName, suggestion } from "../core/checking/nearest.ts";
import type { Fields, ResourceDeclaration } from "./declaration/declaration.ts";
import { isShown, type Field } from "./declaration/field.ts";
import { shapeMistakes } from "./kinds/field-mistakes.ts";

/** Returns the mistakes in `labelField`. */
export function labelFieldMistakes({ labelField, fields, computed = {} }: ResourceDeclaration<Fields>): string[] {
  if (!isText(labelField)) return [];
  const isComputed = Object.hasOwn(computed, labelField);
  if (!isComputed && !Object.hasOwn(fields, labelField)) {
    const names = [...Object.keys(fields), ...Object.keys(computed)];
    return [`labelField: there is no field ${shownName(labelField)}${suggestion(labelField, names)}`];
  }
  const field: unknown = isComputed ? computed[labelField]!.as : fields[labelField];
  if (shapeMistakes(field).length > 0) return [];
  const mistake = fieldMistake(field as Field);
  return mistake === null ? [] : [`labelField: ${labelField} ${mistake}`];
}

function fieldMistake(field: Field): string | null {
  if (!isShown(field)) return "is never shown, so it cannot name a record; name another field";
  return field.kind.column.type === "json" ? "has no short value that names a record; name another field" : null;
}
