import { isObject, isText } from "../../../core/checking/members.ts";
import type { Observer } from "../../../core/observation.ts";
import { storedOf } from "../../../http/declarations/table.ts";
import type { Store } from "../../../store/store.ts";
import { factorsCollection } from "../gate/factors.ts";
import { equals } from "../records/conditions.ts";
import { PASSKEY } from "./kind.ts";

/**
 * The number of passkeys that are read from each end of the table. After a change of the host, all of them have the old
 * one.
 */
const MOST_READ = 500;

/** Logs a notice if stored passkeys are bound to another host, because their users cannot log in with them. */
export async function warnOfOtherHosts(store: Store, rpId: string, observe: Observer): Promise<void> {
  const where = { all: [equals("kind", PASSKEY), equals("active", true)] };
  const others = new Set<string>();
  for (const descending of [false, true]) {
    const sort = [{ column: "id", descending }];
    const rows = await store.list({ collection: factorsCollection, where, sort, limit: MOST_READ });
    for (const row of rows) {
      const { data } = storedOf(row);
      const bound = isObject(data) ? data["rpId"] : null;
      if (isText(bound) && bound !== rpId) others.add(bound);
    }
  }
  if (others.size === 0) return;
  observe({
    kind: "notice",
    level: "error",
    message: `Stored passkeys are bound to ${[...others].join(", ")}, and this service uses ${rpId}, so they do not log in. Set the host back (LATCHKEY_PASSKEY_RP_ID, or the option rpId), or let their users add new passkeys.`,
  });
}
