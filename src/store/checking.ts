import {
  anything,
  isObject,
  isText,
  membersMistakes,
  objectOf,
  oneOf,
  optional,
  shown,
  text,
  wholeFrom,
  type Check,
} from "../checking/members.ts";
import { shownName, suggestion } from "../checking/nearest.ts";
import type { ChecksOf } from "../checking/options.ts";
import type { Collection, Column } from "./store.ts";

/** What is wrong with a declared table: each mistake with its place in it. */
export function collectionMistakes(collection: Readonly<Record<string, unknown>>): readonly string[] {
  const mistakes = membersMistakes(collection, collectionMembers);
  const { columns, indexes = [] } = collection;
  if (mistakes.length > 0 || !Array.isArray(columns)) return mistakes;
  const known = ["id", ...columns.map((column: Column) => column.name)];
  return [
    ...known
      .filter((name, at) => known.indexOf(name) < at)
      .map((name) => `the column ${name} is there twice; keep one`),
    ...(indexes as readonly (readonly string[])[])
      .flat()
      .filter((name) => !known.includes(name))
      .map((name) => `an index names the column ${shownName(name)}, which is not there${suggestion(name, known)}`),
  ];
}

const aFlag: Check = (value) => (value === true ? null : "it has to be true, or left out");

const columnMembers: ChecksOf<Column> = {
  name: (value) =>
    isText(value) && /^[a-z][a-z0-9_]*$/i.test(value) && value !== "id"
      ? null
      : "it has to be letters, digits and underscores, and not id, which every row has",
  type: oneOf("integer", "text", "boolean", "decimal", "date", "date-time", "json"),
  nullable: optional((value) => (typeof value === "boolean" ? null : "it has to be true or false")),
  unique: optional((value) =>
    typeof value === "boolean" || value === "folded" ? null : 'it has to be true, false or "folded"',
  ),
  folded: optional(aFlag),
  searched: optional(aFlag),
  few: optional(aFlag),
  scale: optional(wholeFrom(0, 6)),
  default: anything,
  references: optional(
    objectOf(
      { collection: text, onDelete: oneOf("cascade", "restrict") },
      'it has to be { collection: "books", onDelete: "restrict" }',
    ),
  ),
};

const collectionMembers: ChecksOf<Omit<Collection, "typed">> = {
  name: text,
  key: oneOf("integer", "text"),
  columns: (value) => {
    if (!Array.isArray(value)) return 'it has to be a list, like [{ name: "at", type: "integer" }]';
    const wrong = Array.from(value, columnMistake).filter((mistake) => mistake !== null);
    return wrong.length === 0 ? null : wrong.join("; ");
  },
  indexes: optional((value) =>
    Array.isArray(value) && value.every((each) => Array.isArray(each) && each.every(isText))
      ? null
      : 'it has to be a list of lists of columns, like [["user_id"]]',
  ),
};

function columnMistake(column: unknown, at: number): string | null {
  if (!isObject(column)) return `columns[${at}] is ${shown(column)}, and no object`;
  const [first] = membersMistakes(column, columnMembers);
  return first === undefined ? null : `${isText(column["name"]) ? column["name"] : `columns[${at}]`}: ${first}`;
}
