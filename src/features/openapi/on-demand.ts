import { aBoolean, anObject, isText, optional, orNull, text } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import type { Page } from "../../core/html/page.ts";
import { inSlices } from "../../http/scheduling/slices.ts";
import type { JSONObject } from "./json.ts";
import type { OpenAPIOptions } from "./options.ts";
import type { DocsParts } from "./page/page.ts";

// Loads the code that describes a service at the first request for a description, because many services never get such
// a request.

/** Returns the OpenAPI 3.1 document of a service. */
export async function openapiDocument(options: OpenAPIOptions): Promise<Record<string, unknown>> {
  const { readDocument } = await import("./written.ts");
  return (await inSlices(readDocument(await described(options)))) as Record<string, unknown>;
}

async function described(options: OpenAPIOptions): Promise<JSONObject> {
  return inSlices((await import("./openapi.ts")).describeService(options));
}

const docsParts: ChecksOf<DocsParts> = {
  document: anObject,
  basePath: (value) => (isText(value) ? null : "it has to be a path, or empty"),
  look: optional(anObject),
  root: optional(aBoolean),
  session: orNull(text),
  who: orNull(text),
};

/**
 * Returns the page of an operation by its id, or the page that lists all operations if no id is given. Returns null for
 * an unknown id.
 */
export async function docsPage(parts: DocsParts, operation?: string): Promise<Page | null> {
  requireOptions(parts, docsParts, { of: "docsPage" });
  const docs = await buildDocs(parts);
  return operation === undefined ? docs.list() : docs.operation(operation);
}

/** The documentation pages of a service. Their common parts are built once. */
export interface Docs {
  list(): Page;
  /** Returns the page of an operation, or null if there is none. */
  operation(id: string): Page | null;
}

/** Makes the common parts of a service's pages. */
export async function buildDocs(parts: DocsParts): Promise<Docs> {
  const { docsPage: listPage, operationPage } = await import("./page/page.ts");
  const { collectContents } = await import("./page/contents.ts");
  const contents = await inSlices(collectContents(parts.document, parts.basePath));
  return { list: () => listPage(parts, contents), operation: (id) => operationPage(parts, contents, id) };
}

/** A document in the form that is sent, and in the form that its pages read. */
export interface WrittenDocument {
  readonly content: Uint8Array;
  readonly document: JSONObject;
}

/** Returns the document of a service in the form that is sent. */
export async function writtenDocument(options: OpenAPIOptions): Promise<WrittenDocument> {
  const document = await described(options);
  return { content: await inSlices((await import("./written.ts")).writeDocument(document)), document };
}
