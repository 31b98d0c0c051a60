import { valueOfJSON } from "../../../../core/exact-numbers.ts";
import type { Key, ListText, StoredRecord } from "../../../../store/store.ts";
import type { Params } from "../../../request/path.ts";

/**
 * A record that will be expanded. A class, because object literals with getters stay in memory until a full garbage
 * collection.
 */
export class Place {
  /** The members as the store wrote them, without the braces and the first quote. Null if the record is parsed. */
  readonly members: string | null;
  /** The parameters of a path that ends with the id of this record. */
  readonly outer: Params;
  #record: StoredRecord | null;

  constructor(source: string | StoredRecord, outer: Params) {
    this.members = typeof source === "string" ? source : null;
    this.#record = typeof source === "string" ? null : source;
    this.outer = outer;
  }

  get record(): StoredRecord {
    return (this.#record ??= valueOfJSON(`{"${this.members!}}`) as StoredRecord);
  }

  get id(): Key {
    if (this.#record !== null || this.members!.startsWith('"', ID.length)) return this.record["id"] as Key;
    const end = this.members!.indexOf(",");
    return Number(this.members!.slice(ID.length, end === -1 ? undefined : end));
  }
}

/** The beginning of a record's members. */
const ID = 'id":';

/** The text between two records. In JSON text, it occurs only between two objects. */
const BETWEEN = '},{"';

/**
 * Cuts the JSON of a page into its records without parsing them. A record is parsed later, if its values are needed.
 * Returns null if the members are not exactly `columns`. Also returns null if a value contains objects, because the
 * start of a record is then not clear.
 */
export function cutPage({ json, count }: ListText, columns: readonly string[], outer: Params): readonly Place[] | null {
  if (count === 0) return [];
  const parts = json.slice('[{"'.length, -"}]".length).split(BETWEEN);
  if (parts.length !== count || columns[0] !== "id") return null;
  const places = parts.map((members) => new Place(members, outer));
  return Object.keys(places[0]!.record).join() === columns.join() ? places : null;
}
