import type { Scheme } from "../../../access/scheme/scheme.ts";
import { resolveCode, type ProblemCode, type AnyProblem } from "../../../core/problem/catalogue.ts";
import type { ServedEndpoint } from "../../../http/declarations/endpoint.ts";
import { withDeprecation, withGoing } from "../deprecated.ts";
import type { JSONObject } from "../json.ts";
import { problemsOnTheWay, type ProblemResponses } from "../problems.ts";
import { buildSecurity } from "../security.ts";
import { pathParameters } from "./parameters.ts";

/** The description of an operation, in addition to the facts of its endpoint. */
export interface Description {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly parameters: readonly JSONObject[];
  /** Returns the body in this media type. */
  readonly request: (mediaType: string) => JSONObject;
  /** The responses by status. They replace problem responses with the same status. */
  readonly responses: Readonly<Record<string, JSONObject>>;
  /** The problems of this operation, in addition to those that follow from its endpoint. */
  readonly problems: readonly AnyProblem[];
}

/** The common parts of all operations in a document. */
export interface Surroundings {
  readonly schemes: readonly Scheme[];
  /** The names of the schemes that clients can use. */
  readonly security: readonly string[];
  readonly problems: ProblemResponses;
  /** The codes of problems that can end a request with a valid credential. */
  readonly refusals: readonly ProblemCode[];
  /** The codes of problems that features name. Any operation can end in them. */
  readonly anywhere: readonly string[];
  /** The parameter `format` of one record, and of a list. */
  readonly format: { readonly one: JSONObject; readonly list: JSONObject };
}

/** Returns an operation, from its description and the facts of its endpoint. */
export function buildOperation(
  endpoint: ServedEndpoint,
  description: Description,
  { schemes, security, problems: answers, refusals, anywhere, format }: Surroundings,
): JSONObject {
  const { access, consumes, bodyOptional } = endpoint;
  const { operationId, tag, summary, request, responses, problems } = description;
  const isNegotiated = endpoint.method === "GET" && endpoint.produces === undefined;
  const described = isNegotiated
    ? [...description.parameters, endpoint.action === "list" ? format.list : format.one]
    : description.parameters;
  const parameters = withPathParameters(endpoint, described);
  const onTheWay = problemsOnTheWay(endpoint, schemes, refusals);
  const expected = new Set([...onTheWay, ...problems.map(resolveCode), ...anywhere]);
  return {
    tags: [tag],
    summary,
    ...withDeprecation(access === "open" ? [] : [`Who may: ${access.name}.`], endpoint.deprecations ?? []),
    operationId,
    security: buildSecurity(endpoint, security),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(consumes === undefined ? {} : { requestBody: buildBody(consumes, bodyOptional === true, request) }),
    responses: { ...answers.of(expected), ...withGoing(responses, endpoint.deprecations ?? []) },
  };
}

/** Adds the parameters of the path, unless the description already has them. */
function withPathParameters(
  { path, mounted }: ServedEndpoint,
  described: readonly JSONObject[],
): readonly JSONObject[] {
  const isDescribed = (name: unknown): boolean =>
    described.some((each) => each["in"] === "path" && each["name"] === name);
  return [...pathParameters(path, mounted).filter(({ name }) => !isDescribed(name)), ...described];
}

function buildBody(consumes: readonly string[], isOptional: boolean, request: Description["request"]): JSONObject {
  return { required: !isOptional, content: Object.fromEntries(consumes.map((type) => [type, request(type)])) };
}
