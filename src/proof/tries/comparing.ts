import type { ServedMount } from "../../http/declarations/mount.ts";
import { isStored } from "../../resource/declaration/field.ts";
import type { Change, StoredRecord, Value } from "../../store/store.ts";
import type { ProveAnswer } from "../asking/request.ts";
import type { Actor } from "../content/actors.ts";
import { fewValues } from "../content/values.ts";
import { rowsOf } from "../requests/rows.ts";
import type { World } from "../world/world.ts";
import type { Answered } from "./reading.ts";
import { describeActor, nameOf, type Trial } from "./try.ts";

/** One stored value that the actor may not see, with another value for it. */
interface HiddenValue {
  readonly mount: ServedMount;
  readonly row: StoredRecord;
  readonly field: string;
  readonly value: Value;
}

/**
 * Changes every value that the actor may not see, and asks again: flipped booleans, other words, other texts and
 * numbers in the opposite order. An answer that differs follows from a hidden value.
 */
export async function compareAnswers(trial: Trial, actor: Actor, answered: readonly Answered[]): Promise<void> {
  const hidden = collectHidden(trial.world, actor);
  if (hidden.length === 0) return;
  for (const each of await askWith(trial, hidden, answered)) await reportCause(trial, each, hidden);
}

/** Returns the requests whose answers differ while the values are changed. */
async function askWith(
  { world, sender }: Trial,
  hidden: readonly HiddenValue[],
  answered: readonly Answered[],
): Promise<readonly Answered[]> {
  const changes = hidden.map(({ mount, row, field, value }): Change => ({
    kind: "update",
    collection: mount.collection,
    key: row["id"] as number,
    values: { [field]: value },
  }));
  const written = await world.service.store.write({ changes }).catch(() => null);
  if (written?.kind !== "written") return [];
  const different: Answered[] = [];
  for (const each of answered) {
    const answer = await sender.send(each.request);
    if (answer !== null && !isSame(answer, each.answer)) different.push(each);
  }
  await world.undoChanges(await world.findChanges());
  return different;
}

/** Finds the hidden fields that change the answer. */
async function reportCause(trial: Trial, answered: Answered, hidden: readonly HiddenValue[]): Promise<void> {
  const again = await trial.sender.send(answered.request);
  // An answer with a random part says nothing.
  if (again === null || !isSame(again, answered.answer)) return;
  for (const group of groupByField(hidden)) {
    const [{ mount, field }] = group as [HiddenValue];
    if ((await askWith(trial, group, [answered])).length === 0) continue;
    const { request } = answered;
    trial.findings.add({
      requests: [request],
      resource: nameOf(mount),
      field,
      sentence: `The answer to ${describeActor(request)} changes with ${field} of ${nameOf(mount)}, which its permissions hide.`,
      isFollowing: true,
    });
  }
}

function groupByField(hidden: readonly HiddenValue[]): readonly (readonly HiddenValue[])[] {
  return [...Map.groupBy(hidden, ({ mount, field }) => `${mount.resource.path} ${field}`).values()];
}

function isSame(one: ProveAnswer, other: ProveAnswer): boolean {
  return one.status === other.status && plain(one) === plain(other);
}

function plain({ text, headers }: ProveAnswer): string {
  return `${text.replaceAll(/"request_id":"[^"]*"/g, "")} ${headers.get("x-total-count") ?? ""}`;
}

/** Returns the values that the actor may not see, apart from those that decide about rights or tie rows together. */
function collectHidden(world: World, actor: Actor): readonly HiddenValue[] {
  const sight = world.sightOf(actor);
  return world.mounts.flatMap((mount) => {
    const structure = world.structure.get(mount.collection.name);
    const columns = new Set(mount.collection.columns.map(({ name }) => name));
    return rowsOf(world.state(), mount).flatMap((row) => {
      const isHiddenRow = !sight.mayRead(mount, row);
      return Object.entries(mount.resource.fields).flatMap(([field, declared]): readonly HiddenValue[] => {
        if (!columns.has(field) || !isStored(declared) || declared.options.writeOnly === true) return [];
        if (
          structure?.has(field) === true ||
          row[field] === null ||
          (sight.isOwn(mount, row) && sight.mayReadField(mount, field, row))
        )
          return [];
        if (!isHiddenRow && sight.mayReadField(mount, field, row)) return [];
        const few = fewValues(declared);
        const at = few === null ? 0 : few.indexOf(row[field]);
        const value = few === null ? world.otherValues.draw(declared, 0)?.value : few[(at + 1) % few.length];
        return value === undefined || value === null ? [] : [{ mount, row, field, value: value as Value }];
      });
    });
  });
}
