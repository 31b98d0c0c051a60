import { valueOfJSON } from "../../core/exact-numbers.ts";
import { DEFAULT_LIMIT } from "../../resource/page-size.ts";
import { StoreTimeout, type Key, type StoredRecord } from "../../store/store.ts";
import type { ServedMount } from "../declarations/mount.ts";
import type { Exchange } from "../request/exchange.ts";
import { askForRelated } from "./reads/asking.ts";
import { MAX_EXPANDED_CHARACTERS } from "./reads/expand/expanded.ts";
import { combineVerdicts, type KeyDecision } from "./reads/expand/verdicts.ts";

/**
 * Reads the values of one field of some records, by id, with one query. Includes only the records that the verdicts
 * allow. Returns null if the result is too large, or takes too long.
 */
export async function readValues(
  exchange: Exchange,
  mount: ServedMount,
  field: string,
  verdicts: ReadonlyMap<Key, KeyDecision>,
): Promise<ReadonlyMap<Key, unknown> | null> {
  const { keys, where } = combineVerdicts("id", verdicts);
  if (keys.length === 0) return new Map();
  // The fields of an older shape are made from columns with other names.
  const isComputed = mount.newer !== null || mount.computed.includes(field);
  const columns = isComputed ? mount.sources : ["id", field];
  const query = {
    collection: mount.collection,
    column: "id",
    keys,
    where,
    limit: 1,
    columns,
    maxLength: MAX_EXPANDED_CHARACTERS,
  };
  try {
    const found = await askForRelated(exchange, { ...query, long: keys.length > DEFAULT_LIMIT });
    if (found === null) return null;
    const records = found.flatMap(({ json }) => valueOfJSON(json) as readonly StoredRecord[]);
    return new Map(
      records.flatMap((record) => {
        const shown = isComputed ? findShown(mount, record) : record;
        return shown === null ? [] : [[record["id"] as Key, shown[field]] as const];
      }),
    );
  } catch (error) {
    if (error instanceof StoreTimeout) return null;
    throw error;
  }
}

/**
 * Returns the shown record. Returns null if a computed field throws. Then only the value is missing in this response. A
 * request for the record itself reports the error.
 */
function findShown({ show }: ServedMount, record: StoredRecord): Readonly<Record<string, unknown>> | null {
  try {
    return show(record);
  } catch {
    return null;
  }
}
