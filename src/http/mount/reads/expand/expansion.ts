import type { Cacheability, Related } from "../../../../core/call/call.ts";
import type { ServedMount } from "../../../declarations/mount.ts";
import type { Relation } from "../../../declarations/relations.ts";
import type { Exchange } from "../../../request/exchange.ts";
import type { Params } from "../../../request/path.ts";
import { formatCondition } from "../settling.ts";
import { verdictOnAll, type Verdict } from "./verdicts.ts";

/** A requested relation, and the relations requested inside it. */
export interface Expansion {
  readonly relation: Relation<ServedMount>;
  readonly inner: readonly Expansion[];
}

/**
 * Returns the relations with these names: `items` is a relation of the mount, and `items.product` is a relation of each
 * item.
 */
export function buildExpansions({ relations }: ServedMount, names: readonly string[]): readonly Expansion[] {
  return relations
    .filter(({ name }) => names.some((each) => each === name || each.startsWith(`${name}.`)))
    .map((relation) => {
      const start = `${relation.name}.`;
      const inner = names.filter((each) => each.startsWith(start)).map((each) => each.slice(start.length));
      return { relation, inner: buildExpansions(relation.to, inner) };
    });
}

/** Returns the facts about expanded records that a format needs. */
export function buildShapes(expansions: readonly Expansion[]): Readonly<Record<string, Related>> {
  return Object.fromEntries(
    expansions.map(({ relation: { name, kind, to }, inner }) => [
      name,
      {
        ...(kind !== "one" ? { items: to.resource.name } : {}),
        jsonMembers: to.jsonMembers,
        related: buildShapes(inner),
      },
    ]),
  );
}

/** Returns `public` if shared caches may store a response with these expansions. */
export function chooseCache({ cache }: ServedMount, expansions: readonly Expansion[]): Cacheability {
  const isPublic = expansions.every(({ relation: { to }, inner }) => chooseCache(to, inner) === "public");
  return isPublic ? cache : "private";
}

/** An expansion with the decisions of its permissions. A decision is null if it must be made for each record. */
export interface Plan {
  readonly relation: Relation<ServedMount>;
  /** The decision about reading the outer record. A caller who may not read it gets none of the records within it. */
  readonly reach: Verdict | null;
  readonly list: Verdict | null;
  readonly read: Verdict | null;
  readonly inner: readonly Plan[];
}

/** The parameters of a path, and the names of the parameters that differ between records. */
interface ExpansionPath {
  readonly params: Params;
  readonly varying: readonly string[];
}

const everything: Verdict = { decision: "allow", isPersonal: false };

/** Returns the plans for all expansions of a response, with the decisions of the permissions. */
export function buildPlans(mount: ServedMount, exchange: Exchange, expansions: readonly Expansion[]): readonly Plan[] {
  const { id: _, ...params } = exchange.params;
  return planFrom(exchange, expansions, { params, varying: [] }, mount);
}

/** `readable` is the mount of the outer records. Null if their permission to read has already been asked. */
function planFrom(
  exchange: Exchange,
  expansions: readonly Expansion[],
  path: ExpansionPath,
  readable: ServedMount | null,
): readonly Plan[] {
  return expansions.map(({ relation, inner }) => {
    const { kind, column, to } = relation;
    const below: ExpansionPath =
      kind !== "many" ? { params: {}, varying: [] } : { params: path.params, varying: [...path.varying, column] };
    const one: ExpansionPath = { ...below, varying: [...below.varying, "id"] };
    return {
      relation,
      reach: kind !== "many" || readable === null ? everything : verdictOnAll(readable, exchange, "read", one),
      list: kind !== "many" ? everything : verdictOnAll(to, exchange, "list", below),
      read: verdictOnAll(to, exchange, "read", one),
      inner: planFrom(exchange, inner, below, null),
    };
  });
}

/**
 * Returns a text that is equal for plans that show the same records. Returns null if the permissions decide for each
 * record.
 */
export function formatPlans(plans: readonly Plan[], exchange: Exchange): string | null {
  const parts: unknown[] = [];
  for (const { relation, reach, list, read, inner } of plans) {
    const within = formatPlans(inner, exchange);
    if (reach === null || list === null || read === null || within === null) return null;
    // The response contains cursors that are valid for this caller only.
    const caller = list.isPersonal ? (exchange.observedIdentity?.id ?? null) : null;
    const decisions = [reach, list, read].map(({ decision }) => formatCondition(decision));
    parts.push([relation.name, ...decisions, caller, within]);
  }
  return JSON.stringify(parts);
}
