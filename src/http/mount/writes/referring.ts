import { decideOn } from "../../../access/permission/decision.ts";
import { problem, type Problem } from "../../../core/problem/problem.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import { scopesLet } from "../../request/permitting.ts";
import { Question } from "../reads/expand/verdicts.ts";

/** Returns the mount whose records are in a table. For a link table, returns the mount of its records. */
export function findMount(mounts: readonly ServedMount[], table: string): ServedMount | null {
  const keepsIn = ({ collection, links }: ServedMount): boolean =>
    collection.name === table || links.some((link) => link.collection.name === table);
  return mounts.find(keepsIn) ?? null;
}

/**
 * Returns the problem for a record that other records refer to. It names these records only if the caller may list or
 * read them.
 */
export function referenced(by: ServedMount | null, exchange: Exchange, how: string): Problem {
  if (by === null || !maySee(by, exchange)) return problem("referenced");
  return problem("referenced", { detail: `The record is still referenced by ${how}.` });
}

/**
 * Logs the name of a table that refers to the record and has no resource. The response does not name the table, but the
 * operator needs the name.
 */
export function notifyOperator(table: string, { resource }: ServedMount, { service, call }: Exchange): void {
  const message = `The request ${call.requestId} was refused: a record of ${resource.plural} is still referenced by the table ${table}, which no resource has.`;
  service.observe?.({ kind: "notice", level: "info", message });
}

function maySee(mount: ServedMount, exchange: Exchange): boolean {
  if (!scopesLet(exchange, "GET")) return false;
  return (["list", "read"] as const).some((action) => {
    const permission = mount.permissions[action];
    const request = new Question(exchange, action, exchange.params);
    return permission !== undefined && decideOn(permission, request, mount) !== "deny";
  });
}
