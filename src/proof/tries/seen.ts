import type { StoredRecord } from "../../store/store.ts";
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
  const hidden: Cell[] = [];
  for (const mark of collectMarks(shownIn(answer))) {
    if (sent.has(mark)) continue;
    const cell = more?.get(mark) ?? world.marks.get(mark);
    if (cell === undefined) continue;
    const { collection } = cell.mount;
    const row = findRow(state, collection.name, cell.id) ?? findRow(world.state(), collection.name, cell.id);
    if (row === null || isShown(sight, request, cell, row) || isShared(sight, mark, state, world)) continue;
    hidden.push(cell);
  }
  return hidden;
}

/** Returns the parts of an answer that may hold a stored value: also as base64, in hexadecimal or percent-encoded. */
export function shownIn({ text, headers }: ProveAnswer): string {
  const shown = `${text}\n${[...headers.values()].join("\n")}`;
  return [shown, ...decodedParts(shown)].join("\n");
}

const BASE64 = /(?<![\w+/=-])[\w+/-]{10,}={0,2}(?![\w+/=-])/g;
const HEXADECIMAL = /(?<![\da-z])(?:[\da-f]{2}){7,}(?![\da-z])/gi;
const PERCENT = /%[\da-f]{2}/i;

function decodedParts(shown: string): readonly string[] {
  const percent = PERCENT.test(shown) ? [shown.replaceAll(/%([\da-f]{2})/gi, (_, code: string) => fromHex(code))] : [];
  return [
    ...percent,
    ...(shown.match(HEXADECIMAL) ?? []).map(fromHex),
    ...[...percent, shown].flatMap((each) => each.match(BASE64) ?? []).map(fromBase64),
  ];
}

function fromHex(digits: string): string {
  return Buffer.from(digits, "hex").toString("latin1");
}

function fromBase64(letters: string): string {
  return Buffer.from(letters, "base64").toString("latin1");
}

/** Returns true if the declarations let the caller see the value, or the code shows it on purpose. */
export function isShown(
  sight: Sight,
  { lists, reveals, isWrittenByCode }: ProveRequest,
  { mount, field }: Cell,
  row: StoredRecord,
): boolean {
  if (reveals?.includes(`${mount.resource.plural}.${field}`) === true) return true;
  if (!sight.mayReadField(mount, field, row)) return false;
  if (sight.isOwn(mount, row)) return true;
  const isListed = lists?.collection.name === mount.collection.name;
  if (isWrittenByCode === true) return sight.mayReadUnlimited(mount, row);
  return isListed ? sight.may("list", mount, row) : sight.mayRead(mount, row);
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
