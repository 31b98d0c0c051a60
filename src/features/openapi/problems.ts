import type { Permission } from "../../access/permission/contract.ts";
import { anyone } from "../../access/permission/permission.ts";
import type { Scheme } from "../../access/scheme/scheme.ts";
import { isUnsafe } from "../../core/call/cross-site.ts";
import type { ProblemCode, Catalogue } from "../../core/problem/catalogue.ts";
import type { ServedEndpoint } from "../../http/declarations/endpoint.ts";
import type { Format } from "../../http/request/format.ts";
import { answerHeaders, type HeaderName } from "./headers.ts";
import { ref, type JSONObject } from "./json.ts";
import { isStructured } from "./media.ts";
import { pascalCase } from "./names.ts";
import { problemExample, problemSchemaName } from "./problem-schemas.ts";

/** The facts that all problem responses of a document share. */
export interface ProblemFacts {
  readonly catalogue: Catalogue;
  readonly formats: readonly Format[];
  /** The base path of the service. Empty for the root. */
  readonly basePath: string;
}

/** The problem responses. Operations with the same codes for a status share one component. */
export class ProblemResponses {
  readonly #facts: ProblemFacts;
  readonly #mediaTypes: readonly string[];
  readonly #components = new Map<string, JSONObject>();

  constructor(facts: ProblemFacts) {
    this.#facts = facts;
    const structured = facts.formats.filter(({ mediaType }) => isStructured(mediaType));
    this.#mediaTypes = [...new Set(structured.map(({ problemMediaType }) => problemMediaType))];
  }

  /** Returns the responses of an operation that can end in these problems, by status. */
  of(expected: ReadonlySet<string>): Readonly<Record<string, JSONObject>> {
    const { catalogue } = this.#facts;
    const codes = Object.keys(catalogue).filter((code) => expected.has(code));
    const byStatus = Map.groupBy(codes, (code) => catalogue[code]!.status);
    return Object.fromEntries(
      [...byStatus].map(([status, own]) => [status, ref("responses", this.#component(status, own))]),
    );
  }

  /** Returns all responses so far, by name. */
  components(): Readonly<Record<string, JSONObject>> {
    return Object.fromEntries(this.#components);
  }

  /** Returns the component of these codes. Its name depends only on the codes, so other operations do not change it. */
  #component(status: number, codes: readonly string[]): string {
    const name = pascalCase(...codes);
    if (!this.#components.has(name)) this.#components.set(name, this.#response(status, codes));
    return name;
  }

  #response(status: number, codes: readonly string[]): JSONObject {
    const { catalogue, basePath } = this.#facts;
    const schemas = codes.map((code) => ref("schemas", problemSchemaName(code)));
    const schema = schemas.length === 1 ? schemas[0] : { anyOf: schemas };
    const examples = Object.fromEntries(
      codes.flatMap((code) => {
        const value = problemExample(code, catalogue[code]!, basePath);
        return value === null ? [] : [[code, { summary: catalogue[code]!.title, value }]];
      }),
    );
    return {
      description: codes.map((code) => `${catalogue[code]!.title} (\`${code}\`)`).join(", "),
      headers: answerHeaders(...(headersOfStatus[status] ?? [])),
      content: Object.fromEntries(
        this.#mediaTypes.map((type) => [type, type.endsWith("json") ? { schema, examples } : { schema }]),
      ),
    };
  }
}

const headersOfStatus: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ["WWWAuthenticate"],
  405: ["Allow"],
  415: ["Accept", "AcceptPost", "AcceptPatch", "AcceptQuery", "AcceptEncoding"],
  429: ["RetryAfter"],
  503: ["RetryAfter"],
  507: ["RetryAfter"],
};

/**
 * Returns the problems that an endpoint can end in before its handler runs, and those that can always happen.
 * `refusals` end a request although its credential is right.
 */
export function* problemsOnTheWay(
  endpoint: ServedEndpoint,
  schemes: readonly Scheme[],
  refusals: readonly ProblemCode[] = [],
): Generator<ProblemCode> {
  const { access, method, path, consumes, produces, query } = endpoint;
  if (path.includes("{")) yield "not_found";
  if (endpoint.logsIn === true) yield "insecure_transport";
  if (access !== "open" && endpoint.refusals === undefined) yield* problemsOfCredentials(endpoint, schemes, refusals);
  for (const permission of collectPermissions(endpoint)) {
    if (permission !== anyone) yield "permission_denied";
    yield* permission.problems ?? [];
  }
  if (produces === undefined) yield "not_acceptable";
  if (consumes !== undefined) yield* ["malformed", "invalid", "content_too_large", "unsupported_media_type"] as const;
  yield* ["malformed", "precondition_failed"] as const; // for conditional headers
  if (query !== "ignored") yield "invalid_query";
  // Reading a credential may also write, because the service counts wrong ones.
  if (isUnsafe(method) || access !== "open") yield "insufficient_storage";
  yield* ["internal", "unavailable"] as const;
  yield "unknown_preference";
  // The service sends these before it knows the operation, so a client may get them for any operation.
  yield* ["method_not_allowed", "request_timeout", "uri_too_long", "headers_too_large", "not_implemented"] as const;
}

/**
 * Returns the permission of an endpoint, and the permissions of its outer records: the caller must be able to read
 * these records, and to change them for an unsafe method.
 */
function collectPermissions({ access, mounted, method }: ServedEndpoint): readonly Permission<string>[] {
  const found: Permission<string>[] = access === "open" ? [] : [access];
  for (let outer = mounted?.parent ?? null; outer !== null; outer = outer.parent) {
    const { read, update } = outer.permissions;
    found.push(...[read, isUnsafe(method) ? update : undefined].filter((each) => each !== undefined));
  }
  return found;
}

function* problemsOfCredentials(
  endpoint: ServedEndpoint,
  schemes: readonly Scheme[],
  refusals: readonly ProblemCode[],
): Generator<ProblemCode> {
  const carriers = schemes.flatMap((scheme) => scheme.carriers);
  const challenging = schemes.filter(({ challenge }) => challenge !== undefined).length;
  const canChallenge = challenging > 0;
  if (needsCaller(endpoint)) {
    if (canChallenge) yield "not_authenticated";
    // The only scheme with a challenge may have none for some requests: Basic has none for scripts. With two schemes,
    // the other one still has a challenge.
    if (challenging < 2) yield "authentication_failed";
  }
  if (carriers.length === 0) return;
  yield* ["duplicate_credentials", "too_many_attempts"] as const;
  if (carriers.length > 1) yield "conflicting_credentials";
  for (const { rejectedAs = "invalid_token", alsoRejectedAs = [] } of schemes)
    yield* canChallenge ? [rejectedAs, ...alsoRejectedAs] : (["authentication_failed"] as const);
  yield* refusals;
  if (carriers.some((each) => each.in === "authorization" && each.scheme.toLowerCase() === "basic"))
    yield "insecure_transport";
  if (isUnsafe(endpoint.method) && carriers.some((each) => each.in === "cookie")) yield "cross_site";
}

/**
 * Returns true if an unknown caller may be asked who they are: by a permission, or by a default that is made from the
 * caller.
 */
function needsCaller(endpoint: ServedEndpoint): boolean {
  const { mounted, method } = endpoint;
  if (collectPermissions(endpoint).some((permission) => permission !== anyone)) return true;
  const fields = method === "POST" || method === "PUT" ? Object.values(mounted?.resource.fields ?? {}) : [];
  return fields.some(({ options }) => typeof options.default === "function" || options.generated !== undefined);
}
