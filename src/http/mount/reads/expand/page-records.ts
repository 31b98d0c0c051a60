import { valueOfJSON } from "../../../../core/exact-numbers.ts";
import type { Key, ListText, StoredRecord } from "../../../../store/store.ts";
import type { Params } from "../../../endpoint/path.ts";

/** A record that is to be expanded. It is a class for the same reason as a page of SQLite. */
export class Place {
  /**
   * Its members as they were read, without the braces and the first quote. Null if text may have to be inserted between
   * them.
   */
  readonly members: string | null;
  /** The parameters of the path that ends with its id. */
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
 * Cuts a page into its records without parsing them. Its text must have exactly these members. A record is parsed only
 * if it is used, and otherwise shown as it was read. Returns null for any other page. Also returns null if a value
 * contains objects, because the beginning of a record is then unclear.
 */
export function cutPage({ json, count }: ListText, columns: readonly string[], outer: Params): readonly Place[] | null {
  if (count === 0) return [];
  const parts = json.slice('[{"'.length, -"}]".length).split(BETWEEN);
  if (parts.length !== count || columns[0] !== "id") return null;
  const places = parts.map((members) => new Place(members, outer));
  return Object.keys(places[0]!.record).join() === columns.join() ? places : null;
}
