import { isObject } from "../../../core/checking/members.ts";
import { Flaw, isShown, type Field } from "../../../resource/declaration/field.ts";
import type { Resource } from "../../../resource/resource.ts";
import type { WrittenValues } from "../../../store/store.ts";

/**
 * Creates the fault that a hook or an action returned a wrong value. `what` completes the sentence, for example
 * `a wrong title: …`.
 */
export type MakeFault = (what: string) => TypeError;

/**
 * Reads the values that a hook or an action returns for a record. Each value is parsed by its field, so that responses
 * show only values that fit the declaration.
 */
export function readGiven(
  fields: Resource["fields"],
  values: Readonly<Record<string, unknown>>,
  fault: MakeFault,
): WrittenValues {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      // Three kinds of values are stored without parsing. A hidden field may be stored in a form that clients never
      // send. The id of the parent has no field that could parse it. A `keyOf` is a placeholder for the id of a row
      // that the same transaction inserts.
      const isRead = field !== undefined && isShown(field) && !isKeyOf(value);
      return [name, isRead ? readValue(name, field, value, fault) : value];
    }),
  ) as WrittenValues;
}

function isKeyOf(value: unknown): boolean {
  return isObject(value) && Object.keys(value).join() === "keyOf" && Number.isSafeInteger(value["keyOf"]);
}

/** Reads one value. Throws the fault if the field does not accept the value. */
export function readValue(name: string, { kind, options }: Field, value: unknown, fault: MakeFault): unknown {
  if (value === null && options.optional === true) return null;
  const read = kind.parse(value);
  if (value instanceof Promise) throw fault(`a promise for ${name}; await it`);
  if (read instanceof Flaw) throw fault(`a wrong ${name}: ${read.detail.replace(/\.$/, "")}`);
  return read;
}
