import type { Page } from "../html/page.ts";
import type { OpenAPIOptions } from "./options.ts";
import type { DocsParts } from "./page/page.ts";

// A service that runs for weeks is asked for its description a few times; until then the code for it is not even loaded.

/** The OpenAPI 3.1 document of a service. */
export async function openapiDocument(options: OpenAPIOptions): Promise<Record<string, unknown>> {
  return (await import("./openapi.ts")).openapiDocument(options);
}

/** The page of an operation, by its id, or where none is named the page that lists them all; null where there is no such operation. */
export async function docsPage(parts: DocsParts, operation?: string): Promise<Page | null> {
  const pages = await import("./page/page.ts");
  return operation === undefined ? pages.docsPage(parts) : pages.operationPage(parts, operation);
}
