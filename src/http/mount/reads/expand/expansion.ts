import type { Cacheability, Related } from "../../../../core/call/call.ts";
import type { Params } from "../../../endpoint/path.ts";
import type { Exchange } from "../../../exchange.ts";
import type { MountInPlace } from "../../mount.ts";
import type { Relation } from "../../relations.ts";
import { verdictOnAll, type Verdict } from "./verdicts.ts";

/** Something that was asked for beside records, and what is to stand beside that. */
export interface Expansion {
  readonly relation: Relation<MountInPlace>;
  readonly inner: readonly Expansion[];
}

/** The relations of these names: `items`, and `items.product` for what stands beside each of them. */
export function expansionsOf({ relations }: MountInPlace, names: readonly string[]): readonly Expansion[] {
  return relations
    .filter(({ name }) => names.some((each) => each === name || each.startsWith(`${name}.`)))
    .map((relation) => {
      const start = `${relation.name}.`;
      const inner = names.filter((each) => each.startsWith(start)).map((each) => each.slice(start.length));
      return { relation, inner: expansionsOf(relation.to, inner) };
    });
}

/** What a format has to know of what stands beside records. */
export function shapesOf(expansions: readonly Expansion[]): Readonly<Record<string, Related>> {
  return Object.fromEntries(
    expansions.map(({ relation: { name, kind, to }, inner }) => [
      name,
      {
        ...(kind !== "one" ? { items: to.resource.name } : {}),
        jsonMembers: to.jsonMembers,
        related: shapesOf(inner),
      },
    ]),
  );
}

/** Who may keep an answer in which all of this stands. */
export function cacheOf({ cache }: MountInPlace, expansions: readonly Expansion[]): Cacheability {
  const isPublic = expansions.every(({ relation: { to }, inner }) => cacheOf(to, inner) === "public");
  return isPublic ? cache : "private";
}

/** An expansion, with what the permissions say where that is the same for all records; null where each has to be asked about. */
export interface Plan {
  readonly relation: Relation<MountInPlace>;
  /** Of the record that the others stand within: whoever may not read it does not reach them. */
  readonly reach: Verdict | null;
  readonly list: Verdict | null;
  readonly read: Verdict | null;
  readonly inner: readonly Plan[];
}

/** A path, and the parameters of it that differ from record to record. */
interface Way {
  readonly params: Params;
  readonly varying: readonly string[];
}

const everything: Verdict = { decision: "allow", isPersonal: false };

/** Asks the permissions of all that is to be shown. */
export function planOf(placed: MountInPlace, exchange: Exchange, expansions: readonly Expansion[]): readonly Plan[] {
  const { id: _, ...params } = exchange.params;
  return planFrom(exchange, expansions, { params, varying: [] }, placed);
}

/** `readable`: what the records of this level are, where nobody has looked yet whether they can be read. */
function planFrom(
  exchange: Exchange,
  expansions: readonly Expansion[],
  way: Way,
  readable: MountInPlace | null,
): readonly Plan[] {
  return expansions.map(({ relation, inner }) => {
    const { kind, column, to } = relation;
    const below: Way =
      kind !== "many" ? { params: {}, varying: [] } : { params: way.params, varying: [...way.varying, column] };
    const one: Way = { ...below, varying: [...below.varying, "id"] };
    return {
      relation,
      reach: kind !== "many" || readable === null ? everything : verdictOnAll(readable, exchange, "read", one),
      list: kind !== "many" ? everything : verdictOnAll(to, exchange, "list", below),
      read: verdictOnAll(to, exchange, "read", one),
      inner: planFrom(exchange, inner, below, null),
    };
  });
}

/** The same text for plans by which the same is shown of the same records; null where the permissions ask about each. */
export function nameOf(plans: readonly Plan[], exchange: Exchange): string | null {
  const parts: unknown[] = [];
  for (const { relation, reach, list, read, inner } of plans) {
    const within = nameOf(inner, exchange);
    if (reach === null || list === null || read === null || within === null) return null;
    // A place in a list is for the caller that it was given to.
    const caller = list.isPersonal ? (exchange.observedIdentity?.id ?? null) : null;
    parts.push([relation.name, reach.decision, list.decision, read.decision, caller, within]);
  }
  return JSON.stringify(parts);
}
