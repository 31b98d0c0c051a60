import type { Witness } from "../access/scheme/explanation.ts";
import { Call, type Arrival, type Reply } from "../core/call/call.ts";
import { isUnsafe } from "../core/call/cross-site.ts";
import { requireSecureTransport } from "../core/call/transport.ts";
import { atOnce } from "../core/checking/at-once.ts";
import { after, type Eventually } from "../core/eventually.ts";
import { problem, type Problem } from "../core/problem/problem.ts";
import { traced } from "../core/tracer.ts";
import { requireAddress, requireFraming } from "./addressing.ts";
import { addLimits, askLimiters, askSettledLimiters } from "./answer/admitting.ts";
import { requireFormat } from "./answer/choosing-format.ts";
import { hasPreconditions, requirePreconditionsHold } from "./answer/conditional.ts";
import { addCors, answerOptions } from "./answer/cors.ts";
import { addDeprecations } from "./answer/deprecating.ts";
import { convertToProblem, convertToFault } from "./answer/error-conversion.ts";
import { requireKnownPreferences } from "./answer/preferences.ts";
import { withoutBody, writeProblem, writeReply, type Answer } from "./answer/writing.ts";
import { readOctets, readBody, requireMediaType } from "./body/intake.ts";
import type { ServedEndpoint } from "./declarations/endpoint.ts";
import { requireEndpoint, type Match } from "./declarations/routes.ts";
import { addExplanation, findWitness } from "./explaining.ts";
import { findForm } from "./forms.ts";
import { identify, requireCredential, waitForBody } from "./identifying/identifying.ts";
import { identifyTolerantly } from "./identifying/tolerating.ts";
import { requireWithinLimits } from "./limits.ts";
import { callerIn } from "./request/cause.ts";
import type { ServiceCore } from "./request/core.ts";
import { Exchange, invalid } from "./request/exchange.ts";
import type { Format } from "./request/format.ts";
import { notDone, tooLate } from "./request/in-flight.ts";
import { requireInTime, awaitSoon } from "./request/in-time.ts";
import { requirePermission, scopesLet } from "./request/permitting.ts";
import { requireRepeatable } from "./request/repeating.ts";
import { countRequest } from "./scheduling/rounds.ts";
import { leadOn } from "./sent-forms/leading.ts";
import { readFormBody } from "./sent-forms/reading.ts";
import { arrivingForm, isSentForm } from "./sent-forms/settling.ts";
import { takeForm, type TakenForm } from "./sent-forms/taking.ts";
import { ServedView } from "./viewing.ts";

/** A service with its routes. */
export interface RoutedService extends ServiceCore {
  readonly find: (path: string) => Match | null;
}

/** Answers one request. Never throws: an error becomes a response. */
export function respond(service: RoutedService, arrival: Arrival): Eventually<Answer> {
  countRequest();
  const startedAt = service.observe === null ? 0 : performance.now();
  const flow = new RequestFlow(service, new Call(arrival, service.callContext));
  const { tracer } = service;
  return tracer === null ? runRequest(flow, startedAt) : traced(tracer, flow, () => runRequest(flow, startedAt));
}

function runRequest(flow: RequestFlow, startedAt: number): Eventually<Answer> {
  let answer: Eventually<Answer>;
  try {
    answer = flow.walk();
  } catch (error) {
    answer = flow.fail(error);
  }
  return answer instanceof Promise ? awaitAnswer(flow, answer, startedAt) : finish(flow, answer, startedAt);
}

/** Waits for the response, up to the time limit of the service. */
function awaitAnswer(flow: RequestFlow, answer: Promise<Answer>, startedAt: number): Promise<Answer> {
  const { inFlight } = flow.service;
  return new Promise<Answer | null>((resolve, reject) => {
    const end = (done: Answer | null): void => (inFlight.remove(request), resolve(done));
    const request = inFlight.add(flow, () => end(null));
    const fail = (error: unknown): void => {
      const answer = flow.fail(error);
      if (answer instanceof Promise) answer.then(end, reject);
      else end(answer);
    };
    answer.then(end, fail);
  }).then((done) =>
    done === null ? flow.giveUp().then((answer) => finish(flow, answer, startedAt)) : finish(flow, done, startedAt),
  );
}

/** The steps of a request, in their order. */
class RequestFlow {
  readonly service: RoutedService;
  call: Call;
  match: Match | null = null;
  exchange: Exchange | null = null;
  problem: Problem | null = null;
  witness: Witness | null = null;

  constructor(service: RoutedService, call: Call) {
    this.service = service;
    this.call = call;
  }

