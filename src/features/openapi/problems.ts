import { anyone } from "../../access/permission/permission.ts";
import type { Scheme } from "../../access/scheme/scheme.ts";
import { isUnsafe } from "../../core/call/cross-site.ts";
import type { CatalogueEntry, ProblemCode } from "../../core/problem/catalogue.ts";
import type { Catalogue } from "../../core/problem/definition.ts";
import type { ExtensionMember } from "../../core/problem/extensions.ts";
import type { ServedEndpoint } from "../../http/endpoint/endpoint.ts";
import type { Format } from "../../http/formats/format.ts";
import { ref, type JSONObject } from "./json.ts";
import { pascalCase } from "./names.ts";
import { answerHeaders, type HeaderName } from "./operations/headers.ts";
import { admitsUnknown } from "./security.ts";
import { problemSchema } from "./standard.ts";

/** The schema of every problem, and one for each problem that has extension members (RFC 9457 §3.2). */
export function problemSchemas(catalogue: Catalogue): Readonly<Record<string, JSONObject>> {
  const extended = Object.keys(catalogue).filter((code) => catalogue[code]!.extensions !== undefined);
  return {
    Problem: problemSchema(catalogue),
    ...Object.fromEntries(extended.map((code) => [schemaNameOf(code), extendedSchema(code, catalogue[code]!)])),
  };
}

function schemaNameOf(code: string): string {
  return `${pascalCase(code)}Problem`;
}

function extendedSchema(code: string, { status, title, extensions = {} }: CatalogueEntry): JSONObject {
  const members = Object.entries(extensions);
  const properties = {
    status: { type: "integer", enum: [status] },
    code: { type: "string", enum: [code] },
    ...Object.fromEntries(members.map(([name, member]) => [name, extensionSchema(member)])),
  };
  const needed = members.filter(([, { options }]) => options.optional !== true).map(([name]) => name);
  const own = { type: "object", properties, required: ["status", "code", ...needed] };
  return { description: `${title}.`, allOf: [ref("schemas", "Problem"), own] };
}

function extensionSchema({ kind, options: { description, example } }: ExtensionMember): JSONObject {
  return {
    ...kind.schema,
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}

/** One answer for each status of the catalogue, with each of its problems as an example. */
export function problemComponents(
  catalogue: Catalogue,
  formats: readonly Format[],
  basePath = "",
): Readonly<Record<string, JSONObject>> {
  const mediaTypes = [...new Set(formats.map(({ problemMediaType }) => problemMediaType))];
  return Object.fromEntries(
    statusesOf(catalogue).map((status) => [nameOf(status), problemResponse(catalogue, status, mediaTypes, basePath)]),
  );
}

function statusesOf(catalogue: Catalogue): readonly number[] {
  return [...new Set(Object.values(catalogue).map(({ status }) => status))];
}

function codesOf(catalogue: Catalogue, status: number): readonly string[] {
  return Object.keys(catalogue).filter((code) => catalogue[code]!.status === status);
}

function nameOf(status: number): string {
  return `Problem${status}`;
}

function problemResponse(
  catalogue: Catalogue,
  status: number,
  mediaTypes: readonly string[],
  basePath: string,
): JSONObject {
  const all = codesOf(catalogue, status);
  const extended = all.filter((code) => catalogue[code]!.extensions !== undefined);
  const plain = ref("schemas", "Problem");
  const schema =
    extended.length === 0 ? plain : { anyOf: [...extended.map((code) => ref("schemas", schemaNameOf(code))), plain] };
  const examples = Object.fromEntries(
    all.map((code) => [code, { summary: catalogue[code]!.title, value: exampleOf(catalogue, code, basePath) }]),
  );
  return {
    description: list(catalogue, all),
    headers: answerHeaders(...(headersOfStatus[status] ?? [])),
    content: Object.fromEntries(
      mediaTypes.map((type) => [type, type.endsWith("json") ? { schema, examples } : { schema }]),
    ),
  };
}

const headersOfStatus: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ["WWWAuthenticate"],
  405: ["Allow"],
  415: ["Accept", "AcceptPost", "AcceptPatch", "AcceptQuery", "AcceptEncoding"],
  429: ["RetryAfter"],
  503: ["RetryAfter"],
  507: ["RetryAfter"],
};

