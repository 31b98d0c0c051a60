import type { CatalogueEntry, Catalogue } from "../../core/problem/catalogue.ts";
import type { ExtensionMember, ExtensionMembers } from "../../core/problem/extensions.ts";
import { exampleValue } from "./examples.ts";
import { ref, type JSONObject } from "./json.ts";
import { pascalCase } from "./names.ts";

/**
 * Returns the schema of every problem, and one for each code: its status, its code and its extension members (RFC 9457
 * §3.2).
 */
export function problemSchemas(catalogue: Catalogue): Readonly<Record<string, JSONObject>> {
  return {
    Problem: anyProblem(catalogue),
    ...Object.fromEntries(
      Object.entries(catalogue).map(([code, entry]) => [problemSchemaName(code), problemSchema(code, entry)]),
    ),
  };
}

/** Returns the schema name of a code: `NotFoundProblem` for `not_found`. */
export function problemSchemaName(code: string): string {
  return `${pascalCase(code)}Problem`;
}

function anyProblem(catalogue: Catalogue): JSONObject {
  return {
    type: "object",
    description: "Why a request failed (RFC 9457).",
    xml: { name: "problem", namespace: "urn:ietf:rfc:7807" },
    properties: {
      type: { type: "string", format: "uri-reference", description: "The address of a page that explains the code." },
      title: { type: "string", description: "The same for every occurrence of the code." },
      status: { type: "integer", minimum: 400, maximum: 599 },
      detail: { type: "string", description: "The reason for this failure, for people." },
      code: { type: "string", enum: Object.keys(catalogue), description: "The kind of the failure, for programs." },
      request_id: {
        type: "string",
        description: "The request in the service's log; the `X-Request-Id` of the answer.",
      },
      errors: {
        type: "array",
        description: "Each field or query parameter that is wrong.",
        items: ref("schemas", "ProblemIssue"),
        xml: { name: "errors", wrapped: true },
      },
    },
    required: ["type", "title", "status", "detail", "code", "request_id"],
  };
}

function problemSchema(code: string, { status, title, extensions = {} }: CatalogueEntry): JSONObject {
  const own = {
    type: "object",
    properties: {
      status: { type: "integer", enum: [status] },
      code: { type: "string", enum: [code] },
      ...Object.fromEntries(Object.entries(extensions).map(([name, member]) => [name, extensionSchema(member)])),
    },
    required: ["status", "code", ...requiredAmong(extensions)],
  };
  return { description: `${title}.`, allOf: [ref("schemas", "Problem"), own] };
}

function requiredAmong(extensions: ExtensionMembers): readonly string[] {
  return Object.keys(extensions).filter((name) => extensions[name]!.options.optional !== true);
}

function extensionSchema({ kind, options: { description, example } }: ExtensionMember): JSONObject {
  return {
    ...kind.schema,
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { examples: [example] }),
  };
}

const exampleIssues: Readonly<Record<string, JSONObject>> = {
  invalid: { pointer: "/email", code: "invalid", detail: "An e-mail address is required, like ann@example.com." },
  invalid_query: { pointer: "?limit", code: "invalid", detail: "A whole number from 1 to 1000 is required." },
  taken: { pointer: "/email", code: "taken", detail: "This value is already taken." },
};

/** Returns an example of a problem. Returns null if no value can be generated for an extension member. */
export function problemExample(code: string, entry: CatalogueEntry, basePath: string): JSONObject | null {
  const { status, title, detail, extensions = {} } = entry;
  const issue = exampleIssues[code];
  const members = Object.entries(extensions).map(([name, member]) => [name, exampleValue(member)] as const);
  if (requiredAmong(extensions).some((name) => exampleValue(extensions[name]!) === undefined)) return null;
  return {
    type: `${basePath}/problems/${code}`,
    title,
    status,
    detail,
    code,
    request_id: "k3pQ9xVb2mTz-1f",
    ...(issue === undefined ? {} : { errors: [issue] }),
    ...Object.fromEntries(members.filter(([, value]) => value !== undefined)),
  };
}
