import type { Reply } from "../../../core/call/call.ts";
import { isIssues, type Issue } from "../../../core/problem/problem.ts";
import { readQueryBody } from "../../../resource/query-body.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { expandableNames } from "../../declarations/relations.ts";
import { invalid, type Exchange } from "../../request/exchange.ts";
import { yieldBetweenSteps } from "../../scheduling/slices.ts";
import { collectDeprecatedInList } from "../used-deprecations.ts";
import { convertCondition } from "./conditions.ts";
import { askFor, type ListRequest } from "./list-request.ts";
import { listAsked } from "./listing.ts";

/**
 * Answers QUERY of a collection (RFC 10008). It is like GET, but the query is in the body. Only the caller's own cache
 * may store the response.
 */
export async function query(mount: ServedMount, exchange: Exchange): Promise<Reply> {
  const request = readAsked(mount, exchange);
  await yieldBetweenSteps(exchange.body);
  return { ...(await listAsked(mount, exchange, request)), cache: "private" };
}

function readAsked(mount: ServedMount, exchange: Exchange): ListRequest {
  const fromAddress = cursorInAddress(exchange);
  const request = readQueryBody(mount.resource, exchange.body?.value, expandableNames(mount));
  if (isIssues(request)) throw invalid(request);
  const { where, search, sort, cursor, count } = request;
  if (cursor !== null && fromAddress !== null)
    throw invalid([{ pointer: "/cursor", code: "repeated", detail: "The address has a cursor already." }]);
  return {
    ...askFor(mount, where === null ? null : convertCondition(mount, where), request),
    ...(cursor === null ? { cursor: fromAddress } : { cursorPointer: "/cursor" }),
    shape: () => `QUERY ${JSON.stringify([where, sort, search])}`,
    addressQuery: "",
    deprecations: collectDeprecatedInList(mount.resource, where === null ? [] : [where], request),
    ...(count === null ? {} : { count }),
  };
}

/**
 * Returns the cursor in the address. The links of a page have the cursor there, so a client can follow them with the
 * same body. Ends the request if the address has another parameter.
 */
function cursorInAddress(exchange: Exchange): string | null {
  const issues: Issue[] = [];
  let cursor: string | null = null;
  for (const [name, value] of exchange.parameters()) {
    const [code, detail] =
      name === "cursor"
        ? ["repeated", "The parameter must be given once."]
        : ["unknown_parameter", "A QUERY has its parameters in the body."];
    if (name !== "cursor" || cursor !== null) issues.push({ pointer: `?${name}`, code, detail });
    else cursor = value;
  }
  if (issues.length > 0) throw invalid(issues);
  return cursor;
}
