import { decideOn } from "../../../access/permission/decision.ts";
import { problem, type Problem } from "../../../core/problem/problem.ts";
import type { Exchange } from "../../exchange.ts";
import { scopesLet } from "../../permitting.ts";
import type { MountInPlace } from "../mount.ts";
import { Question } from "../reads/expand/verdicts.ts";

/** The mount whose records are kept in a table, or what they name in a relation's. */
export function mountOf(mounts: readonly MountInPlace[], table: string): MountInPlace | null {
  const keepsIn = ({ collection, links }: MountInPlace): boolean =>
    collection.name === table || links.some((link) => link.collection.name === table);
  return mounts.find(keepsIn) ?? null;
}

/** A record stays because another refers to it. Which ones do is for those alone who may see that there are any. */
export function referenced(by: MountInPlace | null, exchange: Exchange, how: string): Problem {
  if (by === null || !maySee(by, exchange)) return problem("referenced");
  return problem("referenced", { detail: `The record is still referenced by ${how}.` });
}

/** No caller may see a table that no resource has, and whoever runs the service has to know where to look. */
export function tellOperator(table: string, { resource }: MountInPlace, { service, call }: Exchange): void {
  const message = `The request ${call.requestId} was refused: a record of ${resource.plural} is still referenced by the table ${table}, which no resource has.`;
  service.observe?.({ kind: "notice", level: "info", message });
}

function maySee({ permissions, collection }: MountInPlace, exchange: Exchange): boolean {
  if (!scopesLet(exchange, "GET")) return false;
  return (["list", "read"] as const).some((action) => {
    const permission = permissions[action];
    const request = new Question(exchange, action, exchange.params);
    return permission !== undefined && decideOn(permission, request, collection) !== "deny";
  });
}
