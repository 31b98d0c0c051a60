import { joinSchemes } from "../../access/scheme/joining.ts";
import { aList, anObject, optional, text, aBoolean } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import {
  catalogueWith,
  resolveCode,
  ownAmong,
  type ProblemCode,
  type ProblemDefinition,
} from "../../core/problem/catalogue.ts";
import { aBasePath } from "../../http/base-path.ts";
import { readableBy } from "../../http/body/readable.ts";
import type { ServedEndpoint } from "../../http/declarations/endpoint.ts";
import type { ServedMount } from "../../http/declarations/mount.ts";
import { served } from "../../http/declarations/replying.ts";
import { withBuiltIn } from "../../http/formats/negotiate.ts";
import { buildEndpoints } from "../../http/mount/endpoints.ts";
import { placeMounts } from "../../http/mount/placing.ts";
import { problemsNamedBy } from "../../http/mount/writes/outcome.ts";
import type { Format } from "../../http/request/format.ts";
import { withoutFinalSlash } from "../../http/request/path.ts";
import type { Pieces } from "../../http/scheduling/slices.ts";
import { headers } from "./headers.ts";
import { ref, type JSONObject } from "./json.ts";
import { uniqueNames } from "./names.ts";
import { buildOperation, type Description, type Surroundings } from "./operations/operation.ts";
import { describeOwn } from "./operations/own-endpoint.ts";
import { formatParameters, parameters } from "./operations/parameters.ts";
import { formatPathTemplate } from "./operations/path.ts";
import { ADDITIONAL_OPERATIONS, PLAIN_METHODS } from "./operations/query-operation.ts";
import { titleChecks, type OpenAPIOptions } from "./options.ts";
import { problemSchemas } from "./problem-schemas.ts";
import { ProblemResponses } from "./problems.ts";
import { describeMount, collectProblems, schemaNames } from "./resource.ts";
import { securitySchemes } from "./security.ts";
import { standardSchemas } from "./standard.ts";
import { Part } from "./written.ts";

const checks: ChecksOf<OpenAPIOptions> = {
  ...titleChecks,
  schemes: optional(aList),
  mounts: optional(aList),
  endpoints: optional(aList),
  formats: optional(aList),
  xml: optional(aBoolean),
  tags: optional(anObject),
  problems: optional(aList),
  asksForFactors: optional(aBoolean),
  basePath: optional(aBasePath),
  serverURL: optional(text),
};

/**
 * Describes a service as an OpenAPI 3.1 document. Its operations and schemas are parts in the form that is sent. It
 * contains only facts of the declarations. Yields between the mounts, so that other requests can run.
 */
export function* describeService(options: OpenAPIOptions): Pieces<JSONObject> {
  requireOptions(options, checks, { of: "openapiDocument" });
  const { title, version, description, license, mounts = [], tags = {}, basePath = "" } = options;
  const { serverURL = basePath === "" ? "/" : basePath } = options;
  const schemes = joinSchemes(options.schemes ?? []);
  const formats = withBuiltIn(options.formats ?? [], options.xml);
  const speaksXML = formats.some(({ mediaType }) => mediaType === "application/xml");
  const mountsInPlace = placeMounts(mounts);
  const own = (options.endpoints ?? []).map(served);
  const security = securitySchemes(schemes, serverURL.startsWith("https:"));
  const named = [
    ...mountsInPlace.flatMap(collectProblems),
    ...own.flatMap(({ documentation }) => documentation?.problems ?? []),
  ];
  const catalogue = catalogueWith(ownAmong([...(options.problems ?? []), ...named]));
  const shared = { ...problemSchemas(catalogue), ...standardSchemas };
  const takeName = uniqueNames(Object.keys(shared));
  const names = new Map(mounts.map((each) => [each.resource, schemaNames(each, takeName)]));
  const problems = new ProblemResponses({ catalogue, formats, basePath });
  const surroundings = {
    schemes,
    security: Object.keys(security),
    problems,
    refusals: collectRefusals(options),
    anywhere: anywhereAmong(options.problems ?? [], mountsInPlace, own),
    format: formatRefs(formats),
  };
  const paths = new Paths(surroundings, speaksXML);
  const readable = readableBy(formats);
  const explained: JSONObject[] = [];
  const schemas: Record<string, Part> = {};
  for (const mount of mountsInPlace) {
    const { tag, schemas: its, operations } = describeMount(mount, formats, names);
    explained.push(tag);
    for (const [name, schema] of Object.entries(its)) schemas[name] = new Part(schema, speaksXML);
    for (const endpoint of buildEndpoints(mount).map(readable)) {
      const operation = operations.get(`${endpoint.method} ${endpoint.path}`);
      paths.add(endpoint, operation ?? describeOwn(endpoint, formats));
    }
    yield;
  }
  for (const endpoint of own.map(readable)) {
    paths.add(endpoint, describeOwn(endpoint, formats));
    yield;
  }
  for (const [name, description] of Object.entries(tags)) explained.push({ name, description });
  const standard = {
    responses: problems.components(),
    parameters: { ...parameters, ...formatParameters(formats) },
    headers,
  };
  const components = {
    schemas: { ...schemas, ...createParts(shared, speaksXML) },
    ...Object.fromEntries(Object.entries(standard).map(([kind, each]) => [kind, createParts(each, speaksXML)])),
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
    tags: collectTags(explained, paths.tags),
    paths: paths.written(),
    components: {
      ...(yield* usedComponents(components, paths.refs)),
      ...(Object.keys(security).length === 0 ? {} : { securitySchemes: security }),
    },
  };
}

