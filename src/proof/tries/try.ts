import type { ServedMount } from "../../http/declarations/mount.ts";
import type { StoredRecord } from "../../store/store.ts";
import type { ProveAnswer, ProveRequest } from "../asking/request.ts";
import type { Sender } from "../asking/sender.ts";
import type { Cell } from "../content/marks.ts";
import type { State } from "../content/state.ts";
import type { Findings } from "../findings.ts";
import type { World } from "../world/world.ts";
import { findHiddenCells } from "./seen.ts";

/** A value that a request has stored. The row is undone since, so only code can still have it. */
export interface StoredValue {
  readonly cell: Cell;
  /** The row as it was stored. */
  readonly row: StoredRecord;
  readonly request: ProveRequest;
}

/** The parts that every try uses. */
export interface Trial {
  readonly world: World;
  readonly sender: Sender;
  readonly findings: Findings;
  /** The values that were stored by requests so far, by their marks. */
  readonly stored: Map<string, StoredValue>;
}

/** Reports each hidden value in an answer. `before` are the requests that led to it. */
export function reportSeen(
  { world, findings }: Trial,
  request: ProveRequest,
  answer: ProveAnswer,
  more: {
    readonly state?: State;
    readonly marks?: ReadonlyMap<string, Cell>;
    readonly before?: readonly ProveRequest[];
  } = {},
): void {
  for (const { mount, id, field } of findHiddenCells(world, request, answer, more.state, more.marks)) {
    const { plural } = mount.resource;
    findings.add({
      requests: [...(more.before ?? []), request],
      resource: plural,
      field,
      sentence: `${describeActor(request)} sees ${field} of ${plural} ${id}, which its permissions hide.`,
    });
  }
}

/** Returns the actor as the subject of a sentence. */
export function describeActor({ actor }: ProveRequest): string {
  return actor.credential === "none" ? "A caller without a credential" : actor.name;
}

/** Returns the resource of a mount as findings name it. */
export function nameOf({ resource }: Pick<ServedMount, "resource">): string {
  return resource.plural;
}

/** Returns the records of an answer in JSON. Returns none for any other answer. */
export function recordsIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  if (!/^[[{]/.test(text)) return [];
  return [JSON.parse(text) as unknown].flat() as readonly Readonly<Record<string, unknown>>[];
}
