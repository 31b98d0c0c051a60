import type { Witness } from "../../access/scheme/explanation.ts";
import type { IdentifiedCaller } from "../../access/scheme/scheme-set.ts";
import type { Call } from "../../core/call/call.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import { readOctets, requireMediaType } from "../body/intake.ts";
import type { ServedEndpoint } from "../declarations/endpoint.ts";
import type { Route } from "../declarations/routes.ts";
import { formType } from "../formats/form.ts";
import { identifyCaller, waitForBody } from "../identifying/identifying.ts";
import type { Exchange } from "../request/exchange.ts";
import type { SentForm } from "../request/sent-form.ts";
import { findOwnReader, headersOfForm, requireEndpointOfForm, requireOwnForm, settleForm } from "./settling.ts";

/** A form whose method is known. */
export interface TakenForm {
  /** The endpoint for the method of the form. */
  readonly endpoint: ServedEndpoint;
  /** The request that the form means. */
  readonly call: Call;
  /** Null if the endpoint reads the form itself. */
  readonly form: SentForm | null;
  readonly identified: IdentifiedCaller;
}

/**
 * Reads a form after the checks that need no method: the credentials with their throttle, and the origin of the page.
 */
export function takeForm(exchange: Exchange, route: Route, witness: Witness | null): Eventually<TakenForm> {
  const { service, call } = exchange;
  if (service.schemeSet.readsBody) call.letRead(() => readOctets(exchange));
  return after(identifyCaller(exchange, witness), (identified): Eventually<TakenForm> => {
    const reader = findOwnReader(route, identified.identity);
    if (reader !== null) return { endpoint: reader, call, form: null, identified };
    requireOwnForm(call, service);
    requireMediaType(exchange, [formType]);
    const read = waitForBody(exchange, () => after(readOctets(exchange), () => undefined));
    return after(read, () =>
      after(exchange.octets!, (bytes): TakenForm => {
        const { method, form } = settleForm(bytes);
        const meant = call.meaning(method, headersOfForm(call, form));
        return { endpoint: requireEndpointOfForm(route, method), call: meant, form, identified };
      }),
    );
  });
}
