import { alike, Call, type Reply } from "../core/call/call.ts";
import { parseQuery } from "../core/headers/query.ts";
import { isWritable } from "../resource/declaration/field.ts";
import type { ServedEndpoint } from "./declarations/endpoint.ts";
import type { ServedMount } from "./declarations/mount.ts";
import type { Match } from "./declarations/routes.ts";
import { readAccept } from "./formats/accept.ts";
import { negotiate } from "./formats/negotiate.ts";
import { findVisible, refuseRow, requireParents } from "./mount/reads/reading.ts";
import { seenAt } from "./mount/seen-by.ts";
import type { ServiceCore } from "./request/core.ts";
import { Exchange, getExchange, invalid, type Context } from "./request/exchange.ts";
import { FORM_PARAMETER, FORMAT_PARAMETER } from "./request/format.ts";
import { requirePermission } from "./request/permitting.ts";
import type { FormKind } from "./request/view.ts";

/** The methods that a form can send, the first that is offered. */
const methodsOf: Readonly<Record<FormKind, readonly string[]>> = { new: ["POST"], edit: ["PATCH", "PUT"] };

/**
 * Returns the endpoint of a form: `?form=new` on a list, `?form=edit` on a record. Forms are pages, so there are none
 * for a caller who prefers another format. The caller is checked as for the write.
 */
export function findForm(service: ServiceCore, call: Call, { route }: Match): ServedEndpoint | null {
  if (!/form/.test(call.query) || (call.method !== "GET" && call.method !== "HEAD")) return null;
  const [, kind] = parseQuery(call.query).find(([name]) => name === FORM_PARAMETER) ?? [];
  if (kind !== "new" && kind !== "edit") return null;
  if ((kind === "edit") !== route.path.endsWith("/{id}")) return null;
  if (negotiate(readAccept(call, service.formats), service.formats)?.mediaType !== "text/html") return null;
  const writes = methodsOf[kind].flatMap((method) => route.methods.get(method) ?? []);
  const write = writes.find(({ mounted, own }) => mounted !== undefined && own === undefined);
  return write === undefined ? null : makeForm(write, kind);
}

function makeForm(write: ServedEndpoint, form: FormKind): ServedEndpoint {
  const { guard, consumes: _, repeatable: __, preconditions: ___, target: ____, ...facts } = write;
  // A caller without a credential, whose creation waits for a confirmation, has the page to sign up.
  const isGuarded = guard !== undefined && write.mounted?.deferral === null;
  return {
    ...facts,
    ...(isGuarded ? { guard } : {}),
    form,
    query: "read",
    handle: (context) => answerForm(write, form, context),
  };
}

/** Answers with nothing but the right to send the form, or with the problem that the write would have. */
async function answerForm(write: ServedEndpoint, form: FormKind, context: Context): Promise<Reply> {
  const exchange = getExchange(context);
  const mount = write.mounted!;
  const probe = probeOf(write, exchange);
  requireOwnParameters(context, form === "new" ? listFilled(seenAt(mount, probe)) : []);
  requirePermission(probe);
  if (form === "new") await requireParents(mount, probe);
  else if ((await findVisible(mount, probe)) === null) throw await refuseRow(mount, probe);
  return { status: 200, body: { kind: "data", value: {}, element: mount.resource.name }, cache: "private" };
}

/** Returns the fields that the address of a form may fill in: references, so that a group leads to its new records. */
function listFilled({ resource: { fields } }: ServedMount): readonly string[] {
  return Object.keys(fields).filter((name) => fields[name]!.kind.references !== undefined && isWritable(fields[name]!));
}

function requireOwnParameters(context: Context, filled: readonly string[]): void {
  const names = context.parameters().map(([name]) => name);
  const single = [FORM_PARAMETER, ...filled];
  const others = names.filter((name) => !single.includes(name) && name !== FORMAT_PARAMETER);
  const repeated = single.filter((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (repeated.length > 0) {
    const detail = "The parameter must be given once.";
    throw invalid(repeated.map((name) => ({ pointer: `?${name}`, code: "repeated", detail })));
  }
  if (others.length === 0) return;
  const detail = "There is no such parameter.";
  throw invalid(others.map((name) => ({ pointer: `?${name}`, code: "unknown_parameter", detail })));
}

/** Returns the exchange of the write, for the checks that depend on its method. */
function probeOf(write: ServedEndpoint, exchange: Exchange): Exchange {
  const { service, call, params } = exchange;
  const arrival = alike(call.arrival, { method: write.method });
  const probe = new Exchange(service, new Call(arrival, service.callContext), write, params);
  probe.inherit(exchange);
  return probe;
}
