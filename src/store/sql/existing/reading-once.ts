import { after, type Eventually } from "../../../core/eventually.ts";
import { inSlices } from "../../slices.ts";
import type { BesideQuery, ListQuery, ListText, RelatedQuery, RelatedText } from "../../store.ts";
import { withoutRepeatedMembers } from "./repeated-members.ts";

/** The part of a query that decides whether its records may have JSON with repeated members. */
type Shown = Pick<ListQuery, "collection" | "columns">;

/** Reads a page, and shows each member of the JSON of other programs once. */
export function readPageOnce(
  query: ListQuery,
  beside: readonly BesideQuery[] | undefined,
  read: (query: ListQuery, beside?: readonly BesideQuery[]) => Eventually<ListText>,
): Eventually<ListText> {
  const found = read(query, beside);
  if (!mayRepeat(query)) return found;
  return after(found, (page) =>
    after(inSlices(withoutRepeatedMembers(page.json)), (json) => {
      if (json === page.json) return page;
      const { count, more, first, last } = page;
      return { json, count, more, first, last };
    }),
  );
}

/** Reads related records, and shows each member of the JSON of other programs once. */
export function readRelatedOnce(
  query: RelatedQuery,
  read: (query: RelatedQuery) => Eventually<readonly RelatedText[] | null>,
): Eventually<readonly RelatedText[] | null> {
  const found = read(query);
  if (!mayRepeat(query)) return found;
  return after(found, (related) => (related === null ? null : inSlices(eachOnce(related))));
}

function* eachOnce(related: readonly RelatedText[]): Generator<undefined, readonly RelatedText[], undefined> {
  const shown: RelatedText[] = [];
  for (const each of related) shown.push({ ...each, json: yield* withoutRepeatedMembers(each.json) });
  return shown;
}

/** Returns true if records show JSON of other programs that may have repeated members. The service writes none. */
function mayRepeat({ collection: { existing, columns, computed = [] }, columns: names }: Shown): boolean {
  if (existing === undefined) return false;
  const isShown = ({ name }: { readonly name: string }): boolean => names === undefined || names.includes(name);
  return (
    columns.some((column) => column.mayRepeat === true && isShown(column)) ||
    computed.some((column) => column.type === "json" && isShown(column))
  );
}
