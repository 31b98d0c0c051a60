import { collectColumnKinds, type ColumnKind, type PlainOptions } from "../../door/resources.ts";
import type { FoundExistingColumn } from "../../door/stores.ts";

/** The call that declares a column, or the reason why there is none. */
export type Declared =
  | (Pick<ColumnKind, "type" | "id"> & {
      readonly factory: string;
      readonly first?: string | readonly string[];
      readonly options: PlainOptions;
    })
  | { readonly why: string };

/** Returns the declaration of a column, by its type and its first rows. The calling code declares references. */
export function kindFor(column: FoundExistingColumn): Declared {
  const { storage, maxLength } = column;
  const words = column.words ?? wordsIn(column.checks ?? []) ?? [];
  // The only length that changes the kind of a column.
  const type = /^tinyint\s*\(1\)$/i.test(storage) ? "tinyint(1)" : storage.toLowerCase().replace(/\s*\([^)]*\)/, "");
  const [factory, kind] =
    [...collectColumnKinds()].find(([, { columns }]) =>
      words.length > 0 || columns === "words" ? words.length > 0 && columns === "words" : columns.test(type),
    ) ?? [];
  if (factory === undefined || kind === undefined)
    return { why: storage === "" ? "it has no type" : `no kind of field has the type ${storage}` };
  const call = kind.arguments?.({ storage, type, maxLength, words }) ?? [{}];
  if (typeof call === "string") return { why: call };
  if (column.misfits?.has(kind.type) === true)
    return { why: `the table has values that are no ${kind.values ?? "texts"}, though the type is ${storage}` };
  const [first] = call;
  return {
    factory,
    type: kind.type,
    ...(kind.id === undefined ? {} : { id: kind.id }),
    ...(isWords(first) ? { first, options: {} } : { options: first }),
  };
}

function isWords(first: PlainOptions | readonly string[]): first is readonly string[] {
  return Array.isArray(first);
}

/** Returns the words of a CHECK: `IN ('a', 'b')`, or its form in PostgreSQL. Returns null for any other CHECK. */
export function wordsIn(checks: readonly string[]): readonly string[] | null {
  for (const check of checks) {
    const list = /(?:\bIN\s*\(|= ANY \(\(?ARRAY\[)(.*?)(?:\)\s*$|\])/is.exec(check)?.[1];
    if (list === undefined) continue;
    const rest = list.replaceAll(/'(?:[^']|'')*'(?:::[a-z ]+)?|\s|,|\(|\)/gi, "");
    if (rest !== "") continue;
    return [...list.matchAll(/'((?:[^']|'')*)'/g)].map(([, word]) => word!.replaceAll("''", "'"));
  }
  return null;
}
