import { alike, Call } from "../../core/call/call.ts";
import { isObject } from "../../core/checking/members.ts";
import { valueOfJSON } from "../../core/exact-numbers.ts";
import { Problem } from "../../core/problem/problem.ts";
import type { Resource } from "../../resource/resource.ts";
import type { ServedEndpoint } from "../declarations/endpoint.ts";
import type { Match } from "../declarations/routes.ts";
import { formType } from "../formats/form.ts";
import { setMember } from "../formats/member.ts";
import { seenAt } from "../mount/seen-by.ts";
import { isResource } from "../request/body-shape.ts";
import { Exchange, invalid } from "../request/exchange.ts";
import { requirePermission } from "../request/permitting.ts";
import type { SentForm } from "../request/sent-form.ts";
import { readTyped, type FilledFrom, type ReadTexts } from "./typed-values.ts";

/** Sets the body that a form means, for an endpoint that reads one. */
export async function readFormBody(exchange: Exchange, endpoint: ServedEndpoint, match: Match): Promise<void> {
  const { sentForm } = exchange;
  if (sentForm === null || endpoint.consumes === undefined) return;
  if (sentForm.typed.size === 0 && endpoint.bodyOptional === true) return;
  const bytes = await exchange.octets!;
  const { body: value, issues } = await readValue(exchange, endpoint, match, sentForm);
  exchange.body = { value, leavesAreText: false, element: null, mediaType: formType, bytes };
  if (issues.length > 0) throw invalid(issues);
}

async function readValue(
  exchange: Exchange,
  endpoint: ServedEndpoint,
  match: Match,
  { typed: texts }: SentForm,
): Promise<ReadTexts> {
  const resource = resourceOf(exchange, endpoint);
  if (resource === null) return { body: lastOfEach(texts), issues: [] };
  const isChange = endpoint.method === "PATCH" && match.params["id"] !== undefined;
  const from = isChange ? await findShown(exchange, match) : null;
  return readTyped({ texts, resource, isChange, from });
}

/** Returns the fields of a form. Returns null for a call with its own schema. */
function resourceOf(exchange: Exchange, { own, mounted, documentation }: ServedEndpoint): Resource | null {
  if (own !== undefined) return own.body;
  if (mounted !== undefined) return seenAt(mounted, exchange).resource;
  const request = documentation?.request;
  return request !== undefined && isResource(request) ? request : null;
}

function lastOfEach(texts: SentForm["typed"]): ReadTexts["body"] {
  const value: Record<string, unknown> = {};
  for (const [name, typed] of texts) setMember(value, name, typed.at(-1));
  return value;
}

/** Returns the record as the caller reads it at the address of the form. Returns null if the caller may not. */
async function findShown(exchange: Exchange, { route, params }: Match): Promise<FilledFrom> {
  const endpoint = route.methods.get("GET");
  if (endpoint === undefined) return null;
  const { service, call } = exchange;
  const arrival = alike(call.arrival, { method: "GET", target: call.path, rawHeaders: [] });
  const reading = new Exchange(service, new Call(arrival, service.callContext), endpoint, params);
  reading.inherit(exchange);
  try {
    requirePermission(reading);
    const { body } = await endpoint.handle(reading.context);
    const value = body?.kind === "json" ? valueOfJSON(body.json) : body?.kind === "data" ? body.value : null;
    return isObject(value) ? value : null;
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}
