import { aList, anObject, optional, text, aBoolean } from "../checking/members.ts";
import { requireOptions, type ChecksOf } from "../checking/options.ts";
import { aBasePath } from "../http/base-path.ts";
import { readableBy } from "../http/body/readable.ts";
import type { ServedEndpoint } from "../http/endpoint/endpoint.ts";
import { served } from "../http/endpoint/replying.ts";
import type { Format } from "../http/formats/format.ts";
import { withBuiltIn } from "../http/formats/negotiate.ts";
import { endpointsOf } from "../http/mount/endpoints.ts";
import { placeMounts } from "../http/mount/placing.ts";
import { catalogueWith, ownAmong } from "../problem/definition.ts";
import { joinSchemes } from "../scheme/joining.ts";
import { usedComponents, withoutXML, type JSONObject } from "./json.ts";
import { uniqueNames } from "./names.ts";
import { headers } from "./operations/headers.ts";
import { operationOf, type Description } from "./operations/operation.ts";
import { describeOwn } from "./operations/own-endpoint.ts";
import { parameters } from "./operations/parameters.ts";
import { templateOf, withoutFinalSlash } from "./operations/path.ts";
import { ADDITIONAL_OPERATIONS, PLAIN_METHODS } from "./operations/query-operation.ts";
import { titleChecks, type OpenAPIOptions } from "./options.ts";
import { problemComponents } from "./problems.ts";
import { describeMount, schemaNames } from "./resource.ts";
import { securitySchemes } from "./security.ts";
import { standardSchemas } from "./standard.ts";

const checks: ChecksOf<OpenAPIOptions> = {
  ...titleChecks,
  schemes: optional(aList),
  mounts: optional(aList),
  endpoints: optional(aList),
  formats: optional(aList),
  xml: optional(aBoolean),
  tags: optional(anObject),
  problems: optional(aList),
  basePath: optional(aBasePath),
  serverURL: optional(text),
};

/** Describes a service as an OpenAPI 3.1 document. It says what the declarations say: nothing is written twice. */
export function openapiDocument(options: OpenAPIOptions): Record<string, unknown> {
  requireOptions(options, checks, { of: "openapiDocument" });
  const { title, version, description, license, mounts = [], tags = {}, basePath = "" } = options;
  const { serverURL = basePath === "" ? "/" : basePath } = options;
  const schemes = joinSchemes(options.schemes ?? []);
  const formats = withBuiltIn(options.formats ?? [], options.xml);
  const placed = placeMounts(mounts);
  const endpoints = [...placed.flatMap(endpointsOf), ...(options.endpoints ?? []).map(served)].map(readableBy(formats));
  const takeName = uniqueNames(Object.keys(standardSchemas));
  const names = new Map(mounts.map((each) => [each.resource, schemaNames(each, takeName)]));
  const resources = placed.map((mount) => describeMount(mount, formats, names));
  const described = describeAll(endpoints, new Map(resources.flatMap(({ operations }) => [...operations])), formats);
  const security = securitySchemes(schemes, serverURL.startsWith("https:"));
  const named = described.flatMap(([, { problems }]) => problems);
  const catalogue = catalogueWith(ownAmong([...(options.problems ?? []), ...named]));
  const paths = pathsOf(described, { schemes, security: Object.keys(security), catalogue });
  const components = {
    schemas: { ...Object.fromEntries(resources.flatMap(({ schemas }) => Object.entries(schemas))), ...standardSchemas },
    responses: problemComponents(catalogue, formats, basePath),
    parameters,
    headers,
  };
  const speaksXML = formats.some(({ mediaType }) => mediaType === "application/xml");
  const written = speaksXML ? { paths, components } : withoutXML({ paths, components });
  return {
    openapi: "3.1.0",
    info: {
      title,
      version,
      ...(description === undefined ? {} : { description }),
      ...(license === undefined ? {} : { license }),
    },
    servers: [{ url: serverURL }],
    tags: tagsOf(
      [
        ...resources.map(({ tag }) => tag),
        ...Object.entries(tags).map(([name, said]) => ({ name, description: said })),
      ],
      described,
    ),
    paths: written.paths,
    components: {
      ...usedComponents(written.components, written.paths),
      ...(Object.keys(security).length === 0 ? {} : { securitySchemes: security }),
    },
  };
}

type Described = readonly (readonly [ServedEndpoint, Description])[];

function describeAll(
  endpoints: readonly ServedEndpoint[],
  ofResources: ReadonlyMap<string, Description>,
  formats: readonly Format[],
): Described {
  const takeId = uniqueNames();
  return endpoints.map((endpoint) => {
    const description = ofResources.get(`${endpoint.method} ${endpoint.path}`) ?? describeOwn(endpoint, formats);
    return [endpoint, { ...description, operationId: takeId(description.operationId) }];
  });
}

/** One entry for each path, in the spelling that was declared first, as the routes have it. */
function pathsOf(described: Described, surroundings: Parameters<typeof operationOf>[2]): JSONObject {
  const paths = new Map<string, { readonly template: string; readonly operations: Record<string, JSONObject> }>();
  for (const [endpoint, description] of described) {
    const key = withoutFinalSlash(endpoint.path);
    const path = paths.get(key) ?? { template: templateOf(endpoint.path), operations: {} };
    const operation = operationOf(endpoint, description, surroundings);
    if (PLAIN_METHODS.has(endpoint.method)) path.operations[endpoint.method.toLowerCase()] = operation;
    else
      path.operations[ADDITIONAL_OPERATIONS] = {
        ...path.operations[ADDITIONAL_OPERATIONS],
        [endpoint.method]: operation,
      };
    paths.set(key, path);
  }
  return Object.fromEntries([...paths.values()].map(({ template, operations }) => [template, operations]));
}

/** The tags that are used: first those that are explained, each by whoever did so first. */
function tagsOf(explained: readonly JSONObject[], described: Described): readonly JSONObject[] {
  const tags = new Map<unknown, JSONObject>(explained.toReversed().map((tag) => [tag["name"], tag]));
  const used = new Set<unknown>(described.map(([, { tag }]) => tag));
  const order = [...explained.map(({ name }) => name), ...used];
  return [...new Set(order)].filter((name) => used.has(name)).map((name) => tags.get(name) ?? { name });
}
