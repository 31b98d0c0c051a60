import type { ServedMount } from "../../http/declarations/mount.ts";
import type { RowChange, State } from "../content/state.ts";
import { collectMarks } from "../content/values.ts";
import type { Sight } from "../judging/sight.ts";
import type { CallRequest } from "../requests/calls.ts";
import { describeActor, nameOf, type Trial } from "./try.ts";

/**
 * Reports the rows that code changes for a caller who may not read them, or whose permissions deny it: that of the
 * action for its own record, those of the row for a value that the caller sends or a row that the path names.
 */
export function reportChangedRows(
  { world, findings }: Trial,
  request: CallRequest,
  changes: readonly RowChange[],
  state: State,
): void {
  const [before, after] = [world.sightOf(request.actor), world.sightOf(request.actor, state)];
  for (const change of changes) {
    const mount = world.mounts.find((each) => each.collection.name === change.collection.name);
    if (mount === undefined || change.before === null || isCascade(change, changes)) continue;
    const denial = findDenial(before, after, request, mount, change);
    if (denial === null) continue;
    findings.add({
      requests: [request],
      resource: nameOf(mount),
      field: denial.field,
      sentence: `${describeActor(request)} ${change.after === null ? "deletes" : "changes"} ${nameOf(mount)} ${String(change.id)}, ${denial.reason}.`,
    });
  }
}

/** Returns true if the row is deleted because a row that it refers to is deleted. */
function isCascade({ collection, before, after }: RowChange, changes: readonly RowChange[]): boolean {
  if (after !== null || before === null) return false;
  return collection.columns.some(({ name, references }) =>
    changes.some(
      (other) => other.after === null && other.collection.name === references?.collection && other.id === before[name],
    ),
  );
}

interface Denial {
  readonly field: string | null;
  readonly reason: string;
}

function findDenial(
  before: Sight,
  after: Sight,
  request: CallRequest,
  mount: ServedMount,
  { id, before: was, after: is }: RowChange,
): Denial | null {
  const { called } = request;
  const row = was!;
  const changed = is === null ? [] : Object.keys(is).filter((name) => !isEqual(is[name], row[name]));
  const [field = null] = changed;
  const isSubject = called?.row?.["id"] === id && called.mount === mount;
  if (!before.mayReadUnlimited(mount, row)) return { field, reason: "which it may not read" };
  if (isSubject && !before.mayCall(called.action.permission, mount, row))
    return { field, reason: `which the permission of ${called.action.name} denies` };
  const sent = changed.filter((name) => isSent(request, name, is![name]));
  const ruled = sent.find((name) => hasWriteRule(mount, name) && !before.mayWriteField(mount, name, row));
  if (ruled !== undefined)
    return { field: ruled, reason: `although the rule of ${ruled} denies the value that it sends` };
  // The caller's own user is changed by rules of accounts.
  if (isSubject || before.isOwn(mount, row)) return null;
  if (is === null)
    return mount.permissions.delete === undefined || before.may("delete", mount, row)
      ? null
      : { field, reason: "which the permission of delete denies" };
  if (mayChange(before, mount, row) || mayChange(after, mount, is)) return null;
  const own = changed.find(
    (name) => isOfCallers(mount, name) && (sent.includes(name) || (isNamed(request, id) && !isCount(mount, name))),
  );
  return own === undefined ? null : { field: own, reason: "which the permission of update denies" };
}

/** Returns true if the caller may change the row, or no caller may. Then only code changes it. */
function mayChange(
  sight: Sight,
  { permissions, ...mount }: ServedMount,
  row: NonNullable<RowChange["before"]>,
): boolean {
  const actions = (["update", "replace"] as const).filter((action) => permissions[action] !== undefined);
  return actions.length === 0 || actions.some((action) => sight.may(action, { permissions, ...mount }, row));
}

/** Returns true if callers send the field. Only code changes the others. */
function isOfCallers({ resource }: ServedMount, name: string): boolean {
  const field = resource.fields[name];
  return field !== undefined && field.options.readOnly !== true && field.options.generated === undefined;
}

function hasWriteRule({ resource }: ServedMount, name: string): boolean {
  return resource.fields[name]?.options.write !== undefined;
}

/** Returns true for a number: code counts with it, for example a stock. */
function isCount({ resource }: ServedMount, name: string): boolean {
  const field = resource.fields[name];
  return (
    field !== undefined &&
    field.kind.references === undefined &&
    ["integer", "double", "decimal"].includes(field.kind.column.type)
  );
}

/** Returns true if the path or a member of the body names the row. */
function isNamed({ path, body }: CallRequest, id: unknown): boolean {
  return (
    path.split("/").includes(String(id)) ||
    new RegExp(`[:\\[,]"?${String(id)}"?[,}\\]]`).test(JSON.stringify(body ?? null))
  );
}

/** Returns true if the body has the stored value. */
function isSent({ body }: CallRequest, name: string, value: unknown): boolean {
  if (body === undefined || value === null) return false;
  const marks = collectMarks(JSON.stringify(body));
  if (collectMarks(JSON.stringify(value)).some((mark) => marks.includes(mark))) return true;
  return typeof value === "string" && (body as Readonly<Record<string, unknown>>)[name] === value;
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
