import type { Action, PermissionRequest, RowsDecision } from "../../../../access/permission/contract.ts";
import { decideOn } from "../../../../access/permission/decision.ts";
import type { Identity } from "../../../../core/identity.ts";
import type { Key, Where } from "../../../../store/store.ts";
import type { ServedMount } from "../../../declarations/mount.ts";
import type { Exchange } from "../../../request/exchange.ts";
import type { Params } from "../../../request/path.ts";
import { combineAll } from "../conditions.ts";
import { formatCondition } from "../settling.ts";

/** The decision of a permission about a list or a record. */
export interface Verdict {
  readonly decision: RowsDecision;
  /** True if the permission has read the identity. */
  readonly isPersonal: boolean;
}

/**
 * A question to the permission of a mount that is not the mount of the endpoint. The response becomes private only if
 * the permission reads the identity. A class, because object literals with getters stay in memory until a full garbage
 * collection.
 */
export class Question implements PermissionRequest {
  readonly action: Action;
  readonly params: Params;
  /** True if the permission has read the identity. */
  isPersonal = false;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange, action: Action, params: Params) {
    this.#exchange = exchange;
    this.action = action;
    this.params = params;
  }

  get now(): number {
    return this.#exchange.call.now;
  }

  get identity(): Identity | null {
    this.isPersonal = true;
    return this.#exchange.identity;
  }
}

/**
 * Returns the decision about listing or reading at a path. The decision is the same as for a request to that path. If
 * the mount does not offer the action, everything is allowed.
 */
export function verdictOn(mount: ServedMount, exchange: Exchange, action: "list" | "read", params: Params): Verdict {
  const permission = mount.permissions[action];
  if (permission === undefined) return { decision: "allow", isPersonal: false };
  const question = new Question(exchange, action, params);
  const decision = decideOn(permission, question, mount);
  return { decision, isPersonal: question.isPersonal };
}

/**
 * Returns one decision for all paths that differ only in the parameters `varying`. Returns null if the permission reads
 * one of these parameters, because the decisions may then differ.
 */
export function verdictOnAll(
  mount: ServedMount,
  exchange: Exchange,
  action: "list" | "read",
  { params, varying }: { readonly params: Params; readonly varying: readonly string[] },
): Verdict | null {
  let hasLooked = false;
  const watched: Record<string, number | string> = { ...params };
  for (const name of varying)
    Object.defineProperty(watched, name, {
      enumerable: true,
      get() {
        hasLooked = true;
        return 1;
      },
    });
  const verdict = verdictOn(mount, exchange, action, watched);
  return hasLooked ? null : verdict;
}

/** Returns the rows that both decisions allow. */
export function intersectDecisions(one: RowsDecision, other: RowsDecision): RowsDecision {
  if (one === "deny" || other === "deny") return "deny";
  if (one === "allow") return other;
  if (other === "allow") return one;
  return { only: { all: [one.only, other.only] } };
}

/** The allowed keys, and the condition for their rows. */
export interface KeyLookup {
  readonly keys: readonly Key[];
  readonly where: Where | null;
}

/** The decision on a key. */
export type KeyDecision = Pick<Verdict, "decision">;

/** Keys with the same condition for their rows. */
interface Group {
  readonly only: Where | null;
  readonly keys: Key[];
}

/** Combines all allowed keys into one query, even if their allowed rows differ. */
export function combineVerdicts(column: string, verdicts: ReadonlyMap<Key, KeyDecision>): KeyLookup {
  const groups = new Map<string, Group>();
  let last: Group | undefined;
  for (const [key, { decision }] of verdicts) {
    if (decision === "deny") continue;
    const only = decision === "allow" ? null : decision.only;
    if (last?.only !== only) {
      const name = only === null ? "" : formatCondition(only);
      last = groups.get(name);
      if (last === undefined) groups.set(name, (last = { only, keys: [] }));
    }
    last.keys.push(key);
  }
  const [first, ...others] = groups.values();
  if (first === undefined) return { keys: [], where: null };
  if (others.length === 0) return { keys: first.keys, where: first.only };
  const any = [first, ...others].map(({ only, keys }) => combineAll([{ column, operator: "in", value: keys }, only])!);
  return { keys: [first, ...others].flatMap(({ keys }) => keys), where: { any } };
}