  walk(): Eventually<Answer> {
    const { service, call } = this;
    requireFraming(call.arrival);
    requireWithinLimits(call.arrival);
    requireAddress(call.arrival);
    const match = (this.match = service.find(call.path));
    if (match === null) throw problem("not_found");
    if (isSentForm(service, call, match.route)) return this.#takeForm(match);
    const endpoint = findForm(service, call, match) ?? requireEndpoint(match.route, call.method);
    if (endpoint === null) return answerOptions(service, call, match.route);
    const exchange = (this.exchange = new Exchange(service, call, endpoint, match.params));
    if (endpoint.logsIn === true && !service.allowsCleartextLogins) requireSecureTransport(call);
    if (service.limiters.length === 0) return this.#identify(exchange, endpoint);
    return after(askLimiters(service.limiters, "arriving", exchange, endpoint), () =>
      this.#identify(exchange, endpoint),
    );
  }

  #identify(exchange: Exchange, endpoint: ServedEndpoint): Eventually<Answer> {
    const { service, call } = this;
    if (endpoint.access === "open") return this.#admit(exchange, endpoint, () => this.#serve(exchange, endpoint));
    this.witness = findWitness(call, service.explainHeader);
    if (service.schemeSet.readsBody) call.letRead(() => readOctets(exchange));
    if (endpoint.refusals === "reported")
      return after(identifyTolerantly(exchange, this.witness), (identified) => {
        exchange.identified = identified;
        return this.#admit(exchange, endpoint, () => this.#serve(exchange, endpoint));
      });
    return after(identify(exchange, this.witness), () =>
      this.#admit(exchange, endpoint, () => {
        if (service.tracer === null) requirePermission(exchange);
        else service.tracer.part("permission", {}, () => requirePermission(exchange));
        return this.#serve(exchange, endpoint);
      }),
    );
  }

  /**
   * Answers a form of a page. Its method is in its body, so the body is read after the checks that need no method. From
   * then on the request has the method of the form, as if a program had sent it.
   */
  #takeForm(match: Match): Eventually<Answer> {
    const { service, call } = this;
    const arrived = arrivingForm(match.route);
    const exchange = (this.exchange = new Exchange(service, call, arrived, match.params));
    return after(askLimiters(service.limiters, "arriving", exchange, arrived), () => {
      this.witness = findWitness(call, service.explainHeader);
      return after(takeForm(exchange, match.route, this.witness), (taken) => this.#serveForm(exchange, taken));
    });
  }

  /** Continues with the endpoint of a form. */
  #serveForm(arrived: Exchange, { endpoint, call, form, identified }: TakenForm): Eventually<Answer> {
    const { service } = this;
    this.call = call;
    const exchange = (this.exchange = new Exchange(service, call, endpoint, arrived.params));
    exchange.succeed(arrived, form);
    if (endpoint.logsIn === true && !service.allowsCleartextLogins) requireSecureTransport(call);
    return after(askSettledLimiters(service.limiters, exchange, arrived.endpoint), () =>
      after(requireCredential(exchange, identified), () =>
        this.#admit(exchange, endpoint, () => {
          requirePermission(exchange);
          return this.#serve(exchange, endpoint);
        }),
      ),
    );
  }

  /** Continues if the caller is within the limits. */
  #admit(exchange: Exchange, endpoint: ServedEndpoint, next: () => Eventually<Answer>): Eventually<Answer> {
    const { limiters } = this.service;
    return limiters.length === 0 ? next() : after(askLimiters(limiters, "identified", exchange, endpoint), next);
  }

  #serve(exchange: Exchange, endpoint: ServedEndpoint): Eventually<Answer> {
    requireInTime(exchange.context);
    if (endpoint.guard !== undefined)
      atOnce<unknown>(endpoint.guard(exchange.context), `guard of ${endpoint.method} ${endpoint.path}`);
    exchange.format = requireFormat(exchange);
    if (exchange.sentForm !== null) return this.#handleForm(exchange, endpoint);
    if (endpoint.consumes === undefined) {
      requireKnownQuery(exchange);
      return after(handle(exchange, endpoint), (reply) => this.#write(exchange, reply));
    }
    const mediaType = requireMediaType(exchange, endpoint.consumes);
    const body = waitForBody(exchange, () => readBody(exchange, mediaType, () => requireKnownQuery(exchange)));
    return after(body, () => after(handle(exchange, endpoint), (reply) => this.#write(exchange, reply)));
  }

  async #handleForm(exchange: Exchange, endpoint: ServedEndpoint): Promise<Answer> {
    requireKnownQuery(exchange);
    await readFormBody(exchange, endpoint, this.match!);
    const reply = shownTo(exchange, await handle(exchange, endpoint));
    const view = new ServedView(this, reply);
    return this.#write(exchange, await leadOn(exchange, endpoint, reply, async (path) => view.offers(path)));
  }

  #write(exchange: Exchange, reply: Reply): Eventually<Answer> {
    return writeReply(exchange, shownTo(exchange, reply), (written) => new ServedView(this, written));
  }

  /** Reports a fault of the service, or of custom code in it. */
  observeFault(error: unknown): void {
    this.service.observe?.({ kind: "fault", requestId: this.call.requestId, error: convertToFault(error) });
  }

  fail(error: unknown): Eventually<Answer> {
    try {
      const answer = this.writeProblem(this.toProblem(error));
      return answer instanceof Promise ? answer.catch((fault: unknown) => this.writePlainProblem(fault)) : answer;
    } catch (fault) {
      return this.writePlainProblem(fault);
    }
  }

  /** Answers a request that has waited too long. Its later result is dropped, and it can no longer write. */
  giveUp(): Promise<Answer> {
    const { service, call, exchange } = this;
    if (exchange !== null) exchange.phase = "over";
    this.observeFault(notDone(call.awaits, service.inFlight.seconds));
    return this.writeProblemSoon((this.problem = tooLate()));
  }

  /** Writes the problem in the caller's format if that is quick. The slow code may be the format itself. */
  async writeProblemSoon(reportedProblem: Problem): Promise<Answer> {
    try {
      const answer = await awaitSoon(this.writeProblem(reportedProblem));
      if (answer !== null) return answer;
    } catch (error) {
      this.observeFault(error);
    }
    return this.writeProblem(reportedProblem, this.service.formats[0]);
  }

  writeProblem(reportedProblem: Problem, format?: Format): Eventually<Answer> {
    return writeProblem(this.service, this.call, reportedProblem, () => new ServedView(this, reportedProblem), format);
  }

  /** Writes the problem in the default format, because a custom format has failed. */
  writePlainProblem(fault: unknown): Eventually<Answer> {
    return this.writeProblem(this.toProblem(fault), this.service.formats[0]);
  }

  toProblem(error: unknown): Problem {
    const reportedProblem = (this.problem = convertToProblem(error));
    if (reportedProblem.status === 500) this.observeFault(error);
    return reportedProblem;
  }
}

