import { decideOn } from "../../../permission/decision.ts";
import type { Decision } from "../../../permission/permission.ts";
import type { Key, Where } from "../../../store/store.ts";
import type { Exchange, Params } from "../../exchange.ts";
import type { MountInPlace } from "../mount.ts";
import { allOf } from "./conditions.ts";

/** What a permission says of a place. */
export interface Verdict {
  readonly decision: Decision;
  /** It looked at who is calling. */
  readonly isPersonal: boolean;
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
  let isPersonal = false;
  const decision = decideOn(
    permission,
    {
      action,
      params,
      get identity() {
        isPersonal = true;
        return exchange.identity;
      },
    },
    collection,
  );
  return { decision, isPersonal };
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
export function both(one: Decision, other: Decision): Decision {
  if (one === "deny" || other === "deny") return "deny";
  if (one === "allow") return other;
  if (other === "allow") return one;
  return { only: allOf([one.only, other.only])! };
}

/** Which of some keys are asked for, and which of their rows. */
export interface Asked {
  readonly keys: readonly Key[];
  readonly where: Where | null;
}

/** All keys that something is allowed of, in one question, however differently. */
export function askedOf(column: string, verdicts: ReadonlyMap<Key, Decision>): Asked {
  const groups = new Map<string, { readonly only: Where | null; readonly keys: Key[] }>();
  for (const [key, decision] of verdicts) {
    if (decision === "deny") continue;
    const only = decision === "allow" ? null : decision.only;
    const name = JSON.stringify(only);
    let group = groups.get(name);
    if (group === undefined) groups.set(name, (group = { only, keys: [] }));
    group.keys.push(key);
  }
  const [first, ...others] = groups.values();
  if (first === undefined) return { keys: [], where: null };
  if (others.length === 0) return { keys: first.keys, where: first.only };
  const any = [first, ...others].map(({ only, keys }): Where =>
    allOf([{ column, operator: "in", value: keys }, ...(only === null ? [] : [only])])!,
  );
  return { keys: [first, ...others].flatMap(({ keys }) => keys), where: { any } };
}
