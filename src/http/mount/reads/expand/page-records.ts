import { valueOfJSON } from "../../../../core/exact-numbers.ts";
import type { Key, ListText, StoredRecord } from "../../../../store/store.ts";
import type { Params } from "../../../endpoint/path.ts";

/** A record that others are to stand beside or behind. It is a class for the reason that a page of SQLite is one. */
export class Place {
  /** Its members as they were read, without the braces and the first quote; null where something may have to stand between them. */
  readonly members: string | null;
  /** The parameters of the path at whose end its id stands. */
  readonly outer: Params;
  #record: StoredRecord | null;

  constructor(given: string | StoredRecord, outer: Params) {
    this.members = typeof given === "string" ? given : null;
    this.#record = typeof given === "string" ? null : given;
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

/** Where the members of a record begin. */
const ID = 'id":';

/** What stands between two records, and in JSON text nowhere but between two objects. */
const BETWEEN = '},{"';

/**
 * The records of a page whose text has these members and no others: each is parsed when it is looked into, and shown as it was read. Null for
 * any other page, and where a value has objects in it, so that nobody knows where a record begins.
 */
export function cutPage({ json, count }: ListText, columns: readonly string[], outer: Params): readonly Place[] | null {
  if (count === 0) return [];
  const parts = json.slice('[{"'.length, -"}]".length).split(BETWEEN);
  if (parts.length !== count || columns[0] !== "id") return null;
  const places = parts.map((members) => new Place(members, outer));
  return Object.keys(places[0]!.record).join() === columns.join() ? places : null;
}
