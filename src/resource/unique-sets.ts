import { isText } from "../core/checking/members.ts";
import { shownName, suggestion } from "../core/checking/nearest.ts";
import type { Fields, ResourceDeclaration } from "./declaration/declaration.ts";
import { isStored, type Field } from "./declaration/field.ts";
import { shapeMistakes } from "./kinds/field-mistakes.ts";

/** Checks the shape of `unique`. */
export function aListOfSets(value: unknown): string | null {
  return Array.isArray(value) && value.every((set) => Array.isArray(set) && set.every(isText))
    ? null
    : 'it has to be a list of sets of fields, like [["user_id", "project_id"]]';
}

/** Returns the mistakes in `unique`. */
export function uniqueMistakes(declaration: ResourceDeclaration<Fields>): readonly string[] {
  const sets: readonly (readonly string[])[] = declaration.unique ?? [];
  const written = sets.map((set) => set.toSorted().join());
  return sets.flatMap((set, at) => {
    const found =
      written.indexOf(written[at]!) < at
        ? ["the set is declared twice; leave one of them out"]
        : setMistakes(set, declaration);
    return found.map((mistake) => `unique [${set.map(shownName).join(", ")}]: ${mistake}`);
  });
}

function setMistakes(set: readonly string[], declaration: ResourceDeclaration<Fields>): readonly string[] {
  const found = set.flatMap((name, at) => {
    const mistake = set.indexOf(name) < at ? "is named twice; leave one of them out" : memberMistake(name, declaration);
    return mistake === null ? [] : [`${shownName(name)} ${mistake}`];
  });
  if (found.length > 0) return found;
  if (set.length === 0) return ["it names no field; leave it out"];
  if (set.length === 1)
    return [`a set has at least two fields; for this one alone, write unique: true at the field ${set[0]!}`];
  return haveOneRule(set, declaration.fields)
    ? []
    : [
        "a write tells whether another record has the values of a set, so read and write of all its fields have to be the same permission; give it to each of them, or to none",
      ];
}

/** Returns true if all fields of a set have the same rule, for reading and writing, or if none has one. */
function haveOneRule(set: readonly string[], fields: Fields): boolean {
  const rules = set
    .filter((name) => shapeMistakes(fields[name]).length === 0)
    .flatMap((name) => [fields[name]!.options.read, fields[name]!.options.write]);
  return new Set(rules).size <= 1;
}

function memberMistake(name: string, { fields, computed = {}, within }: ResourceDeclaration<Fields>): string | null {
  if (name === "id") return "is unique by itself; leave the set out";
  const parent = within === undefined ? null : `${within.name}_id`;
  if (name === parent) return null;
  if (Object.hasOwn(computed, name)) return "is computed and not stored, so it cannot be in a set; leave it out";
  if (!Object.hasOwn(fields, name)) {
    const known = [...Object.keys(fields), ...(parent === null ? [] : [parent])];
    return `is no field${suggestion(name, known)}`;
  }
  return shapeMistakes(fields[name]).length > 0 ? null : fieldMistake(fields[name]!);
}

function fieldMistake(field: Field): string | null {
  const { kind } = field;
  if (kind.members !== undefined) return "is a list of ids, which cannot be in a set; leave it out";
  if (kind.column.type === "json") return "is a JSON value, which cannot be in a set; leave it out";
  return isStored(field) ? null : "is transient and not stored, so it cannot be in a set; leave it out";
}
