import type {
  ServedEndpoint,
  EndpointDocumentation,
  ResponseDocumentation,
  BodyShape,
} from "../../../http/declarations/endpoint.ts";
import type { Responses } from "../../../http/declarations/response.ts";
import { isResource } from "../../../http/request/body-shape.ts";
import type { Method } from "../../../http/request/facts.ts";
import type { Format } from "../../../http/request/format.ts";
import { answerHeaders } from "../headers.ts";
import { ref, type JSONObject } from "../json.ts";
import { buildContent } from "../media.ts";
import { pascalCase } from "../names.ts";
import { draftSchema, patchSchema, recordSchema } from "../schemas.ts";
import type { Description } from "./operation.ts";
import { formatPathTemplate } from "./path.ts";

/** The tag of endpoints without one. */
const FALLBACK_TAG = "service";

/** Describes a custom endpoint from its documentation. */
export function describeOwn(endpoint: ServedEndpoint, formats: readonly Format[]): Description {
  const { method, reading, documentation = { summary: `${method} ${endpoint.path}` } } = endpoint;
  const { summary, tag = FALLBACK_TAG, parameters = [], problems = [] } = documentation;
  const { request = reading?.schema ?? {} } = documentation;
  return {
    operationId: `${method.toLowerCase()}${pascalCase(formatPathTemplate(endpoint.path))}`,
    tag,
    summary,
    parameters,
    problems,
    request: (mediaType) => ({ schema: requestSchema(request, method, mediaType) }),
    responses: buildResponses(endpoint, documentation, formats),
  };
}

function requestSchema(shape: BodyShape, method: Method, mediaType: string): JSONObject {
  if (mediaType === "application/json-patch+json") return ref("schemas", "JSONPatch");
  if (!isResource(shape)) return shape;
  return method === "PATCH" ? patchSchema(shape) : draftSchema(shape);
}

function buildResponses(
  { method, produces, responses: shapes = {} }: ServedEndpoint,
  { responses = {} }: EndpointDocumentation,
  formats: readonly Format[],
): Description["responses"] {
  const able = formats.filter(({ shows }) => shows !== "lists");
  const done: ResponseDocumentation = { description: "Done." };
  const statuses = [...new Set([...Object.keys(responses), ...Object.keys(shapes)])];
  const documented: Readonly<Record<string, ResponseDocumentation>> =
    statuses.length > 0
      ? Object.fromEntries(
          statuses.map((status) => [status, { ...schemaOf(shapes[Number(status)]), ...(responses[status] ?? done) }]),
        )
      : method === "DELETE"
        ? { 204: done }
        : { 200: { ...done, schema: {} } };
  return Object.fromEntries(
    Object.entries(documented).map(([status, { description, schema, headers = {} }]) => [
      status,
      {
        description,
        headers: { ...answerHeaders(), ...buildHeaders(headers) },
        ...(schema === undefined ? {} : { content: shownIn(schema, produces, able) }),
      },
    ]),
  );
}

function schemaOf(shape: Responses[number] | undefined): Pick<ResponseDocumentation, "schema"> {
  return shape === null || shape === undefined ? {} : { schema: shape.schema };
}

function buildHeaders(headers: Readonly<Record<string, string>>): JSONObject {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );
}

function shownIn(shape: BodyShape, produces: string | undefined, formats: readonly Format[]): JSONObject {
  const schema = isResource(shape) ? recordSchema(shape) : shape;
  return produces === undefined ? buildContent(formats, schema, null) : { [produces]: { schema } };
}