/** Calls the handler if the preconditions hold. Checks them here, so that no endpoint can forget the check. */
function handle(exchange: Exchange, endpoint: ServedEndpoint): Eventually<Reply> {
  const { call } = exchange;
  const needsNoCheck = !isUnsafe(call.method) || endpoint.preconditions !== undefined || !hasPreconditions(call);
  if (needsNoCheck) return endpoint.handle(exchange.context);
  return after(endpoint.target?.(exchange.context), () => {
    requirePreconditionsHold(call, []);
    return endpoint.handle(exchange.context);
  });
}

/** Hides the record and its ETag from a caller who may write but not read. */
function shownTo(exchange: Exchange, reply: Reply): Reply {
  return !isUnsafe(exchange.call.method) || scopesLet(exchange, "GET") ? reply : withoutBody(reply);
}

function requireKnownQuery(exchange: Exchange): void {
  requireKnownPreferences(exchange);
  requireRepeatable(exchange);
  if (exchange.call.query === "" || exchange.endpoint.query !== undefined) return;
  const parameters = exchange.parameters();
  if (parameters.length === 0) return;
  throw invalid(
    parameters.map(([name]) => ({
      pointer: `?${name}`,
      code: "unknown_parameter",
      detail: "There is no such parameter.",
    })),
  );
}

const NONE: readonly string[] = [];

function listDeprecations({ deprecations }: Exchange): readonly string[] {
  return deprecations.map(({ what }) => what);
}

function finish(flow: RequestFlow, answer: Answer, startedAt: number): Answer {
  const { service, call, exchange, match, witness } = flow;
  if (exchange !== null && exchange.hold !== null) exchange.hold.release();
  if (witness !== null) addExplanation(service, witness, answer);
  if (exchange !== null && exchange.limits.length > 0) addLimits(exchange, answer);
  if (exchange !== null && exchange.deprecations.length > 0) addDeprecations(exchange, answer);
  addCors(call, answer, service.allowedOrigins);
  if (service.observe !== null) {
    const identity = exchange === null ? null : exchange.observedIdentity;
    service.observe({
      kind: "request",
      requestId: call.requestId,
      method: call.method,
      path: shortened(call.path),
      route: match === null ? null : match.route.path,
      status: answer.status,
      code: flow.problem === null ? null : flow.problem.code,
      problem: flow.problem,
      durationMs: performance.now() - startedAt,
      address: call.client.address,
      ...callerIn(identity),
      traceId: call.trace === null ? null : call.trace.traceId,
      parentId: call.trace === null ? null : call.trace.parentId,
      deprecated: exchange === null || exchange.deprecations.length === 0 ? NONE : listDeprecations(exchange),
    });
  }
  return answer;
}

/**
 * Shortens parts of a path that are longer than any id. Such a part may be a credential in the wrong place, and logs
 * store the path.
 */
function shortened(path: string): string {
  return path.length > 40 ? path.replace(/[^/]{41,}/g, (part) => `${part.slice(0, 17)}…`) : path;
}
