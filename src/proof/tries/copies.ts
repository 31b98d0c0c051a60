import type { ServedMount } from "../../http/declarations/mount.ts";
import type { ProveRequest } from "../asking/request.ts";
import type { Cell } from "../content/marks.ts";
import type { RowChange, State } from "../content/state.ts";
import { collectMarks } from "../content/values.ts";
import { collectionPath, rowPath } from "../requests/rows.ts";
import { reportSeen, type Trial } from "./try.ts";

/** A stored value that code has copied into another field. */
interface Copy {
  readonly mount: ServedMount;
  readonly change: RowChange;
  readonly column: string;
}

/** Lets every actor read the rows into which a write has copied a value of another field, and reports what they see. */
export async function reportCopies(
  trial: Trial,
  request: ProveRequest,
  changes: readonly RowChange[],
  state: State,
  marks: ReadonlyMap<string, Cell>,
): Promise<void> {
  const { world, sender } = trial;
  const copies = findCopies(trial, changes, marks);
  const asked = new Set<string>();
  for (const { mount, change, column } of copies) {
    for (const actor of world.actors) {
      const sight = world.sightOf(actor, state);
      if (!sight.mayRead(mount, change.after!) || !sight.mayReadField(mount, column, change.after!)) continue;
      const path =
        mount.permissions.read === undefined
          ? collectionPath(mount, change.after!, state)
          : rowPath(mount, change.after!, state);
      const key = `${actor.name} ${path}`;
      if (asked.has(key)) continue;
      asked.add(key);
      const read: ProveRequest = { actor, method: "GET", path, route: `${mount.resource.path}/{id}` };
      const answer = await sender.send(read);
      if (answer !== null) reportSeen(trial, read, answer, { state, marks, before: [request] });
    }
  }
}

function findCopies(
  { world }: Trial,
  changes: readonly RowChange[],
  marks: ReadonlyMap<string, Cell>,
): readonly Copy[] {
  return changes.flatMap((change): readonly Copy[] => {
    const { collection, id, before, after } = change;
    const mount = world.mounts.find((each) => each.collection.name === collection.name);
    if (mount === undefined || after === null) return [];
    return Object.keys(after).flatMap((column): readonly Copy[] => {
      if (JSON.stringify(before?.[column]) === JSON.stringify(after[column])) return [];
      const isForeign = collectMarks(JSON.stringify(after[column])).some((mark) => {
        const cell = marks.get(mark) ?? world.marks.get(mark);
        return (
          cell !== undefined &&
          !(cell.mount.collection.name === collection.name && cell.id === id && cell.field === column)
        );
      });
      return isForeign ? [{ mount, change, column }] : [];
    });
  });
}