const exampleIssues: Readonly<Record<string, JSONObject>> = {
  invalid: { pointer: "/email", code: "invalid", detail: "An e-mail address is required, like ann@example.com." },
  invalid_query: { pointer: "?limit", code: "invalid", detail: "A whole number from 1 to 1000 is required." },
  taken: { pointer: "/email", code: "taken", detail: "This value is already taken." },
};

function exampleOf(catalogue: Catalogue, code: string, basePath: string): JSONObject {
  const { status, title, detail, extensions = {} } = catalogue[code]!;
  const issue = exampleIssues[code];
  return {
    type: `${basePath}/problems/${code}`,
    title,
    status,
    detail,
    code,
    request_id: "k3pQ9xVb2mTz-1f",
    ...(issue === undefined ? {} : { errors: [issue] }),
    ...Object.fromEntries(
      Object.entries(extensions).flatMap(
        ([
          name,
          {
            options: { example },
          },
        ]) => (example === undefined ? [] : [[name, example]]),
      ),
    ),
  };
}

/** Gives the answers for problems, by status. Most operations have the same. */
export function responsesOf(
  catalogue: Catalogue,
): (expected: ReadonlySet<string>) => Readonly<Record<string, JSONObject>> {
  const all = Object.keys(catalogue);
  const known = new Map<string, Readonly<Record<string, JSONObject>>>();
  return (expected) => {
    const codes = all.filter((code) => expected.has(code));
    const key = codes.join();
    const responses = known.get(key) ?? responsesTo(catalogue, codes);
    known.set(key, responses);
    return responses;
  };
}

function responsesTo(catalogue: Catalogue, codes: readonly string[]): Readonly<Record<string, JSONObject>> {
  const byStatus = Map.groupBy(codes, (code) => catalogue[code]!.status);
  return Object.fromEntries(
    [...byStatus].map(([status, own]) => [
      status,
      { ...ref("responses", nameOf(status)), description: list(catalogue, own) },
    ]),
  );
}

function list(catalogue: Catalogue, some: readonly string[]): string {
  return some.map((code) => `${catalogue[code]!.title} (\`${code}\`)`).join(", ");
}

/** The problems that an endpoint can end in before its handler is asked, and those that can always happen. */
export function* problemsOnTheWay(endpoint: ServedEndpoint, schemes: readonly Scheme[]): Generator<ProblemCode> {
  const { access, method, path, consumes, produces, query } = endpoint;
  if (path.includes("{")) yield "not_found";
  if (endpoint.logsIn === true) yield "insecure_transport";
  if (access !== "open" && endpoint.refusals === undefined) yield* problemsOfCredentials(endpoint, schemes);
  if (access !== "open" && access !== anyone) yield "permission_denied";
  if (produces === undefined) yield "not_acceptable";
  if (consumes !== undefined) yield* ["malformed", "invalid", "content_too_large", "unsupported_media_type"] as const;
  yield* ["malformed", "precondition_failed"] as const; // conditional headers
  if (query !== "ignored") yield "invalid_query";
  // What is wrong about credentials is counted, and that is a write too.
  if (isUnsafe(method) || access !== "open") yield "insufficient_storage";
  yield* ["internal", "unavailable"] as const;
  yield "unknown_preference";
  // Told before anybody knows which operation is meant, so every one of them can seem to answer it.
  yield* ["method_not_allowed", "request_timeout", "uri_too_long", "headers_too_large", "not_implemented"] as const;
}

function* problemsOfCredentials(endpoint: ServedEndpoint, schemes: readonly Scheme[]): Generator<ProblemCode> {
  const carriers = schemes.flatMap((scheme) => scheme.carriers);
  const canChallenge = schemes.some(({ challenge }) => challenge !== undefined);
  if (!admitsUnknown(endpoint)) yield canChallenge ? "not_authenticated" : "authentication_failed";
  if (carriers.length === 0) return;
  yield* ["duplicate_credentials", "too_many_attempts"] as const;
  if (carriers.length > 1) yield "conflicting_credentials";
  for (const { rejectedAs = "invalid_token", alsoRejectedAs = [] } of schemes)
    yield* canChallenge ? [rejectedAs, ...alsoRejectedAs] : (["authentication_failed"] as const);
  if (carriers.some((each) => each.in === "authorization" && each.scheme.toLowerCase() === "basic"))
    yield "insecure_transport";
  if (isUnsafe(endpoint.method) && carriers.some((each) => each.in === "cookie")) yield "cross_site";
}
