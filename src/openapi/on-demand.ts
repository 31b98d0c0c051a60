import type { Page } from "../html/page.ts";
import type { OpenAPIOptions } from "./options.ts";

// A service that runs for weeks is asked for its description a few times; until then the code for it is not even loaded.

/** The OpenAPI 3.1 document of a service. */
export async function openapiDocument(options: OpenAPIOptions): Promise<Record<string, unknown>> {
  return (await import("./openapi.ts")).openapiDocument(options);
}

/** The page that shows it. */
export async function docsPage(basePath = ""): Promise<Page> {
  return (await import("./page/page.ts")).docsPage(basePath);
}
