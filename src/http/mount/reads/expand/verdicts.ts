import { decideOn } from "../../../../access/permission/decision.ts";
import type { Action, PermissionRequest, SettledDecision } from "../../../../access/permission/permission.ts";
import type { Identity } from "../../../../core/identity.ts";
import type { Key, Where } from "../../../../store/store.ts";
import type { Params } from "../../../endpoint/path.ts";
import type { Exchange } from "../../../exchange.ts";
import type { MountInPlace } from "../../mount.ts";
import { allOf } from "../conditions.ts";

/** What a permission says of a place. */
export interface Verdict {
  readonly decision: SettledDecision;
  /** It looked at who is calling. */
  readonly isPersonal: boolean;
}

/**
 * What a permission is asked of another place than the endpoint's own. Only one that looks at the caller makes the answer private. It is a
 * class for the reason that a page of SQLite is one: objects that are written with getters stay until all of the heap is collected.
 */
export class Question implements PermissionRequest {
  readonly action: Action;
  readonly params: Params;
  /** The permission has looked at who is calling. */
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

/** What this caller may list or read at a place, as at its own path; all of it where the action is not offered. */
export function verdictOn(
  { permissions, collection }: MountInPlace,
  exchange: Exchange,
  action: "list" | "read",
  params: Params,
): Verdict {
  const permission = permissions[action];
  if (permission === undefined) return { decision: "allow", isPersonal: false };
  const question = new Question(exchange, action, params);
  const decision = decideOn(permission, question, collection);
  return { decision, isPersonal: question.isPersonal };
}

/** The same for all places that differ in these parameters alone; null where the permission looks at one of them, so that it may differ too. */
export function verdictOnAll(
  placed: MountInPlace,
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
  const verdict = verdictOn(placed, exchange, action, watched);
  return hasLooked ? null : verdict;
}

/** What both allow. */
export function both(one: SettledDecision, other: SettledDecision): SettledDecision {
  if (one === "deny" || other === "deny") return "deny";
  if (one === "allow") return other;
  if (other === "allow") return one;
  return { only: { all: [one.only, other.only] } };
}

/** Which of some keys are asked for, and which of their rows. */
export interface Asked {
  readonly keys: readonly Key[];
  readonly where: Where | null;
}

/** What was decided of a key. */
export type Decided = Pick<Verdict, "decision">;

/** Keys of which the same rows are allowed. */
interface Group {
  readonly only: Where | null;
  readonly keys: Key[];
}

/** All keys that something is allowed of, in one question, however differently. */
export function askedOf(column: string, verdicts: ReadonlyMap<Key, Decided>): Asked {
  const groups = new Map<string, Group>();
  let last: Group | undefined;
  for (const [key, { decision }] of verdicts) {
    if (decision === "deny") continue;
    const only = decision === "allow" ? null : decision.only;
    if (last?.only !== only) {
      const name = JSON.stringify(only);
      last = groups.get(name);
      if (last === undefined) groups.set(name, (last = { only, keys: [] }));
    }
    last.keys.push(key);
  }
  const [first, ...others] = groups.values();
  if (first === undefined) return { keys: [], where: null };
  if (others.length === 0) return { keys: first.keys, where: first.only };
  const any = [first, ...others].map(({ only, keys }) => allOf([{ column, operator: "in", value: keys }, only])!);
  return { keys: [first, ...others].flatMap(({ keys }) => keys), where: { any } };
}
