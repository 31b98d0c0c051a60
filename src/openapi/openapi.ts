import { joinSchemes } from "../auth/joining.ts";
import type { Scheme } from "../auth/scheme.ts";
import type { Endpoint, ServedEndpoint } from "../http/endpoint.ts";
import type { Format } from "../http/formats/format.ts";
import { json } from "../http/formats/json.ts";
import { xml } from "../http/formats/xml.ts";
import { endpointsOf } from "../http/mount/endpoints.ts";
import { placeMounts, type Mount } from "../http/mount/mount.ts";
import { catalogueWith, ownAmong, type ProblemDefinition } from "../problem/definition.ts";
import { headers } from "./headers.ts";
import { usedComponents, type JSONObject } from "./json.ts";
import { uniqueNames } from "./names.ts";
import { operationOf, type Description } from "./operation.ts";
import { describeOwn } from "./own-endpoint.ts";
import { parameters } from "./parameters.ts";
import { templateOf, withoutFinalSlash } from "./path.ts";
import { problemComponents } from "./problems.ts";
import { describeMount } from "./resource.ts";
import { securitySchemes } from "./security.ts";
import { standardSchemas } from "./standard.ts";

/** What a service is made of, as `createService` takes it, and what it is called. */
export interface OpenAPIOptions {
  readonly title: string;
  /** Of the API, not of OpenAPI. */
  readonly version: string;
  readonly description?: string;
  /** The terms of the API: its name, and its SPDX expression or address. */
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string };
  readonly schemes?: readonly Scheme[];
  readonly mounts?: readonly Mount[];
  /** Besides those of the mounts. */
  readonly endpoints?: readonly Endpoint[];
  /** Besides JSON and XML. */
  readonly formats?: readonly Format[];
  /** What the tags of endpoints mean, by name. Those of resources explain themselves. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Problems of one's own, besides those that endpoints and mounts name. */
  readonly problems?: readonly ProblemDefinition[];
  /** As `createService` takes it. */
  readonly basePath?: string;
  /** The base of all paths; the base path, on whatever host the document itself is, if it is left out. */
  readonly serverURL?: string;
}

/** Describes a service as an OpenAPI 3.1 document. It says what the declarations say: nothing is written twice. */
export function openapiDocument(options: OpenAPIOptions): Record<string, unknown> {
  const { title, version, description, license, mounts = [], tags = {}, basePath = "" } = options;
  const { serverURL = basePath === "" ? "/" : basePath } = options;
  const schemes = joinSchemes(options.schemes ?? []);
  const formats = [json, xml, ...(options.formats ?? [])];
  const endpoints = [...placeMounts(mounts).flatMap(endpointsOf), ...(options.endpoints ?? [])];
  const takeName = uniqueNames(Object.keys(standardSchemas));
  const resources = mounts.map((mount) => describeMount(mount, formats, takeName));
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
    paths,
    components: {
      ...usedComponents(components, paths),
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
    path.operations[endpoint.method.toLowerCase()] = operationOf(endpoint, description, surroundings);
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
