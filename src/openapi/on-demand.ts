import { anObject, isText, optional, orNull, text } from "../checking/members.ts";
import { requireOptions, type ChecksOf } from "../checking/options.ts";
import type { Page } from "../html/page.ts";
import type { OpenAPIOptions } from "./options.ts";
import type { DocsParts } from "./page/page.ts";

// A service that runs for weeks is asked for its description a few times; until then the code for it is not even loaded.

/** The OpenAPI 3.1 document of a service. */
export async function openapiDocument(options: OpenAPIOptions): Promise<Record<string, unknown>> {
  return (await import("./openapi.ts")).openapiDocument(options);
}

const docsParts: ChecksOf<DocsParts> = {
  document: anObject,
  basePath: (value) => (isText(value) ? null : "it has to be a path, or empty"),
  look: optional(anObject),
  session: orNull(text),
  who: orNull(text),
};

/** The page of an operation, by its id, or where none is named the page that lists them all; null where there is no such operation. */
export async function docsPage(parts: DocsParts, operation?: string): Promise<Page | null> {
  requireOptions(parts, docsParts, { of: "docsPage" });
  const pages = await import("./page/page.ts");
  return operation === undefined ? pages.docsPage(parts) : pages.operationPage(parts, operation);
}
