import assert from "node:assert/strict";
import formats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";

/** One operation of the OpenAPI document. */
export interface Operation {
  readonly method: string;
  /** The path with its parameters in braces. */
  readonly template: string;
  readonly security: readonly unknown[];
  readonly parameters: readonly Document[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<Record<string, Document>>;
}

/** The OpenAPI document of a running service. */
export interface Description {
  readonly operations: readonly Operation[];
  find(method: string, target: string): Operation;
  /** Checks status, media type and body of a response against the description. Returns the body if it is JSON. */
  check(operation: Operation, response: Response): Promise<unknown>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- a document that is walked, and compared with what is found
type Document = Record<string, any>;

export async function readDescription(address: string): Promise<Description> {
  const document = (await (await fetch(`${address}/openapi.json`)).json()) as Document;
  const ajv = validator(document);
  const operations = Object.entries<Record<string, Operation>>(document["paths"]).flatMap(([template, methods]) =>
    Object.entries(withAdditional(methods)).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      template,
      parameters: operation.parameters ?? [],
    })),
  );

  function find(method: string, target: string): Operation {
    const found = operations.find((each) => each.method === method && matches(each.template, target));
    assert.ok(found, `${method} ${target} is not described.`);
    return found;
  }

  async function check(operation: Operation, response: Response): Promise<unknown> {
    const { method, template, responses } = operation;
    const text = await response.text();
    const described = responses[response.status];
    assert.ok(described, `${method} ${template}: ${response.status} is not described: ${text}`);
    const shared = described["$ref"]?.split("/").at(-1) as string | undefined;
    const { content = {} } = shared === undefined ? described : document["components"].responses[shared];
    const type = response.headers.get("content-type")?.split(";")[0];
    if (type === undefined) {
      assert.deepEqual([text, Object.keys(content)], ["", []]);
      return undefined;
    }
    assert.ok(type in content, `${method} ${template}: ${response.status} in ${type} is not described`);
    if (!type.endsWith("json")) return undefined;
    const place =
      shared === undefined
        ? ["paths", template, ...locateMethod(method), "responses", String(response.status)]
        : ["components", "responses", shared];
    const body: unknown = JSON.parse(text);
    const schema = [...place, "content", type, "schema"].map(escaped).join("/");
    assert.ok(ajv.validate({ $ref: `api#/${schema}` }, body), `${method} ${template}: ${ajv.errorsText()}: ${text}`);
    return body;
  }

  return { operations, find, check };
}

function validator(document: Document): Ajv2020 {
  // Not strict, because OpenAPI has additional keywords (`xml`).
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  // RFC 5321 needs no dot in a domain (`admin@localhost`), but the library's pattern does.
  ajv.addFormat("email", /^[^@\s]+@[^@\s]+$/);
  return ajv.addSchema(document, "api");
}

function locateMethod(method: string): readonly string[] {
  return method === "QUERY" ? ["x-oai-additionalOperations", method] : [method.toLowerCase()];
}

/** Returns all operations of a path. OpenAPI 3.1 has no member for QUERY, so an extension contains it. */
function withAdditional(methods: Record<string, Operation>): Record<string, Operation> {
  const { "x-oai-additionalOperations": additional, ...plain } = methods;
  return { ...plain, ...(additional as unknown as Record<string, Operation> | undefined) };
}

function matches(template: string, target: string): boolean {
  return RegExp(`^${template.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(target);
}

/** Escapes a part of a JSON Pointer in the fragment of a URL (RFC 6901 §6). */
function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
}