/** Returns the codes of the problems that can end a request although its credential is right. */
function collectRefusals({ schemes = [], asksForFactors = false }: OpenAPIOptions): readonly ProblemCode[] {
  const isAsked = asksForFactors && schemes.some(({ proves }) => proves !== "program");
  return [...(isAsked ? (["factor_required"] as const) : []), ...schemes.flatMap(({ problems = [] }) => problems)];
}

/**
 * Returns the codes of the problems that only features declare, not mounts or endpoints. Any operation can end in them.
 */
function anywhereAmong(
  problems: readonly ProblemDefinition[],
  mounts: readonly ServedMount[],
  own: readonly ServedEndpoint[],
): readonly string[] {
  const places = [
    ...mounts.flatMap(problemsNamedBy),
    ...own.flatMap(({ documentation }) => documentation?.problems ?? []),
  ];
  const named = new Set(places.map(resolveCode));
  return problems.map(resolveCode).filter((code) => !named.has(code));
}

function formatRefs(formats: readonly Format[]): Surroundings["format"] {
  const one = ref("parameters", "format");
  return { one, list: formats.some(({ shows }) => shows === "lists") ? ref("parameters", "listFormat") : one };
}

type Parts = Readonly<Record<string, Part>>;

function createParts(named: JSONObject, speaksXML: boolean): Parts {
  return Object.fromEntries(Object.entries(named).map(([name, each]) => [name, new Part(each, speaksXML)]));
}

/** The paths of the document. Each has one entry, in the spelling of its first declaration, like the routes. */
class Paths {
  readonly #paths = new Map<
    string,
    { readonly template: string; readonly operations: Record<string, Part | Record<string, Part>> }
  >();
  readonly #takeId = uniqueNames();
  readonly #surroundings: Surroundings;
  readonly #speaksXML: boolean;
  /** The tags of the operations. */
  readonly tags = new Set<unknown>();
  /** The components that operations refer to. */
  readonly refs = new Set<string>();

  constructor(surroundings: Surroundings, speaksXML: boolean) {
    this.#surroundings = surroundings;
    this.#speaksXML = speaksXML;
  }

  add(endpoint: ServedEndpoint, described: Description): void {
    const description = { ...described, operationId: this.#takeId(described.operationId) };
    const key = withoutFinalSlash(endpoint.path);
    const path = this.#paths.get(key) ?? { template: formatPathTemplate(endpoint.path), operations: {} };
    const operation = new Part(buildOperation(endpoint, description, this.#surroundings), this.#speaksXML, description);
    const { operations } = path;
    if (PLAIN_METHODS.has(endpoint.method)) operations[endpoint.method.toLowerCase()] = operation;
    else Object.assign((operations[ADDITIONAL_OPERATIONS] ??= {}), { [endpoint.method]: operation });
    this.#paths.set(key, path);
    this.tags.add(description.tag);
    for (const each of operation.refs) this.refs.add(each);
  }

  written(): JSONObject {
    return Object.fromEntries([...this.#paths.values()].map(({ template, operations }) => [template, operations]));
  }
}

/** Returns the components that are referred to, directly or indirectly. The others are left out. */
function* usedComponents(
  components: Readonly<Record<string, Parts>>,
  pointedAt: ReadonlySet<string>,
): Pieces<Readonly<Record<string, Parts>>> {
  const used = new Set(pointedAt);
  // A component that this one refers to is added at the end of the set, so the loop also reaches it.
  for (const pointer of used) {
    const [kind = "", name = ""] = pointer.replace("#/components/", "").split("/");
    for (const each of components[kind]?.[name]?.refs ?? []) used.add(each);
    yield;
  }
  const retained: Record<string, Parts> = {};
  for (const [kind, named] of Object.entries(components)) {
    const own = Object.entries(named).filter(([name]) => used.has(`#/components/${kind}/${name}`));
    if (own.length > 0) retained[kind] = Object.fromEntries(own);
  }
  return retained;
}

/** Returns the tags in use. Explained tags come first, each with its first explanation. */
function collectTags(explained: readonly JSONObject[], used: ReadonlySet<unknown>): readonly JSONObject[] {
  const tags = new Map<unknown, JSONObject>(explained.toReversed().map((tag) => [tag["name"], tag]));
  const order = [...explained.map(({ name }) => name), ...used];
  return [...new Set(order)].filter((name) => used.has(name)).map((name) => tags.get(name) ?? { name });
}
