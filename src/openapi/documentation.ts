import type { Reply } from "../call/call.ts";
import { requireOptions } from "../checking/options.ts";
import { defineFeature, type Feature } from "../feature/feature.ts";
import type { Page } from "../html/page.ts";
import { ifNoneMatch, notModified, textSchema, type JSONSchema } from "../http/endpoint/documentation.ts";
import { defineEndpoint, type Endpoint, type EndpointDocumentation } from "../http/endpoint/endpoint.ts";
import { catalogueWith } from "../problem/definition.ts";
import { problem } from "../problem/problem.ts";
import { docsPage, openapiDocument } from "./on-demand.ts";
import { titleChecks, type DocumentationOptions } from "./options.ts";
import { problemIndexPage, problemPage } from "./problem-pages.ts";

export type { DocumentationOptions } from "./options.ts";

const MAX_AGE_SECONDS = 300;

/** `GET /openapi.json` (OpenAPI 3.1), `/docs`, which shows it, and `/problems` with a page for each problem. They authenticate nobody. */
export function documentation(options: DocumentationOptions): Feature<null> {
  return defineFeature({
    name: "documentation",
    setUp(host) {
      requireOptions(options, titleChecks);
      const { basePath } = host;
      const here = { title: options.title, basePath };
      let written: string | null = null;
      const write = async (): Promise<string> => {
        const { schemes, mounts, endpoints, formats, tags, problems } = host.service();
        const parts = { schemes, mounts, endpoints, formats, tags, problems };
        const described = await openapiDocument({ ...options, basePath, ...parts });
        return (written ??= JSON.stringify(described));
      };
      return {
        offer: null,
        tags: { system: "Health, keys and documentation." },
        endpoints: [
          openEndpoint({
            path: "/openapi.json",
            produces: "application/json",
            documentation: of("This API, as OpenAPI 3.1", { type: "object" }),
            handle: async () => raw("application/json", written ?? (await write())),
          }),
          openEndpoint({
            path: "/docs",
            produces: "text/html",
            documentation: of("This API, as a page", textSchema),
            handle: async () => shown(await docsPage(basePath)),
          }),
          openEndpoint({
            path: "/problems",
            produces: "text/html",
            documentation: of("Every problem there is", textSchema),
            handle: () => shown(problemIndexPage(catalogueWith(host.service().problems), here)),
          }),
          openEndpoint({
            path: "/problems/{code:text}",
            produces: "text/html",
            documentation: of("What a problem means and what to do about it", textSchema),
            handle({ params }) {
              const code = params["code"] as string;
              const catalogue = catalogueWith(host.service().problems);
              if (!Object.hasOwn(catalogue, code)) throw problem("not_found");
              return shown(problemPage(code, catalogue[code]!, here));
            },
          }),
        ],
      };
    },
  });
}

/** Credentials sent to it are not looked at, nor is its query. */
function openEndpoint(endpoint: Omit<Endpoint, "method" | "access" | "query">): Endpoint {
  return defineEndpoint({ ...endpoint, method: "GET", access: "open", query: "ignored" });
}

function shown({ html, policy }: Page): Reply {
  return { ...raw("text/html; charset=utf-8", html), contentSecurityPolicy: policy };
}

/** What anyone may read and any cache may keep. */
function raw(type: string, content: string): Reply {
  return { status: 200, cache: "public", maxAgeSeconds: MAX_AGE_SECONDS, body: { kind: "raw", type, content } };
}

function of(summary: string, schema: JSONSchema): EndpointDocumentation {
  const responses = {
    200: { description: `${summary}.`, schema, headers: { ETag: "Of the present state." } },
    304: notModified,
  };
  return { summary, tag: "system", parameters: [ifNoneMatch], responses };
}
