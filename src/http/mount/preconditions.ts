import { problem } from "../../problem/problem.ts";
import type { Row } from "../../store/store.ts";
import { checkPreconditions } from "../conditional.ts";
import type { Exchange } from "../exchange.ts";
import type { MountInPlace } from "./mount.ts";

/** Ends the request where `If-Match` or `If-None-Match` does not hold for the row (RFC 9110 §13.2.2). */
export function requirePreconditions({ requireIfMatch }: MountInPlace, { call, service }: Exchange, row: Row): void {
  const ifMatch = call.header("if-match");
  if (ifMatch === undefined && requireIfMatch) throw problem("precondition_required");
  if (ifMatch === undefined && call.header("if-none-match") === undefined) return;
  // The caller may have read the state in any format; each has a tag of its own for it.
  const states = service.formats.map(({ tagSuffix }) => checkPreconditions(call, `"${row.revision}${tagSuffix}"`));
  const holds = ifMatch === undefined ? states.every((state) => state === "proceed") : states.includes("proceed");
  if (!holds) throw problem("precondition_failed");
}

/** Ends the request where it requires something to be there. */
export function requireNothingThere({ call }: Exchange): void {
  if (call.header("if-match") !== undefined) throw problem("precondition_failed");
}
