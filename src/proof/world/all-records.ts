import { collectFacts } from "../../access/permission/facts.ts";
import type { ServedMount } from "../../http/declarations/mount.ts";
import { findReferencedTable } from "../../resource/tables/references.ts";
import { buildTableName } from "../../resource/tables/table.ts";
import type { Marks } from "../content/marks.ts";
import { inOrderOfReferences } from "../content/restore.ts";
import type { ValueSource } from "../content/values.ts";
import type { ProvedService } from "./opening.ts";
import { collectPermissions } from "./plan.ts";
import { makeRecords, planRows, type Ids } from "./records.ts";
import { findSharedValues } from "./shared-values.ts";
import type { MadeUser } from "./users.ts";

/** The requests that `prove` did not try, with the reasons. */
export interface NotTried {
  readonly path: string;
  /** The first actor for which it was not tried. Null: for every actor. */
  readonly actor: string | null;
  readonly reason: string;
}

/** The parts that all records are made with. */
interface Making {
  readonly proved: ProvedService;
  readonly made: readonly MadeUser[];
  readonly values: ValueSource;
  readonly marks: Marks;
  readonly ids: Ids;
}

/** Makes the records of each mount. Returns the mounts that have some, and the reasons for the others. */
export async function makeAllRecords(
  { proved, made, values, marks, ids }: Making,
  served: readonly ServedMount[],
): Promise<{ readonly mounts: readonly ServedMount[]; readonly notTried: readonly NotTried[] }> {
  const { service, people } = proved;
  const usersTable = people.accounts.users.collection.name;
  const notTried: NotTried[] = [];
  const tables = inOrderOfReferences(served.map(({ collection }) => collection));
  const makeKey = keyMaker();
  const sharedValues = await findSharedValues(proved, served);
  const mounts: ServedMount[] = [];
  for (const mount of tables.flatMap((table) => served.filter(({ collection }) => collection === table))) {
    if (mount.collection.name === usersTable) {
      mounts.push(mount);
      continue;
    }
    const reason =
      whyMissing(proved, mount) ??
      (await makeRecords(
        { store: service.store, values, marks, ids, sharedValues, makeKey },
        mount,
        planRows(mount.collection.name, made, ids, (column) => findReferencedTable(mount.resource, column)),
      ));
    if (reason === null) mounts.push(mount);
    else notTried.push({ path: mount.resource.path, actor: null, reason });
  }
  return { mounts, notTried };
}

/** Returns the reason why a resource cannot be asked. Returns null if it can be. */
function whyMissing({ watch }: ProvedService, mount: ServedMount): string | null {
  const own = watch.whyMissing(mount.collection.name);
  if (own !== null) return own;
  const facts = collectPermissions(mount).flatMap(collectFacts);
  const memberships = facts.flatMap((each) => ("memberships" in each ? [buildTableName(each.memberships)] : []));
  const foreign = memberships.find((table) => watch.whyMissing(table) !== null);
  return foreign === undefined ? null : `its permission asks ${foreign}, which are not in memory`;
}

function keyMaker(): (kind: "uuid" | "text") => string {
  let count = 0;
  return (kind) => {
    const digits = (++count).toString(16).padStart(12, "0");
    return kind === "uuid" ? `01800000-0000-7000-8000-${digits}` : `key-${digits}`;
  };
}
