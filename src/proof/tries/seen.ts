import type { ProveAnswer, ProveRequest } from "../asking/request.ts";
import type { Cell } from "../content/marks.ts";
import { findRow, type State } from "../content/state.ts";
import { collectMarks, markOf } from "../content/values.ts";
import type { Sight } from "../judging/sight.ts";
import { rowsOf } from "../requests/rows.ts";
import type { World } from "../world/world.ts";

/** Returns the stored values in an answer that the declarations hide from its caller. */
export function findHiddenCells(
  world: World,
  request: ProveRequest,
  answer: ProveAnswer,
  at?: State,
  more?: ReadonlyMap<string, Cell>,
): readonly Cell[] {
  const sight = world.sightOf(request.actor, at);
  const state = at ?? world.state();
  const sent = new Set(
    collectMarks(`${request.path} ${JSON.stringify(request.body ?? "")} ${JSON.stringify(request.headers ?? {})}`),
  );
  const shown = `${answer.text}\n${[...answer.headers.values()].join("\n")}`;
  const hidden: Cell[] = [];
  for (const mark of collectMarks(shown)) {
    if (sent.has(mark)) continue;
    const cell = more?.get(mark) ?? world.marks.get(mark);
    if (cell === undefined || request.reveals?.includes(`${cell.mount.resource.plural}.${cell.field}`) === true)
      continue;
    if (!maySee(sight, request, cell, state, world) && !isShared(sight, mark, state, world)) hidden.push(cell);
  }
  return hidden;
}

function maySee(
  sight: Sight,
  { lists }: ProveRequest,
  { mount, id, field }: Cell,
  state: State,
  world: World,
): boolean {
  const { name } = mount.collection;
  const row = findRow(state, name, id) ?? findRow(world.state(), name, id);
  if (row === null || (sight.isOwn(mount, row) && sight.mayReadField(mount, field, row))) return true;
  const isListed = lists !== undefined && lists.collection.name === name;
  const may = isListed ? sight.may("list", mount, row) : sight.mayRead(mount, row);
  return may && sight.mayReadField(mount, field, row);
}

/** Returns true if the caller sees the value in a column whose values rows share, for example its own tenant. */
function isShared(sight: Sight, mark: string, state: State, world: World): boolean {
  return world.mounts.some((mount) => {
    const shared = [...(world.structure.get(mount.collection.name) ?? [])];
    return rowsOf(state, mount).some((row) =>
      shared.some(
        (column) =>
          markOf(row[column]) === mark &&
          (sight.mayRead(mount, row) || sight.isOwn(mount, row)) &&
          sight.mayReadField(mount, column, row),
      ),
    );
  });
}
