import type { Reply } from "../../../core/call/call.ts";
import type { Eventually } from "../../../core/eventually.ts";
import type { Issue } from "../../../core/problem/problem.ts";
import { unknownField } from "../../../resource/draft.ts";
import { pointerTo } from "../../../resource/pointer.ts";
import type { Key, Narrowing, Row } from "../../../store/store.ts";
import { withoutBody } from "../../answer/writing.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { invalid, type Exchange } from "../../request/exchange.ts";
import { collectColumns } from "../reads/matches.ts";
import { decideReading, mayReadWithin, readsEveryParent } from "../reads/reading.ts";
import { judgeEach, type Judged } from "../reads/settling.ts";

/**
 * Answers a repeated write of records with its stored outcome, as the caller of now may see it. Ends the request if the
 * caller may not send its fields any more.
 */
export async function replay(
  mount: ServedMount,
  exchange: Exchange,
  rows: readonly Row[],
  show: () => Eventually<Reply>,
): Promise<Reply> {
  requireSendable(mount, exchange);
  return replayAction(mount, exchange, rows, show);
}

/**
 * Answers a repeated action with the stored records, as the caller of now may see them. The fields of its body are not
 * those of the record. If the caller may not read the records any more, the reply has its status and no body.
 */
export async function replayAction(
  mount: ServedMount,
  exchange: Exchange,
  rows: readonly Row[],
  show: () => Eventually<Reply>,
): Promise<Reply> {
  const reply = await show();
  return (await mayReadNow(mount, exchange, rows)) ? reply : { ...withoutBody(reply), status: reply.status };
}

/**
 * Returns true if the caller may read all of these records now. The permission judges their current state. If it
 * narrows to rows, the caller may not read a record that was deleted in the meantime: otherwise a caller who has lost a
 * record would learn that it was deleted.
 */
async function mayReadNow(mount: ServedMount, exchange: Exchange, rows: readonly Row[]): Promise<boolean> {
  const { permissions, collection } = mount;
  // The only caller of a mount without reading is the one who sent the request.
  if (permissions.read === undefined && permissions.list === undefined) return true;
  const narrowed = new Map<Key, Narrowing>();
  for (const { record } of rows) {
    const id = record["id"] as Key;
    const decision = decideReading(mount, exchange, id);
    if (decision === "deny") return false;
    if (decision !== "allow") narrowed.set(id, decision.only);
  }
  if (narrowed.size === 0 && mount.parent === null) return true;
  const ids = rows.map(({ record }) => record["id"] as Key);
  const where = { column: "id", operator: "in", value: ids } as const;
  const columns = [...new Set(["id", ...[...narrowed.values()].flatMap(collectColumns)])];
  const query = { collection, where, sort: [{ column: "id" }], limit: ids.length, columns };
  const found = await exchange.service.store.list(query);
  const current = new Map(found.map(({ record }) => [record["id"] as Key, record]));
  const judged = [...narrowed].map(([id, only]): Judged => {
    const record = current.get(id);
    return record === undefined ? { record: {}, decision: "deny" } : { record, decision: { only } };
  });
  if ((await judgeEach(mount, exchange, judged)).includes(false)) return false;
  // The parents of deleted records may be gone too. Only a caller who reads every parent may learn that.
  if (readsEveryParent(mount, exchange)) return true;
  return mayReadWithin(mount, exchange);
}

/**
 * Ends the request if it sends a field that the rules of fields do not let the caller send any more. The body is that
 * of the first request, which was accepted.
 */
function requireSendable({ resource }: ServedMount, { body }: Exchange): void {
  const { mediaType, value } = body!;
  const names = (part: unknown): readonly string[] => Object.keys(part as object);
  const issues =
    mediaType === "application/json-patch+json"
      ? findUnsendable(resource, namesInPatch(value as readonly PatchStep[]))
      : Array.isArray(value)
        ? value.flatMap((each, at) => findUnsendable(resource, names(each), `/${at}`))
        : findUnsendable(resource, names(value));
  if (issues.length > 0) throw invalid(issues);
}

interface PatchStep {
  readonly op: string;
  readonly path: string;
}

function namesInPatch(steps: readonly PatchStep[]): readonly string[] {
  return steps.filter(({ op }) => op !== "test").map(({ path }) => path.split("/")[1]!);
}

function findUnsendable(
  { fields, concealed = {} }: ServedMount["resource"],
  names: readonly string[],
  below = "",
): Issue[] {
  return names.flatMap((name): Issue[] => {
    if (Object.hasOwn(concealed, name)) return [{ ...unknownField(name, null), pointer: below + pointerTo(name) }];
    if (!Object.hasOwn(fields, name) || fields[name]!.allowed?.write !== false) return [];
    return [{ pointer: below + pointerTo(name), code: "read_only", detail: "This field cannot be set." }];
  });
}
