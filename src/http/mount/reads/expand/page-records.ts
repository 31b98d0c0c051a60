import { valueOfJSON } from "../../../../core/exact-numbers.ts";
import type { Key, ListText, StoredRecord } from "../../../../store/store.ts";
import type { Params } from "../../../endpoint/path.ts";

/** A record that will be expanded. A class for the same reason as the page of SQLite. */
export class Place {
  /**
   * Its members as the store wrote them, without the braces and the first quote. Null if the expansion may have to insert text between
   * them.
   */
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
 * Cuts a page into its records without parsing them. The text must have exactly these members. Only a record that is needed is parsed;
 * others are sent as they were read. Returns null if the text has other members, or if a value may contain objects, because the start of a
 * record is then unclear.
 */
export function cutPage({ json, count }: ListText, columns: readonly string[], outer: Params): readonly Place[] | null {
  if (count === 0) return [];
  const parts = json.slice('[{"'.length, -"}]".length).split(BETWEEN);
  if (parts.length !== count || columns[0] !== "id") return null;
  const places = parts.map((members) => new Place(members, outer));
  return Object.keys(places[0]!.record).join() === columns.join() ? places : null;
}
